// The runs of a sweep over training: for every cell the mean over its seeds and a band, the 95 % interval of that mean,
// at every step that all of its runs so far have evaluated. (Paper 1, figure 3a.)
#pragma once

#include "ui/plots/panel.h"
#include "ui/plots/sweep_canvas.h"
#include "ui/plots/sweep_data.h"

namespace mambarium {

// The column of metrics.csv that has the measure at every step. Throws std::invalid_argument, naming those that have
// one: gap_add_beta, gap_oracle, model_loss and train_loss.
double MetricsRow::*curveOf(const SweepMeasure& measure);

void drawSweepCurves(SweepCanvas& canvas, const SweepData& data, const SweepSlice& slice);
PanelTable sweepCurvesTable(const SweepData& data, const SweepSlice& slice);

}  // namespace mambarium
