// FlowStudy: the flow field of one channel's z as it is looked at: which field, along which axes, for which input.
//
// Made from what the worker answers (FlowData) alone, on this side, so that the field follows the token under the mouse
// without a question: v is affine, and only its constant depends on the input. Plain values, no Qt, no VTK; the plane
// (flow_panel.h) and the space (flow_scene.h) draw the same study.
//
// The input stands still at one token's: b = B_t x_t. Coordinates are z's own, or those of the axes chosen when z has
// more than three. Everything throws std::invalid_argument, one sentence, where the data do not allow it: a decay of 0
// has no steady state, a trajectory of one point no empirical field.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/contract/coupling_inspection.h"
#include "core/flow/affine_field.h"
#include "core/flow/axes.h"
#include "core/flow/box.h"
#include "core/flow/fixed_point.h"
#include "core/flow/grid_field.h"
#include "core/flow/latent_system.h"
#include "core/flow/slow_regions.h"
#include "core/flow/streamline.h"
#include "ui/scene/flow_picture.h"

namespace mambarium {

// near_rest: h is as near to where this input leads it as z allows; its zero is exactly the model's fixed point, and
// directions are true there. steady_state: h follows z at once; its zero is the same. minimum_norm: the smallest h with
// this z; its zero is not the model's. empirical: mean steps of the trajectory itself.
enum class FlowFieldChoice { near_rest, steady_state, minimum_norm, empirical };

struct FlowChoices {
  FlowFieldChoice field = FlowFieldChoice::near_rest;
  std::int64_t dimension = 2;                  // 2 or 3; a z of fewer numbers has as many as it has
  bool principal = false;                      // axes of largest variance instead of coordinates
  std::array<std::int64_t, 3> which{0, 1, 2};  // coordinates
  std::int64_t token = 0;                      // whose input stands still, 0 .. T-1
  std::int64_t lines = 120;
  bool operator==(const FlowChoices&) const = default;
};

struct FlowStudy {
  std::int64_t dimension = 2;
  std::vector<std::string> axis_names;  // "z1", or "axis 1 (83 %)"
  Axes axes;
  Box box;          // around the trajectory, and where the inputs lead z where that is near; the same for all tokens
  Trajectory path;  // z after each token, in the axes
  std::variant<AffineField, GridField> field;
  FieldView view() const;
  std::vector<Streamline> lines;
  SpeedGrid speeds;
  SlowRegion slow;
  // Of the field in the axes; of an affine one alone. inside: in the box.
  std::optional<FixedPoint> fixed_point;
  bool inside = false;
  // Of all of z, whatever axes are looked at; not of empirical.
  std::optional<FixedPoint> whole_fixed_point;
  // Whether the model goes there: of the whole state h, n directions, which is for no field of z to say.
  std::optional<Stability> of_state;
  bool stable() const;

  std::vector<double> velocity(std::span<const double> y) const;  // empty where the field has no value
};

LatentSystem system_of(const FlowData& data);
std::vector<double> drive_of(const FlowData& data, std::int64_t token);  // b [n]

FlowStudy study(const FlowData& data, const FlowChoices& choices);

struct FlowMarks {
  bool glyphs = false, slow = true;
  std::optional<std::int64_t> cursor;  // the token whose z is a ball
};
// For a scene of two or three dimensions.
FlowPicture picture_of(const FlowStudy& study, const FlowMarks& marks);

}  // namespace mambarium
