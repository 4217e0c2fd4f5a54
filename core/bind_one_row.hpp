// Reads single rows: dicts with names or column numbers as keys, or pairs of column numbers and values.
#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "name_table.hpp"
#include "one_row.hpp"

namespace thresher {

namespace nb = nanobind;

struct Rows;

/// The features that a model knows, and the last row read. A row to learn from may have new features, which become known with
/// accept(). In a row to predict, they are ignored.
struct RowReader {
  std::string who;                // the name of the model, for error messages
  NameTable places;               // the column of each name; empty if features have numbers
  std::vector<nb::object> names;  // by column
  index_t n_features;             // known features
  index_t width;                  // with the new features of the last row
  OneRow row;
  std::vector<nb::object> new_names;
  std::vector<nb::object> last;  // keys and values of the last dict: most rows are read twice, first to be predicted
  bool is_whole = false;         // whether `row` has an entry for each key of `last`

  RowReader(std::string model, const nb::iterable& known, index_t n);

  /// Reads a row. Returns the number of features that a model needs to learn from it.
  index_t read(nb::handle x, bool learns);
  /// Takes the only row of a matrix that was checked.
  void take(const Rows& rows);
  /// Makes the new features of the last row known. Returns their names.
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

  std::vector<std::size_t> hashes;  // of the keys of the last dict
};

}  // namespace thresher
