// How often a decay factor falls where: shares of tokens per bin. Pure functions.
//
// Bins are even on the axis that is drawn: eight a decade of 1 - a on the logarithmic one, with a last bin for a = 1
// (the axis' strip), or forty from 0 to 1 on the linear one. Keys are the axis': 1 - a, or a.
#pragma once

#include <optional>
#include <vector>

#include "ui/plots/axis_range.h"

namespace mambarium {

std::vector<double> decayBinEdges(const std::optional<LogRange>& log_axis);  // ascending; nothing: the linear axis

struct DecayHistogram {
  std::vector<std::int64_t> counts;  // one for each pair of neighbouring edges
  std::int64_t total = 0;
  double share(std::size_t bin) const { return static_cast<double>(counts[bin]) / static_cast<double>(total); }
};
// `keys` as they are drawn; one beyond the outermost edges belongs to the bin there.
DecayHistogram decayHistogram(const std::vector<double>& keys, const std::vector<double>& edges);

double medianOf(std::vector<float> values);  // of the finite ones; the upper one of an even number; NaN of none

}  // namespace mambarium
