#include "core/contract/coupling_inspection.h"

#include "core/contract/inspection_fields.h"
#include "core/contract/motif_shares.h"

namespace mambarium {

using nlohmann::json;

namespace {

std::int64_t length_of(const std::vector<std::int32_t>& tokens) {
  return static_cast<std::int64_t>(tokens.size());
}

json json_of(const std::optional<ProbeWindow>& window) {
  if (!window) return nullptr;
  return {{"day", window->day},
          {"first_bin", window->first_bin},
          {"label", window->label},
          {"bin_seconds", window->bin_seconds}};
}

std::optional<ProbeWindow> window_field(const JsonFields& fields, const std::string& owner) {
  if (!fields.has("window")) return std::nullopt;
  const JsonFields window(fields.object("window"), owner + " \"window\"");
  return ProbeWindow{window.count("day"), window.count("first_bin"), window.count("label"),
                     window.number("bin_seconds")};
}

}  // namespace

void to_json(json& document, const CircuitData& data) {
  document = {{"step", data.step},
              {"layer", data.layer},
              {"channel", data.channel},
              {"rank", data.rank},
              {"shared", data.shared},
              {"coupling", data.coupling},
              {"scale", number_or_null(data.scale)},
              {"theta", number_or_null(data.theta)},
              {"causal", data.causal},
              {"soft", with_nulls(data.soft)},
              {"hard", with_nulls(data.hard)},
              {"target", with_nulls(data.target)},
              {"loss", number_or_null(data.loss)},
              {"r_squared", number_or_null(data.r_squared)},
              {"entropy", number_or_null(data.entropy)},
              {"norm", number_or_null(data.norm)},
              {"bound", number_or_null(data.bound)},
              {"largest_dt", number_or_null(data.largest_dt)},
              {"slowest_decay", number_or_null(data.slowest_decay)},
              {"picard", with_nulls(data.picard)}};
}

void from_json(const json& document, CircuitData& data) {
  const std::string owner = "circuit data";
  const JsonFields fields(document, owner);
  CircuitData read{.step = fields.count("step"),
                   .layer = fields.count("layer"),
                   .channel = fields.count("channel"),
                   .rank = fields.count("rank"),
                   .shared = fields.boolean("shared"),
                   .coupling = tensor_field(fields, "coupling", 2, owner),
                   .scale = fields.number("scale"),
                   .theta = fields.number("theta"),
                   .causal = fields.boolean("causal"),
                   .soft = numbers_field(fields, "soft", owner),
                   .hard = numbers_field(fields, "hard", owner),
                   .target = numbers_field(fields, "target", owner),
                   .loss = fields.number("loss"),
                   .r_squared = fields.number("r_squared"),
                   .entropy = fields.number("entropy"),
                   .norm = fields.number("norm"),
                   .bound = fields.number("bound"),
                   .largest_dt = fields.number("largest_dt"),
                   .slowest_decay = fields.number("slowest_decay"),
                   .picard = numbers_field(fields, "picard", owner)};
  require(read.coupling.shape[0] == read.coupling.shape[1] && read.coupling.shape[0] > 0, owner,
          "\"coupling\" is no square matrix");
  constexpr std::size_t classes = 16;
  require(read.soft.size() == classes && read.hard.size() == classes, owner,
          "\"soft\" and \"hard\" must have 16 shares each");
  require(read.target.empty() || read.target.size() == motif_count, owner, "\"target\" must have 13 shares, or none");
  data = std::move(read);
}

void to_json(json& document, const FlowData& data) {
  document = {{"step", data.step},   {"layer", data.layer},   {"channel", data.channel},
              {"etd", data.etd},     {"tokens", data.tokens}, {"A", data.A},
              {"P", data.P},         {"Q", data.Q},           {"dt", data.dt},
              {"drive", data.drive}, {"z", data.z},           {"window", json_of(data.window)}};
}

void from_json(const json& document, FlowData& data) {
  const std::string owner = "flow data";
  const JsonFields fields(document, owner);
  FlowData read{.step = fields.count("step"),
                .layer = fields.count("layer"),
                .channel = fields.count("channel"),
                .etd = fields.boolean("etd"),
                .tokens = fields.tokens("tokens"),
                .A = tensor_field(fields, "A", 1, owner),
                .P = tensor_field(fields, "P", 2, owner),
                .Q = tensor_field(fields, "Q", 2, owner),
                .dt = tensor_field(fields, "dt", 1, owner),
                .drive = tensor_field(fields, "drive", 2, owner),
                .z = tensor_field(fields, "z", 2, owner),
                .window = window_field(fields, owner)};
  const std::int64_t n = read.A.shape[0], r = read.P.shape[1], length = length_of(read.tokens);
  require(n > 0 && r > 0, owner, "it has no states or no rank");
  require(read.P.shape == std::vector{n, r} && read.Q.shape == std::vector{r, n}, owner,
          "\"A\", \"P\" and \"Q\" do not fit together");
  require(read.dt.shape == std::vector{length} && read.drive.shape == std::vector{length, n} &&
              read.z.shape == std::vector{length, r},
          owner, "\"tokens\", \"dt\", \"drive\" and \"z\" do not fit together");
  data = std::move(read);
}

void to_json(json& document, const ReconstructionData& data) {
  document = {{"step", data.step},
              {"layer", data.layer},
              {"channel", data.channel},
              {"tokens", data.tokens},
              {"state", data.state},
              {"replayed", data.replayed},
              {"error", with_nulls(data.error)},
              {"float_error", number_or_null(data.float_error)},
              {"window", json_of(data.window)}};
}

void from_json(const json& document, ReconstructionData& data) {
  const std::string owner = "reconstruction data";
  const JsonFields fields(document, owner);
  ReconstructionData read{.step = fields.count("step"),
                          .layer = fields.count("layer"),
                          .channel = fields.count("channel"),
                          .tokens = fields.tokens("tokens"),
                          .state = tensor_field(fields, "state", 2, owner),
                          .replayed = tensor_field(fields, "replayed", 2, owner),
                          .error = numbers_field(fields, "error", owner),
                          .float_error = fields.number("float_error"),
                          .window = window_field(fields, owner)};
  require(read.state.shape == read.replayed.shape && read.state.shape[0] == length_of(read.tokens) &&
              read.error.size() == read.tokens.size(),
          owner, "\"tokens\", \"state\", \"replayed\" and \"error\" differ in length");
  data = std::move(read);
}

void to_json(json& document, const ExtrapolationData& data) {
  document = {{"step", data.step},
              {"trained_length", data.trained_length},
              {"chance", number_or_null(data.chance)},
              {"points", json::array()}};
  for (const ExtrapolationData::Point& point : data.points)
    document["points"].push_back({{"length", point.length},
                                  {"sequences", point.sequences},
                                  {"right", point.right},
                                  {"low", number_or_null(point.low)},
                                  {"high", number_or_null(point.high)}});
}

void from_json(const json& document, ExtrapolationData& data) {
  const std::string owner = "extrapolation data";
  const JsonFields fields(document, owner);
  ExtrapolationData read{.step = fields.count("step"),
                         .trained_length = fields.count("trained_length"),
                         .chance = fields.number("chance"),
                         .points = {}};
  for (const json& entry : fields.array("points")) {
    const JsonFields point(entry, owner + " point " + std::to_string(read.points.size()));
    read.points.push_back({point.count("length"), point.count("sequences"), point.count("right"), point.number("low"),
                           point.number("high")});
    require(read.points.back().right <= read.points.back().sequences && read.points.back().sequences > 0, owner,
            "a point counts more right answers than sequences");
  }
  data = std::move(read);
}

}  // namespace mambarium
