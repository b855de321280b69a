#include "ui/figure/run_figure.h"

#include <QFileInfo>
#include <algorithm>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "core/contract/run_folder.h"

namespace mambarium {
namespace {

nlohmann::json readInspected(const QString& path) {
  std::ifstream file(path.toStdString());
  if (!file) throw std::invalid_argument(path.toStdString() + ": cannot be read.");
  try {
    return nlohmann::json::parse(file);
  } catch (const nlohmann::json::exception&) {
    throw std::invalid_argument(path.toStdString() + ": is not the JSON that \"mambarium-worker inspect\" prints.");
  }
}

std::int64_t stepOf(const nlohmann::json& answer) {
  const bool has_step = answer.is_object() && answer.contains("step") && answer["step"].is_number_integer();
  return has_step ? answer["step"].get<std::int64_t>() : 0;
}

}  // namespace

Figure figureOfRun(const QString& folder, const QString& panel_id, const QStringList& inspected_paths) {
  const std::unique_ptr<Panel> panel(makePanel(panel_id, nullptr));
  if (panel && panel->wants() && inspected_paths.isEmpty()) {
    throw std::invalid_argument("--panel " + panel_id.toStdString() +
                                " shows the inside of a model: write what \"mambarium-worker inspect " +
                                folder.toStdString() + " --what " + panel->wants()->what +
                                "\" prints to a file, and name it with --inspected FILE.");
  }
  const ReadRunFolder read = read_run_folder(folder.toStdString());
  if (!read.problems.empty()) throw std::invalid_argument(to_string(read.problems.front()));

  RunSeries series;
  series.title = run_title(read.run.config, read.run.manifest.fork);
  series.folder = QFileInfo(folder).absoluteFilePath().toStdString();
  series.config = read.run.config;
  series.rows = read.run.rows;

  Figure figure;
  figure.panel_id = panel_id;
  figure.data.runs.push_back(std::move(series));
  for (const QString& path : inspected_paths) figure.data.earlier.push_back(readInspected(path));
  std::ranges::stable_sort(figure.data.earlier, {}, stepOf);
  if (!inspected_paths.isEmpty()) {
    figure.data.inspected = figure.data.earlier.back();
    figure.data.earlier.pop_back();
  }
  return figure;
}

}  // namespace mambarium
