#include "ui/plots/loss_unit.h"

#include <QObject>
#include <cmath>
#include <limits>

namespace mambarium {
namespace {

constexpr double directions = 8;  // direction_count of core/decoding, which the window does not link

}  // namespace

QString lossUnit(const ExperimentConfig& config) {
  if (decodes_outputs(config)) return QObject::tr("variances");
  if (is_decoder(config)) return QObject::tr("nats per window");
  return scores_one_token(config) ? QObject::tr("nats per answer") : QObject::tr("nats per token");
}

double uniformLoss(const ExperimentConfig& config) {
  if (!is_decoder(config)) return std::log(static_cast<double>(alphabet_of(config)));
  const bool counted = !decodes_outputs(config) && config.text("task.recording") != "windows";
  return counted ? std::log(directions) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace mambarium
