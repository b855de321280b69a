#include "core/kernels/whole_model_group.h"

#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/whole_model_group.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/lanes/context_front-inl.h"
#include "core/kernels/lanes/mixer-inl.h"
#include "core/kernels/lanes/mlp-inl.h"
#include "core/kernels/read_out-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Rows of a piece: enough for the sums of a matrix's gradients to pay their loads and stores, few enough for what a
// block keeps of them to stay in a core's cache.
constexpr std::int64_t usual_rows = 32;
// What the forward pass keeps for the backward pass, of as many of the last pieces as these hold; earlier ones are
// computed again. 6 MiB: what a core may take of its last cache, beyond which reading is slower than computing.
constexpr std::int64_t kept_floats = 6 << 18;

// Final norm, read-out and cross entropy of a piece.
class LaneReadOut {
 public:
  LaneReadOut(const WholeModelGroup& group, std::int64_t most_rows, Scratch& scratch)
      : group_(group),
        d_model_(group.shape.mixer.d_model),
        states_(group.shape.states),
        targets_(group.targets, group.sequences, group.shape.mixer.length, scratch) {
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
      total = hn::Add(total, ReadOut(states_, group_.shape.l1, logits_.at(t, 0), targets_.at(first + t), Weights(),
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
  V Weights() const {
    const auto present = hn::FirstN(D(), static_cast<std::size_t>(group_.sequences));
    return hn::IfThenElseZero(present, All(group_.weight_of_target));
  }

  const WholeModelGroup& group_;
  std::int64_t d_model_, states_;
  LaneTokens targets_;
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
        front_(group.shape.mixer, group.layout.gate, piece_, scratch),
        mixer_(group.shape.mixer, group.layout.gate, piece_, scratch),
        mlp_(group.shape, group.layout, piece_, scratch),
        read_out_(group, piece_, scratch),
        tokens_(group.tokens, group.sequences, length_, scratch),
        u_(TakeRows(scratch, (wanted() ? blocks_ : 1) * length_, d_model_)),
        mixed_(TakeRows(scratch, piece_, d_model_)),
        last_(TakeRows(scratch, piece_, d_model_)) {
    if (ContextCount(group.shape.states, group.shape.mixer.d_conv) > 0) {
      contexts_.emplace(group.shape, group.layout, group.weights, tokens_, scratch);
    }
    h_ = scratch.floats(mixer_.state_size());
    past_ = TakeRows(scratch, front_.lead(), group.shape.mixer.convolved());
    passing_ = {front_.TakeFrontRows(piece_, scratch), mixer_.TakeMixerRows(piece_, scratch)};
    if (wanted()) {
      du_ = TakeRows(scratch, length_, d_model_);
      into_front_ = TakeFrontOutputs(group.shape.mixer, piece_, scratch);
      saved_size_ = mixer_.state_size() + front_.lead() * past_.width * lanes;
      saved_ = scratch.floats(blocks_ * pieces_ * saved_size_);
      g_ = scratch.floats(mixer_.state_size());
      sums_ = scratch.zeros(group.layout.count * lanes);
      KeepWhatFits(scratch);
    }
  }

  double Run() {
    Embed(length_, tokens_, group_.shape.states, group_.weights + group_.layout.embedding, input(0, 0));
    double loss = 0;
    for (std::int64_t block = 0; block < blocks_; ++block) loss += Forward(block);
    if (wanted()) {
      for (std::int64_t block = blocks_ - 1; block >= 0; --block) Backward(block);
      SumByToken(length_, tokens_, group_.shape.states, d_model_, du_, sums_ + group_.layout.embedding * lanes);
      for (std::int64_t i = 0; i < group_.layout.count; ++i) {
        group_.gradients[i] += SumOf(D(), hn::Load(D(), sums_ + i * lanes));
      }
    }
    return loss;
  }

 private:
  struct BlockRows {
    FrontRows front;
    MixerRows mixer;
  };

  bool wanted() const { return group_.gradients != nullptr; }
  bool looks_up(std::int64_t block) const { return block == 0 && contexts_.has_value(); }
  std::int64_t rows_of(std::int64_t piece) const { return std::min(piece_, length_ - piece * piece_); }
  const WholeModelLayout::Block& layout(std::int64_t block) const {
    return group_.layout.blocks[static_cast<std::size_t>(block)];
  }
  // The rows that a block takes; without gradients every block's output replaces its input.
  NumbersOut input(std::int64_t block, std::int64_t piece) const {
    return u_.from_row((wanted() ? block : 0) * length_ + piece * piece_);
  }
  NumbersOut output(std::int64_t block, std::int64_t piece) const { return input(block + 1, piece); }
  float* saved(std::int64_t block, std::int64_t piece) const {
    return saved_ + (block * pieces_ + piece) * saved_size_;
  }

  void KeepWhatFits(Scratch& scratch) {
    std::int64_t width = 0;
    for (std::int64_t block = 0; block < blocks_; ++block) {
      width += mixer_.width() + (looks_up(block) ? 0 : front_.width());
    }
    first_kept_ = std::max<std::int64_t>(0, pieces_ - kept_floats / (piece_ * width * lanes));
    if (first_kept_ == pieces_) return;
    const std::int64_t rows = length_ - first_kept_ * piece_;
    for (std::int64_t block = 0; block < blocks_; ++block) {
      kept_.push_back(
          {looks_up(block) ? FrontRows() : front_.TakeFrontRows(rows, scratch), mixer_.TakeMixerRows(rows, scratch)});
    }
  }
  bool keeps(std::int64_t piece) const { return wanted() && piece >= first_kept_; }
  BlockRows rows_of_block(std::int64_t block, std::int64_t piece) const {
    if (!keeps(piece)) return passing_;
    const BlockRows& kept = kept_[static_cast<std::size_t>(block)];
    const std::int64_t first = (piece - first_kept_) * piece_;
    return {looks_up(block) ? passing_.front : kept.front.from_row(first), kept.mixer.from_row(first)};
  }

  void Front(std::int64_t block, std::int64_t piece, const FrontRows& to, bool keep) {
    if (looks_up(block)) {
      contexts_->Look(piece * piece_, rows_of(piece), to.out);
    } else {
      front_.Forward(rows_of(piece), layout(block), group_.weights, input(block, piece), past_, to, keep);
    }
  }

  // What follows the mixer of the last block depends on its own row alone, so that its gradients are taken here, while
  // everything is in cache.
  double Forward(std::int64_t block) {
    const auto& at = layout(block);
    const bool is_last = block == blocks_ - 1;
    double loss = 0;
    std::fill_n(h_, mixer_.state_size(), 0.0f);
    Fill(past_, front_.lead(), 0.0f);
    for (std::int64_t piece = 0; piece < pieces_; ++piece) {
      const std::int64_t rows = rows_of(piece);
      if (wanted()) Save(saved(block, piece));
      const BlockRows of_block = rows_of_block(block, piece);
      const NumbersOut mixed = mlp_.any() ? mixed_ : is_last ? last_ : output(block, piece);
      Front(block, piece, of_block.front, keeps(piece));
      mixer_.Forward(rows, at, group_.weights, of_block.front.out, input(block, piece), mixed, h_, of_block.mixer);
      const NumbersOut out = is_last ? last_ : output(block, piece);
      if (mlp_.any()) mlp_.Forward(rows, at, group_.weights, mixed_, out, is_last && wanted());
      if (!is_last) continue;
      const NumbersOut du = wanted() ? du_.from_row(piece * piece_) : NumbersOut();
      loss += read_out_.Loss(piece * piece_, rows, last_, sums_, du);
      if (mlp_.any() && wanted()) mlp_.Backward(rows, at, group_.weights, sums_, mixed_, du, du);
    }
    return loss;
  }

  void Backward(std::int64_t block) {
    const auto& at = layout(block);
    const bool with_mlp = mlp_.any() && block < blocks_ - 1;
    std::fill_n(g_, mixer_.state_size(), 0.0f);
    looks_up(block) ? contexts_->BeginBackward() : front_.BeginBackward();
    for (std::int64_t piece = pieces_ - 1; piece >= 0; --piece) {
      const std::int64_t rows = rows_of(piece);
      const NumbersOut du = du_.from_row(piece * piece_);
      const BlockRows of_block = rows_of_block(block, piece);
      const bool again = !keeps(piece) || with_mlp;
      if (again) Restore(saved(block, piece));
      if (again || looks_up(block)) Front(block, piece, of_block.front, true);
      if (again) {
        mixer_.Forward(rows, at, group_.weights, of_block.front.out, input(block, piece), mixed_, h_, of_block.mixer);
      }
      if (with_mlp) {
        mlp_.Forward(rows, at, group_.weights, mixed_, last_, true);
        mlp_.Backward(rows, at, group_.weights, sums_, mixed_, du, du);
      }
      mixer_.Backward(rows, at, group_.weights, sums_, of_block.front.out, of_block.mixer, saved(block, piece), du, g_,
                      into_front_);
      if (looks_up(block)) {
        contexts_->Take(piece * piece_, rows, into_front_);
      } else {
        front_.Backward(rows, at, group_.weights, sums_, input(block, piece), of_block.front, into_front_, du);
      }
    }
    if (looks_up(block)) contexts_->Finish(group_.layout, sums_);
  }

  void Save(float* to) const {
    std::copy_n(h_, mixer_.state_size(), to);
    std::copy_n(past_.data, front_.lead() * past_.width * lanes, to + mixer_.state_size());
  }
  void Restore(const float* from) {
    std::copy_n(from, mixer_.state_size(), h_);
    std::copy_n(from + mixer_.state_size(), front_.lead() * past_.width * lanes, past_.data);
  }

  const WholeModelGroup& group_;
  std::int64_t length_, d_model_, piece_, pieces_, blocks_;
  LaneFront front_;
  LaneMixer mixer_;
  LaneMlp mlp_;
  LaneReadOut read_out_;
  LaneTokens tokens_;
  std::optional<ContextFront> contexts_;  // of the first block
  NumbersOut u_, mixed_, last_, past_, du_;
  FrontOutputs into_front_;
  BlockRows passing_;            // of pieces that are computed again
  std::vector<BlockRows> kept_;  // of every block, from piece first_kept_ on
  std::int64_t first_kept_ = 0, saved_size_ = 0;
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
