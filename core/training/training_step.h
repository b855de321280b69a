// TrainingStep: what a Trainer does with a batch, on whichever device. HostStep computes with the model itself on the
// CPU; GpuStep (core/device/gpu.h) on a GPU, where weights and moments then live.
//
// The model's tensors and AdamW's moments are current after fetch() and until the next update(). Errors of a device are
// TrainingErrors. One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/models/sequence_model.h"
#include "core/training/adamw.h"

namespace mambarium {

struct BatchLoss {
  double loss = 0;  // mean cross entropy, without what a motif adds
  double norm = 0;  // of the gradient of both, before clipping; not finite exactly when some gradient is not
};

class TrainingStep {
 public:
  virtual ~TrainingStep() = default;

  // For the manifest: "cpu", "cuda: NVIDIA H200".
  virtual std::string device() const = 0;

  // inputs and targets int64 [B, T], each a state of the model's; targets of -1 do not count.
  virtual BatchLoss gradient(const at::Tensor& inputs, const at::Tensor& targets) = 0;
  // AdamW's step `number` (from 1) with the gradient just computed, clipped to highest_norm (0: no limit); then
  // couplings are held below model.coupling_cap.
  virtual void update(std::int64_t number, double learning_rate, double highest_norm) = 0;

  // Weights, their last gradient and the moments into the model and AdamW, before anybody looks at them.
  virtual void fetch() = 0;
  // The other way, after somebody has changed them. Forgets the gradient.
  virtual void push() = 0;
};

// Model and AdamW outlive the step, which begins with what they hold.
using StepFactory = std::function<std::unique_ptr<TrainingStep>(SequenceModel& model, AdamW& optimiser,
                                                                std::int64_t batch, std::int64_t length)>;
std::unique_ptr<TrainingStep> make_host_step(SequenceModel& model, AdamW& optimiser);

// Parameters as AdamW takes them; without a gradient where none was computed.
std::vector<OptimisedBuffer> buffers_of(const std::vector<Parameter>& parameters);

}  // namespace mambarium
