// Final norm, lm_head, read-out and cross entropy in one pass over the rows, with the gradients on the way.
//
//   logits = lm_head norm(u)
//   softmax: log p_j = logit_j - log sum exp(logit);  L1: p_j = (relu(logit_j) + 1e-5) / sum
//   loss = mean over rows of -log p_target
//
// Threads: rows are split over `threads`; no result depends on how many.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

struct ReadOutShape {
  std::int64_t rows = 0, d_model = 0, states = 0;
  bool l1 = false;
};

template <class Real>
struct ReadOutTensors {
  Real* norm = nullptr;     // [d_model]; null: no final norm
  Real* lm_head = nullptr;  // [states][d_model]
};

// u [rows, d_model], targets [rows]. Returns the loss; with du.data also du and gradients (written), for a gradient of
// 1 at the loss.
double cross_entropy(const ReadOutShape& shape, const ReadOutTensors<const float>& weights, Strided<const float> u,
                     const std::int64_t* targets, Strided<float> du, const ReadOutTensors<float>& gradients,
                     int threads);

}  // namespace mambarium::kernels
