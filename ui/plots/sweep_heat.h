// The heat map of a sweep: one axis along x, the others down the side, the measure as colour with its number and half
// its interval in every cell where there is room. Viridis: equal steps look equal, also without colour. Cells that are
// still to come are grey. (Paper 1, figure 3b.)
#pragma once

#include "ui/plots/sweep_canvas.h"

namespace mambarium {

void drawSweepHeat(SweepCanvas& canvas, const SweepSlice& slice);

}  // namespace mambarium
