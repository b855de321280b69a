// FlowPicture: what a flow scene draws, as plain data. Everything is in the coordinates z of the field, never in
// pixels.
//
// z has two or three coordinates; in dimension 2 the third entry of every FlowPoint is ignored. Speeds are |v(z)| >= 0;
// NaN stands for "not known there" and is drawn in grey. Points may lie outside the bounds; they are drawn all the
// same.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mambarium {

using FlowPoint = std::array<double, 3>;

struct FlowLine {
  std::vector<FlowPoint> points;
  std::vector<double> speeds;  // one a point
};

struct FlowGlyph {
  FlowPoint position{}, vector{};
};

// The path of z along a sequence. tokens[i] is the position t of the token after which z was at points[i], ascending.
struct FlowTrajectory {
  std::vector<FlowPoint> points;
  std::vector<std::int64_t> tokens;  // one a point; empty: 0, 1, 2 ...
  int palette_index = 1;             // Theme::runColor; only the current trajectory wears it
  bool seeded = false;               // a streamline from a point that was read: wider, in the accent colour
};

struct FlowEigenvector {
  FlowPoint direction{};   // of any length but zero
  bool attracting = true;  // solid; repelling: dashed
};

struct FlowFixedPoint {
  FlowPoint position{};
  std::string type{};                               // "stable focus", as a person reads it
  bool stable = true;                               // a filled mark; otherwise hollow
  std::vector<FlowEigenvector> directions{};        // real eigenvectors
  std::vector<std::complex<double>> eigenvalues{};  // as eigenvalueText() wants them
};

// Cells of one size whose speed is below `below`.
struct FlowSlowRegion {
  double below = 0;
  FlowPoint cell{};              // the sides of a cell
  std::vector<FlowPoint> cells;  // their centres, on one regular grid
};

// Dimension 2: speeds[row * columns + column] at evenly spaced nodes, column 0 at lower[0], row 0 at lower[1], the last
// ones at upper. Shape [rows, columns].
struct FlowSpeedGrid {
  int columns = 0, rows = 0;  // each at least 2
  std::array<double, 2> lower{}, upper{};
  std::vector<double> speeds;
};

// Which speeds the ends of the colour scale stand for; speeds beyond them wear the end's colour.
struct FlowSpeedRange {
  double lower = 0, upper = 1;  // lower < upper; logarithmic: 0 < lower
  bool logarithmic = false;
  bool operator==(const FlowSpeedRange&) const = default;
};

struct FlowPicture {
  int dimension = 2;
  std::array<std::string, 3> axis_names = {"z_1", "z_2", "z_3"};  // what follows _ is a subscript
  FlowPoint lower{-1, -1, -1}, upper{1, 1, 1};                    // the box of the axes
  bool equal_units = true;  // one unit is as long along each axis; false: the box is drawn as a cube (a square)
  FlowSpeedRange speed;

  std::vector<FlowLine> lines;
  std::vector<FlowGlyph> glyphs;
  std::vector<FlowTrajectory> trajectories;
  int current_trajectory = -1;         // an index; -1: none
  std::optional<std::int64_t> cursor;  // the token under the mouse: a ball on the current trajectory
  std::optional<FlowFixedPoint> fixed_point;
  std::optional<FlowSlowRegion> slow_region;
  std::optional<FlowSpeedGrid> surface;  // dimension 2 only
};

// Throws std::invalid_argument with one sentence that says where, what and what would be right.
void validate(const FlowPicture& picture);

// The place of a speed on the colour scale, 0 .. 1, also of a speed 0 on a logarithmic one; NaN stays NaN.
double shadeOf(double speed, const FlowSpeedRange& range);

}  // namespace mambarium
