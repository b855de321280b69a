// Ranges that grow in steps: an axis changes when data leave it or fill less than a third of it, and not before, so
// that nothing shivers while numbers arrive thirty times a second. Pure functions.
#pragma once

#include <cstdint>
#include <optional>

namespace mambarium {

struct AxisRange {
  double lower = 0, upper = 1;
  double span() const { return upper - lower; }
  bool operator==(const AxisRange&) const = default;
};

// The smallest of 1, 2, 5 times a power of ten that is >= value (value > 0); niceBelow: the largest that is <= value.
double niceAbove(double value);
double niceBelow(double value);
double niceNear(double value);  // the nearest one, by ratio

// A range of whole fifths that holds [low, high]. `previous` is kept while it holds the data and they fill a third of
// it.
AxisRange linearRange(double low, double high, std::optional<AxisRange> previous);

// 0 to the first of 1, 2, 5 x 10^n steps that is >= step, but not beyond `total` (the length of the experiment; 0:
// unknown).
AxisRange stepRange(std::int64_t step, std::int64_t total);

// A logarithmic axis with an honest place for what has no logarithm. Values <= 0, and those below `floor`, are drawn in
// a strip beyond the floor that carries its own label; place() says where a value goes on the axis.
struct LogRange {
  double floor = 1e-3, upper = 1;
  bool has_strip = false;
  bool clips_positive = false;  // some value in the strip is positive but below the floor

  double end() const;  // the axis ends here: floor, or the far edge of the strip
  double stripCenter() const;
  bool inStrip(double value) const { return value < floor; }
  double place(double value) const { return inStrip(value) ? stripCenter() : value; }
  bool operator==(const LogRange&) const = default;
};

// Collects values for a LogRange; NaN is ignored.
class LogRangeFinder {
 public:
  explicit LogRangeFinder(double lowest_floor) : lowest_floor_(lowest_floor) {}
  void add(double value);
  // Bounds are 1, 2, 5 x 10^n; `previous` is kept while it holds the data and is at most a decade too wide on either
  // side.
  LogRange range(std::optional<LogRange> previous) const;

 private:
  double lowest_floor_;
  double smallest_ = 0, largest_ = 0;  // of the positive values at or above the lowest floor; 0: none yet
  bool below_ = false, clipped_ = false;
};

}  // namespace mambarium
