// The front of a model's first block (front-inl.h) by looking up. All that a first block does before its scan depends
// on the last w tokens alone, and of these there are only S^w kinds: where a vector has a lane for each, the front is
// computed once for all of them, and what the sequences want is picked out. The way back sums what comes in by kind
// and takes the front's gradients once, from the sums. Exact but for rounding. Include after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_CONTEXT_FRONT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_CONTEXT_FRONT_INL_H_
#undef MAMBARIUM_KERNELS_LANES_CONTEXT_FRONT_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_CONTEXT_FRONT_INL_H_
#endif

#include "core/kernels/lanes/front-inl.h"
#include "core/kernels/lanes/tokens-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// S^w, or 0 where that is more than the lanes there are.
inline std::int64_t ContextCount(std::int64_t states, std::int64_t window) {
  std::int64_t count = 1;
  for (std::int64_t i = 0; i < window; ++i) {
    count *= states;
    if (count > lanes) return 0;
  }
  return count;
}

// Every kind of context is a sequence of w tokens, one in each lane, from the start of a sequence: row w - 1 holds the
// contexts themselves, the rows before it those of a sequence's first tokens.
class ContextFront {
 public:
  ContextFront(const WholeModelShape& shape, const WholeModelLayout& layout, const float* weights,
               const LaneTokens& tokens, Scratch& scratch)
      : shape_(shape),
        at_(layout.blocks.front()),
        weights_(weights),
        window_(shape.mixer.d_conv),
        count_(ContextCount(shape.states, window_)),
        front_(shape.mixer, layout.gate, window_, scratch),
        rows_(front_.TakeFrontRows(window_, scratch)),
        incoming_(TakeFrontOutputs(shape.mixer, window_, scratch)),
        u_(TakeRows(scratch, window_, shape.mixer.d_model)),
        du_(TakeRows(scratch, window_, shape.mixer.d_model)),
        tokens_(tokens),
        contexts_(shape.mixer.length, scratch),
        of_context_(window_, scratch),
        gate_(layout.gate) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::int64_t rest = lane < count_ ? lane : 0;
      for (std::int64_t t = window_ - 1; t >= 0; --t, rest /= shape.states) {
        of_context_.row(t)[lane] = static_cast<std::int32_t>(rest % shape.states);
      }
    }
    NameContexts();
    Embed(window_, of_context_, shape.states, weights + layout.embedding, u_);
    const NumbersOut past = TakeRows(scratch, front_.lead(), shape.mixer.convolved());
    Fill(past, front_.lead(), 0.0f);
    front_.Forward(window_, at_, weights, u_, past, rows_, true);
    sums_ = TakeSums(scratch);
    sums_of_first_ = TakeSums(scratch);
  }

  // The outputs of `rows` rows from token `first` on.
  void Look(std::int64_t first, std::int64_t rows, const FrontOutputs& to) const {
    for (std::int64_t t = 0; t < rows; ++t) {
      const auto here = hn::IndicesFromVec(D(), hn::Max(contexts_.at(first + t), hn::Zero(Integers())));
      const std::int64_t row = std::min(first + t, window_ - 1);
      const auto look = [&](NumbersOut table, NumbersOut into) HWY_ATTR {
        for (std::int64_t c = 0; c < table.width; ++c) {
          Put(hn::TableLookupLanes(At(table, row, c), here), into, t, c);
        }
      };
      look(rows_.out.active, to.active);
      look(rows_.out.dt, to.dt);
      look(rows_.out.a, to.a);
      if (gate_) look(rows_.out.z, to.z);
    }
  }

  void BeginBackward() {
    for (const NumbersOut& incoming : {incoming_.active, incoming_.dt, incoming_.a, incoming_.z}) {
      Fill(incoming, window_, 0.0f);
    }
    Clear(sums_);
  }
  // Takes the gradients of the outputs of `rows` rows from token `first` on.
  void Take(std::int64_t first, std::int64_t rows, const FrontOutputs& gradients) {
    std::int64_t t = 0;
    for (; t < rows && first + t < window_ - 1; ++t) {
      Clear(sums_of_first_);
      SumByContext(first + t, 1, gradients.from_row(t), sums_of_first_);
      GiveBack(sums_of_first_, first + t);
    }
    if (t < rows) SumByContext(first + t, rows - t, gradients.from_row(t), sums_);
  }
  // After the last Take(): the gradients of the front's weights and of the embedding, added to `sums`.
  void Finish(const WholeModelLayout& layout, float* sums) {
    GiveBack(sums_, window_ - 1);
    Fill(du_, window_, 0.0f);
    front_.BeginBackward();
    front_.Backward(window_, at_, weights_, sums, u_, rows_, incoming_, du_);
    SumByToken(window_, of_context_, shape_.states, shape_.mixer.d_model, du_, sums + layout.embedding * lanes);
  }

 private:
  // The context of a position: its last w tokens as digits, the newest last. The first tokens of a sequence have the
  // number of the first context that begins with them.
  void NameContexts() {
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      std::int64_t name = 0, place = count_ / shape_.states;
      for (std::int64_t t = 0; t < shape_.mixer.length; ++t) {
        const std::int64_t token = tokens_.row(t)[lane];
        if (t < window_) {
          name += token * place;
          place /= shape_.states;
        } else {
          name = name * shape_.states % count_ + token;
        }
        contexts_.row(t)[lane] = token < 0 ? -1 : static_cast<std::int32_t>(name);
      }
    }
  }

  // Sums of gradients [count][width], of which every lane has its own.
  struct Sums {
    float *active = nullptr, *dt = nullptr, *a = nullptr, *z = nullptr;
  };
  Sums TakeSums(Scratch& scratch) const {
    const auto take = [&](std::int64_t width) { return scratch.floats(count_ * width * lanes); };
    const MixerShape& mixer = shape_.mixer;
    return {take(mixer.convolved()), take(mixer.heads), take(mixer.heads), take(mixer.inner())};
  }
  void Clear(const Sums& sums) const {
    const auto clear = [&](float* of, std::int64_t width) { std::fill_n(of, count_ * width * lanes, 0.0f); };
    clear(sums.active, incoming_.active.width);
    clear(sums.dt, incoming_.dt.width);
    clear(sums.a, incoming_.a.width);
    clear(sums.z, incoming_.z.width);
  }
  // dt, a and z depend on the newest token alone, which is the last digit: the contexts 0 to S - 1 stand for the
  // others.
  void SumByContext(std::int64_t first, std::int64_t rows, const FrontOutputs& gradients, const Sums& to) const {
    const LaneTokens contexts = contexts_.from_row(first);
    const bool whole = first >= window_ - 1;
    const LaneTokens newest = whole ? tokens_.from_row(first) : contexts;
    const std::int64_t count = whole ? shape_.states : count_;
    SumByToken(rows, contexts, count_, gradients.active.width, gradients.active, to.active);
    SumByToken(rows, newest, count, gradients.dt.width, gradients.dt, to.dt);
    SumByToken(rows, newest, count, gradients.a.width, gradients.a, to.a);
    if (gate_) SumByToken(rows, newest, count, gradients.z.width, gradients.z, to.z);
  }
  // From the sums to the gradients of one row of the contexts.
  void GiveBack(const Sums& sums, std::int64_t row) const {
    const auto give = [&](const float* from, NumbersOut to) HWY_ATTR {
      for (std::int64_t c = 0; c < to.width; ++c) {
        for (std::int64_t context = 0; context < count_; ++context) {
          to.at(row, c)[context] = SumOf(D(), hn::Load(D(), from + (context * to.width + c) * lanes));
        }
      }
    };
    give(sums.active, incoming_.active);
    give(sums.dt, incoming_.dt);
    give(sums.a, incoming_.a);
    if (gate_) give(sums.z, incoming_.z);
  }

  const WholeModelShape& shape_;
  const WholeModelLayout::Block& at_;
  const float* weights_;
  std::int64_t window_, count_;
  LaneFront front_;
  FrontRows rows_;
  FrontOutputs incoming_;
  NumbersOut u_, du_;
  LaneTokens tokens_, contexts_, of_context_;
  bool gate_;
  Sums sums_, sums_of_first_;
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_CONTEXT_FRONT_INL_H_
