// The core from several threads, for ThreadSanitizer (make sanitize): models of their own that learn from the same rows, one model
// that all of them read, solvers and parsers of the same input. Every thread must get the numbers that one alone gets.
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "box_qp.hpp"
#include "learners/arow.hpp"
#include "learners/ftrl.hpp"
#include "learners/l1_rda.hpp"
#include "learners/narow.hpp"
#include "learners/pegasos.hpp"
#include "learners/reweighted_l1_rda.hpp"
#include "linear_scores.hpp"
#include "matrix_pass.hpp"
#include "parse_svmlight.hpp"
#include "scan.hpp"

using namespace thresher;

namespace {

constexpr index_t n_rows = 400, n_features = 30, n_weights_of_all = n_features + 1;
constexpr int n_threads = 8;
constexpr double bias = 0.1;
using Numbers = std::vector<double>;
using Arrays = std::map<std::string, Numbers>;

/// Hands the arrays of a state to a learner, with parameters that do for all learners here; every call has one of its own.
struct OwnSource {
  Arrays& arrays;
  index_t n_weights = n_weights_of_all;
  mutable std::unique_ptr<Loss> owned_loss;

  explicit OwnSource(Arrays& all) : arrays(all) {}
  double number(const std::string& name) const {
    static const std::map<std::string, double> known{{"r", 1},     {"eta0", 0.5},    {"alpha", 0.01},   {"inverse_alpha", 100},
                                                     {"beta", 1},  {"l1", 0.01},     {"projection", 1}, {"smoothing", 0.1},
                                                     {"tau", 0.5}, {"n_outputs", 3}, {"n_selected", 7}, {"b", 1}};
    const auto found = known.find(name);
    return found == known.end() ? 0 : found->second;
  }
  index_t constant() const { return n_weights - 1; }
  bool flag(const char* name) const { return number(name) != 0; }
  const double* vector(const char*, const char* = "weight") const { return nullptr; }
  double* array(const char* name, const char*) const { return arrays.at(name).data(); }
  double* pair(const char* first, const char*, const char* = "weight") const { return arrays.at(first).data(); }
  const Loss& loss() const { return *(owned_loss = make_loss("hinge", number("tau"), 0)); }
  index_t extent(const std::string& axes) const {
    if (axes.empty()) return 1;
    const std::size_t end = axes.find(' ');
    const std::string axis = axes.substr(0, end);
    const index_t n = axis == "weight" ? n_weights : static_cast<index_t>(number("n_" + axis + "s"));
    return end == std::string::npos ? n : n * extent(axes.substr(end + 1));
  }
};

template <class Learner> Arrays new_state() {
  Arrays all;
  for (const Field& field : Learner::fields(OwnSource(all))) {
    const auto n = static_cast<std::size_t>(OwnSource(all).extent(field.axes));
    if (*field.beside) {  // entries of the two take turns
      Numbers& both = all[field.beside];
      both.resize(2 * n);
      for (std::size_t j = n; j-- > 0;) both[2 * j] = both[j], both[2 * j + 1] = field.initial;
    } else if (std::string(field.axes) == "weight weight") {
      all[field.name].resize(n);
      for (std::size_t j = 0; j < n; j += n_weights_of_all + 1) all[field.name][j] = field.initial;
    } else {
      all[field.name].assign(n, field.initial);
    }
  }
  return all;
}

/// What all threads share: dense rows, some of their values as sparse ones, targets, and text.
struct Data {
  Numbers dense, values, y;
  std::vector<std::int32_t> columns;
  std::vector<index_t> starts{0}, codes;
  std::string text;

  Data() {
    std::uint64_t state = 1;
    const auto draw = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<double>(state >> 33) / 2147483648.0 - 0.5;
    };
    for (index_t i = 0; i < n_rows; ++i) {
      for (index_t j = 0; j < n_features; ++j) {
        dense.push_back(draw());
        if (draw() < 0) continue;
        values.push_back(dense.back());
        columns.push_back(static_cast<std::int32_t>(j));
      }
      starts.push_back(static_cast<index_t>(values.size()));
      y.push_back(dense[static_cast<std::size_t>(i * n_features)] > 0 ? 1 : -1);
      codes.push_back(i % 3);
      text += (i % 2 ? "1 2:" : "-1 3:") + std::to_string(dense.back()) + "\n";
    }
  }
  DenseRows<double> rows() const { return {dense.data(), n_rows, n_features}; }
  CsrRows<double, std::int32_t> sparse() const { return {values.data(), columns.data(), starts.data(), n_rows, n_features}; }
};

const Data data;

bool all_same = true;

/// Acts alone, then in all threads at once.
template <class Act> void compare(const char* what, Act act) {
  const auto alone = act();
  std::vector<decltype(act())> found(n_threads);
  std::vector<std::thread> threads;
  for (auto& each : found) threads.emplace_back([&each, &act] { each = act(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& each : found)
    if (each != alone) std::printf("%s: a thread got other numbers\n", what), all_same = false;
}

template <class Learner> Arrays learned() {
  Arrays state = new_state<Learner>();
  const OwnSource source(state);
  const Lesson lesson{data.y.data(), nullptr, nullptr, 0, n_rows, false, 1};
  Tally tally{};
  Learner learner(source);
  run_pass(learner, data.rows(), bias, lesson, tally, nullptr, 0, OtherForm{}, nullptr);
  run_pass(learner, data.sparse(), bias, lesson, tally, nullptr, 0, OtherForm{}, nullptr);
  return state;
}

/// As a binding does before it reads a model, if the learner has a view for readers.
template <class Learner> auto make_view(Learner& learner, int) -> decltype(learner.read()) { learner.read(); }
template <class Learner> void make_view(Learner&, long) {}

template <class Learner> void compare_learner(const char* name) {
  compare(name, learned<Learner>);
  Arrays shared = learned<Learner>();
  compare(name, [&shared] {
    const OwnSource source(shared);
    Learner learner(source);
    make_view(learner, 0);
    Numbers scores(n_rows);
    run_scores(learner, data.sparse(), bias, scores.data(), 1);
    return scores;
  });
}

Arrays learned_together() {
  using Learner = JointDiagonal<ArowRule>;
  Arrays state = new_state<Learner>();
  const OwnSource source(state);
  const MatrixLesson lesson{data.y.data(), data.codes.data(), nullptr, nullptr, nullptr, 0, n_rows};
  Tally tally{};
  Learner learner(source);
  Numbers out(static_cast<std::size_t>(2 * learner.width()));
  run_matrix_pass(learner, data.sparse(), bias, lesson, tally, out.data(), nullptr, OtherForm{}, nullptr);
  return state;
}

Numbers solved(const Numbers& kernel, index_t n) {
  const auto size = static_cast<std::size_t>(n);
  Numbers lower(size), upper(size), none(size, 0), ahead(size, 1), diagonal(size), x(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    lower[i] = std::min(0.0, data.y[i]), upper[i] = std::max(0.0, data.y[i]);
    diagonal[i] = kernel[i * (size + 1)];
  }
  const double total = 0, one = 1;
  const BoxProblem problem{n, 1, data.y.data(), lower.data(), upper.data(), none.data(), ahead.data(), &total, &one};
  WholeMatrix rows(kernel.data(), n);
  BoxQP(rows, size, diagonal.data(), problem, x.data()).run(10000, 1e-9);
  return x;
}

Numbers parsed() {
  SvmlightRows<double> rows(-1, false, -1);
  read_lines({data.text.data(), data.text.size(), true, false, 1, -1}, rows);
  return Numbers(rows.values.data(), rows.values.data() + rows.values.size());
}

/// One loop in several threads, and in several that each have more.
void compare_parts() {
  constexpr index_t n = 40'000, width = 30;
  const Numbers many(static_cast<std::size_t>(n * width), 0.25), weights(5 * (width + 1), 1.0);
  const DenseRows<double> rows{many.data(), n, width};
  std::vector<index_t> starts;
  std::vector<std::int32_t> columns;
  for (index_t i = 0; i <= n; ++i) starts.push_back(i * width);
  for (index_t i = 0; i < n * width; ++i) columns.push_back(static_cast<std::int32_t>(i % width));
  const CsrRows<double, std::int32_t> sparse{many.data(), columns.data(), starts.data(), n, width};
  const auto score = [&] {
    Numbers scores(10 * n);
    run_linear_scores(rows, bias, weights.data(), 5, scores.data());
    run_linear_scores(sparse, bias, weights.data(), 5, scores.data() + 5 * n);
    if (scan_values(sparse).fault != Fault::none || scan_structure(sparse, n * width).fault != Fault::none) scores.clear();
    return scores;
  };
  const Numbers alone = score();
  Threads::most = 4;
  if (score() != alone || alone.empty()) std::printf("in_parts: other numbers in several threads\n"), all_same = false;
  compare("in_parts", score);
}

}  // namespace

int main() {
  compare_learner<ConfidentDiagonal<ArowRule>>("ArowDiagonal");
  compare_learner<ConfidentFull<ArowRule>>("ArowFull");
  compare_learner<Ftrl>("Ftrl");
  compare_learner<L1Rda<Direct>>("L1Rda");
  compare_learner<SurestDiagonal<NarowRule>>("NarowDiagonal");
  compare_learner<Pegasos<Direct>>("Pegasos");
  compare_learner<ReweightedL1Rda<AtOnce>>("ReweightedL1Rda");
  compare("ArowJoint", learned_together);
  constexpr index_t n = 80;
  Numbers kernel;
  for (index_t i = 0; i < n; ++i)
    for (index_t j = 0; j < n; ++j) kernel.push_back(data.rows().row(i, 0).dot(data.dense.data() + j * n_features));
  compare("BoxQP", [&kernel] { return solved(kernel, n); });
  compare("svmlight", parsed);
  compare_parts();
  return !all_same;
}
