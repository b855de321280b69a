// A mixer (core/kernels/mixer.h) of one sequence, a piece at a time, composed of the stages.
//
// What goes from one piece to the next is the scan's state and the last w - 1 inputs of the convolution: save() and
// restore() keep it at the start of a piece, so that backward() may follow forward() of the same piece in the order
// from the last to the first. Only the last piece may have fewer than w - 1 rows.
#pragma once

#include "gpu/stages/causal_convolution.h"
#include "gpu/stages/decay.h"
#include "gpu/stages/gate.h"
#include "gpu/stages/layer_norm.h"
#include "gpu/stages/linear.h"
#include "gpu/stages/model_plan.h"
#include "gpu/stages/selective_scan.h"
#include "gpu/stages/skip.h"

namespace mambarium::gpu {

class Mixer {
 public:
  MAMBARIUM_HOST_DEVICE Mixer(const ModelPlan& plan, Carve& carve)
      : plan_(plan),
        norm_(carve, plan.piece, plan.d_model),
        normed_(carve.rows(plan.piece, plan.d_model)),
        projected_(carve.rows(plan.piece, plan.projected(), plan.lead())),
        dprojected_(carve.rows(plan.piece, plan.projected())),
        past_(carve.rows(plan.lead(), plan.convolved())),
        active_(carve.rows(plan.piece, plan.convolved())),
        slope_(carve.rows(plan.piece, plan.convolved())),
        dactive_(carve.rows(plan.piece, plan.convolved())),
        before_activation_(carve.rows(plan.piece + plan.lead(), plan.convolved())),
        dt_(carve.rows(plan.piece, plan.heads)),
        a_(carve.rows(plan.piece, plan.heads)),
        ddt_(carve.rows(plan.piece, plan.heads)),
        da_(carve.rows(plan.piece, plan.heads)),
        y_norm_(carve, plan.piece, plan.inner()),
        y_(carve.rows(plan.piece, plan.inner())),
        gated_(carve.rows(plan.piece, plan.inner())),
        dgated_(carve.rows(plan.piece, plan.inner())),
        h_(carve.floats(state_size())),
        g_(carve.floats(state_size())),
        states_(carve.floats(static_cast<std::int64_t>(plan.piece + 1) * state_size())),
        adjoints_(carve.floats(static_cast<std::int64_t>(plan.piece) * state_size())),
        of_channel_(carve.floats(static_cast<std::int64_t>(plan.piece) * plan.inner() * 2)) {}

  // At the start of a sequence.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void begin(const Team& team) const {
    team.each(state_size(), [&](int i) { h_[i] = 0.0f; });
    team.each(past_size(), [&](int i) { past_.data[i] = 0.0f; });
  }
  MAMBARIUM_HOST_DEVICE int carry_size() const { return state_size() + past_size(); }
  template <class Team>
  MAMBARIUM_HOST_DEVICE void save(const Team& team, float* to) const {
    team.each(carry_size(), [&](int i) { to[i] = i < state_size() ? h_[i] : past_.data[i - state_size()]; });
  }
  template <class Team>
  MAMBARIUM_HOST_DEVICE void restore(const Team& team, const float* from) const {
    team.each(carry_size(), [&](int i) { (i < state_size() ? h_[i] : past_.data[i - state_size()]) = from[i]; });
  }

  // out = u + out_proj(...). Without data in out, all but out, for backward().
  template <class Team>
  MAMBARIUM_HOST_DEVICE void forward(const Team& team, int rows, const BlockLayout& at, const float* weights, Numbers u,
                                     NumbersOut out) const {
    const int inner = plan_.inner();
    if (at.norm != no_part) layer_norm(team, rows, plan_.d_model, weights + at.norm, u, norm_, normed_);
    linear(team, rows, plan_.d_model, plan_.projected(), {weights + at.in, plan_.d_model}, normed(at, u), Numbers(),
           projected_);
    recall(team);
    causal_convolution(team, rows, taps(at, weights), projected_, plan_.lead(), plan_.activation, active_, slope_);
    remember(team, rows);
    decay(team, rows, plan_.heads, projected_.from_column(plan_.column_dt()), weights + at.dt_bias,
          part(weights, at.A_log), dt_, a_);
    selective_scan(team, scan(rows), h_, states_, y_);
    if (at.D != no_part) skip(team, rows, plan_.heads, plan_.headdim, active_, weights + at.D, y_);
    if (at.y_norm != no_part) layer_norm(team, rows, inner, weights + at.y_norm, y_, y_norm_, y_);
    if (plan_.gate) gate(team, rows, inner, y_, z(), plan_.activation, gated_);
    if (out.data != nullptr) linear(team, rows, inner, plan_.d_model, {weights + at.out, inner}, gated(), u, out);
  }

  // Before the last piece of a sequence: nothing comes after it.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void begin_backward(const Team& team) const {
    team.each(state_size(), [&](int i) { g_[i] = 0.0f; });
    team.each(past_size(), [&](int i) { before_activation_.data[i] = 0.0f; });
  }

  // du is written and may be dout; gradients, by the layout, are added to.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void backward(const Team& team, int rows, const BlockLayout& at, const float* weights,
                                      float* gradients, Numbers u, Numbers dout, NumbersOut du) const {
    const int inner = plan_.inner(), d_model = plan_.d_model, width = plan_.projected();
    linear(team, rows, d_model, inner, {weights + at.out, 1, inner}, dout, Numbers(), dgated_);
    linear_gradient(team, rows, inner, d_model, gated(), dout, gradients + at.out);
    if (plan_.gate) {
      gate_backward(team, rows, inner, y_, z(), plan_.activation, dgated_, dgated_,
                    dprojected_.from_column(plan_.column_z()));
    }
    if (at.y_norm != no_part) {
      layer_norm_backward(team, rows, inner, weights + at.y_norm, y_norm_, dgated_, Numbers(), dgated_,
                          gradients + at.y_norm);
    }
    selective_scan_backward(
        team, scan(rows), states_, dgated_, g_, adjoints_, of_channel_,
        {dactive_, dactive_.from_column(plan_.column_B()), dactive_.from_column(plan_.column_C()), ddt_, da_});
    if (at.D != no_part) {
      skip_backward(team, rows, plan_.heads, plan_.headdim, active_, weights + at.D, dgated_, dactive_,
                    gradients + at.D, of_channel_);
    }
    decay_backward(team, rows, plan_.heads, projected_.from_column(plan_.column_dt()), weights + at.dt_bias,
                   part(weights, at.A_log), dt_, a_, ddt_, da_, dprojected_.from_column(plan_.column_dt()),
                   gradients + at.dt_bias, part(gradients, at.A_log));
    convolution_backward(team, rows, at, weights, gradients);
    linear_gradient(team, rows, d_model, width, normed(at, u), dprojected_, gradients + at.in);
    const Matrix in_transposed{weights + at.in, 1, d_model};
    if (at.norm == no_part) {
      linear(team, rows, width, d_model, in_transposed, dprojected_, dout, du);
    } else {
      linear(team, rows, width, d_model, in_transposed, dprojected_, Numbers(), normed_);
      layer_norm_backward(team, rows, d_model, weights + at.norm, norm_, normed_, dout, du, gradients + at.norm);
    }
  }

 private:
  template <class Number>
  MAMBARIUM_HOST_DEVICE static Number* part(Number* of, std::int64_t first) {
    return first == no_part ? nullptr : of + first;
  }
  MAMBARIUM_HOST_DEVICE int state_size() const { return plan_.inner() * plan_.d_state; }
  MAMBARIUM_HOST_DEVICE int past_size() const { return plan_.lead() * plan_.convolved(); }
  MAMBARIUM_HOST_DEVICE Numbers normed(const BlockLayout& at, Numbers u) const {
    return at.norm == no_part ? u : Numbers(normed_);
  }
  MAMBARIUM_HOST_DEVICE Numbers gated() const { return plan_.gate ? gated_ : y_; }
  MAMBARIUM_HOST_DEVICE Numbers z() const { return projected_.from_column(plan_.column_z()); }
  MAMBARIUM_HOST_DEVICE Taps taps(const BlockLayout& at, const float* weights) const {
    return {plan_.convolved(), plan_.d_conv, weights + at.taps, weights + at.conv_bias};
  }
  MAMBARIUM_HOST_DEVICE ScanPiece<HeadDecay> scan(int rows) const {
    return {rows,
            plan_.inner(),
            plan_.d_state,
            active_,
            active_.from_column(plan_.column_B()),
            active_.from_column(plan_.column_C()),
            {plan_.headdim, dt_, a_}};
  }

  // The convolved columns come first in a projected row.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void recall(const Team& team) const {
    const int width = plan_.convolved();
    team.each(past_size(),
              [&](int i) { projected_.at(i / width - plan_.lead(), i % width) = past_.at(i / width, i % width); });
  }
  template <class Team>
  MAMBARIUM_HOST_DEVICE void remember(const Team& team, int rows) const {
    const int width = plan_.convolved();
    team.each(past_size(), [&](int i) {
      past_.at(i / width, i % width) = projected_.at(rows - plan_.lead() + i / width, i % width);
    });
  }

  // The first w - 1 rows of before_activation_ are those of the piece behind this one: they move behind its rows.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void convolution_backward(const Team& team, int rows, const BlockLayout& at,
                                                  const float* weights, float* gradients) const {
    const int width = plan_.convolved(), lead = plan_.lead();
    if (rows >= lead) {
      team.each(past_size(), [&](int i) {
        before_activation_.at(rows + i / width, i % width) = before_activation_.at(i / width, i % width);
      });
    } else {
      team.each(past_size(), [&](int i) { before_activation_.at(rows + i / width, i % width) = 0.0f; });
    }
    team.each(rows * width, [&](int i) {
      const int t = i / width, c = i % width;
      before_activation_.at(t, c) = dactive_.at(t, c) * slope_.at(t, c);
    });
    causal_convolution_backward(team, rows, taps(at, weights), projected_, lead, before_activation_, lead, dprojected_,
                                gradients + at.taps, gradients + at.conv_bias);
  }

  const ModelPlan& plan_;
  NormRows norm_;
  NumbersOut normed_, projected_, dprojected_, past_, active_, slope_, dactive_, before_activation_;
  NumbersOut dt_, a_, ddt_, da_;
  NormRows y_norm_;
  NumbersOut y_, gated_, dgated_;
  float *h_, *g_, *states_, *adjoints_, *of_channel_;
};

}  // namespace mambarium::gpu
