#include "core/reproduce/figure_file.h"

#include <algorithm>

#include "core/contract/json_fields.h"
#include "core/contract/text.h"
#include "core/sweep/sweep_summary.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

nlohmann::json at_budget(nlohmann::json sweep, const nlohmann::json& figure, Budget budget) {
  if (budget == Budget::quick || !figure.contains("paper_budget")) return sweep;
  nlohmann::json changes = JsonFields(figure, "figure").object("paper_budget");
  const nlohmann::json by_name = changes.value("sweeps", nlohmann::json::object());
  changes.erase("sweeps");
  sweep.merge_patch(changes);
  const auto name = sweep.find("name");
  if (name != sweep.end() && name->is_string() && by_name.contains(*name)) sweep.merge_patch(by_name.at(*name));
  return sweep;
}

// What claims and pictures ask for must be there before anything is trained.
void check_references(const ReproducedFigure& figure) {
  std::vector<SweepResult> results;
  for (const ParsedSweep& parsed : figure.sweeps) results.push_back(unmeasured(parsed.sweep, parsed.points));
  for (const Claim& claim : figure.claims) decide(claim, results);
  for (const Picture& picture : figure.pictures)
    if (!picture.sweep.empty() && std::ranges::count(results, picture.sweep, &SweepResult::name) == 0)
      throw std::invalid_argument("picture: there is no sweep " + in_quotes(picture.sweep));
}

std::vector<std::string> texts_of(const JsonFields& fields, const char* name, const char* owner) {
  std::vector<std::string> texts;
  for (const nlohmann::json& text : fields.array(name)) {
    if (!text.is_string()) throw std::invalid_argument(std::string(owner) + ": its " + name + " must be texts");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

Picture picture_from(const nlohmann::json& document) {
  const JsonFields fields(document, "picture");
  return {fields.text("name"), fields.has("sweep") ? fields.text("sweep") : "",
          texts_of(fields, "arguments", "picture")};
}

ReproducedFigure figure_from(const nlohmann::json& document, const std::string& path, Budget budget,
                             std::vector<Problem>& problems) {
  const JsonFields fields(document, "figure");
  ReproducedFigure figure{fields.text("id"),
                          fields.has("names") ? texts_of(fields, "names", "figure") : std::vector<std::string>{},
                          fields.text("title"),
                          fields.text("paper"),
                          fields.text("about"),
                          {},
                          {},
                          {}};
  if (fields.has("group") || fields.has("article")) {
    figure.group = fields.text("group");
    figure.article = fields.text("article");
  }
  const std::size_t faults = problems.size();
  if (fields.array("sweeps").empty()) throw std::invalid_argument("figure: \"sweeps\" is empty");
  for (const nlohmann::json& sweep : fields.array("sweeps")) {
    if (!sweep.is_object()) throw std::invalid_argument("figure: " + shown(sweep) + " is no sweep");
    ParsedSweep parsed = sweep_from_json(at_budget(sweep, document, budget), path);
    problems.insert(problems.end(), parsed.problems.begin(), parsed.problems.end());
    figure.sweeps.push_back(std::move(parsed));
  }
  for (const nlohmann::json& picture : fields.array("pictures")) figure.pictures.push_back(picture_from(picture));
  for (const nlohmann::json& claim : fields.array("claims")) figure.claims.push_back(claim_from_json(claim));
  if (problems.size() == faults) check_references(figure);
  return figure;
}

// An id is one figure's, and a group is one paper.
void check_names(const ReproducedFigure& figure, const std::vector<ReproducedFigure>& others) {
  for (const ReproducedFigure& other : others) {
    if (other.id == figure.id)
      throw std::invalid_argument("another figure has the id " + in_quotes(figure.id) + " already");
    if (!figure.group.empty() && other.group == figure.group && other.article != figure.article)
      throw std::invalid_argument("the group " + in_quotes(figure.group) + " is " + in_quotes(other.article) +
                                  " in another figure and cannot be " + in_quotes(figure.article) + " too");
  }
}

}  // namespace

LoadedFigures load_reproduced_figures(const fs::path& directory, Budget budget) {
  LoadedFigures loaded;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  if (error) loaded.problems.push_back({directory.string(), "the folder of figures cannot be read"});
  std::ranges::sort(files);
  for (const fs::path& path : files) {
    const JsonFile file = read_json_file(path);
    if (file.problem) {
      loaded.problems.push_back(*file.problem);
      continue;
    }
    try {
      ReproducedFigure figure = figure_from(file.document, path.string(), budget, loaded.problems);
      check_names(figure, loaded.figures);
      loaded.figures.push_back(std::move(figure));
    } catch (const std::invalid_argument& fault) {
      loaded.problems.push_back({path.string(), fault.what()});
    }
  }
  return loaded;
}

}  // namespace mambarium
