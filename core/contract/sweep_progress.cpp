#include "core/contract/sweep_progress.h"

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

SweepProgress read_sweep_progress(const std::filesystem::path& path) {
  std::error_code error;
  const bool on_its_way = std::filesystem::is_directory(path, error) &&
                          !std::filesystem::exists(path / "results.json", error) &&
                          std::filesystem::exists(path / "plan.json", error);
  ReadSweepResult read = read_sweep_result(on_its_way ? path / "plan.json" : path);
  SweepProgress progress{std::move(read.result), 0, std::move(read.problems)};
  SweepResult& result = progress.result;
  if (!on_its_way || !progress.problems.empty()) {
    progress.done = result.rows.size();
    return progress;
  }
  if (result.measures != sweep_measures()) {
    progress.problems.push_back({(path / "plan.json").string(),
                                 "it was written by another version, which measured "
                                 "other things; sweep again into another folder"});
    return progress;
  }
  for (SweepRow& row : result.rows) {
    auto measures = read_point_file(path / "points" / (row.point + ".json"), row.point);
    if (!measures) continue;
    row.values = std::move(measures->values);
    row.standard_errors = std::move(measures->standard_errors);
    ++progress.done;
  }
  summarise(result);
  return progress;
}

}  // namespace mambarium
