// SequenceModel: what a trainer, an analysis or a command may ask of any model.
//
// This header declares at::Tensor without including torch. B sequences, T tokens, S states, L layers, H heads.
// Not thread-safe: one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/inspection.h"

namespace at {
class Tensor;
}

namespace mambarium {

struct Parameter;       // core/models/parameter.h: name, tensor, whether weight decay applies
class CoupledModel;     // core/models/coupled_model.h: couplings, motif loss, traces of a channel
struct WholeModelPlan;  // core/models/whole_model_plan.h: parameters as raw pointers

// Which implementation computes the model. Both are the same function; `torch` is plain LibTorch operators with
// autograd (the reference, any dtype), `fused` the hand-written kernels of core/kernels, which cover mamba2,
// mamba_zero and mamba1 in float32 on the CPU.
enum class Engine { fused, torch };
// The engine that computes this configuration when `asked` is asked for: kinds without kernels are on operators always.
Engine engine_of(const ExperimentConfig& config, Engine asked);
Engine engine_named(const std::string& name);  // fused for every name but "torch"
std::string name_of(Engine engine);            // "fused", "torch": how manifests and --engine call it
enum class Precision { float32, float64 };

// What a model keeps between step() calls: convolution windows, and H_t or keys and values, of every layer. Copyable
// (deep).
class ModelState {
 public:
  virtual ~ModelState() = default;
  virtual std::unique_ptr<ModelState> clone() const = 0;

  // The numbers of the state after a first step, live: what is written into them is what the next step reads. hidden:
  // H_t of each layer [B, H, P, N]; windows: what each convolution remembers [B, w-1, channels]. Both are empty for a
  // model whose memory grows with the sequence.
  virtual std::vector<at::Tensor> hidden() const;
  virtual std::vector<at::Tensor> windows() const;
};

class SequenceModel {
 public:
  virtual ~SequenceModel() = default;

  // The parameters, in a fixed order, by the names that stand in checkpoints. The tensors are the live ones.
  virtual std::vector<Parameter>& parameters() = 0;
  std::int64_t parameter_count();
  // The model, with `batch` sequences of `length` tokens, as the kernels of whole models take it;
  // std::invalid_argument where they cannot.
  virtual WholeModelPlan whole_model_plan(std::int64_t batch, std::int64_t length) const;

  // tokens int64 [B, T] -> log-probabilities of the next token [B, T, S]; autograd records it when gradients are
  // enabled. Softmax read-out: log_softmax; L1 read-out: log(p) with p = (relu(logit)+1e-5) / sum.
  virtual at::Tensor log_probabilities(const at::Tensor& tokens) = 0;

  // Mean cross entropy over all B*T targets but those that are -1: a scalar tensor to call backward() on. targets int64
  // [B, T].
  virtual at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) = 0;

  // Token by token, the same function: state in, log-probabilities [B, S] out, state advanced.
  virtual std::unique_ptr<ModelState> initial_state(std::int64_t batch) = 0;
  virtual at::Tensor step(const at::Tensor& tokens, ModelState& state) = 0;
  // T tokens [B, T] at once, log-probabilities [B, T, S] after each: what step() gives one by one, and memory for T
  // tokens however many came before (but for a model whose state grows).
  virtual at::Tensor read(const at::Tensor& tokens, ModelState& state);

  // For analysis (no gradients): a_t [L, H, T] along one sequence (std::invalid_argument where there are none:
  // nothing_to_inspect()), and the convolution taps.
  virtual Tensor decay_factors(std::span<const std::int32_t> tokens);
  virtual std::vector<FilterData::Layer> filters() = 0;
  // b_t and c_t of one layer, [B, T, N] each, as its scan takes them. Throws std::invalid_argument where there is none.
  virtual std::pair<at::Tensor, at::Tensor> projections(const at::Tensor& tokens, std::int64_t layer);
  virtual CoupledModel* coupled();  // itself, where its states are coupled; else nullptr

  // The blocks alone: u [B, T, d_model], in the place of what the embedding gives, -> [B, T, d_model] after the last
  // block and the final norm. Throws std::invalid_argument for a model that has no blocks.
  virtual at::Tensor rows(const at::Tensor& u);
  // What they are given: tokens int64 [B, T] as the embedding has them, a decoder's windows [B, T, channels] as its
  // encoder has them. Throws std::invalid_argument for other inputs, and for a model whose blocks have no traces
  // (coupled_model.h).
  virtual at::Tensor embedded(const at::Tensor& inputs);
};

// The model a configuration describes, with its initial weights (each from its own named stream of training.seed), on
// engine_of(config, engine).
std::unique_ptr<SequenceModel> make_model(const ExperimentConfig& config, Engine engine = Engine::fused,
                                          Precision precision = Precision::float32);

}  // namespace mambarium
