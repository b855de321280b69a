// Small multiples of a sweep: a tile for every cell, all on one scale, with the number above it. In a tile: every seed,
// their mean and its 95 % interval, and, dashed, the mean of the first cell, which has none of its parts taken out. The
// first half of the axes runs down, the rest across. Tiles fill in while points come.
#pragma once

#include "ui/plots/sweep_canvas.h"

namespace mambarium {

void drawSweepMatrix(SweepCanvas& canvas, const SweepSlice& slice);

}  // namespace mambarium
