#include "core/decoding/xds_session.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/contract/text.h"
#include "core/decoding/mat_struct.h"

namespace mambarium {
namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

void append_utf8(std::string& text, double code) {
  const auto letter = code >= 1 && code < 0x10000 ? static_cast<std::uint32_t>(code) : std::uint32_t{'?'};
  if (letter < 0x80) {
    text += static_cast<char>(letter);
  } else if (letter < 0x800) {
    text += static_cast<char>(0xC0u | letter >> 6);
    text += static_cast<char>(0x80u | (letter & 0x3Fu));
  } else if (letter >= 0xD800 && letter < 0xE000) {
    text += '?';
  } else {
    text += static_cast<char>(0xE0u | letter >> 12);
    text += static_cast<char>(0x80u | (letter >> 6 & 0x3Fu));
    text += static_cast<char>(0x80u | (letter & 0x3Fu));
  }
}

std::string row_of_text(const MatValue& text, std::int64_t row) {
  std::string out;
  for (std::int64_t column = 0; column < text.columns; ++column)
    append_utf8(out, text.numbers[index(column * text.rows + row)]);
  return std::string(trimmed(out));
}

class XdsReader {
 public:
  explicit XdsReader(const std::filesystem::path& path) : path_(path.string()), xds_(open_mat_struct(path, "xds")) {}

  DecodingSession read() {
    session_.source = path_;
    read_time();
    read_spikes();
    read_names();
    read_outputs();
    read_trials();
    check_session(session_);
    return std::move(session_);
  }

 private:
  [[noreturn]] void fail(const std::string& field, const std::string& what) const {
    throw std::invalid_argument(path_ + ": xds." + field + " " + what);
  }
  static std::string size_of(const MatValue& value) {
    return std::to_string(value.rows) + " by " + std::to_string(value.columns);
  }

  // Nothing for a field that is not there or empty.
  std::optional<MatValue> optional(const std::string& field, MatValue::Kind kind, const char* what) const {
    auto value = xds_->read(field);
    if (!value) return value;
    const bool is_empty = value->kind != MatValue::Kind::other && value->numbers.empty() && value->cells.empty();
    if (is_empty) return std::nullopt;
    if (value->kind != kind) fail(field, std::string("holds no ") + what);
    return value;
  }
  MatValue numbers(const std::string& field) const {
    auto value = optional(field, MatValue::Kind::numbers, "real numbers");
    if (!value) fail(field, "is missing or empty; a session needs it");
    return std::move(*value);
  }
  std::vector<double> list(const std::string& field) const {
    MatValue value = numbers(field);
    if (value.rows != 1 && value.columns != 1) fail(field, "is " + size_of(value) + "; it must be a row or a column");
    return std::move(value.numbers);
  }

  // The texts of a cell array, or the rows of a matrix of characters.
  std::optional<std::vector<std::string>> texts(const std::string& field) const {
    const auto value = xds_->read(field);
    std::vector<std::string> out;
    if (!value) return std::nullopt;
    if (value->kind == MatValue::Kind::text) {
      for (std::int64_t row = 0; row < value->rows && !value->numbers.empty(); ++row)
        out.push_back(row_of_text(*value, row));
    } else if (value->kind == MatValue::Kind::cells) {
      for (const MatValue& cell : value->cells) {
        const bool is_empty = cell.kind != MatValue::Kind::other && cell.numbers.empty() && cell.cells.empty();
        if (cell.kind != MatValue::Kind::text && !is_empty) fail(field, "holds something other than texts");
        out.push_back(is_empty ? "" : row_of_text(cell, 0));
      }
    } else if (value->kind == MatValue::Kind::other || !value->numbers.empty()) {
      fail(field, "holds no texts");
    }
    return out;
  }

  void read_time() {
    const auto width = list("bin_width"), time = list("time_frame");
    if (width.size() != 1 || !(width[0] > 0 && std::isfinite(width[0])))
      fail("bin_width", "must be one number of seconds above 0");
    session_.bin_seconds = width[0];
    session_.bins = std::ssize(time);
    start_ = time.front();
    for (std::size_t bin = 1; bin < time.size(); ++bin)
      if (!(time[bin] > time[bin - 1]))
        fail("time_frame", "is " + shortest(time[bin]) + " in bin " + std::to_string(bin + 1) + " and " +
                               shortest(time[bin - 1]) + " in the one before; time must rise from bin to bin");
    const double expected = static_cast<double>(session_.bins - 1) * width[0];
    if (!(std::abs(time.back() - start_ - expected) <= width[0]))
      fail("time_frame", "runs from " + shortest(start_) + " to " + shortest(time.back()) + " seconds in " +
                             std::to_string(time.size()) + " bins, which are not bin_width = " + shortest(width[0]) +
                             " seconds apart");
  }

  // [rows, columns] of MATLAB's order, one row for every bin.
  void check_rows(const std::string& field, const MatValue& value) const {
    if (value.rows != session_.bins)
      fail(field, "is " + size_of(value) + "; time_frame has " + std::to_string(session_.bins) +
                      " bins, so it must have as many rows");
  }

  void read_spikes() {
    const auto counts = optional("spike_counts", MatValue::Kind::numbers, "real numbers");
    if (!counts) {
      bin_spikes();
      return;
    }
    check_rows("spike_counts", *counts);
    session_.channels = counts->columns;
    session_.counts.resize(counts->numbers.size());
    for (std::int64_t c = 0; c < counts->columns; ++c)
      for (std::int64_t bin = 0; bin < counts->rows; ++bin)
        session_.counts[index(bin * counts->columns + c)] =
            static_cast<float>(counts->numbers[index(c * counts->rows + bin)]);
  }

  void bin_spikes() {
    const auto spikes = optional("spikes", MatValue::Kind::cells, "cell of spike times");
    if (!spikes) fail("spike_counts", "and xds.spikes are missing or empty; a session needs one of them");
    session_.channels = std::ssize(spikes->cells);
    session_.counts.assign(index(session_.bins * session_.channels), 0);
    for (std::int64_t c = 0; c < session_.channels; ++c) {
      const MatValue& times = spikes->cells[index(c)];
      if (times.kind != MatValue::Kind::numbers && !(times.kind != MatValue::Kind::other && times.numbers.empty()))
        fail("spikes", "holds no real numbers for channel " + std::to_string(c + 1));
      for (const double time : times.numbers) {
        const double bin = std::floor((time - start_) / session_.bin_seconds + slack);
        if (std::isnan(bin)) fail("spikes", "holds NaN for channel " + std::to_string(c + 1));
        if (bin < 0 || bin >= static_cast<double>(session_.bins)) continue;
        ++session_.counts[index(static_cast<std::int64_t>(bin) * session_.channels + c)];
      }
    }
  }

  void read_names() {
    auto names = texts("unit_names");
    if (!names || names->empty()) {
      for (std::int64_t c = 0; c < session_.channels; ++c)
        session_.channel_names.push_back("channel " + std::to_string(c + 1));
      return;
    }
    if (std::ssize(*names) != session_.channels)
      fail("unit_names", "holds " + std::to_string(names->size()) + " names for " + std::to_string(session_.channels) +
                             " channels; it must hold one for each");
    session_.channel_names = std::move(*names);
  }

  void read_outputs() {
    std::vector<MatValue> columns;
    for (const std::string field : {"EMG", "force", "curs_p", "curs_v"}) {
      auto value = optional(field, MatValue::Kind::numbers, "real numbers");
      if (!value) continue;
      check_rows(field, *value);
      auto names = field == "EMG" ? texts("EMG_names") : std::nullopt;
      if (names && !names->empty() && std::ssize(*names) != value->columns)
        fail("EMG_names", "holds " + std::to_string(names->size()) + " names for " + std::to_string(value->columns) +
                              " columns of EMG; it must hold one for each");
      for (std::int64_t c = 0; c < value->columns; ++c) {
        const std::string number = std::to_string(c + 1);
        const std::string last = field == "EMG" || c > 2 ? number : std::string(1, "xyz"[c]);
        session_.output_names.push_back(names && !names->empty() ? (*names)[index(c)] : field + "_" + last);
      }
      if (field == "EMG") session_.muscle_outputs = value->columns;
      columns.push_back(std::move(*value));
    }
    const auto outputs = std::ssize(session_.output_names);
    session_.outputs.resize(index(session_.bins * outputs));
    std::int64_t first = 0;
    for (const MatValue& value : columns) {
      for (std::int64_t c = 0; c < value.columns; ++c)
        for (std::int64_t bin = 0; bin < value.rows; ++bin)
          session_.outputs[index(bin * outputs + first + c)] =
              static_cast<float>(value.numbers[index(c * value.rows + bin)]);
      first += value.columns;
    }
  }

  std::string results() const {
    const auto rows = texts("trial_result");
    if (!rows || rows->empty()) fail("trial_result", "is missing or empty; a session needs it");
    if (rows->size() == 1) return rows->front();
    std::string letters;
    for (const std::string& row : *rows) letters += row.empty() ? ' ' : row.front();
    return letters;
  }

  void read_trials() {
    const std::string result = results();
    const auto begin = list("trial_start_time"), end = list("trial_end_time"), target = list("trial_target_dir");
    std::vector<double> go(result.size(), std::nan(""));
    if (optional("trial_gocue_time", MatValue::Kind::numbers, "real numbers")) go = list("trial_gocue_time");
    for (const auto& [field, count] : {std::pair{"trial_start_time", begin.size()},
                                       {"trial_end_time", end.size()},
                                       {"trial_target_dir", target.size()},
                                       {"trial_gocue_time", go.size()}})
      if (count != result.size())
        fail(field, "holds " + std::to_string(count) + " trials and trial_result " + std::to_string(result.size()) +
                        "; there must be as many");
    const auto first_bin_from = [&](double time) {
      const double bin = std::ceil((time - start_) / session_.bin_seconds - slack);
      return static_cast<std::int64_t>(std::clamp(bin, 0.0, static_cast<double>(session_.bins)));
    };
    for (std::size_t t = 0; t < result.size(); ++t) {
      if (std::isnan(begin[t]) || std::isnan(end[t])) continue;
      if (end[t] < begin[t])
        fail("trial_end_time", "is " + shortest(end[t]) + " for trial " + std::to_string(t + 1) +
                                   ", before its start at " + shortest(begin[t]));
      Trial trial{first_bin_from(begin[t]), first_bin_from(end[t]), -1, -1, result[t] == 'R'};
      if (trial.begin == trial.end) continue;
      if (!std::isnan(go[t])) trial.go = std::min(first_bin_from(go[t]), session_.bins - 1);
      try {
        trial.direction = direction_of_target(target[t]);
      } catch (const std::invalid_argument& error) {
        if (trial.rewarded) fail("trial_target_dir", "of trial " + std::to_string(t + 1) + ": " + error.what());
      }
      session_.trials.push_back(trial);
    }
    session_.trials_left_out = std::ssize(result) - std::ssize(session_.trials);
  }

  static constexpr double slack = 1e-6;  // of a bin: times are decimal fractions that were rounded

  std::string path_;
  std::unique_ptr<MatStruct> xds_;
  DecodingSession session_;
  double start_ = 0;
};

}  // namespace

DecodingSession read_xds_session(const std::filesystem::path& path) {
  return XdsReader(path).read();
}

}  // namespace mambarium
