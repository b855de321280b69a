#include "core/decoding/session.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {
namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

void check_size(const DecodingSession& session, const char* what, std::size_t found, std::int64_t rows,
                std::int64_t columns) {
  if (found == index(rows) * index(columns)) return;
  throw std::invalid_argument(session.source + ": " + what + " holds " + std::to_string(found) + " numbers; " +
                              std::to_string(rows) + " bins of " + std::to_string(columns) + " need " +
                              std::to_string(rows * columns));
}

void check_numbers(const DecodingSession& session, const char* what, const std::vector<float>& numbers,
                   std::int64_t columns, float least) {
  const auto bad =
      std::ranges::find_if(numbers, [&](float value) { return !(std::isfinite(value) && value >= least); });
  if (bad == numbers.end()) return;
  const auto place = bad - numbers.begin();
  throw std::invalid_argument(session.source + ": " + what + " is " + shortest(static_cast<double>(*bad)) + " in bin " +
                              std::to_string(place / columns) + ", column " + std::to_string(place % columns) +
                              "; it must be a finite number" + (least == 0 ? " of at least 0" : ""));
}

}  // namespace

void check_session(const DecodingSession& session) {
  if (!(session.bin_seconds > 0 && std::isfinite(session.bin_seconds)))
    throw std::invalid_argument(session.source + ": bins last " + shortest(session.bin_seconds) +
                                " seconds; that must be a number above 0");
  if (session.bins < 1 || session.channels < 1)
    throw std::invalid_argument(session.source + ": holds " + std::to_string(session.bins) + " bins of " +
                                std::to_string(session.channels) + " channels; there must be at least one of each");
  check_size(session, "the spike counts' array", session.counts.size(), session.bins, session.channels);
  check_size(session, "the outputs' array", session.outputs.size(), session.bins, std::ssize(session.output_names));
  if (std::ssize(session.channel_names) != session.channels)
    throw std::invalid_argument(session.source + ": names " + std::to_string(session.channel_names.size()) + " of " +
                                std::to_string(session.channels) + " channels");
  if (session.muscle_outputs < 0 || session.muscle_outputs > std::ssize(session.output_names))
    throw std::invalid_argument(session.source + ": holds " + std::to_string(session.muscle_outputs) +
                                " muscles among its " + std::to_string(session.output_names.size()) + " outputs");
  check_numbers(session, "the spike count", session.counts, session.channels, 0);
  check_numbers(session, "an output", session.outputs, std::ssize(session.output_names),
                std::numeric_limits<float>::lowest());
  std::int64_t end = 0;
  for (std::size_t t = 0; t < session.trials.size(); ++t) {
    const Trial& trial = session.trials[t];
    if (trial.begin < end || trial.end < trial.begin || trial.end > session.bins)
      throw std::invalid_argument(session.source + ": trial " + std::to_string(t + 1) + " lasts from bin " +
                                  std::to_string(trial.begin) + " to " + std::to_string(trial.end) +
                                  "; it must lie within the " + std::to_string(session.bins) +
                                  " bins and after the trial before it");
    end = trial.end;
  }
}

std::int32_t direction_of_target(double degrees) {
  if (std::isnan(degrees)) return -1;
  constexpr double sector = 360.0 / direction_count;
  const double nearest = std::round(degrees / sector);
  if (!(std::abs(degrees) < 1e6) || std::abs(degrees - nearest * sector) > 2)
    throw std::invalid_argument("a target stands at " + shortest(degrees) +
                                " degrees; the eight targets stand at multiples of 45 degrees");
  const auto turns = static_cast<std::int64_t>(nearest) % direction_count;
  return static_cast<std::int32_t>((turns + direction_count) % direction_count);
}

DecodingSession rebin(const DecodingSession& session, double seconds) {
  const double ratio = seconds / session.bin_seconds, rounded = std::round(ratio);
  if (session.reach_before + session.reach_after > 0)
    throw std::invalid_argument(session.source + ": is smoothed; bins are put together before that");
  if (!(rounded >= 1 && rounded < 1e9 && std::abs(ratio - rounded) < 1e-6 * rounded))
    throw std::invalid_argument(session.source + ": bins of " + shortest(session.bin_seconds) +
                                " seconds cannot be put together to bins of " + shortest(seconds) +
                                "; that must be a whole multiple");
  const auto factor = static_cast<std::int64_t>(rounded);
  DecodingSession out = session;
  out.bin_seconds = seconds;
  out.bins = session.bins / factor;
  if (out.bins < 1)
    throw std::invalid_argument(session.source + ": is shorter than one bin of " + shortest(seconds) + " seconds");
  const auto gather = [&](const std::vector<float>& from, std::int64_t columns, double scale) {
    std::vector<float> to(index(out.bins * columns));
    std::vector<double> sums(index(columns));
    for (std::int64_t bin = 0; bin < out.bins; ++bin) {
      std::ranges::fill(sums, 0.0);
      const float* row = from.data() + bin * factor * columns;
      for (std::int64_t k = 0; k < factor; ++k, row += columns)
        for (std::int64_t c = 0; c < columns; ++c) sums[index(c)] += static_cast<double>(row[c]);
      for (std::int64_t c = 0; c < columns; ++c)
        to[index(bin * columns + c)] = static_cast<float>(sums[index(c)] * scale);
    }
    return to;
  };
  out.counts = gather(session.counts, session.channels, 1);
  out.outputs = gather(session.outputs, std::ssize(session.output_names), 1.0 / rounded);
  for (Trial& trial : out.trials) {
    trial.begin = std::min((trial.begin + factor - 1) / factor, out.bins);
    trial.end = std::max(trial.begin, std::min(trial.end / factor, out.bins));
    if (trial.go >= 0) trial.go /= factor;
  }
  return out;
}

DecodingSession smooth(const DecodingSession& session, Smoothing smoothing, double deviation_seconds) {
  if (smoothing == Smoothing::none) return session;
  if (session.reach_before + session.reach_after > 0)
    throw std::invalid_argument(session.source + ": is smoothed already");
  const double deviation = deviation_seconds / session.bin_seconds;
  if (!(deviation > 0 && deviation <= 1000))
    throw std::invalid_argument(session.source + ": cannot be smoothed over " + shortest(deviation_seconds) +
                                " seconds; that must be above 0 and up to 1000 bins");
  const auto reach = static_cast<std::int64_t>(std::floor(3 * deviation));
  DecodingSession out = session;
  out.reach_before = reach;
  out.reach_after = smoothing == Smoothing::causal ? 0 : reach;
  std::vector<double> weights;
  for (std::int64_t lag = 0; lag <= reach; ++lag) {
    const double z = static_cast<double>(lag) / deviation;
    weights.push_back(std::exp(-0.5 * z * z));
  }
  std::vector<double> sums(index(session.channels));
  for (std::int64_t bin = 0; bin < session.bins; ++bin) {
    std::ranges::fill(sums, 0.0);
    double total = 0;
    const std::int64_t first = std::max<std::int64_t>(0, bin - out.reach_before);
    const std::int64_t last = std::min(session.bins - 1, bin + out.reach_after);
    for (std::int64_t from = first; from <= last; ++from) {
      const double weight = weights[index(std::abs(from - bin))];
      total += weight;
      const float* row = session.counts.data() + from * session.channels;
      for (std::int64_t c = 0; c < session.channels; ++c) sums[index(c)] += weight * static_cast<double>(row[c]);
    }
    for (std::int64_t c = 0; c < session.channels; ++c)
      out.counts[index(bin * session.channels + c)] = static_cast<float>(sums[index(c)] / total);
  }
  return out;
}

}  // namespace mambarium
