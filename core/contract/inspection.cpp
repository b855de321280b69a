#include "core/contract/inspection.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/contract/json_fields.h"

namespace mambarium {

using nlohmann::json;

namespace {

Tensor tensor(const JsonFields& fields, const char* name, std::size_t dimensions, const std::string& owner) {
  try {
    auto read = fields.any(name).get<Tensor>();
    if (read.shape.size() != dimensions)
      throw std::invalid_argument("its shape " + json(read.shape).dump() + " has not " + std::to_string(dimensions) +
                                  " dimensions");
    return read;
  } catch (const std::invalid_argument& fault) {
    throw std::invalid_argument(owner + ": \"" + name + "\": " + fault.what());
  }
}

constexpr const char* bias_suffix = "_bias";

void require(bool condition, const std::string& owner, const char* sentence) {
  if (!condition) throw std::invalid_argument(owner + ": " + sentence);
}

}  // namespace

std::optional<std::string> nothing_to_inspect(const ExperimentConfig& config, std::string_view what) {
  const std::string& kind = config.text("model.kind");
  if (kind == "transformer" && what == "decay")
    return "A transformer has no decay factors: attention reads every token so far and forgets none";
  if (kind == "ngram" && what == "decay")
    return "An n-gram estimator has no decay factors: it counts every token so far and forgets none";
  if (kind == "ngram" && what == "filters") return "An n-gram estimator has no convolution: it only counts";
  return std::nullopt;
}

void to_json(json& document, const InspectRequest& request) {
  document = {{"what", request.what}, {"probe", request.probe}};
  if (request.at) document["at"] = *request.at;
}

void from_json(const json& document, InspectRequest& request) {
  const JsonFields fields(document, "inspect");
  request.what = fields.text("what");
  request.probe = document.contains("probe") ? fields.count("probe") : 0;
  request.at = fields.has("at") ? std::optional(fields.count("at")) : std::nullopt;
}

void to_json(json& document, const DecayData& data) {
  document = {{"step", data.step}, {"tokens", data.tokens}, {"decay", data.decay}};
}

void from_json(const json& document, DecayData& data) {
  const std::string owner = "decay data";
  const JsonFields fields(document, owner);
  DecayData read{fields.count("step"), fields.tokens("tokens"), tensor(fields, "decay", 3, owner)};
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
      FilterData::Filter filter{name, tensor(fields_of_layer, name.c_str(), 2, owner),
                                tensor(fields_of_layer, (name + bias_suffix).c_str(), 1, owner)};
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
  read.model = tensor(fields, "model", 2, owner);
  read.add_beta = tensor(fields, "add_beta", 2, owner);
  read.oracle = tensor(fields, "oracle", 2, owner);
  require(read.model.shape[0] == static_cast<std::int64_t>(read.tokens.size()), owner,
          "\"model\" and \"tokens\" differ in length");
  require(read.model.shape == read.add_beta.shape && read.model.shape == read.oracle.shape, owner,
          "the three predictions differ in shape");
  data = std::move(read);
}

}  // namespace mambarium
