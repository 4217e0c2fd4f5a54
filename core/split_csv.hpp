// Splits some rows of CSV text into fields before the columns are known, to inspect the beginning of a file.
#pragma once

#include <string>
#include <vector>

#include "csv_field.hpp"
#include "growing.hpp"

namespace thresher {

class CsvSplit {
 public:
  std::vector<std::vector<std::string>> rows;

  explicit CsvSplit(char delimiter) : fields_(delimiter) {}

  Outcome read(Line& line) {
    if (fields_.skip_padding(line.begin, line.end) == line.end) return Outcome::nothing;
    std::vector<std::string> row;
    for (const char* p = line.begin;; ++p) {
      CsvField field;
      p = fields_.text(p, line, field, wrong_);
      if (!p && wrong_ == CsvWrong::unfinished) return Outcome::unfinished;
      if (!p && wrong_ == CsvWrong::behind) p = fields_.next_delimiter(field.end + 1, line.end);
      n_fields_ = row.size() + 1;
      if (!p) {
        line.cut();
        return Outcome::malformed;
      }
      Growing<std::uint8_t> text;
      append_text(field, text);
      row.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
      if (p >= line.end) break;
    }
    rows.push_back(std::move(row));
    return Outcome::row;
  }

  std::string explain(const Line&) const {
    return ", field " + std::to_string(n_fields_) + ": the quote that opens here is not closed.";
  }

 private:
  CsvFields fields_;
  CsvWrong wrong_ = CsvWrong::open;
  std::size_t n_fields_ = 0;
};

}  // namespace thresher
