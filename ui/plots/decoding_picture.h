// DecodingPicture: what the views of the decoding panel draw, and how they name and judge it. Values; any thread.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/contract/decoding_inspection.h"
#include "core/contract/wilson_interval.h"

namespace mambarium {

// A run's answer and its look.
struct Decoded {
  QString title;
  int palette_index = 0, marker_index = 0;
  std::int64_t window_bins = 0;  // 0: not known
  DecodingData answer = {};

  // Of the accuracy, 95 %: Wilson's. Windows overlap and share what they see, so only as many count as share no bin
  // with one another: their part of the listed stretch, in all windows of the test part. NaN where it is not known.
  ShareInterval interval() const;
  double separateWindows() const;  // of the test part; NaN where it is not known
};

struct DecodingPicture {
  Decoded current;
  std::vector<Decoded> others = {};              // answers of other runs, of the same kind
  bool angles = false;                           // class d is the direction of 45 d degrees
  std::optional<std::size_t> output;             // the only one that is to be drawn
  std::size_t answers() const;                   // K: classes or outputs
  QString answerName(std::size_t answer) const;  // "135°", "3", "curs_v_x"
  double guessing() const { return 1 / static_cast<double>(answers()); }
  bool knowsIdeal() const;
  // "1103.45 s", or "bin 22,069" where nobody knows how long a bin is.
  QString timeText(std::int64_t bin) const;
};

// Of a confusion matrix [K, K]: the windows of a row, and the share of them in a cell, NaN where the row has none.
double rowWindows(const Tensor& confusion, std::size_t truth);
double rowShare(const Tensor& confusion, std::size_t truth, std::size_t answer);

// [first, end) of the listed windows that follow one another bin by bin: none reaches across a pause.
std::vector<std::pair<std::size_t, std::size_t>> stretches(const std::vector<std::int64_t>& bins);

}  // namespace mambarium
