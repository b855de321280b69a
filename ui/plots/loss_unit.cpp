#include "ui/plots/loss_unit.h"

#include <cmath>
#include <limits>

#include "core/contract/yardsticks.h"

namespace mambarium {
namespace {

constexpr double directions = 8;  // direction_count of core/decoding, which the window does not link

}  // namespace

QString lossUnit(const ExperimentConfig& config) {
  return QString::fromStdString(loss_unit(config));
}

double uniformLoss(const ExperimentConfig& config) {
  if (!is_decoder(config)) return std::log(static_cast<double>(alphabet_of(config)));
  const bool counted = !decodes_outputs(config) && config.text("task.recording") != "windows";
  return counted ? std::log(directions) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace mambarium
