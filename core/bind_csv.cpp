// CSV text to NumPy arrays. Checks the structure of its arguments; the parser checks the text.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <limits>
#include <map>
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
nb::tuple csv(const Chunk& chunk, const CsvColumns& columns, bool has_target, char delimiter) {
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

using Formats = std::map<std::int64_t, const ValueFormat*>;

CsvColumns columns_of(const std::string& kinds, std::int64_t target, const Formats& formats) {
  const auto n_columns = static_cast<std::int64_t>(kinds.size());
  if (n_columns < 1 || kinds.find_first_not_of("nt-") != std::string::npos)
    throw std::invalid_argument("kinds must be n, t or - for each column.");
  if (target < -1 || target >= n_columns) throw std::invalid_argument("target must be a column, or -1 for none.");
  CsvColumns columns{{}, std::vector<const ValueFormat*>(kinds.size())};
  for (char kind : kinds)
    columns.kinds.push_back(kind == 'n' ? CsvColumn::number : kind == 't' ? CsvColumn::text : CsvColumn::passed);
  for (const auto& [place, format] : formats) {
    if (place < 0 || place >= n_columns || kinds[static_cast<std::size_t>(place)] != 'n' || !format)
      throw std::invalid_argument("formats must be those of columns of numbers.");
    columns.kinds[static_cast<std::size_t>(place)] = CsvColumn::written;
    columns.formats[static_cast<std::size_t>(place)] = format;
  }
  if (target >= 0) {
    CsvColumn& column = columns.kinds[static_cast<std::size_t>(target)];
    if (column == CsvColumn::passed) throw std::invalid_argument("the target must not be passed over.");
    column = column == CsvColumn::number  ? CsvColumn::target
           : column == CsvColumn::written ? CsvColumn::written_target
                                          : CsvColumn::text_target;
  }
  return columns;
}

nb::tuple parse_csv(nb::handle text, const std::string& kinds, bool final, std::int64_t first_line, char delimiter,
                    std::int64_t target, const Formats& formats, bool float32, bool skip_malformed, std::int64_t max_rows) {
  const CsvColumns columns = columns_of(kinds, target, formats);
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
    for (const std::string& field : row)
      fields.append(nb::steal(PyUnicode_DecodeUTF8(field.data(), static_cast<Py_ssize_t>(field.size()), "replace")));
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

ValueFormat value_format(const std::string& kind, const std::string& decimal, const std::string& thousands, std::string unit,
                         std::string pattern, std::vector<std::string> yes, std::vector<std::string> no,
                         std::vector<std::string> missing) {
  const bool marks = (decimal == "." || decimal == ",") && decimal != thousands && thousands.size() <= 1;
  if (!marks || (!thousands.empty() && !std::strchr(".,' ", thousands[0]))) throw std::invalid_argument("unknown marks.");
  ValueFormat format;
  if (kind == "date") format.kind = ValueFormat::Kind::date;
  else if (kind == "boolean") format.kind = ValueFormat::Kind::boolean;
  else if (kind != "number") throw std::invalid_argument("kind must be number, date or boolean.");
  format.decimal = decimal[0];
  format.thousands = thousands.empty() ? '\0' : thousands[0];
  format.unit = std::move(unit);
  format.pattern = std::move(pattern);
  format.yes = std::move(yes);
  format.no = std::move(no);
  format.missing = std::move(missing);
  return format;
}

/// Values of a column of text, NaN where they are missing or not in the format. Also the first row that is not in the format (or
/// -1), and how many values are missing and how many are not in the format.
nb::tuple read_values(In<std::int64_t> offsets, In<std::uint8_t> data, const ValueFormat& format) {
  const Texts texts = checked_texts(offsets, data);
  Growing<double> values;
  std::int64_t first = -1, n_missing = 0, n_wrong = 0;
  {
    nb::gil_scoped_release unlocked;
    for (std::int64_t i = 0; i < texts.n; ++i) {
      double x;
      const bool good = format.read(texts.begin(i), texts.end(i), x);
      if (!good && n_wrong++ == 0) first = i;
      n_missing += good && std::isnan(x);
      values.push(good ? x : std::numeric_limits<double>::quiet_NaN());
    }
  }
  return nb::make_tuple(array(values), first, n_missing, n_wrong);
}

}  // namespace

void bind_csv(nb::module_& m) {
  nb::class_<ValueFormat>(m, "ValueFormat", "How the values of one column are written.")
      .def(nb::new_(&value_format), "kind"_a, nb::kw_only(), "decimal"_a = ".", "thousands"_a = "", "unit"_a = "",
           "pattern"_a = "", "yes"_a = std::vector<std::string>{}, "no"_a = std::vector<std::string>{},
           "missing"_a = std::vector<std::string>{});
  m.def("read_values", &read_values, "offsets"_a.noconvert(), "data"_a.noconvert(), "format"_a,
        "Texts -> (values, the first row that is not of the format or -1, how many are missing, how many are not of it).");
  m.def("parse_csv", &parse_csv, "text"_a, nb::kw_only(), "kinds"_a, "final"_a = true, "first_line"_a = 1, "delimiter"_a = ',',
        "target"_a = -1, "formats"_a = Formats{}, "float32"_a = false, "skip_malformed"_a = false, "max_rows"_a = -1,
        "CSV text -> (targets or None, values, texts, consumed bytes, lines, skipped).");
  m.def("split_csv", &split_csv, "text"_a, nb::kw_only(), "final"_a = true, "first_line"_a = 1, "delimiter"_a = ',',
        "skip_malformed"_a = false, "max_rows"_a = -1,
        "CSV text -> (rows of fields as they are written, consumed bytes, lines).");
  m.def("count_numbers", &count_numbers, "offsets"_a.noconvert(), "data"_a.noconvert(),
        "How many values of a text column are numbers, missing, neither.");
}

}  // namespace thresher
