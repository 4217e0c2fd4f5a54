// Prints what the core computes with features of a compiler, to be compared with what their plain forms compute.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../../core/assign.hpp"
#include "../../core/block_columns.hpp"
#include "../../core/hash.hpp"
#include "../../core/number.hpp"
#include "../../core/rising_penalty.hpp"
#include "../../core/shrink.hpp"

namespace {

std::uint64_t state = 1;

std::uint64_t next() {
  state ^= state << 13;
  state ^= state >> 7;
  return state ^= state << 17;
}

double uniform() { return static_cast<double>(next() >> 11) / 9007199254740992.0; }

void show(double value) {
  std::uint64_t bits;
  std::memcpy(&bits, &value, 8);
  std::printf("%016llx\n", static_cast<unsigned long long>(bits));
}

void read(const std::string& text) {
  double value = -1;
  thresher::scan_number(text.data(), text.data() + text.size(), value);
  show(value);
}

}  // namespace

int main() {
  for (int i = 0; i < 2000; ++i) {
    const std::uint64_t a = next() >> (i % 64), b = next();
    std::printf("%016llx\n", static_cast<unsigned long long>(thresher::folded_product(a, b)));
    const std::string digits = std::to_string(a);
    read(digits + "e-" + std::to_string(i % 28));                                      // one division
    read(digits + "." + std::to_string(b) + "e" + std::to_string(i % 40 * 17 - 340));  // many digits, far exponents
  }
  for (const char* text : {"1e400", "-1e-400", "4.9406564584124654e-324", "1.7976931348623157e308", "1.7976931348623159e308"})
    read(text);

  constexpr thresher::index_t n_rows = 50, n_features = 7, n_centres = 40;
  std::vector<double> values(n_rows * n_features), table(n_features * n_centres), offsets(n_centres), middle(n_features, 0.25);
  for (auto* some : {&values, &table, &offsets})
    for (double& value : *some) value = static_cast<double>(static_cast<int>(uniform() * 16) - 8) / 4;  // ties, too
  for (const double* m : {static_cast<const double*>(nullptr), static_cast<const double*>(middle.data())})
    for (const bool wide : {false, true}) {
      const thresher::Centres centres{table.data(), offsets.data(), nullptr, m, n_centres, wide};
      std::vector<thresher::Nearest> best(n_rows);
      const thresher::DenseRows<double> rows{values.data(), n_rows, n_features};
      thresher::compare_rows(rows, 0, n_rows, centres, thresher::Least{best.data()});
      for (const auto& found : best) {
        std::printf("%d ", static_cast<int>(found.centre));
        show(found.cost);
      }
    }
  show(thresher::dot(values.data(), table.data(), 280));

  std::vector<thresher::column_t> columns(11);
  for (int i = 0; i < 200; ++i) {
    for (auto& column : columns) column = static_cast<thresher::column_t>(next() % values.size());
    const double cut = i % 5 * 0.25;
    const auto soft = [&](auto v) { return thresher::soft_threshold(v, decltype(v)(cut)); };
    const thresher::SparseRow<double, thresher::column_t> row(table.data() + i, columns.data(), 4 + i % 8, 350, 0);
    const double* const w = values.data();
    const double one = row.sum([&](thresher::index_t j, double x) { return soft(w[j]) * x; }), two = row.sum_of(w, soft);
    show(two);
    if (one != two) return 1;  // by pairs as one by one
  }

  for (int i = 0; i < 100; ++i) {  // weights by lanes as one by one
    const thresher::RisingPenalty rising(std::pow(10, -6 + 4 * uniform()), 0.5, i % 4 == 0 ? 0.01 : 0,
                                         std::pow(10, -2 + 2 * uniform()));
    constexpr int n = 37;
    const double t = std::floor(std::pow(10, 3 + 2 * uniform()));
    std::vector<double> g(n);
    std::vector<thresher::RisingPenalty::Paid> paid(n);
    std::vector<thresher::index_t> which(n);
    for (int j = 0; j < n; ++j) {
      paid[j] = {100 * uniform(), std::floor((t - 1) * (j % 3 == 0 ? 1 - uniform() / 2000 : uniform())) + 1};
      g[j] = (j % 2 == 0 ? 1 : -1) * (rising.cut(paid[j].penalty, paid[j].step) + uniform() * std::sqrt(t) / 10 + 1e-9);
      which[j] = j;
    }
    const auto before = paid;
    rising.bring_up(g.data(), paid.data(), which.data(), n, t);
    for (int j = 0; j < n; ++j) {
      const auto alone = rising.after(t, std::fabs(g[j]), before[j]);
      show(paid[j].penalty);
      if (paid[j].penalty != alone.penalty || paid[j].step != t) return 1;
    }
  }
}
