#include "ui/plots/estimator_name.h"

#include <QObject>
#include <QStringList>
#include <algorithm>

#include "ui/plots/number_text.h"

namespace mambarium {

namespace {

bool agree(const ExperimentConfig& one, const ExperimentConfig& other, const char* key) {
  return one.value(key) == other.value(key);
}

}  // namespace

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

bool sameTask(const ExperimentConfig& one, const ExperimentConfig& other) {
  for (const Property& property : property_table())
    if (property.group == "Task" && one.value(property.key) != other.value(property.key)) return false;
  return true;
}

QString referenceName(const QString& name, const ExperimentConfig& config, const std::vector<RunSeries>& runs) {
  const auto differs = [&](const char* key) {
    return std::any_of(runs.begin(), runs.end(), [&](const RunSeries& run) { return !agree(config, run.config, key); });
  };
  QStringList parts = {name};
  if (differs("task.order")) parts << QObject::tr("order %1").arg(config.integer("task.order"));
  if (differs("task.states")) parts << QObject::tr("%1 states").arg(config.integer("task.states"));
  if (differs("task.beta")) parts << QObject::tr("beta %1").arg(exactText(config.real("task.beta")));
  if (differs("task.length")) parts << QObject::tr("length %1").arg(config.integer("task.length"));
  return parts.join(QStringLiteral(", "));
}

}  // namespace mambarium
