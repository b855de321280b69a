// The model on the hand-written kernels of core/kernels, as differentiable functions. float32 on the CPU.
//
// The loss of a small model on a batch of sequences is one kernel call, its gradients included. What that does not suit
// (a large state, a wide model, a handful of sequences) and everything that wants rows rather than a loss goes block by
// block: narrow models (d_model up to widest_fused) run whole mixers and MLPs in one kernel each; above that LibTorch's
// BLAS does the matrix products and the kernels what lies between them, as they do in any mixer with a coupling.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/kernels/whole_model.h"
#include "core/models/mamba2.h"
#include "core/models/mamba2_operators.h"
#include "core/models/whole_model_plan.h"

namespace mambarium::fused {

inline constexpr std::int64_t widest_fused = 64;

// u [B, T, d_model] -> [B, T, d_model], norms and residuals included.
at::Tensor block(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u);
// What block() is to a layer with a coupling, and what its scan took (may be null).
at::Tensor coupled_block(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u,
                         operators::ScanInputs* taken = nullptr);

// Mean cross entropy of the read-out: u [B, T, d_model], final_norm undefined where norms are off, targets int64 [B,
// T].
at::Tensor loss(const Mamba2Options& options, const at::Tensor& u, const at::Tensor& final_norm,
                const at::Tensor& lm_head, const at::Tensor& targets);

struct ModelWeights {
  at::Tensor embedding;
  const std::vector<Mamba2Layer>& layers;
  at::Tensor final_norm, lm_head;
};

// Whether whole_loss() is the faster way for tokens [B, T]; never where the states are coupled.
bool suits_whole_loss(const Mamba2Options& options, const at::Tensor& tokens);

// For `parameters` of these weights, in their order. std::invalid_argument where filters are not per channel or the
// states are coupled: the plan has no place for these.
WholeModelPlan whole_model_plan(const Mamba2Options& options, const ModelWeights& weights,
                                const std::vector<Parameter>& parameters, std::int64_t batch, std::int64_t length);

// Mean cross entropy of tokens and targets, int64 [B, T]. The workspace has to outlive the call alone.
at::Tensor whole_loss(const Mamba2Options& options, const ModelWeights& weights, const at::Tensor& tokens,
                      const at::Tensor& targets, kernels::WholeModelWorkspace& workspace);

}  // namespace mambarium::fused
