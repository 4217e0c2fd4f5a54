// Prints what the core computes with features of a compiler, to be compared with what their plain forms compute.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "../../core/assign.hpp"
#include "../../core/block_columns.hpp"
#include "../../core/hash.hpp"
#include "../../core/learners/arow.hpp"
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

/// What a learner of one output, or one of several, asks for when it is made.
struct Arrays {
  std::vector<double>& beliefs;
  bool precision;

  double* pair(const char*, const char*) const { return beliefs.data(); }
  double* array(const char*, const char*) const { return nullptr; }
  bool flag(const char* name) const { return std::string(name) == "precision" && precision; }
  double number(const char*) const { return 0.5; }
};

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
  const std::vector<float> rough(values.begin(), values.end());
  std::vector<thresher::column_t> places(values.size());
  std::vector<thresher::index_t> starts(n_rows + 1);
  for (std::size_t k = 0; k < places.size(); ++k) places[k] = static_cast<thresher::column_t>(k % n_features);
  for (std::size_t i = 0; i < starts.size(); ++i) starts[i] = static_cast<thresher::index_t>(i) * n_features;
  const auto nearest = [&](const auto& rows, const double* from, int bytes, bool exact) {
    const thresher::Centres centres{table.data(), offsets.data(), nullptr, from, n_centres, bytes};
    std::vector<std::int32_t> labels(n_rows);
    std::vector<double> costs(n_rows), sums(n_centres * n_features), weights(n_centres);
    const thresher::Sums into{sums.data(), weights.data()};
    thresher::run_assign(rows, 0, n_rows, centres, {nullptr, labels.data(), exact ? costs.data() : nullptr, &into});
    for (const auto label : labels) std::printf("%d\n", static_cast<int>(label));
    for (const auto* found : {&costs, &sums, &weights})
      for (const double value : *found) show(value);
  };
  for (const int bytes : {16, 32, 64}) {
    for (const double* from : {static_cast<const double*>(nullptr), static_cast<const double*>(middle.data())})
      for (const bool exact : {false, true}) {
        nearest(thresher::DenseRows<double>{values.data(), n_rows, n_features}, from, bytes, exact);
        nearest(thresher::DenseRows<float>{rough.data(), n_rows, n_features}, from, bytes, exact);
      }
    nearest(thresher::CsrRows<double, thresher::column_t>{values.data(), places.data(), starts.data(), n_rows, n_features},
            nullptr, bytes, true);
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

  constexpr int n_classes = 6, width = 20;
  std::vector<thresher::index_t> begins(n_rows + 1);
  std::vector<double> classes(n_rows);
  std::vector<thresher::column_t> words(n_rows * n_features);
  for (thresher::index_t i = 0; i < n_rows; ++i) {
    classes[i] = static_cast<double>(next() % n_classes);
    begins[i + 1] = begins[i] + n_features;
    for (thresher::index_t k = 0; k < n_features; ++k)
      words[begins[i] + k] = static_cast<thresher::column_t>(2 * k + (next() & 1));
  }
  for (const bool precision : {false, true}) {
    const thresher::CsrRows<double, thresher::column_t> rows{values.data(), words.data(), begins.data(), n_rows, width};
    std::vector<std::vector<double>> beliefs(n_classes, std::vector<double>(2 * (width + 1), 1.0));
    std::vector<std::vector<double>> scores(n_classes, std::vector<double>(n_rows));
    std::vector<thresher::Tally> tallies(n_classes);
    std::vector<thresher::ConfidentDiagonal<thresher::ArowRule>> learners;
    std::vector<thresher::DiagonalLearner*> of_classes;
    std::vector<thresher::Output> outputs;
    learners.reserve(n_classes);
    for (int k = 0; k < n_classes; ++k) {
      learners.emplace_back(Arrays{beliefs[k], precision});
      of_classes.push_back(&learners[k]);
      outputs.push_back({static_cast<double>(k), &tallies[k], scores[k].data()});
    }
    {
      thresher::ConfidenceLanes lanes(of_classes, width + 1);
      lanes.run(rows, 1, {classes.data(), nullptr, nullptr, 0, n_rows, true, 0}, outputs);
    }
    for (const auto* some : {&scores, &beliefs})
      for (const auto& of_class : *some)
        for (const double value : of_class) show(value);
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
