// Reads rows that come one by one: dicts of names or column numbers, or pairs of column numbers and values.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "name_table.hpp"
#include "one_row.hpp"

namespace thresher {

namespace nb = nanobind;

struct Rows;

/// The features that a model knows, and the row that was read last. A row to learn from may show new features; they are known once
/// it was accepted. In a row to predict they count for nothing.
struct RowReader {
  std::string who;                // the model, for refusals
  NameTable places;               // the column of each name; empty if features have numbers
  std::vector<nb::object> names;  // by column
  index_t n_features;             // those that are known
  index_t width;                  // those of the last row
  OneRow row;
  std::vector<nb::object> new_names;
  std::vector<nb::object> last;  // keys and values of a dict: most rows come twice, first to be predicted
  bool is_whole = false;         // whether the row has all of them

  RowReader(std::string model, const nb::iterable& known, index_t n);

  /// Reads a row; returns how many features a model needs to learn from it.
  index_t read(nb::handle x, bool learns);
  /// Takes the only row of a matrix that was looked at.
  void take(const Rows& rows);
  /// Knows the features of the last row from now on; returns names that are new.
  nb::list accept();

 private:
  void begin(index_t wide);
  bool is_last(nb::handle x) const;
  void read_dict(nb::handle x, bool learns);
  void read_items(nb::handle x, bool learns);
  void read_pair(nb::handle x, bool learns);
  void add(nb::handle key, nb::handle value, bool learns);
  void add_name(nb::handle name, std::size_t hash, double value, bool learns);
  void know(nb::object name);
  index_t place(nb::handle name, std::size_t hash) const;
  void add_column(nb::handle key, nb::handle value, bool learns);
  double number(nb::handle value, nb::handle key) const;
  [[noreturn]] void refuse(const std::string& what) const;

  std::vector<std::size_t> hashes;  // of the names of a dict
};

}  // namespace thresher
