// The selective scan over LaneRows: H_t = a_t H_{t-1} + (dt_t x_t) B_t^T, y_t = H_t C_t (paper 1, section 2.2), one row
// after the other with the states in memory. Decays are only ever multiplied, so that a_t = 0 and 1e-30 are as good as
// any. Include after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_SCAN_INL_H_
#undef MAMBARIUM_KERNELS_LANES_SCAN_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_SCAN_INL_H_
#endif

#include "core/kernels/lanes/lane_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

struct ScanRows {
  std::int64_t heads = 1, headdim = 0, d_state = 0;
  Numbers x, B, C;  // [rows][heads * headdim], [rows][d_state]
  Numbers dt, a;    // [rows][heads]
};

// Channels that share the loads of B and C.
constexpr int scan_channels = 4;

template <int P>
HWY_INLINE void ScanChannels(const ScanRows& in, std::int64_t t, std::int64_t head, std::int64_t channel, float* h,
                             NumbersOut y) {
  const D d;
  const V a = At(in.a, t, head), dt = At(in.dt, t, head);
  V input[P], sum[P];
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    input[p] = hn::Mul(dt, At(in.x, t, channel + p));
    sum[p] = Nothing();
  }
  for (std::int64_t n = 0; n < in.d_state; ++n) {
    const V B = At(in.B, t, n), C = At(in.C, t, n);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      float* const state = h + ((channel + p) * in.d_state + n) * lanes;
      const V after = hn::MulAdd(a, hn::Load(d, state), hn::Mul(input[p], B));
      hn::Store(after, d, state);
      sum[p] = hn::MulAdd(after, C, sum[p]);
    }
  }
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) Put(sum[p], y, t, channel + p);
}

// work(head, channel, channels as a constant) for all the channels of a head, several at a time.
template <class Work>
HWY_INLINE void EachChannels(const ScanRows& in, const Work& work) {
  for (std::int64_t head = 0; head < in.heads; ++head) {
    const std::int64_t first = head * in.headdim;
    std::int64_t p = 0;
    for (; p + scan_channels <= in.headdim; p += scan_channels) {
      work(head, first + p, std::integral_constant<int, scan_channels>());
    }
    for (; p < in.headdim; ++p) work(head, first + p, std::integral_constant<int, 1>());
  }
}

// h [heads * headdim][d_state] vectors goes from before the first row to after the last, a few channels at a time so
// that their states stay in cache.
inline void Scan(std::int64_t rows, const ScanRows& in, float* h, NumbersOut y) {
  EachChannels(in, [&](std::int64_t head, std::int64_t channel, auto count) HWY_ATTR {
    for (std::int64_t t = 0; t < rows; ++t) ScanChannels<count()>(in, t, head, channel, h, y);
  });
}

struct ScanRowGradients {
  NumbersOut x, B, C, dt, a;  // added to
};

// States `first` to `first` + `count` of P channels, which are taken together on the way back.
struct StateTile {
  std::int64_t head = 0, channel = 0, first = 0, count = 0;
};
// As many as fit a first-level cache together with their values at all rows of a piece.
constexpr std::int64_t tile_states = 8;

// Between [channels][d_state] vectors and a tile of them side by side, where no two lie a power of two apart.
inline void LoadTile(const ScanRows& in, const StateTile& tile, std::int64_t channels, const float* from, float* to) {
  for (std::int64_t p = 0; p < channels; ++p) {
    std::copy_n(from + ((tile.channel + p) * in.d_state + tile.first) * lanes, tile.count * lanes,
                to + p * tile.count * lanes);
  }
}
inline void StoreTile(const ScanRows& in, const StateTile& tile, std::int64_t channels, const float* from, float* to) {
  for (std::int64_t p = 0; p < channels; ++p) {
    std::copy_n(from + p * tile.count * lanes, tile.count * lanes,
                to + ((tile.channel + p) * in.d_state + tile.first) * lanes);
  }
}

// states [rows + 1][P][count] vectors: those before every row, which are given for the first, and after the last.
template <int P>
HWY_INLINE void ScanStates(std::int64_t rows, const ScanRows& in, const StateTile& tile, float* states) {
  const D d;
  const std::int64_t size = P * tile.count * lanes;
  for (std::int64_t t = 0; t < rows; ++t, states += size) {
    const V a = At(in.a, t, tile.head), dt = At(in.dt, t, tile.head);
    V input[P];
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) input[p] = hn::Mul(dt, At(in.x, t, tile.channel + p));
    for (std::int64_t n = 0; n < tile.count; ++n) {
      const V B = At(in.B, t, tile.first + n);
#pragma GCC unroll 4
      for (int p = 0; p < P; ++p) {
        const std::int64_t at = (p * tile.count + n) * lanes;
        hn::Store(hn::MulAdd(a, hn::Load(d, states + at), hn::Mul(input[p], B)), d, states + size + at);
      }
    }
  }
}

template <int P>
HWY_INLINE void ScanBackwardRow(const ScanRows& in, const StateTile& tile, std::int64_t t, const float* before,
                                Numbers dy, float* g, const ScanRowGradients& out) {
  const D d;
  const float* const after = before + P * tile.count * lanes;
  const V a = At(in.a, t, tile.head), dt = At(in.dt, t, tile.head);
  V x[P], input[P], incoming[P], into_input[P], into_decay = Nothing();
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    x[p] = At(in.x, t, tile.channel + p);
    input[p] = hn::Mul(dt, x[p]);
    incoming[p] = At(dy, t, tile.channel + p);
    into_input[p] = Nothing();
  }
  for (std::int64_t n = 0; n < tile.count; ++n) {
    const V B = At(in.B, t, tile.first + n), C = At(in.C, t, tile.first + n);
    V into_B = At(out.B, t, tile.first + n), into_C = At(out.C, t, tile.first + n);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      const std::int64_t at = (p * tile.count + n) * lanes;
      const V gradient = hn::MulAdd(incoming[p], C, hn::Load(d, g + at));
      into_C = hn::MulAdd(incoming[p], hn::Load(d, after + at), into_C);
      into_B = hn::MulAdd(gradient, input[p], into_B);
      into_input[p] = hn::MulAdd(gradient, B, into_input[p]);
      into_decay = hn::MulAdd(gradient, hn::Load(d, before + at), into_decay);
      hn::Store(hn::Mul(a, gradient), d, g + at);
    }
    Put(into_B, out.B, t, tile.first + n);
    Put(into_C, out.C, t, tile.first + n);
  }
  V into_dt = Nothing();
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    Add(hn::Mul(into_input[p], dt), out.x, t, tile.channel + p);
    into_dt = hn::MulAdd(into_input[p], x[p], into_dt);
  }
  Add(into_dt, out.dt, t, tile.head);
  Add(into_decay, out.a, t, tile.head);
}

// h and g are [heads * headdim][d_state] vectors: h the states before the first row, g goes from dL/dH after the last
// row to before the first. The states between are computed again in `states`, a tile at a time: room for (rows + 1) *
// scan_channels * tile_states vectors.
inline void ScanBackward(std::int64_t rows, const ScanRows& in, const float* h, float* states, Numbers dy, float* g,
                         const ScanRowGradients& out) {
  HWY_ALIGN float g_of_tile[scan_channels * tile_states * lanes];
  EachChannels(in, [&](std::int64_t head, std::int64_t channel, auto count) HWY_ATTR {
    for (std::int64_t first = 0; first < in.d_state; first += tile_states) {
      const StateTile tile{head, channel, first, std::min(tile_states, in.d_state - first)};
      LoadTile(in, tile, count, h, states);
      ScanStates<count()>(rows, in, tile, states);
      LoadTile(in, tile, count, g, g_of_tile);
      for (std::int64_t t = rows - 1; t >= 0; --t) {
        ScanBackwardRow<count()>(in, tile, t, states + t * count * tile.count * lanes, dy, g_of_tile, out);
      }
      StoreTile(in, tile, count, g_of_tile, g);
    }
  });
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_SCAN_INL_H_
