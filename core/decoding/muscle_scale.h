// The scale on which muscle activity is decoded: what is usual in recordings of motor cortex (Ma et al., eLife 2023,
// e84296), with numbers from the windows for training alone.
//
// Electrodes in muscles move and are replaced, so every day has its own scale. Of a muscle's envelope in the targets of
// a day's training windows, with mean m, standard deviation s and percentiles p2 and p90 of what is clipped,
//
//   v -> (min(v, m + 6 s) - p2) / (p90 - p2)
//
// for every window of the day: rest is about 0, a strong contraction about 1, and no artefact is far above.
#pragma once

#include <vector>

#include "core/decoding/split.h"
#include "core/decoding/windows.h"

namespace mambarium {

// The value below which this share, 0 .. 1, of the values lies: linear between the two nearest of n, place share (n -
// 1) counted from 0 (numpy's default). Throws std::invalid_argument for no values or another share.
double percentile(std::vector<double> values, double share);

// Puts the first muscle_outputs columns of the targets on that scale. A muscle whose percentiles are equal keeps its
// unit. Throws std::invalid_argument where a day has no window for training.
void scale_muscles(DecodingWindows& windows, const WindowSplit& split);

}  // namespace mambarium
