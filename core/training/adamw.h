// AdamW (Loshchilov and Hutter, 2019) over flat float buffers, with clipping by the global norm.
//
// The same arithmetic as torch::optim::AdamW: decoupled weight decay first, then the moments with bias correction.
// Moments are float32 like the parameters. The order of every sum is fixed, so equal input gives equal bits.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mambarium {

struct OptimisedBuffer {
  std::span<float> values;
  std::span<const float> gradient;  // as long as values; or empty: this one is left alone in this step
  bool decayed = false;             // weight decay applies
};

struct AdamWOptions {
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  double weight_decay = 0;
};

// Euclidean norm over all gradients, summed in double; not finite exactly when some gradient is not.
double global_gradient_norm(std::span<const OptimisedBuffer> buffers);

// What gradients are multiplied with so that their norm is at most `highest` (0: no limit).
double clip_factor(double norm, double highest);

class AdamW {
 public:
  AdamW(AdamWOptions options, std::span<const std::size_t> sizes);

  // buffers: as many and as long as `sizes` said, in the same order each time. step counts from 1.
  void step(std::span<const OptimisedBuffer> buffers, std::int64_t step, double learning_rate, double gradient_factor);

  const AdamWOptions& options() const { return options_; }
  // First and second moment of buffer i, for checkpoints and for steps taken elsewhere.
  std::span<float> first_moment(std::size_t i) { return first_[i]; }
  std::span<float> second_moment(std::size_t i) { return second_[i]; }

 private:
  AdamWOptions options_;
  std::vector<std::vector<float>> first_, second_;
};

}  // namespace mambarium
