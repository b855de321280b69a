// The part of a mixer before its scan (core/kernels/mixer.h) over LaneRows, a piece of a sequence at a time: norm,
// in_proj, convolution with its activation, dt and decay, and the gate's activation. Include after
// hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_FRONT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_FRONT_INL_H_
#undef MAMBARIUM_KERNELS_LANES_FRONT_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_FRONT_INL_H_
#endif

#include "core/kernels/lanes/convolution-inl.h"
#include "core/kernels/lanes/linear-inl.h"
#include "core/kernels/lanes/norm-inl.h"
#include "core/kernels/lanes/pointwise-inl.h"
#include "core/kernels/mixer_weights.h"
#include "core/kernels/whole_model_layout.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// What a front gives to the scan and what follows it; as gradients, what comes back.
struct FrontOutputs {
  NumbersOut active;  // [rows][x | B | C]
  NumbersOut dt, a;   // [rows][H]
  NumbersOut z;       // [rows][inner]: act(z), where there is a gate

  FrontOutputs from_row(std::int64_t t) const {
    return {active.from_row(t), dt.from_row(t), a.from_row(t), z.from_row(t)};
  }
};

inline FrontOutputs TakeFrontOutputs(const MixerShape& shape, std::int64_t rows, Scratch& scratch) {
  return {TakeRows(scratch, rows, shape.convolved()), TakeRows(scratch, rows, shape.heads),
          TakeRows(scratch, rows, shape.heads), TakeRows(scratch, rows, shape.inner())};
}

// What Forward() leaves for Backward(), of every row.
struct FrontRows {
  FrontOutputs out;
  NumbersOut standard, scale;           // of the norm of u
  NumbersOut convolved;                 // what is convolved, after w - 1 earlier rows of it
  NumbersOut slope, dt_slope, z_slope;  // derivatives of the activations and of softplus

  FrontRows from_row(std::int64_t t) const {
    return {.out = out.from_row(t),
            .standard = standard.from_row(t),
            .scale = scale.from_row(t),
            .convolved = convolved.from_row(t),
            .slope = slope.from_row(t),
            .dt_slope = dt_slope.from_row(t),
            .z_slope = z_slope.from_row(t)};
  }
};

class LaneFront {
 public:
  LaneFront(const MixerShape& shape, bool gate, std::int64_t most_rows, Scratch& scratch)
      : shape_(shape), columns_(shape, gate), gate_(gate), lead_(shape.d_conv - 1) {
    normed_ = TakeRows(scratch, most_rows, shape.d_model);
    gate_and_dt_ = TakeRows(scratch, most_rows, columns_.width - shape.convolved());
    dprojected_ = TakeRows(scratch, lead_ + most_rows, columns_.width);
    dnormed_ = TakeRows(scratch, most_rows, shape.d_model);
  }

  FrontRows TakeFrontRows(std::int64_t rows, Scratch& scratch) const {
    const auto take = [&](std::int64_t width) { return TakeRows(scratch, rows, width); };
    return {.out = TakeFrontOutputs(shape_, rows, scratch),
            .standard = take(shape_.d_model),
            .scale = take(1),
            .convolved = TakeRows(scratch, lead_ + rows, shape_.convolved()),
            .slope = take(shape_.convolved()),
            .dt_slope = take(shape_.heads),
            .z_slope = take(shape_.inner())};
  }
  // Vectors a row of FrontRows.
  std::int64_t width() const {
    return shape_.d_model + 1 + 3 * (shape_.convolved() + shape_.heads) + 2 * shape_.inner();
  }

  // Rows of `convolved` that the next piece wants.
  std::int64_t lead() const { return lead_; }

  // `past` [w - 1][convolved] holds what was convolved before these rows and then what the next ones want.
  void Forward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, Numbers u, NumbersOut past,
               const FrontRows& to, bool keep) {
    const std::int64_t d_model = shape_.d_model, convolved = shape_.convolved();
    const auto kept = [&](NumbersOut of) { return keep ? of : NumbersOut{nullptr, of.width}; };
    Numbers normed = u;
    if (at.norm != no_part) {
      Norm(rows, d_model, weights + at.norm, u, to.standard, to.scale, normed_);
      normed = normed_;
    }
    Linear(rows, d_model, convolved, {weights + at.in, d_model}, normed, to.convolved.from_row(lead_));
    Linear(rows, d_model, gate_and_dt_.width, {weights + at.in + convolved * d_model, d_model}, normed, gate_and_dt_);
    Copy(past, to.convolved, lead_);
    Copy(to.convolved.from_row(rows), past, lead_);
    WithActivation(shape_.activation, [&](auto a) HWY_ATTR {
      Convolve<a()>(rows, taps(at, weights), to.convolved, to.out.active, kept(to.slope));
      if (gate_) Activate<a()>(rows, shape_.inner(), gate_and_dt_, to.out.z, kept(to.z_slope));
    });
    Decay(rows, shape_.heads, weights + at.dt_bias, at.A_log == no_part ? nullptr : weights + at.A_log,
          gate_and_dt_.from_column(columns_.dt - columns_.z), to.out.dt, to.out.a, kept(to.dt_slope));
  }

  // Before the last piece of a sequence: nothing comes after it.
  void BeginBackward() { Fill(dprojected_, lead_, 0.0f); }

  // After Forward(keep) of the same rows, pieces from the last to the first, of which only the last may have fewer than
  // lead() rows. `incoming` is overwritten. du is added to.
  void Backward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, float* sums, Numbers u,
                const FrontRows& from, const FrontOutputs& incoming, NumbersOut du) {
    const std::int64_t d_model = shape_.d_model;
    const auto sum = [sums](std::int64_t first) { return first == no_part ? nullptr : sums + first * lanes; };
    CarryBack(rows);
    const NumbersOut dprojected = dprojected_.from_row(lead_);
    if (gate_) Product(rows, shape_.inner(), incoming.z, from.z_slope, dprojected.from_column(columns_.z));
    DecayBackward(rows, shape_.heads, at.A_log == no_part ? nullptr : weights + at.A_log, from.out.dt, from.out.a,
                  from.dt_slope, incoming.dt, incoming.a, dprojected.from_column(columns_.dt), sum(at.dt_bias),
                  sum(at.A_log));
    ConvolveBackward(rows, taps(at, weights), from.convolved, from.slope, incoming.active, dprojected_, sum(at.taps),
                     sum(at.conv_bias));
    Numbers normed = u;
    if (at.norm != no_part) {
      Scale(rows, d_model, weights + at.norm, from.standard, normed_);
      normed = normed_;
    }
    LinearGradient(rows, d_model, columns_.width, normed, dprojected, sum(at.in));
    Linear(rows, columns_.width, d_model, {weights + at.in, 1, d_model}, dprojected, dnormed_);
    if (at.norm != no_part) {
      NormBackward(rows, d_model, weights + at.norm, from.standard, from.scale, dnormed_, dnormed_, sum(at.norm));
    }
    for (std::int64_t i = 0; i < rows * d_model; ++i) Add(At(dnormed_, 0, i), du, 0, i);
  }

 private:
  Taps taps(const WholeModelLayout::Block& at, const float* weights) const {
    return {shape_.convolved(), shape_.d_conv, weights + at.taps, weights + at.conv_bias};
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
  NumbersOut normed_, gate_and_dt_, dprojected_, dnormed_;
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_FRONT_INL_H_
