#include "ui/session/sweep_reader.h"

#include <QDir>
#include <QFileInfo>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/contract/partial_sweep.h"

namespace mambarium {
namespace {

std::vector<MetricsRow> readCurve(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::ostringstream text;
  text << file.rdbuf();
  return metrics_from_csv(text.str(), path.string()).rows;
}

}  // namespace

std::shared_ptr<const SweepData> readSweep(const QString& path, bool with_curves) {
  PartialSweep sweep = read_partial_sweep(path.toStdString());
  if (!sweep.problems.empty()) throw std::invalid_argument(to_string(sweep.problems.front()));
  const QFileInfo info(path);
  const QString folder = info.isDir() ? QDir(path).absolutePath() : info.absolutePath();
  auto data = std::make_shared<SweepData>();
  data->folder = folder.toStdString();
  data->result = std::move(sweep.result);
  data->done = sweep.done;
  if (!with_curves) return data;
  bool any = false;
  for (const SweepRow& row : data->result.rows) {
    data->curves.push_back(readCurve(std::filesystem::path(data->folder) / "runs" / row.point / "metrics.csv"));
    any = any || !data->curves.back().empty();
  }
  if (!any) data->curves.clear();
  return data;
}

}  // namespace mambarium
