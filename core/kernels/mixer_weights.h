// The mixer's weights as its kernels want them: segments joined, taps channel-wise, matrices
// both ways round. The same layout holds sums of gradients. Used by mixer.cpp and, for its columns, lanes/.
#pragma once

#include <cstdint>

#include "core/kernels/mixer.h"
#include "core/kernels/scratch.h"

namespace mambarium::kernels {

struct MixerColumns {  // of a projected row
  explicit MixerColumns(const MixerShape& shape, bool gate)
      : B(shape.inner()),
        C(B + shape.d_state),
        z(C + shape.d_state),
        dt(z + (gate ? shape.inner() : 0)),
        width(dt + shape.heads) {}
  std::int64_t x = 0, B, C, z, dt, width;
};

struct MixerSums {
  float *norm = nullptr, *taps = nullptr, *conv_bias = nullptr, *dt_bias = nullptr, *A_log = nullptr;
  float *D = nullptr, *y_norm = nullptr;
  Strided<float> in;       // [d_model][width]: in_proj transposed
  Strided<float> out;      // [d_model][inner]
  float* first = nullptr;  // all of the above lie in [first, first + count)
  std::int64_t count = 0;
};

struct MixerWeights : MixerSums {
  Strided<float> in_rows;      // [width][d_model]
  Strided<float> out_columns;  // [inner][d_model]
};

// `linear`: with in_proj and out_proj. Zeroed sums; packed weights; sums written out as gradients (null: not wanted).
MixerSums make_sums(const MixerShape& shape, bool gate, bool linear, Scratch& scratch);
MixerWeights pack(const MixerShape& shape, bool gate, bool linear, const MixerTensors<const float>& weights,
                  Scratch& scratch);
void unpack(const MixerShape& shape, bool gate, const MixerSums& sums, const MixerTensors<float>& gradients);

}  // namespace mambarium::kernels
