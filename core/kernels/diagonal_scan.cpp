#include "core/kernels/diagonal_scan.h"

#include "core/kernels/diagonal_scan_layout.h"
#include "core/kernels/each_sequence.h"
#include "core/kernels/group_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/diagonal_scan.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/sequence_chunks-inl.h"
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

// A chunk of channels is one tile of states after the other.
class Sequence : SequenceChunks<DiagonalScanShape, DiagonalScanLayout, DiagonalScanInputs<float>, Tile> {
 public:
  Sequence(const DiagonalScanShape& shape, const DiagonalScanInputs<float>& in, std::int64_t b, Scratch& scratch)
      : SequenceChunks(shape, in, b, scratch), A_(StatesOfChannels(in.A)) {}

  // checkpoints: [chunks][states][channels] or null; y.data may be null.
  void ForwardAll(Rows<float> y, float* h_final, float* checkpoints) {
    const auto state = StatesOfChannels(OfSequence(in_.h0));
    for (std::int64_t c = 0; c < shape_.channels; c += lanes) {
      SelectChannels(c);
      for (std::int64_t index = 0; index < layout_.chunks; ++index) {
        SelectTokens(index);
        std::fill_n(chunk_.y, chunk_.length * lanes, 0.0f);
        for (std::int64_t n = 0; n < layout_.states; n += tile_states) {
          SelectStates(n);
          const auto h = At(state, n, c);
          if (checkpoints != nullptr) {
            CopyTile(h, At(Rectangle(checkpoints + index * layout_.size()), n, c));
          }
          y.data != nullptr ? Forward<true>(chunk_, h) : Forward<false>(chunk_, h);
        }
        Unpack(chunk_.y, y);
      }
    }
    write_channels(shape_, layout_, state.data, OfSequence(h_final));
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
    const auto dB = SumsFor(out.B), dC = SumsFor(out.C);
    for (std::int64_t c = 0; c < shape_.channels; c += lanes) {
      SelectChannels(c);
      for (std::int64_t index = layout_.chunks - 1; index >= 0; --index) {
        SelectTokens(index);
        Pack(dy, chunk_.y);
        std::fill_n(chunk_.dx, chunk_.length * lanes, 0.0f);
        std::fill_n(chunk_.ddt, chunk_.length * lanes, 0.0f);
        for (std::int64_t n = 0; n < layout_.states; n += tile_states) {
          SelectStates(n);
          const Strided<const float> before{checkpoints + index * layout_.size() + n * layout_.channels + c,
                                            layout_.channels};
          Backward(chunk_, before, states, decays, At(g, n, c), At(Rectangle(dA), n, c), At(dB, begin_, n),
                   At(dC, begin_, n), c == 0);
        }
        Unpack(chunk_.dx, out.x);
        Unpack(chunk_.ddt, out.dt);
      }
    }
    CopySums(dB, out.B);
    CopySums(dC, out.C);
    write_channels(shape_, layout_, g.data, OfSequence(out.h0));
  }

 private:
  void SelectStates(std::int64_t n) {
    chunk_.A = At(A_, n, channel_);
    chunk_.B = At(B_, begin_, n);
    chunk_.C = At(C_, begin_, n);
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

  // [D, N] (null: zeros) to [states][channels].
  Strided<float> StatesOfChannels(const float* from) {
    const auto to = Rectangle(scratch_.zeros(layout_.size()));
    for (std::int64_t c = 0; from != nullptr && c < shape_.channels; ++c) {
      for (std::int64_t n = 0; n < shape_.d_state; ++n) {
        to.row(n)[c] = from[c * shape_.d_state + n];
      }
    }
    return to;
  }

  Strided<float> A_;
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
  each_sequence(shape.batch, threads, [&](std::int64_t b, Scratch& scratch) {
    float* keep = checkpoints != nullptr ? checkpoints + b * of_sequence : nullptr;
    HWY_DYNAMIC_DISPATCH(ScanSequence)(shape, inputs, b, y, h_final, keep, scratch);
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
  write_channels(shape, layout, sums.first, gradients.A);
}

}  // namespace mambarium::kernels
#endif
