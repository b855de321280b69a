#include "ui/scene/flow_study.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/flow/dense_matrix.h"
#include "core/flow/empirical_field.h"
#include "core/flow/seeds.h"

namespace mambarium {

namespace {

std::vector<double> doubles(const std::vector<float>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Trajectory latent_path(const FlowData& data) {
  return {data.z.shape[1], doubles(data.z.data)};
}

Axes chosen_axes(const Trajectory& path, const FlowChoices& choices, std::int64_t dimension,
                 std::vector<std::string>& names) {
  if (choices.principal && path.dimension > 1) {
    const PrincipalAxes principal = principal_axes(std::span(&path, 1), dimension);
    for (std::int64_t axis = 0; axis < dimension; ++axis) {
      const double share = principal.explained[static_cast<std::size_t>(axis)];
      names.push_back("axis " + std::to_string(axis + 1) + " (" + std::to_string(std::lround(100 * share)) + " %)");
    }
    return principal.axes;
  }
  std::vector<std::int64_t> which;
  for (std::int64_t axis = 0; axis < dimension; ++axis) {
    which.push_back(dimension == path.dimension ? axis : choices.which[static_cast<std::size_t>(axis)]);
    names.push_back("z_" + std::to_string(which.back() + 1));
  }
  std::vector<double> held(static_cast<std::size_t>(path.dimension), 0.0);
  for (std::int64_t point = 0; point < path.points(); ++point)
    for (std::size_t i = 0; i < held.size(); ++i) held[i] += path.point(point)[i] / static_cast<double>(path.points());
  return coordinate_axes(which, held);
}

// The trajectory with room around it, and those of `rests` [count, dimension] that do not make the trajectory small.
Box frame(const Trajectory& path, std::span<const double> rests) {
  constexpr double margin = 0.25, largest_growth = 2.5;
  const std::int64_t dimension = path.dimension;
  const auto columns = static_cast<std::size_t>(dimension);
  std::vector<double> corners;  // the least of each coordinate, then the largest
  for (int corner = 0; corner < 2; ++corner) corners.insert(corners.end(), path.z.begin(), path.z.begin() + dimension);
  const auto widen = [&](std::span<const double> point) {
    for (std::size_t axis = 0; axis < columns; ++axis) {
      corners[axis] = std::min(corners[axis], point[axis]);
      corners[columns + axis] = std::max(corners[columns + axis], point[axis]);
    }
  };
  for (std::int64_t point = 0; point < path.points(); ++point) widen(path.point(point));
  const Box around = box_around(path.z, dimension, margin);
  Box box = around;
  for (; rests.size() >= columns; rests = rests.subspan(columns)) {
    const auto rest = rests.first(columns);
    if (!std::ranges::all_of(rest, [](double number) { return std::isfinite(number); })) continue;
    std::vector<double> points = corners;
    points.insert(points.end(), rest.begin(), rest.end());
    const Box with = box_around(points, dimension, margin);
    bool is_near = true;
    for (std::int64_t axis = 0; axis < dimension; ++axis)
      is_near &= with.extent(axis) <= largest_growth * around.extent(axis);
    if (!is_near) continue;
    widen(rest);
    box = with;
  }
  return box;
}

AffineField affine_field(const LatentSystem& system, std::span<const double> b, FlowFieldChoice choice,
                         const std::optional<FixedPoint>& rest) {
  if (choice == FlowFieldChoice::minimum_norm) return minimum_norm_field(system, b);
  if (choice == FlowFieldChoice::near_rest && rest) return minimum_change_field(system, b, rest->z);
  return steady_state_field(system, b);
}

// Where the field of each token's input has its zero in the axes [tokens, dimension]; J is the same for all of them.
std::vector<double> rests_of(const FlowData& data, const LatentSystem& system, const AffineField& whole,
                             FlowFieldChoice choice, const Axes& axes) {
  const auto n = static_cast<std::size_t>(system.n), r = static_cast<std::size_t>(system.r);
  const auto of_state = LuFactors::of(full_field(system, std::vector<double>(n)).J, system.n);
  const auto of_slice = LuFactors::of(slice(whole, axes).J, axes.k);
  if (!of_state || !of_slice) return {};
  std::vector<double> rests;
  AffineField field = whole;
  for (std::int64_t token = 0; token < std::ssize(data.tokens); ++token) {
    std::vector<double> b = drive_of(data, token);
    if (choice == FlowFieldChoice::minimum_norm) {
      field.c = read_state(system, b);
    } else {
      // At rest A h + P Q h + b = 0, and v(Q h) = 0.
      of_state->solve(b);
      const std::vector<double> rest = read_state(system, b);
      for (std::size_t i = 0; i < r; ++i) {
        field.c[i] = 0;
        for (std::size_t j = 0; j < r; ++j) field.c[i] += whole.J[i * r + j] * rest[j];
      }
    }
    std::vector<double> zero = slice(field, axes).c;
    of_slice->solve(zero);
    for (const double coordinate : zero) rests.push_back(-coordinate);
  }
  return rests;
}

FlowPoint point_of(std::span<const double> z) {
  FlowPoint point{};
  std::copy_n(z.begin(), std::min(z.size(), point.size()), point.begin());
  return point;
}

FlowSpeedRange range_of(const SpeedGrid& speeds) {
  std::vector<double> known;
  for (const double speed : speeds.speed)
    if (std::isfinite(speed)) known.push_back(speed);
  const double largest = known.empty() ? 0 : *std::ranges::max_element(known);
  return {0, largest > 0 ? largest : 1, false};
}

bool is_stable(const Stability& stability) {
  return stability.unstable == 0 && stability.neutral == 0;
}

void add_fixed_point(const FixedPoint& fixed, FieldKind kind, bool stable, FlowPicture& picture) {
  FlowFixedPoint mark{
      .position = point_of(fixed.z), .type = to_text(fixed.stability), .eigenvalues = fixed.eigenvalues};
  mark.stable = stable;
  for (std::size_t i = 0; i < fixed.directions.size(); ++i) {
    if (fixed.directions[i].empty()) continue;
    const double eigenvalue = fixed.eigenvalues[i].real();
    const bool attracting = kind == FieldKind::velocity ? eigenvalue < 0 : std::abs(1 + eigenvalue) < 1;
    mark.directions.push_back({point_of(fixed.directions[i]), attracting});
  }
  picture.fixed_point = std::move(mark);
}

void add_glyphs(const FlowStudy& study, FlowPicture& picture) {
  constexpr std::int64_t in_a_plane = 14, in_space = 7;
  const Grid grid = make_grid(study.box, study.dimension == 2 ? in_a_plane : in_space, "glyphs");
  std::vector<double> z(static_cast<std::size_t>(study.dimension));
  for (std::int64_t node = 0; node < grid.count(); ++node) {
    grid.place(node, z);
    const std::vector<double> v = study.velocity(z);
    if (!v.empty()) picture.glyphs.push_back({point_of(z), point_of(v)});
  }
}

// Half of a cell about such a node would stand out of the box.
bool is_on_the_border(const Box& box, std::span<const double> z) {
  for (std::size_t axis = 0; axis < z.size(); ++axis)
    if (z[axis] <= box.lower[axis] || z[axis] >= box.upper[axis]) return true;
  return false;
}

void add_slow_region(const FlowStudy& study, FlowPicture& picture) {
  FlowSlowRegion region{.below = study.slow.threshold, .cells = {}};
  const Grid& grid = study.speeds.grid;
  for (std::int64_t axis = 0; axis < study.dimension; ++axis)
    region.cell[static_cast<std::size_t>(axis)] = grid.spacing(axis);
  std::vector<double> z(static_cast<std::size_t>(study.dimension));
  for (std::int64_t node = 0; node < grid.count(); ++node) {
    if (!study.slow.slow[static_cast<std::size_t>(node)]) continue;
    grid.place(node, z);
    if (is_on_the_border(study.box, z)) continue;
    region.cells.push_back(point_of(z));
  }
  if (!region.cells.empty()) picture.slow_region = std::move(region);
}

}  // namespace

FieldView FlowStudy::view() const {
  return std::visit([](const auto& held) { return FieldView(held); }, field);
}

bool FlowStudy::stable() const {
  return of_state ? is_stable(*of_state) : fixed_point && is_stable(fixed_point->stability);
}

std::vector<double> FlowStudy::velocity(std::span<const double> y) const {
  std::vector<double> v(static_cast<std::size_t>(dimension));
  return view()(y, v) ? v : std::vector<double>();
}

LatentSystem system_of(const FlowData& data) {
  return {.n = data.A.shape[0],
          .r = data.P.shape[1],
          .A = doubles(data.A.data),
          .P = doubles(data.P.data),
          .Q = doubles(data.Q.data)};
}

std::vector<double> drive_of(const FlowData& data, std::int64_t token) {
  const auto n = static_cast<std::size_t>(data.A.shape[0]);
  if (token < 0 || token >= static_cast<std::int64_t>(data.tokens.size()))
    throw std::invalid_argument("token " + std::to_string(token) + " is not one of the sequence's " +
                                std::to_string(data.tokens.size()));
  const auto first = data.drive.data.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(token) * n);
  return {first, first + static_cast<std::ptrdiff_t>(n)};
}

FlowStudy study(const FlowData& data, const FlowChoices& choices) {
  const Trajectory path = latent_path(data);
  FlowStudy study;
  study.dimension = std::min(choices.dimension, path.dimension);
  study.axes = chosen_axes(path, choices, study.dimension, study.axis_names);
  study.path = project(path, study.axes);
  if (choices.field == FlowFieldChoice::empirical) {
    constexpr std::int64_t nodes_in_a_plane = 33, nodes_in_space = 17;
    study.box = frame(study.path, {});
    study.field =
        empirical_field(std::span(&study.path, 1),
                        {.nodes_per_axis = study.dimension == 2 ? nodes_in_a_plane : nodes_in_space, .box = study.box});
  } else {
    const LatentSystem system = system_of(data);
    const std::vector<double> b = drive_of(data, choices.token);
    const auto rest = fixed_point(full_field(system, b));
    if (rest) study.of_state = rest->stability;
    const AffineField whole = affine_field(system, b, choices.field, rest);
    study.whole_fixed_point = fixed_point(whole);
    // Where J is nearly singular the state's own rest is the surer number.
    if (study.whole_fixed_point && rest && choices.field != FlowFieldChoice::minimum_norm)
      study.whole_fixed_point->z = read_state(system, rest->z);
    const AffineField seen = slice(whole, study.axes);
    study.fixed_point = fixed_point(seen);
    study.field = seen;
    study.box = frame(study.path, rests_of(data, system, whole, choices.field, study.axes));
    study.inside = study.fixed_point && study.box.contains(study.fixed_point->z);
  }
  constexpr std::int64_t on_a_line = 129, in_a_plane = 41, in_space = 17;
  const std::int64_t nodes = study.dimension == 1 ? on_a_line : study.dimension == 2 ? in_a_plane : in_space;
  if (study.dimension > 1) {
    constexpr double slow_fraction = 0.12;
    study.speeds = speed_grid(study.view(), study.box, nodes);
    study.slow = slow_region(study.speeds, slow_fraction, SpeedScale::largest);
    study.lines = streamlines(study.view(), even_seeds(study.box, choices.lines), study.box,
                              {.spacing = 0.02, .longest = 0.6, .most_points = 200});
  }
  return study;
}

FlowPicture picture_of(const FlowStudy& study, const FlowMarks& marks) {
  FlowPicture picture;
  picture.dimension = static_cast<int>(study.dimension);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(study.dimension); ++axis) {
    picture.axis_names[axis] = study.axis_names[axis];
    picture.lower[axis] = study.box.lower[axis];
    picture.upper[axis] = study.box.upper[axis];
  }
  picture.equal_units = false;
  picture.speed = range_of(study.speeds);
  for (const Streamline& line : study.lines) {
    if (line.count() < 2) continue;
    FlowLine drawn{.points = {}, .speeds = line.speed};
    for (std::int64_t i = 0; i < line.count(); ++i)
      drawn.points.push_back(point_of(
          std::span(line.points)
              .subspan(static_cast<std::size_t>(i * study.dimension), static_cast<std::size_t>(study.dimension))));
    picture.lines.push_back(std::move(drawn));
  }
  FlowTrajectory trajectory;
  for (std::int64_t t = 0; t < study.path.points(); ++t) {
    trajectory.points.push_back(point_of(study.path.point(t)));
    trajectory.tokens.push_back(t);
  }
  picture.trajectories.push_back(std::move(trajectory));
  picture.current_trajectory = 0;
  picture.cursor = marks.cursor;
  if (study.fixed_point && study.inside) {
    const FieldKind kind = std::get<AffineField>(study.field).kind;
    add_fixed_point(*study.fixed_point, kind, study.stable(), picture);
  }
  if (marks.glyphs) add_glyphs(study, picture);
  if (marks.slow) add_slow_region(study, picture);
  if (study.dimension == 2) {
    const int nodes = static_cast<int>(study.speeds.grid.nodes[0]);
    picture.surface = FlowSpeedGrid{.columns = nodes,
                                    .rows = static_cast<int>(study.speeds.grid.nodes[1]),
                                    .lower = {study.box.lower[0], study.box.lower[1]},
                                    .upper = {study.box.upper[0], study.box.upper[1]},
                                    .speeds = study.speeds.speed};
  }
  return picture;
}

}  // namespace mambarium
