// What the best possible predictor is called on a plot, and which task it belongs to.
#pragma once

#include <QString>
#include <vector>

#include "ui/plots/panel_data.h"

namespace mambarium {

// "add-1", "add-0.5", "Bayes": the best possible predictor of this configuration.
QString estimatorName(const ExperimentConfig& config);
// The common name of all runs' predictors; "add-β", or "the best predictor", when they differ.
QString estimatorName(const std::vector<RunSeries>& runs);

// The name of a reference of that task, with what tells it apart: "add-1", "add-1, order 2".
QString referenceName(const QString& name, const ExperimentConfig& config, const std::vector<RunSeries>& runs);
// The same task has the same references, whatever else differs.
bool sameTask(const ExperimentConfig& one, const ExperimentConfig& other);

}  // namespace mambarium
