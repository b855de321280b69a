#include "ui/plots/estimator_name.h"

#include <algorithm>

#include "ui/plots/number_text.h"

namespace mambarium {

QString estimatorName(const ExperimentConfig& config) {
  return QStringLiteral("add-%1").arg(exactText(config.real("task.beta")));
}

QString estimatorName(const std::vector<RunSeries>& runs) {
  if (runs.empty()) return QStringLiteral("add-β");
  const QString name = estimatorName(runs.front().config);
  const bool common =
      std::all_of(runs.begin(), runs.end(), [&](const RunSeries& run) { return estimatorName(run.config) == name; });
  return common ? name : QStringLiteral("add-β");
}

}  // namespace mambarium
