// Streamlines: solutions of dz/dt = v(z) through a seed, by the embedded Runge-Kutta pair 5(4) of Dormand and Prince
// with error control, and its fourth-order interpolant between steps, so that smooth lines cost few evaluations.
//
// "Box lengths" are lengths in coordinates in which the box is a unit square or cube: what is long, near and bent is
// judged as it is seen, however different the extents of the axes are.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/flow/box.h"
#include "core/flow/field_view.h"

namespace mambarium {

enum class StreamlineDirection { forward, backward, both };

enum class StreamlineEnd {
  seed,      // this side was not followed
  border,    // at the border of the box; a seed outside it stays alone
  no_field,  // the field has no value further on
  at_rest,   // slower than `rest` of the fastest point on this side: a fixed point is near
  length,    // as long as asked for
  points     // as many points as asked for
};

struct StreamlineOptions {
  StreamlineDirection direction = StreamlineDirection::both;
  double tolerance = 1e-6;  // local error per step, in box lengths
  double spacing = 0.01;    // longest segment, in box lengths
  double turn = 0.2;        // largest bend between two segments, about, in radians
  double longest = 2;       // of each side, in box lengths
  double rest = 1e-3;
  std::int64_t most_points = 2000;  // of each side, the seed not counted
};

struct Streamline {
  std::int64_t dimension = 0;
  std::vector<double> points;  // [count, dimension], along the flow
  std::vector<double> speed;   // [count]: |v|, in the units of z
  std::vector<double> time;    // [count]: 0 at the seed, below 0 before it
  double arc_length = 0;       // of the polyline, in the units of z
  StreamlineEnd backward_end = StreamlineEnd::seed, forward_end = StreamlineEnd::seed;

  std::int64_t count() const { return std::ssize(speed); }
};

// Through one seed [dimension]. Where the field has no value at the seed the line is empty and both ends are no_field.
// Throws std::invalid_argument on a dimension outside 1 .. 16, a box or a seed that does not fit, an option not above
// 0.
Streamline streamline(FieldView field, std::span<const double> seed, const Box& box,
                      const StreamlineOptions& options = {});

// Through each of the seeds [count, dimension], in their order.
std::vector<Streamline> streamlines(FieldView field, std::span<const double> seeds, const Box& box,
                                    const StreamlineOptions& options = {});

}  // namespace mambarium
