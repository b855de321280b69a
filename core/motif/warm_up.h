// The warm-up of a coupling: before a model learns its task, k, P and Q are trained on the motif loss alone.
//
// Each step takes the gradient of loss_scale * L, shortens it to the length `clip` over k, P and Q together, and lets
// AdamW move them; where the norm of k P Q is then above highest_norm, k is scaled back. The warm-up ends when L <=
// stop_fraction * the first L, looked at before each step, or after max_steps. In double.
//
// Not thread-safe; different objects may run at the same time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/motif/census.h"
#include "core/motif/coupling.h"
#include "core/motif/motif_loss.h"

namespace mambarium {

struct WarmUpSettings {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;
  double loss_scale = 1e6;
  double clip = 1.0;
  double highest_norm = std::numeric_limits<double>::infinity();  // of k P Q, in the 2-norm, from the start on
  double stop_fraction = 0.1;                                     // 0: go on to max_steps
  std::int64_t max_steps = 5000;
};

struct WarmUpPoint {
  std::int64_t step = 0;  // steps taken before
  double loss = 0;
  std::optional<double> r_squared;
};

struct WarmUpResult {
  std::int64_t steps = 0;
  bool reached = false;  // the loss that stop_fraction asks for
  double initial_loss = 0, final_loss = 0;
  std::optional<double> r_squared;
  std::vector<WarmUpPoint> history;  // thinned to at most 512 points; the first and the last are always there
  Coupling coupling;
  Census soft{};
  HardCensus hard{};
  double edge_density = 0;       // of the hard edges
  double mean_edge_entropy = 0;  // bits
};

class WarmUp {
 public:
  // Throws std::invalid_argument: what motif_loss refuses, n < 3, a setting out of its range.
  WarmUp(Coupling start, MotifTarget target, const MotifLossSettings& loss, const WarmUpSettings& settings);

  bool finished() const { return reached() || step_ >= settings_.max_steps; }
  void advance();  // one step; nothing once finished

  std::int64_t step() const { return step_; }
  const Coupling& coupling() const { return coupling_; }
  const MotifLoss& loss() const { return loss_; }  // of coupling(); not scaled
  WarmUpResult result() const;

 private:
  struct Moments {
    std::vector<double> first, second;
  };

  bool reached() const { return loss_.value <= settings_.stop_fraction * initial_loss_; }
  void measure();
  void move(std::span<double> values, std::span<const double> gradient, double factor, Moments& moments);

  MotifTarget target_;
  MotifLossSettings loss_settings_;
  WarmUpSettings settings_;
  Coupling coupling_;
  MotifLoss loss_;
  double initial_loss_ = 0;
  std::int64_t step_ = 0, stride_ = 1;
  std::vector<WarmUpPoint> history_;
  Moments p_moments_, q_moments_, k_moments_;
};

// All of it at once.
WarmUpResult run_warm_up(Coupling start, MotifTarget target, const MotifLossSettings& loss,
                         const WarmUpSettings& settings);

}  // namespace mambarium
