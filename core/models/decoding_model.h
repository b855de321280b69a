// DecodingModel: any of the models as a decoder of neural recordings.
//
//   v = gelu(encoder.0 x);  u = encoder.1 v;  u = blocks(u)
//   classes: log_softmax(mean over the bins of read_out u);  outputs: read_out u_T
//
// x [B, T, channels] are windows in the place of tokens; the blocks are another SequenceModel's rows(), which has
// neither embedding nor lm_head of its own. The direction is the same in all bins, and published decoders take the
// mean; outputs are those of the last bin, so it alone is read. Weights of maps are uniform in 1/sqrt(columns), biases
// 0. Names:
//   encoder.0.{weight,bias}  encoder.1.{weight,bias}  the blocks' own  read_out.{weight,bias}
// With C channels, d = d_model and K answers it counts 2 d (C + 1) + d (2 d + 1) + K (d + 1) and the blocks: 72,264
// with a Mamba-1 of d = 64, 64 states and no norms for C = 96 and K = 8, and 257 more with a coupling of rank 2, as
// published decoders of this form do.
//
// Reads whole windows alone: initial_state(), step() and what looks along tokens throw std::invalid_argument. Channels
// of its blocks are traced along the rows of a window, embedded().
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "core/decoding/decoding_task.h"
#include "core/models/parameter.h"
#include "core/models/sequence_model.h"

namespace mambarium {

class DecodingModel final : public SequenceModel {
 public:
  // `blocks` was made with states = 0, of width d_model and this precision.
  DecodingModel(const DecodingShape& shape, std::int64_t d_model, std::uint64_t seed,
                std::unique_ptr<SequenceModel> blocks, Precision precision);

  std::vector<Parameter>& parameters() override { return parameters_; }
  // float [B, T, channels] -> log-probabilities of the classes [B, K], or outputs [B, K] on their scale.
  at::Tensor log_probabilities(const at::Tensor& windows) override;
  // Mean cross entropy over the windows, labels int64 [B]; of outputs [B, K] the mean squared error over windows and
  // outputs. Throws std::invalid_argument for other shapes or types.
  at::Tensor loss(const at::Tensor& windows, const at::Tensor& answers) override;
  std::unique_ptr<ModelState> initial_state(std::int64_t batch) override;
  at::Tensor step(const at::Tensor& tokens, ModelState& state) override;
  std::vector<FilterData::Layer> filters() override { return blocks_->filters(); }
  CoupledModel* coupled() override { return blocks_->coupled(); }
  at::Tensor embedded(const at::Tensor& windows) override;

 private:
  at::Tensor& add(const std::string& name, at::Tensor tensor, bool decayed);
  at::Tensor answers(const at::Tensor& windows);  // logits, or outputs

  DecodingShape shape_;
  at::ScalarType type_;
  std::unique_ptr<SequenceModel> blocks_;
  struct Linear {
    at::Tensor weight, bias;
  } wide_, narrow_, read_out_;
  std::vector<Parameter> parameters_;
};

}  // namespace mambarium
