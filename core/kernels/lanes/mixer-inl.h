// A mixer (core/kernels/mixer.h) from its scan on over LaneRows, a piece of a sequence at a time: scan, D x, norm,
// gate, out_proj and the residual. What comes before is its front (front-inl.h). Include after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_MIXER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
#undef MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
#endif

#include "core/kernels/lanes/front-inl.h"
#include "core/kernels/lanes/scan-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// What Forward() leaves for Backward(), of every row: the scan's output, standardised where there is a norm.
struct MixerRows {
  NumbersOut y, scale;

  MixerRows from_row(std::int64_t t) const { return {y.from_row(t), scale.from_row(t)}; }
};

class LaneMixer {
 public:
  LaneMixer(const MixerShape& shape, bool gate, std::int64_t most_rows, Scratch& scratch)
      : shape_(shape), columns_(shape, gate), gate_(gate) {
    y_ = TakeRows(scratch, most_rows, shape.inner());
    gated_ = TakeRows(scratch, most_rows, shape.inner());
    dy_ = TakeRows(scratch, most_rows, shape.inner());
    states_ = scratch.floats((most_rows + 1) * scan_channels * tile_states * lanes);
  }

  MixerRows TakeMixerRows(std::int64_t rows, Scratch& scratch) const {
    return {TakeRows(scratch, rows, shape_.inner()), TakeRows(scratch, rows, 1)};
  }
  // Vectors a row of MixerRows.
  std::int64_t width() const { return shape_.inner() + 1; }

  std::int64_t state_size() const { return shape_.inner() * shape_.d_state * lanes; }  // floats

  // out = u + out_proj(...) for `rows` rows; h, the scan's states, goes from before the rows to after them.
  void Forward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, const FrontOutputs& front,
               Numbers u, NumbersOut out, float* h, const MixerRows& to) {
    const std::int64_t inner = shape_.inner();
    const NumbersOut y = at.y_norm == no_part ? to.y : y_;
    Scan(rows, scan(front), h, y);
    if (at.D != no_part) Skip(rows, shape_.heads, shape_.headdim, weights + at.D, front.active, y);
    if (at.y_norm != no_part) Norm(rows, inner, weights + at.y_norm, y, to.y, to.scale, y);
    if (gate_) Product(rows, inner, y, front.z, gated_);
    Copy(u, out, rows);
    Linear(rows, inner, shape_.d_model, {weights + at.out, inner}, gate_ ? gated_ : y, out, true);
  }

  // After Forward() of the same rows, which started from the states `h`; pieces from the last to the first. g, dL/dH,
  // goes from after the rows to before them. What goes to u past the block is dout itself.
  void Backward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, float* sums,
                const FrontOutputs& front, const MixerRows& from, const float* h, Numbers dout, float* g,
                const FrontOutputs& into_front) {
    const std::int64_t inner = shape_.inner(), d_model = shape_.d_model;
    const auto sum = [sums](std::int64_t first) { return first == no_part ? nullptr : sums + first * lanes; };
    Numbers y = from.y;
    if (at.y_norm != no_part) {
      Scale(rows, inner, weights + at.y_norm, from.y, y_);
      y = y_;
    }
    Linear(rows, d_model, inner, {weights + at.out, 1, inner}, dout, dy_);
    if (gate_) {
      Product(rows, inner, y, front.z, gated_);
      LinearGradient(rows, inner, d_model, gated_, dout, sum(at.out));
      Product(rows, inner, dy_, y, into_front.z);
      Product(rows, inner, dy_, front.z, dy_);
    } else {
      LinearGradient(rows, inner, d_model, y, dout, sum(at.out));
    }
    if (at.y_norm != no_part) {
      NormBackward(rows, inner, weights + at.y_norm, from.y, from.scale, dy_, dy_, sum(at.y_norm));
    }
    Fill(into_front.active, rows, 0.0f);
    Fill(into_front.dt, rows, 0.0f);
    Fill(into_front.a, rows, 0.0f);
    ScanBackward(rows, scan(front), h, states_, dy_, g,
                 {into_front.active, into_front.active.from_column(columns_.B),
                  into_front.active.from_column(columns_.C), into_front.dt, into_front.a});
    if (at.D != no_part) {
      SkipBackward(rows, shape_.heads, shape_.headdim, weights + at.D, front.active, dy_, into_front.active, sum(at.D));
    }
  }

 private:
  ScanRows scan(const FrontOutputs& front) const {
    return {shape_.heads,
            shape_.headdim,
            shape_.d_state,
            front.active,
            front.active.from_column(columns_.B),
            front.active.from_column(columns_.C),
            front.dt,
            front.a};
  }

  MixerShape shape_;
  MixerColumns columns_;
  bool gate_;
  NumbersOut y_, gated_, dy_;
  float* states_ = nullptr;
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_MIXER_INL_H_
