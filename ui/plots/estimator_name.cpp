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
  return QString::fromStdString(best_predictor_name(config));
}

QString estimatorName(const std::vector<RunSeries>& runs) {
  if (runs.empty()) return QStringLiteral("add-β");
  const auto all = [&](const auto& is_so) {
    return std::all_of(runs.begin(), runs.end(), [&](const RunSeries& run) { return is_so(run.config); });
  };
  const QString name = estimatorName(runs.front().config);
  if (all([&](const ExperimentConfig& config) { return estimatorName(config) == name; })) return name;
  const bool all_add =
      all([](const ExperimentConfig& config) { return estimatorName(config).startsWith(QLatin1String("add-")); });
  return all_add ? QStringLiteral("add-β") : QObject::tr("the best predictor");
}

bool sameTask(const ExperimentConfig& one, const ExperimentConfig& other) {
  for (const Property& property : property_table())
    if (property.group == "Task" && one.applies(property.key) && one.value(property.key) != other.value(property.key))
      return false;
  return true;
}

QString referenceName(const QString& name, const ExperimentConfig& config, const std::vector<RunSeries>& runs) {
  const auto differs = [&](const char* key) {
    return config.applies(key) && std::any_of(runs.begin(), runs.end(), [&](const RunSeries& run) {
             return run.config.applies(key) && !agree(config, run.config, key);
           });
  };
  QStringList parts = {name};
  if (differs("task.kind") && switch_token_of(config)) parts << QObject::tr("switching");
  if (differs("task.order")) parts << QObject::tr("order %1").arg(config.integer("task.order"));
  if (differs("task.states")) parts << QObject::tr("%1 states").arg(config.integer("task.states"));
  if (differs("task.beta")) parts << QObject::tr("beta %1").arg(exactText(config.real("task.beta")));
  if (switch_token_of(config) && differs("task.p_switch"))
    parts << QObject::tr("p_switch %1").arg(exactText(config.real("task.p_switch")));
  if (differs("task.length")) parts << QObject::tr("length %1").arg(config.integer("task.length"));
  return parts.join(QStringLiteral(", "));
}

}  // namespace mambarium
