#include "ui/figure/run_figure.h"

#include <QFileInfo>
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

}  // namespace

Figure figureOfRun(const QString& folder, const QString& panel_id, const std::optional<QString>& inspected_path) {
  const std::unique_ptr<Panel> panel(makePanel(panel_id, nullptr));
  if (panel && panel->wants() && !inspected_path) {
    const std::string id = panel_id.toStdString();
    throw std::invalid_argument(
        "--panel " + id + " shows the inside of a model: write what \"mambarium-worker inspect " +
        folder.toStdString() + " --what " + id + "\" prints to a file, and name it with --inspected FILE.");
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
  if (inspected_path) figure.data.inspected = readInspected(*inspected_path);
  return figure;
}

}  // namespace mambarium
