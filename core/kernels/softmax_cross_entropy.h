// Cross entropy of a softmax over a large vocabulary, from logits or from hidden rows and the head's matrix.
// (The read-out of small models, with its norm and the L1 variant, is cross_entropy.h.)
//
//   loss = mean over the rows that count of  log sum_v exp(logit_v) - logit_target,   v < vocabulary
//
// Columns from `vocabulary` to `width` are padding: they take no part, whatever they hold, and their gradient is 0.
// Rows whose target is `ignored_target` take no part either; where none is left the loss is 0. The largest logit and
// the sum are found in one pass over a row, and probabilities exist only as the gradient, so logits may be as large as
// a float is. NaN is not hidden. A target outside -1 .. vocabulary - 1 is std::out_of_range, naming row and target.
//
// `reference` is plain loops, float or double; the others are float32, vectorised, with run-time dispatch. Threads: no
// result depends on how many.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

inline constexpr std::int64_t ignored_target = -1;

struct SoftmaxShape {
  std::int64_t rows = 0, vocabulary = 0;
  std::int64_t width = 0;  // numbers in a row of logits, at least `vocabulary`
};

// logits [rows, width], targets [rows]. gradient.data null: not wanted; else written, for a gradient of 1 at the loss,
// and may be the logits themselves.
template <class Real>
double softmax_cross_entropy_reference(const SoftmaxShape& shape, Strided<const Real> logits,
                                       const std::int64_t* targets, Strided<Real> gradient);
double softmax_cross_entropy(const SoftmaxShape& shape, Strided<const float> logits, const std::int64_t* targets,
                             Strided<float> gradient, int threads);

// The same for logits = hidden head^T, which exist for 64 rows at a time: hidden [rows, d_model], head [width, d_model]
// contiguous. dhidden.data null: neither gradient is wanted. dhidden is written and may be `hidden`; dhead (null: not
// wanted) is written.
struct HeadShape {
  std::int64_t rows = 0, d_model = 0, vocabulary = 0, width = 0;
};
double head_cross_entropy(const HeadShape& shape, Strided<const float> hidden, const float* head,
                          const std::int64_t* targets, Strided<float> dhidden, float* dhead, int threads);

}  // namespace mambarium::kernels
