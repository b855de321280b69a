// What the best possible predictor is called on a plot.
#pragma once

#include <QString>
#include <vector>

#include "ui/plots/panel_data.h"

namespace mambarium {

// "add-1", "add-0.5": the estimator of this configuration.
QString estimatorName(const ExperimentConfig& config);
// The common name of all runs' estimators, or "add-β" when they differ.
QString estimatorName(const std::vector<RunSeries>& runs);

}  // namespace mambarium
