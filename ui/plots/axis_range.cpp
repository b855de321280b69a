#include "ui/plots/axis_range.h"

#include <algorithm>
#include <cmath>

namespace mambarium {
namespace {

constexpr double tolerance = 1e-9;

double decadeOf(double value) {
  return std::pow(10.0, std::floor(std::log10(value) + tolerance));
}

// Exact where it can be: 2e-4 and not 2.0000000000000002e-4.
double scaled(double mantissa, double decade) {
  return decade < 1 ? mantissa / std::round(1 / decade) : mantissa * std::round(decade);
}

}  // namespace

double niceAbove(double value) {
  const double decade = decadeOf(value);
  const double mantissa = value / decade;
  for (const double nice : {1.0, 2.0, 5.0})
    if (mantissa <= nice * (1 + tolerance)) return scaled(nice, decade);
  return scaled(10, decade);
}

double niceBelow(double value) {
  const double decade = decadeOf(value);
  const double mantissa = value / decade;
  for (const double nice : {5.0, 2.0})
    if (mantissa >= nice * (1 - tolerance)) return scaled(nice, decade);
  return scaled(1, decade);
}

double niceNear(double value) {
  const double above = niceAbove(value), below = niceBelow(value);
  return above / value < value / below ? above : below;
}

AxisRange linearRange(double low, double high, std::optional<AxisRange> previous) {
  const double span = std::max(high - low, std::max(std::abs(high), std::abs(low)) * 1e-6 + 1e-12);
  if (previous && span >= previous->span() / 3) {
    if (previous->lower <= low && high <= previous->upper) return *previous;
    low = std::min(low, previous->lower);
    high = std::max(high, previous->upper);
  }
  const double step = niceAbove(std::max(high - low, span) / 5);
  AxisRange range{std::floor(low / step + tolerance) * step, std::ceil(high / step - tolerance) * step};
  if (range.span() <= 0) range.upper = range.lower + step;
  return range;
}

AxisRange stepRange(std::int64_t step, std::int64_t total) {
  double upper = niceAbove(static_cast<double>(std::max<std::int64_t>(step, 10)));
  if (total >= step && total > 0) upper = std::min(upper, static_cast<double>(total));
  return {0, upper};
}

double LogRange::end() const {
  return has_strip ? floor / std::pow(upper / floor, 0.14) : floor;
}
double LogRange::stripCenter() const {
  return std::sqrt(end() * floor);
}

void LogRangeFinder::add(double value) {
  if (std::isnan(value)) return;
  if (value < lowest_floor_) {
    below_ = true;
    clipped_ = clipped_ || value > 0;
    return;
  }
  smallest_ = smallest_ > 0 ? std::min(smallest_, value) : value;
  largest_ = std::max(largest_, value);
}

LogRange LogRangeFinder::range(std::optional<LogRange> previous) const {
  LogRange range;
  const double smallest = smallest_ > 0 ? smallest_ : lowest_floor_;
  const double largest = largest_ > 0 ? largest_ : lowest_floor_ * 10;
  range.floor = niceBelow(smallest);
  range.upper = niceAbove(largest);
  if (range.upper < range.floor * 5) range.upper = niceAbove(range.floor * 5);
  if (previous && previous->floor <= range.floor && previous->floor * 10 > range.floor &&
      previous->upper >= range.upper && previous->upper < range.upper * 10) {
    range.floor = previous->floor;
    range.upper = previous->upper;
  }
  range.has_strip = below_;
  range.clips_positive = clipped_;
  return range;
}

}  // namespace mambarium
