// CoupledModel: what a model whose states are coupled can be asked beside what any model can (Motif-Mamba, paper 2).
//
// L layers, D channels of a layer, n = d_state, r = rank, T tokens. The coupling of a channel is M = k P Q. Not
// thread-safe; no gradients but penalty()'s.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/contract/run_folder.h"

namespace at {
class Tensor;
}

namespace mambarium {

// Everything one channel's recurrence is made of along a sequence, in double.
struct ChannelTrace {
  bool etd = false;
  std::int64_t d_state = 0, rank = 0;
  std::vector<double> A = {};          // [n], at most 0
  std::vector<double> P = {}, Q = {};  // k P [n, r] and Q [r, n]
  std::vector<double> dt = {};         // [T]
  std::vector<double> drive = {};      // [T, n]: B_t x_t
  std::vector<double> state = {};      // [T, n]: h_t as the model computes it
};

// How the couplings of all layers stand to the motif that is asked for: means over the layers (and, where every channel
// has its own, over these).
struct MotifStanding {
  double loss = 0, r_squared = 0;
};

// The states by `passes` plain scans, each with the coupling's input from the z of the one before, the first without
// (coupled_scan_picard of core/kernels/coupled_scan.h). The errors are the largest since it began, of any layer and
// batch: the largest difference from the recurrence on the same inputs, in parts of the largest number there.
struct PicardEvaluation {
  std::int64_t passes = 1;
  double output_error = 0;  // of y, the scan's output, after any token
  double state_error = 0;   // of h after the last token
};

class CoupledModel {
 public:
  virtual ~CoupledModel() = default;

  virtual std::int64_t coupled_layers() const = 0;
  virtual std::int64_t channels() const = 0;
  virtual bool shared_by_channels() const = 0;

  // k, P and Q of a layer's channel, in double; std::invalid_argument where there is no such layer or channel.
  struct Parts {
    double scale = 0;
    std::vector<double> P, Q;  // [n, r] without k, and [r, n]
  };
  virtual Parts coupling(std::int64_t layer, std::int64_t channel) const = 0;
  // Along one sequence, u [1, T, d_model] in the model's precision: SequenceModel::embedded(). Throws
  // std::invalid_argument for rows of another shape or type, and as coupling().
  virtual ChannelTrace trace(const at::Tensor& u, std::int64_t layer, std::int64_t channel) = 0;

  virtual bool has_motif() const = 0;
  // lambda times the motif loss, a scalar to call backward() on: what training adds to the loss of a batch. Undefined
  // where no motif is asked for.
  virtual at::Tensor penalty() = 0;
  virtual MotifStanding motif_standing() const = 0;  // NaN where no motif is asked for
  // Scales every M that passes model.coupling_cap back to it, by its k: what training does after every step, so that
  // all that is computed of M, the motif loss too, sees it capped. No gradient goes through that. Nothing without a
  // cap.
  virtual void hold_couplings() = 0;
  // Trains P, Q and k alone on the motif loss, before the first step (core/motif/warm_up.h), and says how that went.
  // Nothing without a motif.
  virtual std::optional<WarmUpRecord> warm_up() = 0;

  // How the states are computed from now on: by Picard passes, without gradients, or (null) by the recurrence again.
  // Throws std::invalid_argument where this kind of model has no such passes.
  virtual void evaluate_by(std::shared_ptr<PicardEvaluation> picard) = 0;
};

}  // namespace mambarium
