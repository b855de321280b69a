#include "ui/plots/sweep_data.h"

#include <stdexcept>

#include "core/contract/json_fields.h"

namespace mambarium {

using nlohmann::json;

json to_recipe_json(const SweepData& data) {
  return {{"folder", data.folder}, {"result", data.result}, {"done", data.done}, {"curves", data.curves}};
}

SweepData sweep_data_from_recipe(const json& document) {
  const JsonFields fields(document, "data.sweep");
  SweepData data;
  data.folder = fields.text("folder");
  data.result = fields.object("result").get<SweepResult>();
  data.done = static_cast<std::size_t>(fields.count("done"));
  for (const json& rows : fields.array("curves")) {
    if (!rows.is_array()) throw std::invalid_argument("data.sweep.curves: " + shown(rows) + " is not a list of rows");
    std::vector<MetricsRow>& curve = data.curves.emplace_back();
    for (const json& row : rows) curve.push_back(row.get<MetricsRow>());
  }
  if (!data.curves.empty() && data.curves.size() != data.result.rows.size())
    throw std::invalid_argument("data.sweep.curves: there must be one for each row of the result, or none");
  return data;
}

}  // namespace mambarium
