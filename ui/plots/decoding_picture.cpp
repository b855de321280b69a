#include "ui/plots/decoding_picture.h"

#include <algorithm>
#include <cmath>

#include "ui/plots/number_text.h"

namespace mambarium {

double Decoded::separateWindows() const {
  if (window_bins < 1 || answer.bins.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto wide = static_cast<std::size_t>(window_bins);
  std::size_t separate = 0;
  for (const auto& [first, end] : stretches(answer.bins)) separate += (end - first + wide - 1) / wide;
  return static_cast<double>(answer.windows) * static_cast<double>(separate) / static_cast<double>(answer.bins.size());
}

ShareInterval Decoded::interval() const {
  return wilson_interval(answer.model.accuracy, separateWindows());
}

std::size_t DecodingPicture::answers() const {
  const DecodingData& data = current.answer;
  return data.outputs ? data.output_names.size() : static_cast<std::size_t>(data.model.confusion.shape[0]);
}

QString DecodingPicture::answerName(std::size_t answer) const {
  constexpr std::size_t degrees_apart = 45;
  if (current.answer.outputs) return QString::fromStdString(current.answer.output_names[answer]);
  return angles ? QStringLiteral("%1°").arg(answer * degrees_apart) : QString::number(answer);
}

bool DecodingPicture::knowsIdeal() const {
  return std::isfinite(current.answer.ideal.loss);
}

QString DecodingPicture::timeText(std::int64_t bin) const {
  const double seconds = current.answer.bin_seconds;
  if (!(seconds > 0)) return QStringLiteral("bin ") + stepText(bin);
  constexpr int most_decimals = 3;
  const int decimals = std::clamp(static_cast<int>(std::ceil(-std::log10(seconds))), 0, most_decimals);
  return fixedText(static_cast<double>(bin) * seconds, decimals) + QStringLiteral(" s");
}

double rowWindows(const Tensor& confusion, std::size_t truth) {
  const auto size = static_cast<std::size_t>(confusion.shape[1]);
  double sum = 0;
  for (std::size_t answer = 0; answer < size; ++answer)
    sum += static_cast<double>(confusion.data[truth * size + answer]);
  return sum;
}

double rowShare(const Tensor& confusion, std::size_t truth, std::size_t answer) {
  const double windows = rowWindows(confusion, truth);
  const auto size = static_cast<std::size_t>(confusion.shape[1]);
  return windows > 0 ? static_cast<double>(confusion.data[truth * size + answer]) / windows
                     : std::numeric_limits<double>::quiet_NaN();
}

std::vector<std::pair<std::size_t, std::size_t>> stretches(const std::vector<std::int64_t>& bins) {
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (i > 0 && bins[i] == bins[i - 1] + 1)
      found.back().second = i + 1;
    else
      found.emplace_back(i, i + 1);
  }
  return found;
}

}  // namespace mambarium
