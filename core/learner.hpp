// What every learner declares.
//
//   static std::vector<Field> fields(const Source&)    the arrays that survive between passes
//   explicit Learner(const Source&)                    pointers into those arrays, and parameters
//   double margin(const Row&)                          the score that it learns from
//   bool   update(const Row&, y, margin, weight)       one step; true when weights moved
//   double loss(margin, y) const                       the row's loss, for the progressive loss
//   bool   sound() const                               whether its state apart from the weights is still finite
//   bool   wants_settling() const                      whether settle() must come before the next row
//   double weight(j) const                             the weight a prediction uses, j = n_features for the constant
//   double spread(row, keep) const                     if weights have variances: the variance of a score, over features with keep(j)
//   using  Loops = ...                                 if it shares its loops with other learners: the base class that has them
//   void   finish(), settle(), rebuild(), read()       if it has mini-batches, lazy state, derived state, or a view for readers
//
// A Source provides arrays and parameters by name, wherever they are stored. It offers
//   double* array(name, axes)   double* pair(first, second, axis)   n_weights   constant()   number(name)   flag(name)   vector(name, axis)
//   const T& object<T>(name)   loss()
#pragma once
#include <vector>

#include "rows.hpp"

/// Offers a learner to Python: its name there, a line about it, its type. The build binds every such line that starts in the
/// first column of a header in learners/. The macro itself expands to nothing.
#define THRESHER_LEARNER(name, about, ...)

namespace thresher {

/// One array of the state, for each output. Python allocates, saves, merges and grows it; the core only writes to it.
struct Field {
  const char* name;
  const char* axes;          // names of its axes: "weight", "group", "selected", "weight weight", ... ; "" for one number
  double initial;            // on a square of one axis, the initial value of the diagonal
  const char* merge;         // "sum" of changes | "mean" of changes | "precision" (a variance) | "weighted" | "derived"
  const char* by = "";       // for "weighted": the name of the variance that weighs it
  const char* beside = "";   // the field it interleaves with: two arrays read together share cache lines
  const char* lazy = "";     // "steps" that a weight has yet to take, or "rows" that wait for their mini-batch
  const char* domain = "";   // "count" (whole numbers from 0 to 2^53) | "non-negative" | "": implied by initial and merge
  const char* at_most = "";  // the field, a single number, that bounds every entry

  /// The same with a domain, by which untrusted files are checked.
  Field counts(const char* up_to = "") const { return within("count", up_to); }
  Field non_negative(const char* up_to = "") const { return within("non-negative", up_to); }

 private:
  Field within(const char* values, const char* up_to) const {
    Field same = *this;
    same.domain = values;
    same.at_most = up_to;
    return same;
  }
};

/// A learner that has no sums that may overflow, and no lazy state.
struct Plain {
  bool sound() const { return true; }
  bool wants_settling() const { return false; }
};

/// For learners and sums without a mask.
struct AllFeatures {
  bool operator()(index_t) const { return true; }
};

/// For sums without the constant feature.
inline double nothing(index_t, double) { return 0; }

}  // namespace thresher
