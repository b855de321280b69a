// The measure of a sweep against one axis: a line for every combination of the other axes, with error bars. Series of
// the reference case are neutral and dashed. An axis of numbers that grow by one factor is logarithmic. (Paper 1,
// figures 6 and 8.)
#pragma once

#include "ui/plots/sweep_canvas.h"

namespace mambarium {

void drawSweepLines(SweepCanvas& canvas, const SweepSlice& slice);

}  // namespace mambarium
