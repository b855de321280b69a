#include "core/kernels/whole_model_group.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/whole_model_group.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/lanes/mixer-inl.h"
#include "core/kernels/lanes/mlp-inl.h"
#include "core/kernels/read_out-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Rows of a piece: enough for the sums of a matrix's gradients to pay their loads and stores, few enough for what a
// block keeps of them to stay in a core's cache.
constexpr std::int64_t usual_rows = 16;

// Final norm, read-out and cross entropy of a piece.
class LaneReadOut {
 public:
  LaneReadOut(const WholeModelGroup& group, std::int64_t most_rows, Scratch& scratch)
      : group_(group), d_model_(group.shape.mixer.d_model), states_(group.shape.states) {
    standard_ = TakeRows(scratch, most_rows, d_model_);
    normed_ = TakeRows(scratch, most_rows, d_model_);
    scale_ = TakeRows(scratch, most_rows, 1);
    logits_ = TakeRows(scratch, most_rows, states_);
    dlogits_ = TakeRows(scratch, most_rows, states_);
  }

  // The sum of -log p(target) of the rows from token `first` on; with `sums` also du.
  double Loss(std::int64_t first, std::int64_t rows, Numbers u, float* sums, NumbersOut du) {
    const WholeModelLayout& layout = group_.layout;
    const bool normed = layout.final_norm != no_part;
    Numbers in = u;
    if (normed) {
      Norm(rows, d_model_, group_.weights + layout.final_norm, u, standard_, scale_, normed_);
      in = normed_;
    }
    const Matrix head{group_.weights + layout.lm_head, d_model_};
    Linear(rows, d_model_, states_, head, in, logits_);
    V total = Nothing();
    for (std::int64_t t = 0; t < rows; ++t) {
      total = hn::Add(total, ReadOut(states_, group_.shape.l1, logits_.at(t, 0), Targets(first + t), Weights(),
                                     sums == nullptr ? nullptr : dlogits_.at(t, 0)));
    }
    if (sums != nullptr) {
      LinearGradient(rows, d_model_, states_, in, dlogits_, sums + layout.lm_head * lanes);
      Linear(rows, states_, d_model_, {head.data, 1, d_model_}, dlogits_, du);
      if (normed) {
        NormBackward(rows, d_model_, group_.weights + layout.final_norm, standard_, scale_, du, du,
                     sums + layout.final_norm * lanes);
      }
    }
    return -static_cast<double>(SumOf(D(), total));
  }

 private:
  hn::Vec<Integers> Targets(std::int64_t t) const {
    constexpr std::int32_t none = -1;
    HWY_ALIGN std::int32_t of_lane[lanes];
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::int64_t* row = group_.targets + lane * group_.shape.mixer.length;
      of_lane[lane] = lane < group_.sequences ? static_cast<std::int32_t>(row[t]) : none;
    }
    return hn::Load(Integers(), of_lane);
  }
  V Weights() const {
    const auto present = hn::FirstN(D(), static_cast<std::size_t>(group_.sequences));
    return hn::IfThenElseZero(present, All(group_.weight_of_target));
  }

  const WholeModelGroup& group_;
  std::int64_t d_model_, states_;
  NumbersOut standard_, normed_, scale_, logits_, dlogits_;
};

class GroupPass {
 public:
  GroupPass(const WholeModelGroup& group, Scratch& scratch)
      : group_(group),
        length_(group.shape.mixer.length),
        d_model_(group.shape.mixer.d_model),
        piece_(std::min(length_, std::max(usual_rows, group.shape.mixer.d_conv - 1))),
        pieces_((length_ + piece_ - 1) / piece_),
        blocks_(static_cast<std::int64_t>(group.layout.blocks.size())),
        mixer_(group.shape.mixer, group.layout, piece_, scratch),
        mlp_(group.shape, group.layout, piece_, scratch),
        read_out_(group, piece_, scratch),
        u_(TakeRows(scratch, (wanted() ? blocks_ : 1) * length_, d_model_)),
        mixed_(TakeRows(scratch, piece_, d_model_)),
        last_(TakeRows(scratch, piece_, d_model_)) {
    const std::int64_t past = mixer_.lead() * group.shape.mixer.convolved();
    h_ = scratch.floats(mixer_.state_size());
    past_ = TakeRows(scratch, std::max<std::int64_t>(mixer_.lead(), 1), group.shape.mixer.convolved());
    if (wanted()) {
      du_ = TakeRows(scratch, length_, d_model_);
      saved_size_ = mixer_.state_size() + past * lanes;
      saved_ = scratch.floats(blocks_ * pieces_ * saved_size_);
      g_ = scratch.floats(mixer_.state_size());
      sums_ = scratch.zeros(group.layout.count * lanes);
    }
  }

  double Run() {
    Embed();
    double loss = 0;
    for (std::int64_t block = 0; block < blocks_; ++block) loss += Forward(block);
    if (wanted()) {
      for (std::int64_t block = blocks_ - 1; block >= 0; --block) Backward(block);
      EmbedBackward();
      for (std::int64_t i = 0; i < group_.layout.count; ++i) {
        group_.gradients[i] += SumOf(D(), hn::Load(D(), sums_ + i * lanes));
      }
    }
    return loss;
  }

 private:
  bool wanted() const { return group_.gradients != nullptr; }
  std::int64_t rows_of(std::int64_t piece) const { return std::min(piece_, length_ - piece * piece_); }
  const WholeModelLayout::Block& layout(std::int64_t block) const {
    return group_.layout.blocks[static_cast<std::size_t>(block)];
  }
  // The rows that a block takes; without gradients every block's output replaces its input.
  NumbersOut input(std::int64_t block, std::int64_t piece) const {
    return u_.from_row((wanted() ? block : 0) * length_ + piece * piece_);
  }
  float* saved(std::int64_t block, std::int64_t piece) const {
    return saved_ + (block * pieces_ + piece) * saved_size_;
  }
  MixerCarry carry() const { return {h_, past_}; }

  void Embed() {
    const NumbersOut u = input(0, 0);
    const float* table = group_.weights + group_.layout.embedding;
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const bool present = lane < group_.sequences;
      for (std::int64_t t = 0; t < length_; ++t) {
        const float* row = table + (present ? group_.tokens[lane * length_ + t] : 0) * d_model_;
        for (std::int64_t c = 0; c < d_model_; ++c) u.at(t, c)[lane] = row[c];
      }
    }
  }
  void EmbedBackward() {
    float* table = group_.gradients + group_.layout.embedding;
    for (std::int64_t lane = 0; lane < group_.sequences; ++lane) {
      for (std::int64_t t = 0; t < length_; ++t) {
        float* row = table + group_.tokens[lane * length_ + t] * d_model_;
        for (std::int64_t c = 0; c < d_model_; ++c) row[c] += du_.at(t, c)[lane];
      }
    }
  }

  // What follows the mixer of the last block depends on its own row alone, so that its gradients are taken here, while
  // everything is in cache.
  double Forward(std::int64_t block) {
    const auto& at = layout(block);
    const bool is_last = block == blocks_ - 1;
    double loss = 0;
    std::fill_n(h_, mixer_.state_size(), 0.0f);
    Fill(past_, mixer_.lead(), 0.0f);
    for (std::int64_t piece = 0; piece < pieces_; ++piece) {
      const std::int64_t rows = rows_of(piece);
      if (wanted()) Save(saved(block, piece));
      const NumbersOut mixed = mlp_.any() ? mixed_ : is_last ? last_ : output(block, piece);
      mixer_.Forward(rows, at, group_.weights, input(block, piece), mixed, carry(), false);
      const NumbersOut out = is_last ? last_ : output(block, piece);
      if (mlp_.any()) mlp_.Forward(rows, at, group_.weights, mixed_, out, is_last && wanted());
      if (!is_last) continue;
      const NumbersOut du = wanted() ? du_.from_row(piece * piece_) : NumbersOut();
      loss += read_out_.Loss(piece * piece_, rows, last_, sums_, du);
      if (mlp_.any() && wanted()) mlp_.Backward(rows, at, group_.weights, sums_, mixed_, du, du);
    }
    return loss;
  }
  NumbersOut output(std::int64_t block, std::int64_t piece) const { return input(block + 1, piece); }

  void Backward(std::int64_t block) {
    const auto& at = layout(block);
    const bool with_mlp = mlp_.any() && block < blocks_ - 1;
    mixer_.BeginBackward(g_);
    for (std::int64_t piece = pieces_ - 1; piece >= 0; --piece) {
      const std::int64_t rows = rows_of(piece);
      const NumbersOut du = du_.from_row(piece * piece_);
      Restore(saved(block, piece));
      mixer_.Forward(rows, at, group_.weights, input(block, piece), with_mlp ? mixed_ : NumbersOut(), carry(), true);
      if (with_mlp) {
        mlp_.Forward(rows, at, group_.weights, mixed_, last_, true);
        mlp_.Backward(rows, at, group_.weights, sums_, mixed_, du, du);
      }
      mixer_.Backward(rows, at, group_.weights, sums_, input(block, piece), du, du, g_);
    }
  }

  void Save(float* to) const {
    std::copy_n(h_, mixer_.state_size(), to);
    std::copy_n(past_.data, mixer_.lead() * past_.width * lanes, to + mixer_.state_size());
  }
  void Restore(const float* from) {
    std::copy_n(from, mixer_.state_size(), h_);
    std::copy_n(from + mixer_.state_size(), mixer_.lead() * past_.width * lanes, past_.data);
  }

  const WholeModelGroup& group_;
  std::int64_t length_, d_model_, piece_, pieces_, blocks_;
  LaneMixer mixer_;
  LaneMlp mlp_;
  LaneReadOut read_out_;
  NumbersOut u_, mixed_, last_, past_, du_;
  std::int64_t saved_size_ = 0;
  float *h_ = nullptr, *saved_ = nullptr, *sums_ = nullptr, *g_ = nullptr;
};

double Group(const WholeModelGroup& group, Scratch& scratch) {
  return GroupPass(group, scratch).Run();
}

std::int64_t Lanes() {
  return lanes;
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(Group);
HWY_EXPORT(Lanes);

std::int64_t whole_model_lanes() {
  return HWY_DYNAMIC_DISPATCH(Lanes)();
}

double whole_model_group(const WholeModelGroup& group, Scratch& scratch) {
  return HWY_DYNAMIC_DISPATCH(Group)(group, scratch);
}

}  // namespace mambarium::kernels
#endif
