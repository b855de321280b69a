#include "ui/scene/flow_geometry.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "ui/scene/flow_vector.h"

namespace mambarium {
namespace {

constexpr double cone_length = 0.05, cone_radius = 0.013;
constexpr double shortest_with_cone = 0.15;
constexpr double glyph_length = 0.16, glyph_radius = 0.005;
constexpr double eigenvector_length = 0.28, dash_length = 0.025;

float shade(const FlowPicture& picture, double speed) {
  return static_cast<float>(shadeOf(speed, picture.speed));
}

// Two directions across `along`, perpendicular to it and to each other.
std::pair<FlowPoint, FlowPoint> across(const FlowPoint& along) {
  const FlowPoint other = std::abs(along[2]) < 0.9 ? FlowPoint{0, 0, 1} : FlowPoint{1, 0, 0};
  const FlowPoint first = normalized(cross(along, other));
  return {first, cross(along, first)};
}

void addRing(FlowGeometry& geometry, const FlowPoint& middle, const FlowPoint& along, double radius, int sides) {
  const auto [u, v] = across(along);
  for (int side = 0; side < sides; ++side) {
    const double angle = 2 * std::numbers::pi * side / sides;
    geometry.addPoint(middle + radius * (std::cos(angle) * u + std::sin(angle) * v));
  }
}

void addCone(FlowGeometry& geometry, const FlowPoint& base, const FlowPoint& along, double size, double radius,
             float value) {
  constexpr int sides = 10;
  const auto first = static_cast<std::int64_t>(geometry.points.size());
  addRing(geometry, base, along, radius, sides);
  geometry.addPoint(base + size * along);
  geometry.addPoint(base);
  for (int side = 0; side < sides; ++side) {
    const int next = (side + 1) % sides;
    geometry.addCell({first + side, first + next, first + sides});
    geometry.addCell({first + next, first + side, first + sides + 1});
  }
  geometry.shades.insert(geometry.shades.end(), sides + 2, value);
}

void addShaft(FlowGeometry& geometry, const FlowPoint& from, const FlowPoint& along, double size, double radius,
              float value) {
  constexpr int sides = 6;
  const auto first = static_cast<std::int64_t>(geometry.points.size());
  addRing(geometry, from, along, radius, sides);
  addRing(geometry, from + size * along, along, radius, sides);
  for (int side = 0; side < sides; ++side) {
    const int next = (side + 1) % sides;
    geometry.addCell({first + side, first + next, first + sides + next, first + sides + side});
  }
  geometry.shades.insert(geometry.shades.end(), 2 * sides, value);
}

void placeInto(std::vector<FlowPoint>& world, const std::vector<FlowPoint>& points, const FlowSpace& space,
               FlowLayer layer) {
  world.resize(points.size());
  std::transform(points.begin(), points.end(), world.begin(),
                 [&](const FlowPoint& z) { return space.place(z, layer); });
}

std::vector<FlowPoint> placed(const std::vector<FlowPoint>& points, const FlowSpace& space, FlowLayer layer) {
  std::vector<FlowPoint> world;
  placeInto(world, points, space, layer);
  return world;
}

}  // namespace

FlowGeometry streamlineGeometry(const FlowPicture& picture, const FlowSpace& space) {
  FlowGeometry geometry;
  std::size_t points = 0;
  for (const FlowLine& line : picture.lines) points += line.points.size();
  geometry.points.reserve(points);
  geometry.shades.reserve(points);
  geometry.indices.reserve(points);
  geometry.offsets.reserve(picture.lines.size() + 1);
  std::vector<FlowPoint> world;
  std::vector<float> shades;
  for (const FlowLine& line : picture.lines) {
    shades.clear();
    for (const double speed : line.speeds) shades.push_back(shade(picture, speed));
    placeInto(world, line.points, space, FlowLayer::lines);
    geometry.addLine(world, shades);
  }
  return geometry;
}

FlowGeometry directionGeometry(const FlowPicture& picture, const FlowSpace& space) {
  FlowGeometry geometry;
  std::vector<FlowPoint> points;
  // Two passes over every point of every frame: length(), which no overflow spoils, takes several times as long.
  const auto lengthOf = [](const FlowPoint& step) { return std::sqrt(dot(step, step)); };
  for (const FlowLine& line : picture.lines) {
    placeInto(points, line.points, space, FlowLayer::lines);
    double whole = 0;
    for (std::size_t i = 1; i < points.size(); ++i) whole += lengthOf(points[i] - points[i - 1]);
    if (whole < shortest_with_cone) continue;
    double walked = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      const FlowPoint step = points[i] - points[i - 1];
      const double size = lengthOf(step);
      walked += size;
      if (walked < whole / 2 || size == 0) continue;
      const FlowPoint along = normalized(step);
      addCone(geometry, points[i] - (cone_length / 2) * along, along, cone_length, cone_radius,
              shade(picture, line.speeds[i]));
      break;
    }
  }
  return geometry;
}

FlowGeometry glyphGeometry(const FlowPicture& picture, const FlowSpace& space) {
  FlowGeometry geometry;
  for (const FlowGlyph& glyph : picture.glyphs) {
    const FlowPoint along = normalized(space.direction(glyph.vector));
    if (length(along) == 0) continue;
    FlowPoint counted = glyph.vector;
    if (picture.dimension == 2) counted[2] = 0;
    const float value = shade(picture, length(counted));
    const double size = glyph_length * (0.3 + 0.7 * static_cast<double>(value));
    const double head = std::min(cone_length, size / 2);
    const FlowPoint from = space.place(glyph.position, FlowLayer::glyphs);
    addShaft(geometry, from, along, size - head, glyph_radius, value);
    addCone(geometry, from + (size - head) * along, along, head, head * cone_radius / cone_length * 1.2, value);
  }
  return geometry;
}

FlowGeometry surfaceGeometry(const FlowPicture& picture, const FlowSpace& space) {
  FlowGeometry geometry;
  if (!picture.surface) return geometry;
  const FlowSpeedGrid& grid = *picture.surface;
  const auto z = [&](int column, int row) {
    const double s = column / static_cast<double>(grid.columns - 1), t = row / static_cast<double>(grid.rows - 1);
    return FlowPoint{grid.lower[0] + s * (grid.upper[0] - grid.lower[0]),
                     grid.lower[1] + t * (grid.upper[1] - grid.lower[1]), 0};
  };
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      geometry.addPoint(space.place(z(column, row), FlowLayer::ground));
      geometry.shades.push_back(shade(picture, grid.speeds[static_cast<std::size_t>(row * grid.columns + column)]));
    }
  }
  for (int row = 0; row + 1 < grid.rows; ++row) {
    for (int column = 0; column + 1 < grid.columns; ++column) {
      const std::int64_t corner = row * grid.columns + column;
      geometry.addCell({corner, corner + 1, corner + grid.columns + 1, corner + grid.columns});
    }
  }
  const auto point = [&](int column, int row) -> const FlowPoint& {
    return geometry.points[static_cast<std::size_t>(std::clamp(row, 0, grid.rows - 1) * grid.columns +
                                                    std::clamp(column, 0, grid.columns - 1))];
  };
  for (int row = 0; row < grid.rows; ++row) {
    for (int column = 0; column < grid.columns; ++column) {
      geometry.normals.push_back(normalized(
          cross(point(column + 1, row) - point(column - 1, row), point(column, row + 1) - point(column, row - 1))));
    }
  }
  return geometry;
}

FlowGeometry slowGeometry(const FlowPicture& picture, const FlowSpace& space) {
  FlowGeometry geometry;
  if (!picture.slow_region || picture.slow_region->cells.empty()) return geometry;
  const FlowSlowRegion& region = *picture.slow_region;
  const auto axes = static_cast<std::size_t>(picture.dimension);
  using Index = std::array<std::int64_t, 3>;
  const auto indexOf = [&](const FlowPoint& centre) {
    Index index{};
    for (std::size_t axis = 0; axis < axes; ++axis) {
      index[axis] = std::llround((centre[axis] - region.cells.front()[axis]) / region.cell[axis]);
    }
    return index;
  };
  std::set<Index> cells;
  if (axes == 3) std::transform(region.cells.begin(), region.cells.end(), std::inserter(cells, cells.end()), indexOf);
  const auto addFace = [&](const FlowPoint& centre, std::size_t axis, double side) {
    const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
    const auto first = static_cast<std::int64_t>(geometry.points.size());
    for (const auto& [s, t] : {std::pair(-0.5, -0.5), {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}}) {
      FlowPoint corner = centre;
      corner[axis] += side / 2 * region.cell[axis];
      corner[u] += s * region.cell[u];
      corner[v] += t * region.cell[v];
      geometry.addPoint(space.place(corner, FlowLayer::slow));
    }
    geometry.addCell({first, first + 1, first + 2, first + 3});
  };
  for (const FlowPoint& centre : region.cells) {
    if (axes == 2) {
      addFace(centre, 2, 0);
      continue;
    }
    const Index index = indexOf(centre);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      for (const int side : {-1, 1}) {
        Index neighbour = index;
        neighbour[axis] += side;
        if (!cells.contains(neighbour)) addFace(centre, axis, side);
      }
    }
  }
  return geometry;
}

FlowGeometry eigenvectorGeometry(const FlowFixedPoint& fixed_point, const FlowSpace& space) {
  FlowGeometry geometry;
  const FlowPoint from = space.place(fixed_point.position, FlowLayer::marks);
  for (const FlowEigenvector& vector : fixed_point.directions) {
    const FlowPoint along = normalized(space.direction(vector.direction));
    const auto add = [&](double start, double end) {
      const std::array<FlowPoint, 2> ends = {from + start * along, from + end * along};
      geometry.addLine(ends);
    };
    if (vector.attracting) {
      add(-eigenvector_length, eigenvector_length);
      continue;
    }
    for (double at = -eigenvector_length; at < eigenvector_length; at += 2 * dash_length) add(at, at + dash_length);
  }
  return geometry;
}

FlowGeometry trajectoryGeometry(const FlowTrajectory& path, const FlowSpace& space) {
  FlowGeometry geometry;
  geometry.addLine(placed(path.points, space, FlowLayer::trajectories));
  return geometry;
}

std::ptrdiff_t pointOfToken(const FlowTrajectory& path, std::int64_t token) {
  if (path.tokens.empty()) return token >= 0 && token < std::ssize(path.points) ? token : -1;
  const auto found = std::lower_bound(path.tokens.begin(), path.tokens.end(), token);
  return found != path.tokens.end() && *found == token ? found - path.tokens.begin() : -1;
}

FlowTail tailGeometry(const FlowTrajectory& path, const FlowSpace& space, std::ptrdiff_t last, int count,
                      double radius) {
  FlowTail tail;
  const std::ptrdiff_t first = std::max<std::ptrdiff_t>(0, last - count + 1);
  const std::vector<FlowPoint> points(path.points.begin() + first, path.points.begin() + last + 1);
  tail.geometry.addLine(placed(points, space, FlowLayer::trajectories));
  const auto kept = static_cast<double>(tail.geometry.points.size());
  for (double index = 1; index <= kept; ++index) tail.radii.push_back(static_cast<float>(radius * index / kept));
  return tail;
}

FlowGeometry faceOutline(const FlowSpace& space, std::size_t axis, int side) {
  FlowGeometry geometry;
  const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
  std::array<FlowPoint, 5> corners;
  corners.fill(side == 0 ? space.lower() : space.upper());
  for (std::size_t corner = 0; corner < 5; ++corner) {
    corners[corner][u] = corner == 1 || corner == 2 ? space.upper()[u] : space.lower()[u];
    corners[corner][v] = corner == 2 || corner == 3 ? space.upper()[v] : space.lower()[v];
  }
  geometry.addLine(corners);
  return geometry;
}

FlowGeometry faceGrid(const FlowSpace& space, std::size_t axis, int side,
                      const std::array<std::vector<double>, 3>& ticks) {
  FlowGeometry geometry;
  for (const std::size_t along : {(axis + 1) % 3, (axis + 2) % 3}) {
    const std::size_t other = 3 - axis - along;
    for (const double tick : ticks[other]) {
      std::array<FlowPoint, 2> ends;
      ends.fill(side == 0 ? space.lower() : space.upper());
      ends[0][other] = ends[1][other] = tick;
      ends[0][along] = space.lower()[along];
      ends[1][along] = space.upper()[along];
      geometry.addLine(ends);
    }
  }
  return geometry;
}

}  // namespace mambarium
