// A mixer (core/kernels/mixer.h) over LaneRows, a piece of a sequence at a time. Include after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_MIXER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
#undef MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
#endif

#include "core/kernels/lanes/convolution-inl.h"
#include "core/kernels/lanes/linear-inl.h"
#include "core/kernels/lanes/norm-inl.h"
#include "core/kernels/lanes/pointwise-inl.h"
#include "core/kernels/lanes/scan-inl.h"
#include "core/kernels/mixer_weights.h"
#include "core/kernels/whole_model_layout.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// What goes from one piece of a sequence to the next: the scan's state and the inputs of the convolution.
struct MixerCarry {
  float* h = nullptr;  // [inner][d_state] vectors
  NumbersOut past;     // [w - 1][convolved]
};

class LaneMixer {
 public:
  LaneMixer(const MixerShape& shape, const WholeModelLayout& layout, std::int64_t most_rows, Scratch& scratch)
      : shape_(shape), columns_(shape, layout.gate), gate_(layout.gate), lead_(shape.d_conv - 1) {
    const auto take = [&](std::int64_t width) { return TakeRows(scratch, most_rows, width); };
    const std::int64_t inner = shape.inner(), convolved = shape.convolved();
    standard_ = take(shape.d_model);
    normed_ = take(shape.d_model);
    scale_ = take(1);
    projected_ = TakeRows(scratch, lead_ + most_rows, columns_.width);
    dprojected_ = TakeRows(scratch, lead_ + most_rows, columns_.width);
    active_ = take(convolved);
    slope_ = take(convolved);
    dactive_ = take(convolved);
    dt_ = take(shape.heads);
    a_ = take(shape.heads);
    dt_slope_ = take(shape.heads);
    ddt_ = take(shape.heads);
    da_ = take(shape.heads);
    states_ = scratch.floats((most_rows + 1) * state_size());
    y_ = take(inner);
    y_standard_ = take(inner);
    y_scale_ = take(1);
    z_active_ = take(inner);
    z_slope_ = take(inner);
    gated_ = take(inner);
    dgated_ = take(inner);
    dnormed_ = take(shape.d_model);
  }

  std::int64_t state_size() const { return shape_.inner() * shape_.d_state * lanes; }  // floats
  std::int64_t lead() const { return lead_; }

  // out = u + out_proj(...) for `rows` rows; `carry` advances. With `keep`, Backward() may follow.
  void Forward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, Numbers u, NumbersOut out,
               const MixerCarry& carry, bool keep) {
    const std::int64_t inner = shape_.inner();
    const auto kept = [&](NumbersOut of) { return keep ? of : NumbersOut{nullptr, of.width}; };
    Numbers normed = u;
    if (at.norm != no_part) {
      Norm(rows, shape_.d_model, weights + at.norm, u, standard_, scale_, normed_);
      normed = normed_;
    }
    const NumbersOut projected = projected_.from_row(lead_);
    Linear(rows, shape_.d_model, columns_.width, {weights + at.in, shape_.d_model}, normed, projected);
    Recall(carry.past);
    WithActivation(shape_.activation,
                   [&](auto a) HWY_ATTR { Convolve<a()>(rows, taps(at, weights), projected_, active_, kept(slope_)); });
    Remember(rows, carry.past);
    Decay(rows, shape_.heads, weights + at.dt_bias, at.A_log == no_part ? nullptr : weights + at.A_log,
          projected.from_column(columns_.dt), dt_, a_, kept(dt_slope_));
    Scan(rows, scan(), carry.h, keep ? states_ : nullptr, y_);
    if (at.D != no_part) Skip(rows, shape_.heads, shape_.headdim, weights + at.D, active_, y_);
    if (at.y_norm != no_part) Norm(rows, inner, weights + at.y_norm, y_, y_standard_, y_scale_, y_);
    Numbers gated = y_;
    if (gate_) {
      WithActivation(shape_.activation, [&](auto a) HWY_ATTR {
        Gate<a()>(rows, inner, y_, projected.from_column(columns_.z), gated_, z_active_, kept(z_slope_));
      });
      gated = gated_;
    }
    if (out.data != nullptr) {
      Copy(u, out, rows);
      Linear(rows, inner, shape_.d_model, {weights + at.out, inner}, gated, out, true);
    }
  }

  // Before the last piece of a sequence: nothing comes after it.
  void BeginBackward(float* g) {
    std::fill_n(g, state_size(), 0.0f);
    Fill(dprojected_, lead_, 0.0f);
  }

  // After Forward(keep) of the same rows, pieces from the last to the first; only the last may have fewer than lead()
  // rows. du is written and may be dout; g, dL/dH, goes from after the rows to before them.
  void Backward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, float* sums, Numbers u,
                Numbers dout, NumbersOut du, float* g) {
    const std::int64_t inner = shape_.inner(), d_model = shape_.d_model;
    const auto sum = [sums](std::int64_t first) { return first == no_part ? nullptr : sums + first * lanes; };
    CarryBack(rows);
    const NumbersOut dprojected = dprojected_.from_row(lead_);

    const Numbers gated = gate_ ? gated_ : y_;
    Linear(rows, d_model, inner, {weights + at.out, 1, inner}, dout, dgated_);
    LinearGradient(rows, inner, d_model, gated, dout, sum(at.out));
    if (gate_) GateBackward(rows, inner, y_, z_active_, z_slope_, dgated_, dgated_, dprojected.from_column(columns_.z));
    if (at.y_norm != no_part) {
      NormBackward(rows, inner, weights + at.y_norm, y_standard_, y_scale_, dgated_, dgated_, sum(at.y_norm));
    }
    Fill(dactive_, rows, 0.0f);
    Fill(ddt_, rows, 0.0f);
    Fill(da_, rows, 0.0f);
    ScanBackward(rows, scan(), states_, dgated_, g,
                 {dactive_, dactive_.from_column(columns_.B), dactive_.from_column(columns_.C), ddt_, da_});
    if (at.D != no_part) {
      SkipBackward(rows, shape_.heads, shape_.headdim, weights + at.D, active_, dgated_, dactive_, sum(at.D));
    }
    DecayBackward(rows, shape_.heads, at.A_log == no_part ? nullptr : weights + at.A_log, dt_, a_, dt_slope_, ddt_, da_,
                  dprojected.from_column(columns_.dt), sum(at.dt_bias), sum(at.A_log));
    ConvolveBackward(rows, taps(at, weights), projected_, slope_, dactive_, dprojected_, sum(at.taps),
                     sum(at.conv_bias));

    LinearGradient(rows, d_model, columns_.width, at.norm == no_part ? u : Numbers(normed_), dprojected, sum(at.in));
    Linear(rows, columns_.width, d_model, {weights + at.in, 1, d_model}, dprojected, dnormed_);
    if (at.norm != no_part) {
      NormBackward(rows, d_model, weights + at.norm, standard_, scale_, dnormed_, dnormed_, sum(at.norm));
    }
    for (std::int64_t i = 0; i < rows * d_model; ++i) {
      Put(hn::Add(At(dout, 0, i), At(dnormed_, 0, i)), du, 0, i);
    }
  }

 private:
  Taps taps(const WholeModelLayout::Block& at, const float* weights) const {
    return {shape_.convolved(), shape_.d_conv, weights + at.taps, weights + at.conv_bias};
  }
  ScanRows scan() const {
    return {shape_.heads,
            shape_.headdim,
            shape_.d_state,
            active_,
            active_.from_column(columns_.B),
            active_.from_column(columns_.C),
            dt_,
            a_};
  }

  // The convolved columns come first in a projected row.
  void Recall(Numbers past) {
    for (std::int64_t t = 0; t < lead_; ++t) std::copy_n(past.at(t, 0), past.width * lanes, projected_.at(t, 0));
  }
  void Remember(std::int64_t rows, NumbersOut past) const {
    for (std::int64_t t = 0; t < lead_; ++t) std::copy_n(projected_.at(rows + t, 0), past.width * lanes, past.at(t, 0));
  }

  // What later rows gave to the inputs of their convolution before these rows' own: it lies in the first rows of
  // dprojected_ and belongs to the last of these.
  void CarryBack(std::int64_t rows) {
    const std::int64_t numbers = shape_.convolved() * lanes;
    for (std::int64_t t = rows + lead_ - 1; t >= 0; --t) {
      if (t >= rows) {
        std::copy_n(dprojected_.at(t - rows, 0), numbers, dprojected_.at(t, 0));
      } else {
        std::fill_n(dprojected_.at(t, 0), numbers, 0.0f);
      }
    }
  }

  MixerShape shape_;
  MixerColumns columns_;
  bool gate_;
  std::int64_t lead_;
  NumbersOut standard_, normed_, scale_, projected_, dprojected_, active_, slope_, dactive_;
  NumbersOut dt_, a_, dt_slope_, ddt_, da_, y_, y_standard_, y_scale_, z_active_, z_slope_, gated_, dgated_, dnormed_;
  float* states_ = nullptr;
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
