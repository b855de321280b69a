// One sequence, cut as the diagonal and the coupled scan cut it: a vector of channels at a time, one chunk of tokens
// after the other. Rows of channels are packed, a vector a token, because rows of wide tensors fall into few sets of
// the cache; rows of states are padded to whole tiles with zeros. Compiled once per SIMD target (Highway); include
// after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_SEQUENCE_CHUNKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_SEQUENCE_CHUNKS_INL_H_
#undef MAMBARIUM_KERNELS_SEQUENCE_CHUNKS_INL_H_
#else
#define MAMBARIUM_KERNELS_SEQUENCE_CHUNKS_INL_H_
#endif

#include <algorithm>
#include <cstdint>

#include "core/kernels/rows.h"
#include "core/kernels/scratch.h"
#include "core/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// Inputs: with dt, x, B and C. Chunk: with length, and dt, x, input, y, dx and ddt, which receive a vector a token.
template <class Shape, class Layout, class Inputs, class Chunk>
class SequenceChunks {
 protected:
  SequenceChunks(const Shape& shape, const Inputs& in, std::int64_t b, Scratch& scratch)
      : shape_(shape), layout_(shape), in_(in), b_(b), scratch_(scratch) {
    B_ = Padded(in.B);
    C_ = Padded(in.C);
    for (float** packed : {&chunk_.dt, &chunk_.x, &chunk_.input, &chunk_.y, &chunk_.dx, &chunk_.ddt}) {
      *packed = scratch.floats(layout_.chunk * lanes);
    }
  }

  void SelectChannels(std::int64_t first) {
    channel_ = first;
    count_ = std::min(lanes, shape_.channels - first);
  }
  // Of the selected channels; packs dt, x and the input dt x.
  void SelectTokens(std::int64_t index) {
    begin_ = index * layout_.chunk;
    chunk_.length = std::min(layout_.chunk, shape_.length - begin_);
    Pack(in_.dt, chunk_.dt);
    Pack(in_.x, chunk_.x);
    for (std::int64_t i = 0; i < chunk_.length * lanes; ++i) {
      chunk_.input[i] = chunk_.dt[i] * chunk_.x[i];
    }
  }

  // The selected tokens and channels of rows of channels, and back (to no rows: nowhere).
  void Pack(const Rows<const float>& from, float* to) const {
    const D d;
    for (std::int64_t t = 0; t < chunk_.length; ++t) {
      hn::Store(LoadUpTo(d, from.row(b_, begin_ + t) + channel_, count_), d, to + t * lanes);
    }
  }
  void Unpack(const float* from, const Rows<float>& to) const {
    const D d;
    for (std::int64_t t = 0; to.data != nullptr && t < chunk_.length; ++t) {
      StoreUpTo(hn::Load(d, from + t * lanes), d, to.row(b_, begin_ + t) + channel_, count_);
    }
  }

  // Where gradients of B or C are summed: in these rows, or beside them where they hold no whole tiles or are not
  // wanted; then CopySums brings them over.
  Strided<float> SumsFor(const Rows<float>& rows) {
    return IsWhole() && rows.data != nullptr ? rows.sequence(b_) : scratch_.rows(shape_.length, layout_.states);
  }
  void CopySums(const Strided<float>& sums, const Rows<float>& rows) const {
    for (std::int64_t t = 0; !IsWhole() && rows.data != nullptr && t < shape_.length; ++t) {
      std::copy_n(sums.row(t), shape_.d_state, rows.row(b_, t));
    }
  }

  // Of numbers [batch, D, N] (null: null).
  template <class Real>
  Real* OfSequence(Real* all) const {
    return all == nullptr ? nullptr : all + b_ * shape_.channels * shape_.d_state;
  }

  const Shape& shape_;
  Layout layout_;
  const Inputs& in_;
  std::int64_t b_;
  Scratch& scratch_;
  Strided<const float> B_, C_;  // of the whole sequence
  Chunk chunk_;
  std::int64_t begin_ = 0, channel_ = 0, count_ = 0;  // the first token and channel that are selected, and the channels

 private:
  bool IsWhole() const { return layout_.states == shape_.d_state; }

  Strided<const float> Padded(const Rows<const float>& rows) {
    if (IsWhole()) {
      return rows.sequence(b_);
    }
    const auto to = scratch_.rows(shape_.length, layout_.states);
    for (std::int64_t t = 0; t < shape_.length; ++t) {
      std::copy_n(rows.row(b_, t), shape_.d_state, to.row(t));
      std::fill(to.row(t) + shape_.d_state, to.row(t) + layout_.states, 0.0f);
    }
    return to;
  }
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_SEQUENCE_CHUNKS_INL_H_
