#include "core/contract/partial_sweep.h"

#include "core/contract/json_fields.h"

namespace mambarium {

std::optional<PointMeasures> read_point_file(const std::filesystem::path& path, const std::string& id) {
  const JsonFile file = read_json_file(path);
  if (file.problem) return std::nullopt;
  try {
    const JsonFields fields(file.document, "point");
    if (fields.text("point") != id) return std::nullopt;
    const JsonFields values(fields.object("values"), "values");
    const JsonFields standard_errors(fields.object("standard_errors"), "standard_errors");
    PointMeasures measures;
    for (const SweepMeasure& measure : sweep_measures()) {
      measures.values.push_back(values.number(measure.name.c_str()));
      measures.standard_errors.push_back(standard_errors.number(measure.name.c_str()));
    }
    return measures;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

PartialSweep read_partial_sweep(const std::filesystem::path& path) {
  std::error_code error;
  const bool on_its_way = std::filesystem::is_directory(path, error) &&
                          !std::filesystem::exists(path / "results.json", error) &&
                          std::filesystem::exists(path / "plan.json", error);
  ReadSweepResult read = read_sweep_result(on_its_way ? path / "plan.json" : path);
  PartialSweep sweep{std::move(read.result), 0, std::move(read.problems)};
  SweepResult& result = sweep.result;
  if (!on_its_way || !sweep.problems.empty()) {
    sweep.done = result.rows.size();
    return sweep;
  }
  if (result.measures != sweep_measures()) {
    sweep.problems.push_back({(path / "plan.json").string(),
                              "it was written by another version, which measured "
                              "other things; sweep again into another folder"});
    return sweep;
  }
  for (SweepRow& row : result.rows) {
    auto measures = read_point_file(path / "points" / (row.point + ".json"), row.point);
    if (!measures) continue;
    row.values = std::move(measures->values);
    row.standard_errors = std::move(measures->standard_errors);
    ++sweep.done;
  }
  summarise(result);
  return sweep;
}

}  // namespace mambarium
