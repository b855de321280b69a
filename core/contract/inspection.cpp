#include "core/contract/inspection.h"

#include <array>
#include <nlohmann/json.hpp>

#include "core/contract/inspection_fields.h"
#include "core/contract/json_fields.h"

namespace mambarium {

using nlohmann::json;

namespace {

constexpr const char* bias_suffix = "_bias";

json divergence_json(const TheoremData::Divergence& divergence) {
  return {{"sequences", divergence.sequences},
          {"length", divergence.length},
          {"mean", number_or_null(divergence.mean)},
          {"largest", number_or_null(divergence.largest)}};
}

TheoremData::Divergence divergence_from(const JsonFields& document, const char* name, const std::string& owner) {
  const JsonFields fields(document.object(name), owner + " \"" + name + "\"");
  return {fields.count("sequences"), fields.count("length"), fields.number("mean"), fields.number("largest")};
}

}  // namespace

std::optional<std::string> nothing_to_inspect(const ExperimentConfig& config, std::string_view what) {
  const std::string& kind = config.text("model.kind");
  if (kind == "transformer" && what == "decay")
    return "A transformer has no decay factors: attention reads every token so far and forgets none";
  if (kind == "ngram" && what == "decay")
    return "An n-gram estimator has no decay factors: it counts every token so far and forgets none";
  const bool of_a_recurrence = what == "state" || what == "inner_products" || what == "quantisation";
  if (kind == "transformer" && of_a_recurrence)
    return "A transformer has no recurrent state: what it remembers grows with every token it reads";
  if (kind == "ngram" && of_a_recurrence) return "An n-gram estimator has no recurrent state but the counts themselves";
  const bool of_a_coupling = what == "circuit" || what == "flow" || what == "reconstruction";
  if (of_a_coupling && !has_coupling(config))
    return "The states of this model are not coupled, so there is no z: choose mamba1 or mamba2 and a coupling";
  if (what == "decoding" && !is_decoder(config))
    return "Only a decoder has a recording to be judged by: choose task.kind decoding";
  const bool of_tokens = what == "decay" || what == "prediction" || what == "extrapolation";
  if (is_decoder(config) && (of_tokens || of_a_recurrence))
    return "A decoder reads windows of a recording and no tokens, which this is a picture of";
  const bool is_induction = config.text("task.kind") == "induction";
  if (what == "extrapolation" && !is_induction)
    return "Only an induction head has an answer that is right or wrong at any length";
  if (is_induction && (what == "state" || what == "quantisation"))
    return "An induction head keeps no counts of transitions to compare its state with";
  if (kind == "mamba1" && what == "decay")
    return "Mamba-1 has a decay of its own for every state of every channel, not one per head";
  if ((kind == "lstm" || kind == "rwkv4") && (what == "decay" || what == "filters" || of_a_recurrence))
    return "This model has no state space: neither decay factors nor filters, b or c";
  if (kind == "ngram" && what == "filters") return "An n-gram estimator has no convolution: it only counts";
  return std::nullopt;
}

std::span<const std::string_view> inspection_kinds() {
  static constexpr std::array<std::string_view, 12> kinds = {
      "decay",    "filters", "prediction", "state",          "inner_products", "quantisation",
      "theorem4", "circuit", "flow",       "reconstruction", "extrapolation",  "decoding"};
  return kinds;
}

void to_json(json& document, const InspectRequest& request) {
  document = {{"what", request.what}, {"probe", request.probe},     {"layer", request.layer},
              {"head", request.head}, {"epsilon", request.epsilon}, {"beta", request.beta}};
  if (request.at) document["at"] = *request.at;
}

void from_json(const json& document, InspectRequest& request) {
  const JsonFields fields(document, "inspect");
  InspectRequest read{.what = fields.text("what")};
  if (document.contains("probe")) read.probe = fields.count("probe");
  if (fields.has("at")) read.at = fields.count("at");
  if (document.contains("layer")) read.layer = fields.count("layer");
  if (document.contains("head")) read.head = fields.count("head");
  if (document.contains("epsilon")) read.epsilon = fields.number("epsilon");
  if (document.contains("beta")) read.beta = fields.number("beta");
  request = std::move(read);
}

void to_json(json& document, const DecayData& data) {
  document = {{"step", data.step}, {"tokens", data.tokens}, {"decay", data.decay}};
}

void from_json(const json& document, DecayData& data) {
  const std::string owner = "decay data";
  const JsonFields fields(document, owner);
  DecayData read{fields.count("step"), fields.tokens("tokens"), tensor_field(fields, "decay", 3, owner)};
  require(read.decay.shape[2] == static_cast<std::int64_t>(read.tokens.size()), owner,
          "\"decay\" and \"tokens\" differ in length");
  data = std::move(read);
}

void to_json(json& document, const FilterData& data) {
  document = {{"step", data.step}, {"layers", json::array()}};
  for (const FilterData::Layer& layer : data.layers) {
    json filters = json::object();
    for (const FilterData::Filter& filter : layer) {
      filters[filter.name] = filter.taps;
      filters[filter.name + bias_suffix] = filter.bias;
    }
    document["layers"].push_back(std::move(filters));
  }
}

void from_json(const json& document, FilterData& data) {
  const std::string owner = "filter data";
  const JsonFields fields(document, owner);
  FilterData read{fields.count("step"), {}};
  for (const json& entry : fields.array("layers")) {
    const JsonFields fields_of_layer(entry, owner + " layer " + std::to_string(read.layers.size()));
    FilterData::Layer layer;
    for (const std::string name : {"x", "B", "C", "Q", "K", "V"}) {
      if (!entry.contains(name)) continue;
      FilterData::Filter filter{name, tensor_field(fields_of_layer, name.c_str(), 2, owner),
                                tensor_field(fields_of_layer, (name + bias_suffix).c_str(), 1, owner)};
      require(filter.bias.shape[0] == filter.taps.shape[0] || filter.bias.shape[0] == 0, owner,
              "taps and biases differ in their number of channels");
      // Version 0.1 wrote what has no convolution as taps of no channels.
      if (filter.taps.shape[0] > 0) layer.push_back(std::move(filter));
    }
    read.layers.push_back(std::move(layer));
  }
  data = std::move(read);
}

void to_json(json& document, const PredictionData& data) {
  document = {
      {"step", data.step},   {"order", data.order},       {"tokens", data.tokens}, {"last_target", data.last_target},
      {"model", data.model}, {"add_beta", data.add_beta}, {"oracle", data.oracle}};
}

void from_json(const json& document, PredictionData& data) {
  const std::string owner = "prediction data";
  const JsonFields fields(document, owner);
  PredictionData read;
  read.step = fields.count("step");
  read.order = fields.count("order");
  read.tokens = fields.tokens("tokens");
  read.last_target = static_cast<std::int32_t>(fields.count("last_target"));
  read.model = tensor_field(fields, "model", 2, owner);
  read.add_beta = tensor_field(fields, "add_beta", 2, owner);
  read.oracle = tensor_field(fields, "oracle", 2, owner);
  require(read.model.shape[0] == static_cast<std::int64_t>(read.tokens.size()), owner,
          "\"model\" and \"tokens\" differ in length");
  require(read.model.shape == read.add_beta.shape && read.model.shape == read.oracle.shape, owner,
          "the three predictions differ in shape");
  data = std::move(read);
}

void to_json(json& document, const StateData& data) {
  document = {{"step", data.step},
              {"order", data.order},
              {"states", data.states},
              {"layer", data.layer},
              {"head", data.head},
              {"tokens", data.tokens},
              {"state", data.state},
              {"counts", data.counts},
              {"read_out", data.read_out},
              {"r_squared", number_or_null(data.r_squared)},
              {"r_squared_tokens", number_or_null(data.r_squared_tokens)}};
}

void from_json(const json& document, StateData& data) {
  const std::string owner = "state data";
  const JsonFields fields(document, owner);
  StateData read;
  read.step = fields.count("step");
  read.order = fields.count("order");
  read.states = fields.count("states");
  read.layer = fields.count("layer");
  read.head = fields.count("head");
  read.tokens = fields.tokens("tokens");
  read.state = tensor_field(fields, "state", 3, owner);
  read.counts = tensor_field(fields, "counts", 3, owner);
  read.read_out = tensor_field(fields, "read_out", 3, owner);
  read.r_squared = fields.number("r_squared");
  read.r_squared_tokens = fields.number("r_squared_tokens");
  const auto length = static_cast<std::int64_t>(read.tokens.size());
  require(read.state.shape[0] == length, owner, "\"state\" and \"tokens\" differ in length");
  require(read.counts.shape[0] == length, owner, "\"counts\" and \"tokens\" differ in length");
  require(read.counts.shape == read.read_out.shape, owner, "\"counts\" and \"read_out\" differ in shape");
  require(read.counts.shape[2] == read.states, owner, "\"counts\" has not one column for each of the states");
  data = std::move(read);
}

void to_json(json& document, const InnerProductData& data) {
  document = {{"step", data.step}, {"window", data.window}, {"windows", data.windows}, {"products", data.products}};
}

void from_json(const json& document, InnerProductData& data) {
  const std::string owner = "inner product data";
  const JsonFields fields(document, owner);
  InnerProductData read;
  read.step = fields.count("step");
  read.window = fields.count("window");
  for (const json& name : fields.array("windows")) {
    require(name.is_string(), owner, "\"windows\" holds something that is no text");
    read.windows.push_back(name.get<std::string>());
  }
  read.products = tensor_field(fields, "products", 2, owner);
  const auto count = static_cast<std::int64_t>(read.windows.size());
  require(read.products.shape == std::vector{count, count}, owner,
          "\"products\" has not one row and one column for each of the \"windows\"");
  data = std::move(read);
}

void to_json(json& document, const QuantisationData& data) {
  document = {{"step", data.step},
              {"bits", data.bits},
              {"gap", with_nulls(data.gap)},
              {"standard_error", with_nulls(data.standard_error)},
              {"state_numbers", data.state_numbers}};
}

void from_json(const json& document, QuantisationData& data) {
  const std::string owner = "quantisation data";
  const JsonFields fields(document, owner);
  QuantisationData read{fields.count("step"), fields.integers("bits"), numbers_field(fields, "gap", owner),
                        numbers_field(fields, "standard_error", owner), fields.count("state_numbers")};
  require(read.gap.size() == read.bits.size() && read.standard_error.size() == read.bits.size(), owner,
          "\"bits\", \"gap\" and \"standard_error\" differ in length");
  data = std::move(read);
}

void to_json(json& document, const TheoremData& data) {
  document = {{"epsilon", data.epsilon},
              {"beta", data.beta},
              {"every_short", divergence_json(data.every_short)},
              {"random_long", divergence_json(data.random_long)},
              {"embedding", data.embedding},
              {"conv_x", data.conv_x},
              {"conv_B", data.conv_B}};
}

void from_json(const json& document, TheoremData& data) {
  const std::string owner = "theorem data";
  const JsonFields fields(document, owner);
  data = {fields.number("epsilon"),
          fields.number("beta"),
          divergence_from(fields, "every_short", owner),
          divergence_from(fields, "random_long", owner),
          tensor_field(fields, "embedding", 2, owner),
          tensor_field(fields, "conv_x", 1, owner),
          tensor_field(fields, "conv_B", 1, owner)};
}

}  // namespace mambarium
