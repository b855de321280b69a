// How the diagonal scan lays out what it keeps of one sequence, whatever the vector instructions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/kernels/diagonal_scan.h"

namespace mambarium::kernels {

struct DiagonalScanLayout {
  static constexpr std::int64_t tile_states = 4, widest_vector = 16;

  explicit DiagonalScanLayout(const DiagonalScanShape& shape)
      : states((shape.d_state + tile_states - 1) / tile_states * tile_states),
        channels((shape.channels + widest_vector - 1) / widest_vector * widest_vector),
        chunk(std::clamp<std::int64_t>(std::lround(std::sqrt(static_cast<double>(shape.length))), 1, 32)),
        chunks((shape.length + chunk - 1) / chunk) {}

  std::int64_t size() const { return states * channels; }       // of one [states][channels]
  std::int64_t checkpoints() const { return chunks * size(); }  // numbers kept for one sequence

  std::int64_t states, channels;  // padded to whole tiles
  std::int64_t chunk, chunks;     // tokens from one kept state to the next, and how many are kept
};

// [states][channels] of a layout to [D, N] (null: nowhere).
inline void write_channels(const DiagonalScanShape& shape, const DiagonalScanLayout& layout, const float* from,
                           float* to) {
  for (std::int64_t c = 0; to != nullptr && c < shape.channels; ++c) {
    for (std::int64_t n = 0; n < shape.d_state; ++n) {
      to[c * shape.d_state + n] = from[n * layout.channels + c];
    }
  }
}

}  // namespace mambarium::kernels
