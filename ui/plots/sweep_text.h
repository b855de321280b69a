// A sweep in words and numbers: what its charts, captions and tables say. Intervals are the 95 % intervals of the mean
// over the seeds, by Student's t.
#pragma once

#include "ui/plots/panel.h"
#include "ui/plots/sweep_data.h"
#include "ui/plots/sweep_slice.h"
#include "ui/plots/theme.h"

namespace mambarium {

QString measureTitle(const SweepMeasure& measure);  // "Gap to the best predictor (nats per token)"
// The same for an axis: on several lines where it is longer than `room` pixels, the unit on its own.
QString measureTitle(const SweepMeasure& measure, const Theme& theme, double room);
QString measureText(const SweepMeasure& measure, double value);
QString halfIntervalText(const SweepMeasure& measure, const SweepSummary& summary);  // "± 0.0010", "" for one seed
QString summaryText(const SweepMeasure& measure, const SweepSummary& summary);  // "0.0123 ± 0.0010"; "–" for none

// The caption: every cell's number where they are few, else the lowest and the highest.
QString describeSweep(const SweepData& data, const SweepSlice& slice);
// A row for each cell: its place, mean, standard error, interval, number of seeds, and the value of every seed.
PanelTable sweepTable(const SweepSlice& slice);

}  // namespace mambarium
