// An MLP with its norm and residual (core/kernels/mlp.h) over LaneRows. Include after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_MLP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_MLP_INL_H_
#undef MAMBARIUM_KERNELS_LANES_MLP_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_MLP_INL_H_
#endif

#include "core/kernels/lanes/linear-inl.h"
#include "core/kernels/lanes/norm-inl.h"
#include "core/kernels/lanes/pointwise-inl.h"
#include "core/kernels/whole_model_layout.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

class LaneMlp {
 public:
  LaneMlp(const WholeModelShape& shape, const WholeModelLayout& layout, std::int64_t most_rows, Scratch& scratch)
      : activation_(shape.mlp_activation),
        gated_(layout.gated_mlp),
        d_model_(shape.mixer.d_model),
        hidden_(shape.hidden),
        width_((gated_ ? 2 : 1) * hidden_) {
    const auto take = [&](std::int64_t width) { return TakeRows(scratch, most_rows, width); };
    standard_ = take(d_model_);
    normed_ = take(d_model_);
    scale_ = take(1);
    projected_ = take(width_);
    dprojected_ = take(width_);
    active_ = take(hidden_);
    slope_ = take(hidden_);
    gated_rows_ = take(hidden_);
    dgated_ = take(hidden_);
    dnormed_ = take(d_model_);
  }

  bool any() const { return hidden_ > 0; }

  // out = u + fc2(...). With `keep`, Backward() may follow.
  void Forward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, Numbers u, NumbersOut out,
               bool keep) {
    Numbers normed = u;
    if (at.mlp_norm != no_part) {
      Norm(rows, d_model_, weights + at.mlp_norm, u, standard_, scale_, normed_);
      normed = normed_;
    }
    Linear(rows, d_model_, width_, {weights + at.fc1, d_model_}, normed, projected_);
    WithActivation(activation_, [&](auto a) HWY_ATTR {
      Gate<a()>(rows, hidden_, value(), gate(), gated_rows_, active_, keep ? slope_ : NumbersOut());
    });
    Copy(u, out, rows);
    Linear(rows, hidden_, d_model_, {weights + at.fc2, hidden_}, gated_rows_, out, true);
  }

  // du is written and may be dout.
  void Backward(std::int64_t rows, const WholeModelLayout::Block& at, const float* weights, float* sums, Numbers u,
                Numbers dout, NumbersOut du) {
    Linear(rows, d_model_, hidden_, {weights + at.fc2, 1, hidden_}, dout, dgated_);
    LinearGradient(rows, hidden_, d_model_, gated_rows_, dout, sums + at.fc2 * lanes);
    GateBackward(rows, hidden_, value(), active_, slope_, dgated_, dprojected_,
                 gated_ ? dprojected_.from_column(hidden_) : dprojected_);
    LinearGradient(rows, d_model_, width_, at.mlp_norm == no_part ? u : Numbers(normed_), dprojected_,
                   sums + at.fc1 * lanes);
    Linear(rows, width_, d_model_, {weights + at.fc1, 1, d_model_}, dprojected_, dnormed_);
    if (at.mlp_norm != no_part) {
      NormBackward(rows, d_model_, weights + at.mlp_norm, standard_, scale_, dnormed_, dnormed_,
                   sums + at.mlp_norm * lanes);
    }
    for (std::int64_t i = 0; i < rows * d_model_; ++i) {
      Put(hn::Add(At(dout, 0, i), At(dnormed_, 0, i)), du, 0, i);
    }
  }

 private:
  Numbers value() const { return gated_ ? Numbers(projected_) : Numbers{nullptr, width_}; }
  Numbers gate() const { return gated_ ? projected_.from_column(hidden_) : projected_; }

  Activation activation_;
  bool gated_;
  std::int64_t d_model_, hidden_, width_;
  NumbersOut standard_, normed_, scale_, projected_, dprojected_, active_, slope_, gated_rows_, dgated_, dnormed_;
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_MLP_INL_H_
