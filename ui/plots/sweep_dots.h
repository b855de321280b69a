// The measure of a sweep along x, at every position of one axis, one below the other, and close together for every
// combination of the others: means with error bars, and every seed as a small ring. Names of any length are read
// without turning the head. For layers, parts and named cases. (Paper 1, figure 10 and its tables.)
#pragma once

#include "ui/plots/sweep_canvas.h"

namespace mambarium {

void drawSweepDots(SweepCanvas& canvas, const SweepSlice& slice);

}  // namespace mambarium
