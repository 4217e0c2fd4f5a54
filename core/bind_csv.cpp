// CSV text in, NumPy arrays out. Checks the structure of what it is given; what text says is the parser's affair.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <string>
#include <vector>

#include "bind_arrays.hpp"
#include "parse_csv.hpp"
#include "split_csv.hpp"
#include "text.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace thresher {
namespace {

nb::tuple text_arrays(TextColumn& text) { return nb::make_tuple(array(text.offsets), array(text.data)); }

template <class Value>
nb::tuple csv(const Chunk& chunk, const std::vector<CsvColumn>& columns, bool has_target, char delimiter) {
  CsvRows<Value> rows(columns, delimiter);
  Progress done;
  {
    nb::gil_scoped_release unlocked;
    done = read_lines(chunk, rows);
  }
  nb::object targets = nb::none();
  if (has_target && !rows.has_text_target()) targets = array(rows.targets);
  if (rows.has_text_target()) {
    targets = text_arrays(rows.texts.back());
    rows.texts.pop_back();
  }
  nb::list texts;
  for (TextColumn& text : rows.texts) texts.append(text_arrays(text));
  nb::object values = array(rows.values, {static_cast<std::size_t>(done.rows), rows.n_numbers()});
  return nb::make_tuple(targets, values, texts, done.consumed, done.lines, done.skipped);
}

void check_delimiter(char delimiter) {
  if (std::strchr("0123456789+-.eE\"\r\n", delimiter)) throw std::invalid_argument("delimiter must not be part of a number.");
}

std::vector<CsvColumn> columns_of(const std::string& kinds, std::int64_t target) {
  const auto n_columns = static_cast<std::int64_t>(kinds.size());
  if (n_columns < 1 || kinds.find_first_not_of("nt-") != std::string::npos)
    throw std::invalid_argument("kinds must be n, t or - for each column.");
  if (target < -1 || target >= n_columns) throw std::invalid_argument("target must be a column, or -1 for none.");
  std::vector<CsvColumn> columns;
  for (char kind : kinds) columns.push_back(kind == 'n' ? CsvColumn::number : kind == 't' ? CsvColumn::text : CsvColumn::passed);
  if (target >= 0) {
    CsvColumn& column = columns[static_cast<std::size_t>(target)];
    if (column == CsvColumn::passed) throw std::invalid_argument("the target must not be passed over.");
    column = column == CsvColumn::number ? CsvColumn::target : CsvColumn::text_target;
  }
  return columns;
}

nb::tuple parse_csv(nb::handle text, const std::string& kinds, bool final, std::int64_t first_line, char delimiter,
                    std::int64_t target, bool float32, bool skip_malformed, std::int64_t max_rows) {
  const std::vector<CsvColumn> columns = columns_of(kinds, target);
  check_delimiter(delimiter);
  const Lent lent(text);
  const Chunk chunk{lent.data(), lent.size(), final, skip_malformed, first_line, max_rows};
  return (float32 ? csv<float> : csv<double>)(chunk, columns, target >= 0, delimiter);
}

nb::tuple split_csv(nb::handle text, bool final, std::int64_t first_line, char delimiter, bool skip_malformed,
                    std::int64_t max_rows) {
  check_delimiter(delimiter);
  const Lent lent(text);
  CsvSplit split(delimiter);
  const Progress done = read_lines({lent.data(), lent.size(), final, skip_malformed, first_line, max_rows}, split);
  nb::list rows;
  for (const auto& row : split.rows) {
    nb::list fields;
    for (const std::string& field : row) fields.append(nb::str(field.data(), field.size()));
    rows.append(fields);
  }
  return nb::make_tuple(rows, done.consumed, done.lines);
}

nb::tuple count_numbers(In<std::int64_t> offsets, In<std::uint8_t> data) {
  const Texts texts = checked_texts(offsets, data);
  std::int64_t n_numbers = 0, n_missing = 0;
  for (std::int64_t i = 0; i < texts.n; ++i) {
    const CsvField field = CsvFields('\t').bare(texts.begin(i), texts.end(i));
    double x = 0;
    n_missing += CsvFields::is_number(field, x) && std::isnan(x);
    n_numbers += !std::isnan(x) || says_infinity(field.begin, field.end);
  }
  return nb::make_tuple(n_numbers, n_missing, texts.n - n_numbers - n_missing);
}

}  // namespace

void bind_csv(nb::module_& m) {
  m.def("parse_csv", &parse_csv, "text"_a, nb::kw_only(), "kinds"_a, "final"_a = true, "first_line"_a = 1, "delimiter"_a = ',',
        "target"_a = -1, "float32"_a = false, "skip_malformed"_a = false, "max_rows"_a = -1,
        "CSV text -> (targets or None, values, texts, consumed bytes, lines, skipped).");
  m.def("split_csv", &split_csv, "text"_a, nb::kw_only(), "final"_a = true, "first_line"_a = 1, "delimiter"_a = ',',
        "skip_malformed"_a = false, "max_rows"_a = -1,
        "CSV text -> (rows of fields as they are written, consumed bytes, lines).");
  m.def("count_numbers", &count_numbers, "offsets"_a.noconvert(), "data"_a.noconvert(),
        "How many values of a text column are numbers, missing, neither.");
}

}  // namespace thresher
