// CSV text (RFC 4180) -> a dense table of numbers and columns of text. One line is one row, unless a quoted text contains line
// breaks. Missing numbers are NaN and missing texts are empty; the same holds for targets.
#pragma once

#include <string>
#include <vector>

#include "csv_field.hpp"
#include "growing.hpp"
#include "value_format.hpp"

namespace thresher {

/// How a column is read; "written" are values in a format of people rather than programs, see ValueFormat.
enum class CsvColumn : char { number, target, written, written_target, text, text_target, passed };

inline bool is_number(CsvColumn column) { return column <= CsvColumn::target; }

struct CsvColumns {
  std::vector<CsvColumn> kinds;
  std::vector<const ValueFormat*> formats;  // for "written" columns; null for others
};

struct TextColumn {
  Growing<std::int64_t> offsets;  // one more than there are values
  Growing<std::uint8_t> data;
};

template <class Value> class CsvRows {
 public:
  Growing<double> targets;        // kept in a separate array, and never rounded to float32
  Growing<Value> values;          // the other numbers, row by row
  std::vector<TextColumn> texts;  // the columns of text; a text target comes last

  CsvRows(CsvColumns columns, char delimiter)
      : columns_(std::move(columns.kinds)), formats_(std::move(columns.formats)), fields_(delimiter) {
    std::size_t n_texts = 0;
    for (const CsvColumn column : columns_) {
      n_numbers_ += column == CsvColumn::number || column == CsvColumn::written;
      has_target_ |= column == CsvColumn::target || column == CsvColumn::written_target;
      has_text_target_ |= column == CsvColumn::text_target;
      n_texts += column == CsvColumn::text || column == CsvColumn::text_target;
    }
    texts = std::vector<TextColumn>(n_texts);
    found_ = std::vector<CsvField>(n_texts);
    for (TextColumn& text : texts) text.offsets.push(0);
  }

  std::size_t n_numbers() const { return n_numbers_; }
  bool has_text_target() const { return has_text_target_; }

  Outcome read(Line& line) {
    if (fields_.skip_padding(line.begin, line.end) == line.end) return Outcome::nothing;
    const char* p = line.begin;
    Value* out = values.room(n_numbers_);
    double target = 0;
    n_found_ = 0;
    for (field_ = 0;; ++field_) {
      if (field_ == columns_.size()) return refuse(Wrong::count, p, line);
      const CsvColumn column = columns_[field_];
      if (THRESHER_LIKELY(is_number(column))) {  // reading is slower otherwise
        double x;
        const char* next = scan_number(p, line.limit, x);
        if (!next || !fields_.end_at(next, line)) {
          next = fields_.number(p, line, x);
          if (!next) return refuse(Wrong::number, p, line);
        }
        if (column == CsvColumn::target) {
          target = x;
        } else {
          *out = static_cast<Value>(x);
          x = static_cast<double>(*out++);
        }
        if (std::isinf(x)) return refuse(Wrong::infinite, p, line);
        p = next;
      } else {
        const char* const next = read_other(column, p, line);
        if (!next) return wrong_ == Wrong::unfinished ? Outcome::unfinished : refuse(wrong_, p, line);
        if (column == CsvColumn::written) *out++ = static_cast<Value>(written_);
        if (column == CsvColumn::written_target) target = written_;
        p = next;
      }
      if (p >= line.end) break;
      ++p;
    }
    if (field_ + 1 != columns_.size()) {
      n_fields_ = field_ + 1;
      wrong_ = Wrong::count;
      return Outcome::malformed;
    }
    values.commit(n_numbers_);
    if (has_target_) targets.push(target);
    for (std::size_t i = 0; i < found_.size(); ++i) {
      append_text(found_[i], texts[i].data);
      texts[i].offsets.push(static_cast<std::int64_t>(texts[i].data.size()));
    }
    return Outcome::row;
  }

  std::string explain(const Line&) const {
    if (wrong_ == Wrong::count) {
      const std::string expected = std::to_string(columns_.size()) + (columns_.size() == 1 ? " field" : " fields");
      return ": expected " + expected + ", got " + std::to_string(n_fields_) + ".";
    }
    const std::string place = ", field " + std::to_string(field_ + 1) + ": ";
    if (wrong_ == Wrong::encoding) return place + "the text is not UTF-8; name its encoding.";
    if (wrong_ == Wrong::open) return place + "the quote that opens here is not closed.";
    const std::string got = ", got " + quoted(bad_.begin, bad_.end) + ".";
    if (wrong_ == Wrong::behind) return place + "expected nothing behind the closing quote" + got;
    return place + "expected a " + (wrong_ == Wrong::infinite ? "finite number" : expected()) + got;
  }

 private:
  using Wrong = CsvWrong;

  std::string expected() const {
    const ValueFormat* const format = formats_[field_];
    if (!format || format->kind == ValueFormat::Kind::number) return "number";
    return format->kind == ValueFormat::Kind::date ? "date or time" : "truth value";
  }

  /// A field at p that is not a plain number. Returns its end, or null on an error, which `wrong_` explains. A value is left in
  /// `written_`; the position of a text is kept until the whole row is known to be good.
  [[gnu::noinline]] const char* read_other(CsvColumn column, const char* p, Line& line) {
    if (column == CsvColumn::passed) return end_of_field(field_, p, line);
    CsvField field;
    const char* const next = fields_.text(p, line, field, wrong_);
    if (!next) return nullptr;
    if (const ValueFormat* const format = formats_[field_]) {
      wrong_ = Wrong::number;
      if (!format->read(field.begin, field.end, written_)) return nullptr;
      wrong_ = Wrong::infinite;
      return column == CsvColumn::written && std::isinf(static_cast<Value>(written_)) ? nullptr : next;
    }
    wrong_ = Wrong::encoding;
    if (!is_utf8(field.begin, field.end)) return nullptr;
    found_[column == CsvColumn::text ? n_found_++ : found_.size() - 1] = field;
    return next;
  }

  /// Records the error in the field at p and finds the end of the row. If a quote is not closed, the row is its first line only.
  [[gnu::noinline]] Outcome refuse(Wrong wrong, const char* p, Line& line) {
    bad_ = {fields_.skip_padding(p, line.end), fields_.end_in_line(p, line)};
    if (wrong == Wrong::number && says_infinity(bad_.begin, bad_.end)) wrong = Wrong::infinite;
    for (n_fields_ = field_ + 1; wrong != Wrong::open; ++n_fields_) {
      p = end_of_field(n_fields_ - 1, p, line);
      if (!p && wrong_ == Wrong::unfinished) return Outcome::unfinished;
      if (!p || p >= line.end) break;
      ++p;
    }
    if (!p || wrong == Wrong::open) line.cut();
    wrong_ = wrong;
    return Outcome::malformed;
  }

  [[gnu::noinline]] const char* end_of_field(std::size_t field, const char* p, Line& line) {
    CsvField ignored;
    if (field >= columns_.size() || is_number(columns_[field])) return fields_.end_in_line(p, line);
    const char* const next = fields_.text(p, line, ignored, wrong_);
    return next || wrong_ != Wrong::behind ? next : fields_.next_delimiter(ignored.end + 1, line.end);
  }

  std::vector<CsvColumn> columns_;
  std::vector<const ValueFormat*> formats_;
  CsvFields fields_;
  std::vector<CsvField> found_;  // of the current row
  std::size_t n_numbers_ = 0, field_ = 0, n_fields_ = 0, n_found_ = 0;
  bool has_target_ = false, has_text_target_ = false;
  Wrong wrong_ = Wrong::number;
  double written_ = 0;
  CsvField bad_{};  // the field with the error, as written
};

}  // namespace thresher
