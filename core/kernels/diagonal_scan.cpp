#include "core/kernels/diagonal_scan.h"

#include "core/kernels/diagonal_scan_layout.h"
#include "core/kernels/group_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/diagonal_scan.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

constexpr std::int64_t tile_states = DiagonalScanLayout::tile_states;
constexpr std::int64_t tile_size = tile_states * lanes;

// A vector of channels by tile_states states over one chunk of tokens. A is rows of channels, one a state; what the
// chunk holds is packed, a vector a token.
struct Tile {
  std::int64_t length = 0;
  Strided<const float> A, B, C;
  float *dt = nullptr, *x = nullptr, *input = nullptr;  // input: dt x
  float *y = nullptr, *dx = nullptr, *ddt = nullptr;    // added to; y is dL/dy in the backward pass
};

HWY_INLINE void LoadTile(D d, Strided<const float> from, V* h) {
#pragma GCC unroll 4
  for (int n = 0; n < tile_states; ++n) {
    h[n] = hn::LoadU(d, from.row(n));
  }
}

HWY_INLINE void StoreTile(D d, const V* h, Strided<float> to) {
#pragma GCC unroll 4
  for (int n = 0; n < tile_states; ++n) {
    hn::StoreU(h[n], d, to.row(n));
  }
}

// decays, where wanted, receives exp(dt A).
HWY_INLINE void Advance(D d, const Tile& tile, std::int64_t t, V* h, float* decays) {
  const V dt = hn::Load(d, tile.dt + t * lanes), input = hn::Load(d, tile.input + t * lanes);
  const float* B = tile.B.row(t);
#pragma GCC unroll 4
  for (int n = 0; n < tile_states; ++n) {
    const V a = ExpOfNegative(d, hn::Mul(dt, hn::Load(d, tile.A.row(n))));
    h[n] = hn::MulAdd(input, hn::Set(d, B[n]), hn::Mul(a, h[n]));
    if (decays != nullptr) {
      hn::Store(a, d, decays + n * lanes);
    }
  }
}

template <bool WithOutput>
void Forward(const Tile& tile, Strided<float> state) {
  const D d;
  V h[tile_states];
  LoadTile(d, state, h);
  for (std::int64_t t = 0; t < tile.length; ++t) {
    Advance(d, tile, t, h, nullptr);
    if (WithOutput) {
      const float* C = tile.C.row(t);
      V even = hn::Load(d, tile.y + t * lanes), odd = hn::Zero(d);
#pragma GCC unroll 2
      for (int n = 0; n < tile_states; n += 2) {
        even = hn::MulAdd(h[n], hn::Set(d, C[n]), even);
        odd = hn::MulAdd(h[n + 1], hn::Set(d, C[n + 1]), odd);
      }
      hn::Store(hn::Add(even, odd), d, tile.y + t * lanes);
    }
  }
  StoreTile(d, h, state);
}

// `before` are the states before the chunk; g_state holds dL/dh after it and becomes dL/dh before it. `states` has room
// for length + 1 tiles, decays for length. dA is added to; dB and dC are where not first.
void Backward(const Tile& tile, Strided<const float> before_chunk, float* states, float* decays, Strided<float> g_state,
              Strided<float> dA, Strided<float> dB, Strided<float> dC, bool first) {
  const D d;
  V h[tile_states], g[tile_states], into_A[tile_states];
  LoadTile(d, before_chunk, h);
  StoreTile(d, h, {states, lanes});
  for (std::int64_t t = 0; t < tile.length; ++t) {
    Advance(d, tile, t, h, decays + t * tile_size);
    StoreTile(d, h, {states + (t + 1) * tile_size, lanes});
  }
  LoadTile(d, g_state, g);
#pragma GCC unroll 4
  for (int n = 0; n < tile_states; ++n) {
    into_A[n] = hn::Zero(d);
  }
  for (std::int64_t t = tile.length - 1; t >= 0; --t) {
    const float* before = states + t * tile_size;
    const float* after = before + tile_size;
    const float* a = decays + t * tile_size;
    const float* B = tile.B.row(t);
    const float* C = tile.C.row(t);
    const V dt = hn::Load(d, tile.dt + t * lanes), x = hn::Load(d, tile.x + t * lanes);
    const V input = hn::Load(d, tile.input + t * lanes), dy = hn::Load(d, tile.y + t * lanes);
    V into_input = hn::Zero(d), into_exponents = hn::Zero(d);
    V into_B[tile_states], into_C[tile_states];
#pragma GCC unroll 4
    for (int n = 0; n < tile_states; ++n) {
      g[n] = hn::MulAdd(dy, hn::Set(d, C[n]), g[n]);
      into_C[n] = hn::Mul(dy, hn::Load(d, after + n * lanes));
      into_B[n] = hn::Mul(g[n], input);
      into_input = hn::MulAdd(g[n], hn::Set(d, B[n]), into_input);
      g[n] = hn::Mul(g[n], hn::Load(d, a + n * lanes));
      const V into_exponent = hn::Mul(g[n], hn::Load(d, before + n * lanes));
      into_exponents = hn::MulAdd(into_exponent, hn::Load(d, tile.A.row(n)), into_exponents);
      into_A[n] = hn::MulAdd(into_exponent, dt, into_A[n]);
    }
    StoreSums(d, into_B[0], into_B[1], into_B[2], into_B[3], dB.row(t), !first);
    StoreSums(d, into_C[0], into_C[1], into_C[2], into_C[3], dC.row(t), !first);
    hn::Store(hn::MulAdd(into_input, dt, hn::Load(d, tile.dx + t * lanes)), d, tile.dx + t * lanes);
    const V ddt = hn::Add(into_exponents, hn::Load(d, tile.ddt + t * lanes));
    hn::Store(hn::MulAdd(into_input, x, ddt), d, tile.ddt + t * lanes);
  }
  StoreTile(d, g, g_state);
#pragma GCC unroll 4
  for (int n = 0; n < tile_states; ++n) {
    hn::StoreU(hn::Add(into_A[n], hn::LoadU(d, dA.row(n))), d, dA.row(n));
  }
}

HWY_INLINE void Pack(Strided<const float> from, std::int64_t length, std::int64_t count, float* to) {
  const D d;
  for (std::int64_t t = 0; t < length; ++t) {
    hn::Store(LoadUpTo(d, from.row(t), count), d, to + t * lanes);
  }
}

HWY_INLINE void Unpack(const float* from, std::int64_t length, std::int64_t count, Strided<float> to) {
  const D d;
  for (std::int64_t t = 0; t < length; ++t) {
    StoreUpTo(hn::Load(d, from + t * lanes), d, to.row(t), count);
  }
}

// Cuts one sequence into tiles: a vector of channels, chunk by chunk, all its states. A chunk of them is packed,
// because rows of wide tensors fall into few sets of the cache. Rows that do not fill the last tile of states are
// padded.
class Sequence {
 public:
  Sequence(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& in, std::int64_t b, Scratch& scratch)
      : shape_(shape), layout_(shape), in_(in), b_(b), scratch_(scratch) {
    A_ = StatesOfChannels(in.A);
    B_ = Padded(in.B);
    C_ = Padded(in.C);
    for (float** packed : {&tile_.dt, &tile_.x, &tile_.input, &tile_.y, &tile_.dx, &tile_.ddt}) {
      *packed = scratch.floats(layout_.chunk * lanes);
    }
  }

  // checkpoints: [chunks][states][channels] or null; y.data may be null.
  void ForwardAll(Rows<float> y, float* h_final, float* checkpoints) {
    const auto state = StatesOfChannels(OfSequence(in_.h0));
    for (std::int64_t c = 0; c < shape_.channels; c += lanes) {
      for (std::int64_t chunk = 0; chunk < layout_.chunks; ++chunk) {
        SelectChunk(c, chunk);
        std::fill_n(tile_.y, tile_.length * lanes, 0.0f);
        for (std::int64_t n = 0; n < layout_.states; n += tile_states) {
          SelectStates(n);
          const auto h = At(state, n, c);
          if (checkpoints != nullptr) {
            CopyTile(h, At(Rectangle(checkpoints + chunk * layout_.size()), n, c));
          }
          y.data != nullptr ? Forward<true>(tile_, h) : Forward<false>(tile_, h);
        }
        if (y.data != nullptr) {
          Unpack(tile_.y, tile_.length, count_, Later(y).columns(c));
        }
      }
    }
    WriteChannels(state, OfSequence(h_final));
  }

  // dA: [states][channels], added to.
  void BackwardAll(const float* checkpoints, Rows<const float> dy, const float* dh_final,
                   const DiagonalScanGradients<float>& out, float* dA) {
    if (checkpoints == nullptr) {
      float* own = scratch_.floats(layout_.checkpoints());
      ForwardAll({}, nullptr, own);
      checkpoints = own;
    }
    const auto g = StatesOfChannels(OfSequence(dh_final));
    float* states = scratch_.floats((layout_.chunk + 1) * tile_size);
    float* decays = scratch_.floats(layout_.chunk * tile_size);
    const bool whole = layout_.states == shape_.d_state;
    const auto sums = [&](const Rows<float>& rows) {
      return whole && rows.data != nullptr ? rows.sequence(b_) : scratch_.rows(shape_.length, layout_.states);
    };
    const auto dB = sums(out.B), dC = sums(out.C);
    for (std::int64_t c = 0; c < shape_.channels; c += lanes) {
      for (std::int64_t chunk = layout_.chunks - 1; chunk >= 0; --chunk) {
        SelectChunk(c, chunk);
        Pack(Later(dy).columns(c), tile_.length, count_, tile_.y);
        std::fill_n(tile_.dx, tile_.length * lanes, 0.0f);
        std::fill_n(tile_.ddt, tile_.length * lanes, 0.0f);
        for (std::int64_t n = 0; n < layout_.states; n += tile_states) {
          SelectStates(n);
          const Strided<const float> before{checkpoints + chunk * layout_.size() + n * layout_.channels + c,
                                            layout_.channels};
          Backward(tile_, before, states, decays, At(g, n, c), At(Rectangle(dA), n, c), At(dB, begin_, n),
                   At(dC, begin_, n), c == 0);
        }
        for (const auto& [packed, rows] : {std::pair{tile_.dx, out.x}, std::pair{tile_.ddt, out.dt}}) {
          if (rows.data != nullptr) {
            Unpack(packed, tile_.length, count_, Later(rows).columns(c));
          }
        }
      }
    }
    if (!whole) {
      CopyStates(dB, out.B);
      CopyStates(dC, out.C);
    }
    WriteChannels(g, OfSequence(out.h0));
  }

 private:
  void SelectChunk(std::int64_t c, std::int64_t chunk) {
    count_ = std::min(lanes, shape_.channels - c);
    channel_ = c;
    begin_ = chunk * layout_.chunk;
    tile_.length = std::min(layout_.chunk, shape_.length - begin_);
    Pack(Later(in_.dt).columns(c), tile_.length, count_, tile_.dt);
    Pack(Later(in_.x).columns(c), tile_.length, count_, tile_.x);
    for (std::int64_t i = 0; i < tile_.length * lanes; ++i) {
      tile_.input[i] = tile_.dt[i] * tile_.x[i];
    }
  }
  void SelectStates(std::int64_t n) {
    tile_.A = At(A_, n, channel_);
    tile_.B = At(B_, begin_, n);
    tile_.C = At(C_, begin_, n);
  }

  // This sequence from the chunk's first token on.
  template <class Real>
  Strided<Real> Later(const Rows<Real>& rows) const {
    return {rows.row(b_, begin_), rows.row_stride};
  }

  Strided<float> Rectangle(float* data) const { return {data, layout_.channels}; }
  template <class Real>
  static Strided<Real> At(const Strided<Real>& rows, std::int64_t row, std::int64_t column) {
    return {rows.row(row) + column, rows.stride};
  }
  static void CopyTile(const Strided<float>& from, const Strided<float>& to) {
    for (int n = 0; n < tile_states; ++n) {
      std::copy_n(from.row(n), lanes, to.row(n));
    }
  }

  template <class Real>
  Real* OfSequence(Real* all) const {
    return all == nullptr ? nullptr : all + b_ * shape_.channels * shape_.d_state;
  }

  // [D, N] (null: zeros) to [states][channels] and back (null: nowhere).
  Strided<float> StatesOfChannels(const float* from) {
    const auto to = Rectangle(scratch_.zeros(layout_.size()));
    for (std::int64_t c = 0; from != nullptr && c < shape_.channels; ++c) {
      for (std::int64_t n = 0; n < shape_.d_state; ++n) {
        to.row(n)[c] = from[c * shape_.d_state + n];
      }
    }
    return to;
  }
  void WriteChannels(const Strided<float>& from, float* to) const {
    for (std::int64_t c = 0; to != nullptr && c < shape_.channels; ++c) {
      for (std::int64_t n = 0; n < shape_.d_state; ++n) {
        to[c * shape_.d_state + n] = from.row(n)[c];
      }
    }
  }

  Strided<const float> Padded(const Rows<const float>& rows) {
    if (layout_.states == shape_.d_state) {
      return rows.sequence(b_);
    }
    const auto to = scratch_.rows(shape_.length, layout_.states);
    for (std::int64_t t = 0; t < shape_.length; ++t) {
      std::copy_n(rows.row(b_, t), shape_.d_state, to.row(t));
      std::fill(to.row(t) + shape_.d_state, to.row(t) + layout_.states, 0.0f);
    }
    return to;
  }
  void CopyStates(const Strided<float>& from, const Rows<float>& to) const {
    for (std::int64_t t = 0; to.data != nullptr && t < shape_.length; ++t) {
      std::copy_n(from.row(t), shape_.d_state, to.row(b_, t));
    }
  }

  const DiagonalScanShape& shape_;
  DiagonalScanLayout layout_;
  const DiagonalScanInputs<float>& in_;
  std::int64_t b_;
  Scratch& scratch_;
  Strided<float> A_;
  Strided<const float> B_, C_;
  Tile tile_;
  std::int64_t begin_ = 0, channel_ = 0, count_ = 0;
};

void ScanSequence(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& in, std::int64_t b, Rows<float> y,
                  float* h_final, float* checkpoints, Scratch& scratch) {
  Sequence(shape, in, b, scratch).ForwardAll(y, h_final, checkpoints);
}

void ScanBackwardSequence(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& in, std::int64_t b,
                          const float* checkpoints, Rows<const float> dy, const float* dh_final,
                          const DiagonalScanGradients<float>& gradients, float* dA, Scratch& scratch) {
  Sequence(shape, in, b, scratch).BackwardAll(checkpoints, dy, dh_final, gradients, dA);
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(ScanSequence);
HWY_EXPORT(ScanBackwardSequence);

namespace {

struct DecaySums {
  float* first = nullptr;  // [states][channels]
  std::int64_t count = 0;
};

}  // namespace

std::int64_t diagonal_scan_checkpoints(const DiagonalScanShape& shape) {
  return shape.batch * DiagonalScanLayout(shape).checkpoints();
}

void diagonal_scan(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& inputs, Rows<float> y,
                   float* h_final, float* checkpoints, int threads) {
  const std::int64_t of_sequence = DiagonalScanLayout(shape).checkpoints();
  parallel_ranges(shape.batch, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      const Scratch::Frame frame(scratch);
      float* keep = checkpoints != nullptr ? checkpoints + b * of_sequence : nullptr;
      HWY_DYNAMIC_DISPATCH(ScanSequence)(shape, inputs, b, y, h_final, keep, scratch);
    }
  });
}

void diagonal_scan_backward(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& inputs,
                            const float* checkpoints, Rows<const float> dy, const float* dh_final,
                            const DiagonalScanGradients<float>& gradients, int threads) {
  const DiagonalScanLayout layout(shape);
  Scratch shared;
  const auto make = [&](Scratch& scratch) { return DecaySums{scratch.zeros(layout.size()), layout.size()}; };
  const auto sums = sum_over_groups(
      shape.batch, threads, shared, make, [&](std::int64_t b, const DecaySums& group, Scratch& scratch) {
        const float* kept = checkpoints != nullptr ? checkpoints + b * layout.checkpoints() : nullptr;
        HWY_DYNAMIC_DISPATCH(ScanBackwardSequence)
        (shape, inputs, b, kept, dy, dh_final, gradients, group.first, scratch);
      });
  for (std::int64_t c = 0; gradients.A != nullptr && c < shape.channels; ++c) {
    for (std::int64_t n = 0; n < shape.d_state; ++n) {
      gradients.A[c * shape.d_state + n] = sums.first[n * layout.channels + c];
    }
  }
}

}  // namespace mambarium::kernels
#endif
