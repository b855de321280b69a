// A box in 2, 3 or more dimensions: what part of the latent space is looked at.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

struct Box {
  std::vector<double> lower, upper;  // one number per dimension

  std::int64_t dimension() const { return std::ssize(lower); }
  double extent(std::int64_t axis) const { return upper[axis] - lower[axis]; }
  double diagonal() const;
  bool contains(std::span<const double> z) const;  // borders belong to it
  bool operator==(const Box&) const = default;
};

// Throws std::invalid_argument, beginning with `where`, unless lower < upper in every one of `dimension` dimensions.
void check_box(const Box& box, std::int64_t dimension, const char* where);

// The box of these points [count, dimension], widened on each side by `margin` of its extent; a dimension in which they
// do not vary gets the widest other extent, or 1. Throws std::invalid_argument without points or where one is not
// finite.
Box box_around(std::span<const double> points, std::int64_t dimension, double margin);

}  // namespace mambarium
