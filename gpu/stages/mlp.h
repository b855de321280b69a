// An MLP with its norm and residual (core/kernels/mlp.h), composed of the stages.
#pragma once

#include "gpu/stages/gate.h"
#include "gpu/stages/layer_norm.h"
#include "gpu/stages/linear.h"
#include "gpu/stages/model_plan.h"

namespace mambarium::gpu {

class Mlp {
 public:
  MAMBARIUM_HOST_DEVICE Mlp(const ModelPlan& plan, Carve& carve)
      : plan_(plan),
        norm_(carve, any() ? plan.piece : 0, plan.d_model),
        normed_(carve.rows(any() ? plan.piece : 0, plan.d_model)),
        projected_(carve.rows(plan.piece, width())),
        dprojected_(carve.rows(plan.piece, width())),
        gated_(carve.rows(plan.piece, plan.hidden)),
        dgated_(carve.rows(plan.piece, plan.hidden)) {}

  MAMBARIUM_HOST_DEVICE bool any() const { return plan_.hidden > 0; }

  // out = u + fc2(...); backward() of the same rows may follow.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void forward(const Team& team, int rows, const BlockLayout& at, const float* weights, Numbers u,
                                     NumbersOut out) const {
    const int d_model = plan_.d_model, hidden = plan_.hidden;
    if (at.mlp_norm != no_part) layer_norm(team, rows, d_model, weights + at.mlp_norm, u, norm_, normed_);
    linear(team, rows, d_model, width(), {weights + at.fc1, d_model}, normed(at, u), Numbers(), projected_);
    gate(team, rows, hidden, value(), gate_in(), plan_.mlp_activation, gated_);
    linear(team, rows, hidden, d_model, {weights + at.fc2, hidden}, gated_, u, out);
  }

  // du is written and may be dout; gradients, by the layout, are added to.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void backward(const Team& team, int rows, const BlockLayout& at, const float* weights,
                                      float* gradients, Numbers u, Numbers dout, NumbersOut du) const {
    const int d_model = plan_.d_model, hidden = plan_.hidden;
    linear(team, rows, d_model, hidden, {weights + at.fc2, 1, hidden}, dout, Numbers(), dgated_);
    linear_gradient(team, rows, hidden, d_model, gated_, dout, gradients + at.fc2);
    gate_backward(team, rows, hidden, value(), gate_in(), plan_.mlp_activation, dgated_, dprojected_,
                  plan_.gated_mlp ? dprojected_.from_column(hidden) : dprojected_);
    linear_gradient(team, rows, d_model, width(), normed(at, u), dprojected_, gradients + at.fc1);
    const Matrix fc1_transposed{weights + at.fc1, 1, d_model};
    if (at.mlp_norm == no_part) {
      linear(team, rows, width(), d_model, fc1_transposed, dprojected_, dout, du);
    } else {
      linear(team, rows, width(), d_model, fc1_transposed, dprojected_, Numbers(), normed_);
      layer_norm_backward(team, rows, d_model, weights + at.mlp_norm, norm_, normed_, dout, du,
                          gradients + at.mlp_norm);
    }
  }

 private:
  MAMBARIUM_HOST_DEVICE int width() const { return (plan_.gated_mlp ? 2 : 1) * plan_.hidden; }
  MAMBARIUM_HOST_DEVICE Numbers normed(const BlockLayout& at, Numbers u) const {
    return at.mlp_norm == no_part ? u : Numbers(normed_);
  }
  MAMBARIUM_HOST_DEVICE Numbers value() const { return plan_.gated_mlp ? Numbers(projected_) : Numbers(); }
  MAMBARIUM_HOST_DEVICE Numbers gate_in() const {
    return plan_.gated_mlp ? projected_.from_column(plan_.hidden) : projected_;
  }

  const ModelPlan& plan_;
  NormRows norm_;
  NumbersOut normed_, projected_, dprojected_, gated_, dgated_;
};

}  // namespace mambarium::gpu
