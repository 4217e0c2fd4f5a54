// Joint steps for several classes, with any learner of two classes.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "loss.hpp"
#include "matrix_pass.hpp"

namespace thresher {

/// The best-scoring class other than `code`.
inline index_t rival(const double* scores, index_t n_classes, index_t code) {
  index_t best = code == 0 ? 1 : 0;
  for (index_t k = best + 1; k < n_classes; ++k)
    if (k != code && scores[k] > scores[best]) best = k;
  return best;
}

/// A row for one class. The weights of all classes form one vector, in which the classes of a feature are adjacent.
template <class Row>
struct RowOfClass : RowOf<RowOfClass<Row>> {
  const Row& x;
  index_t n_classes, code;

  RowOfClass(const Row& row, index_t n, index_t k) : x(row), n_classes(n), code(k) {}
  using RowOf<RowOfClass>::sum;
  using RowOf<RowOfClass>::each;

  template <class F>
  auto here(F f) const {
    return [f, n = n_classes, k = code](index_t j, double xj) mutable { return f(j * n + k, xj); };
  }
  template <class Term, class Constant>
  double sum(Term term, Constant constant) const {
    return x.sum(here(term), here(constant));
  }
  template <class F, class Constant>
  void each(F f, Constant constant) const {
    x.each(here(f), here(constant));
  }
  template <class Term>
  double of_constant(Term term) const {
    return x.of_constant(here(term));
  }
};

/// x for one class and -x for its rival, in one loop that runs for both.
template <class Row>
struct RowOfTwo : RowOf<RowOfTwo<Row>> {
  struct Side {
    RowOfClass<Row> x;
    double sign;
  };
  Side sides[2];

  RowOfTwo(const Row& x, index_t n, index_t code, index_t rival) : sides{{{x, n, code}, 1}, {{x, n, rival}, -1}} {}
  using RowOf<RowOfTwo>::sum;
  using RowOf<RowOfTwo>::each;

  template <class F>
  static auto signed_as(const Side& side, F& f) {
    return [&f, sign = side.sign](index_t j, double xj) { return f(j, sign * xj); };
  }
  template <class Term, class Constant>
  double sum(Term term, Constant constant) const {
    double total = 0;
#pragma GCC unroll 1
    for (const Side& side : sides) total += side.x.sum(signed_as(side, term), signed_as(side, constant));
    return total;
  }
  template <class F, class Constant>
  void each(F f, Constant constant) const {
#pragma GCC unroll 1
    for (const Side& side : sides) side.x.each(signed_as(side, f), signed_as(side, constant));
  }
  template <class Term>
  double of_constant(Term term) const {
    double total = 0;
    for (const Side& side : sides) total += side.x.of_constant(signed_as(side, term));
    return total;
  }
};

/// The arrays of a source, with an entry per class for each weight.
template <class Source>
struct SourceOfClasses {
  const Source& source;
  index_t n_weights, n_classes;

  SourceOfClasses(const Source& s, index_t n) : source(s), n_weights(s.n_weights * n), n_classes(n) {}

  static const char* all(const char* axes) { return std::strcmp(axes, "weight") == 0 ? "weight output" : axes; }
  index_t constant() const { return source.constant() * n_classes; }
  double* array(const char* name, const char* axes) const { return source.array(name, all(axes)); }
  double* pair(const char* first, const char* second) const { return source.pair(first, second, "weight output"); }
  double number(const char* name) const { return source.number(name); }
  bool flag(const char* name) const { return source.flag(name); }
  const double* vector(const char* name) const { return source.vector(name, "weight output"); }
  const Loss& loss() const { return source.loss(); }
};

/// A row of class t is compared with its rival b, the best-scoring of the other classes. This is a two-class problem whose
/// features are x for t and -x for b, and whose margin is the lead of t, so any learner of two classes has a joint form. Scoring
/// costs O(n_classes) per non-zero; an update changes two classes. Crammer & Singer, JMLR 2 (2001).
template <class Learner>
struct JointOf {
  static constexpr const char* outputs = "output";  // the axis of the classes
  static constexpr bool codes_are_outputs = true;
  index_t n_classes;
  Learner learner;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all = Learner::fields(s);
    for (Field& field : all) field.axes = SourceOfClasses<Source>::all(field.axes);
    return all;
  }
  template <class Source>
  explicit JointOf(const Source& s) : n_classes(s.extent("output")), learner(SourceOfClasses<Source>(s, n_classes)) {}

  index_t width() const { return n_classes; }
  void open(const Item&) {}
  template <class Row>
  THRESHER_APART void score(const Row& x, const Item&, double* out) {
    for (index_t k = 0; k < n_classes; ++k) out[k] = learner.margin(RowOfClass<Row>(x, n_classes, k));
  }
  template <class Row>
  THRESHER_APART void look(const Row& x, const Item&, double* out) const {
    for (index_t k = 0; k < n_classes; ++k) out[k] = thresher::look(learner, RowOfClass<Row>(x, n_classes, k));
  }
  template <class Row>
  THRESHER_APART void judged(const Row& x, const double* out, double* to) const {
    for (index_t k = 0; k < n_classes; ++k) to[k] = thresher::judged(learner, RowOfClass<Row>(x, n_classes, k), out[k], 0);
  }
  void weights(index_t j, double* out) const {
    for (index_t k = 0; k < n_classes; ++k) out[k] = learner.weight(j * n_classes + k);
  }
  double loss(const double* out, const Item& item) const { return learner.loss(lead(out, item), 1); }
  bool wrong(const double* out, const Item& item) const { return std::max_element(out, out + n_classes) - out != item.code; }
  template <class Row>
  bool update(const Row& x, const Item& item, const double* out) {
    const index_t other = rival(out, n_classes, item.code);
    return learner.update(RowOfTwo<Row>(x, n_classes, item.code, other), 1, out[item.code] - out[other], item.weight);
  }
  bool sound() const { return learner.sound(); }
  bool wants_settling() const { return learner.wants_settling(); }
  void finish() { learner.finish(); }
  void settle() { learner.settle(); }
  void rebuild() { learner.rebuild(); }

 private:
  double lead(const double* out, const Item& item) const { return out[item.code] - out[rival(out, n_classes, item.code)]; }
};

}  // namespace thresher
