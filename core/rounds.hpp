// The clock of multi-task learning. A round holds at most one row per task, and all rows of a round are scored with the same
// weights.
#pragma once
#include "learner.hpp"
#include "matrix_pass.hpp"

namespace thresher {

/// A new round starts when the id of the rows changes, or when a task occurs again. An open round is kept in the state: n_seen
/// counts its rows at once, and last_round tells which tasks it holds, so closing it is O(1).
struct Rounds {
  double *n_rounds, *is_open, *id;  // n_rounds: complete rounds
  double *n_seen, *last_round;      // for each task: its number of rows, and the round of its last row
  index_t n_tasks;

  static void declare(std::vector<Field>& fields) {
    fields.push_back(Field{"n_rounds", "", 0.0, "sum"}.counts());
    fields.push_back(Field{"is_open", "", 0.0, "derived"}.counts());
    fields.push_back({"round_id", "", 0.0, "derived"});
    fields.push_back(Field{"n_seen", "task", 0.0, "sum"}.counts());
    fields.push_back(Field{"last_round", "task", 0.0, "derived"}.counts());
  }
  template <class Source>
  explicit Rounds(const Source& s)
      : n_rounds(s.array("n_rounds", "")), is_open(s.array("is_open", "")), id(s.array("round_id", "")),
        n_seen(s.array("n_seen", "task")), last_round(s.array("last_round", "task")), n_tasks(s.extent("task")) {}

  double number() const { return *n_rounds + 1; }  // of the open round, or the next one
  bool holds(index_t task) const { return *is_open != 0 && last_round[task] == number(); }
  bool ends_before(const Item& item) const { return *is_open != 0 && (item.round != *id || holds(item.code)); }
  bool ends_after(const Item& item) const { return item.round == MatrixLesson::alone; }
  void join(const Item& item) {
    *is_open = 1;
    *id = item.round;
    ++n_seen[item.code];
    last_round[item.code] = number();
  }
  void close() {
    *is_open = 0;
    ++*n_rounds;
  }
  /// Rows of a task in complete rounds, but at least 1, since it is a divisor.
  double seen_before(index_t task) const { return std::max(n_seen[task] - holds(task), 1.0); }
  /// The same, with the open round counted as complete.
  double seen(index_t task) const { return std::max(n_seen[task], 1.0); }
  double n_with_open() const { return *n_rounds + *is_open; }
};

}  // namespace thresher
