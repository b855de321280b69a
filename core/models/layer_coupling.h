// LayerCoupling: P, Q and k of one layer as parameters, and the motif loss on them as a tensor function.
//
// n = d_state, r = rank, D = d_inner. Shared by the channels: P [n, r], Q [r, n], k a scalar; else [D, n, r], [D, r, n]
// and [D], for every channel a k of its own. P and Q start as N(0, 0.01^2), k at CouplingOptions::scale: at 1e-4 the
// layer is all but plain Mamba. Names: <prefix>coupling.{P,Q,k}. None is decayed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/run_folder.h"
#include "core/kernels/coupled_scan.h"
#include "core/models/coupled_model.h"
#include "core/models/initialisation.h"
#include "core/motif/motif_loss.h"
#include "core/motif/motif_target.h"
#include "core/motif/warm_up.h"

namespace mambarium {

struct CouplingOptions {
  std::int64_t rank = 0;  // 0: the states are not coupled
  bool etd = false;       // else euler
  bool per_channel = false;
  double scale = 1e-4;                // k before training
  double cap = 0;                     // of the 2-norm of M, in parts of the slowest decay it acts on; 0: none
  MotifLossSettings motif;            // its edge rule counts where no motif is asked for, too
  std::optional<MotifTarget> target;  // none: Motifblank
  double weight = 0.1;                // lambda
  std::int64_t warm_up_steps = 5000;

  kernels::CouplingForm form() const { return etd ? kernels::CouplingForm::etd : kernels::CouplingForm::euler; }
};

std::vector<double> doubles_of(const at::Tensor& tensor);  // its numbers, row-major

// From a configuration that validate() finds nothing wrong with.
CouplingOptions coupling_options(const ExperimentConfig& config);

struct LayerCoupling {
  at::Tensor P, Q, k;  // undefined where the states are not coupled

  bool defined() const { return P.defined(); }
  at::Tensor scaled_P() const;  // k P
  at::Tensor matrix() const;    // M [1, n, n], per channel [D, n, n]
  Coupling channel(std::int64_t index) const;
  // The three with the names they have in a layer whose names begin with `prefix`; none where undefined.
  std::vector<std::pair<std::string, at::Tensor>> named(const std::string& prefix) const;
};

// As it is before training, drawn by those names; undefined where rank is 0.
LayerCoupling initial_coupling(const CouplingOptions& options, const Initialiser& draw, const std::string& prefix,
                               std::int64_t channels, std::int64_t d_state);

// Mean of the motif loss over the matrices M [count, n, n]: a scalar of their dtype, computed in double. lambda is the
// caller's.
at::Tensor motif_loss(const at::Tensor& matrices, const MotifTarget& target, const MotifLossSettings& settings);
MotifStanding motif_standing(const at::Tensor& matrices, const MotifTarget& target, const MotifLossSettings& settings);

// Every coupling of the layer trained on the motif loss alone, in double, and written back, none above its highest
// norm. Nothing is done, and nothing comes back, without a motif or where no steps are allowed.
std::optional<WarmUpRecord> warm_up(LayerCoupling& coupling, const CouplingOptions& options,
                                    const std::vector<double>& highest_norms);

// The highest 2-norm that the cap allows each coupling of a layer: cap times the smallest |A| that it acts on, or
// infinity without a cap. slowest: the smallest |A| of each channel [D].
std::vector<double> highest_norms(const CouplingOptions& options, const at::Tensor& slowest);
// Scales k of every coupling back to its highest norm (hold_norm of core/motif/coupling.h).
void hold_norms(LayerCoupling& coupling, const std::vector<double>& highest_norms);

}  // namespace mambarium
