// The scan token by token with a vector of channels by a few states in registers, forward and backward. Compiled once
// per SIMD target; include after hwy/foreach_target.h.
//
// One channel is one lane, so that y_t and dx_t are sums within lanes; dB_t and dC_t are sums across them. What does
// not fill a vector of channels or a tile of states is staged through padded copies.
#if defined(MAMBARIUM_KERNELS_SCAN_CHANNEL_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_SCAN_CHANNEL_SCAN_INL_H_
#undef MAMBARIUM_KERNELS_SCAN_CHANNEL_SCAN_INL_H_
#else
#define MAMBARIUM_KERNELS_SCAN_CHANNEL_SCAN_INL_H_
#endif

#include <cmath>

#include "core/kernels/scan/ahead.h"
#include "core/kernels/scan/single_scan.h"
#include "core/kernels/scratch.h"
#include "core/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// One vector of channels by this many states stays in registers along the sequence.
constexpr std::int64_t tile_states = 8;
constexpr std::int64_t tile_size = tile_states * lanes;

// `lanes` channels and `tile_states` states of one sequence, every row ready to be loaded whole. dt and a hold one
// number per row where all lanes belong to one head (Shared), else one per lane.
struct Tile {
  std::int64_t length = 0, chunk = 0;
  Strided<const float> x, dt, a, B, C;
};

template <bool Shared>
HWY_INLINE V PerLane(D d, const float* from) {
  return Shared ? hn::Set(d, *from) : hn::Load(d, from);
}

HWY_INLINE void LoadTile(D d, const float* from, V* h) {
#pragma GCC unroll 8
  for (int n = 0; n < tile_states; ++n) {
    h[n] = hn::Load(d, from + n * lanes);
  }
}

HWY_INLINE void StoreTile(D d, const V* h, float* to) {
#pragma GCC unroll 8
  for (int n = 0; n < tile_states; ++n) {
    hn::Store(h[n], d, to + n * lanes);
  }
}

template <bool Shared>
HWY_INLINE void AdvanceTile(D d, const Tile& tile, std::int64_t t, V* h) {
  const V a = PerLane<Shared>(d, tile.a.row(t));
  const V input = hn::Mul(PerLane<Shared>(d, tile.dt.row(t)), hn::LoadU(d, tile.x.row(t)));
  const float* B = tile.B.row(t);
#pragma GCC unroll 8
  for (int n = 0; n < tile_states; ++n) {
    h[n] = hn::MulAdd(input, hn::Set(d, B[n]), hn::Mul(a, h[n]));
  }
}

// state is read and advanced; y is written by the first tile of states and added to by the rest.
template <bool Shared, bool Fetches>
inline void ForwardTile(const Tile& tile, float* state, Strided<float> y, bool first, Ahead& ahead) {
  const D d;
  V h[tile_states];
  LoadTile(d, state, h);
  for (std::int64_t t = 0; t < tile.length; ++t) {
    if constexpr (Fetches) {
      ahead.Next();
      ahead.Next();
    }
    AdvanceTile<Shared>(d, tile, t, h);
    const float* C = tile.C.row(t);
    V even = first ? hn::Zero(d) : hn::LoadU(d, y.row(t));
    V odd = hn::Zero(d);
#pragma GCC unroll 4
    for (int n = 0; n < tile_states; n += 2) {
      even = hn::MulAdd(h[n], hn::Set(d, C[n]), even);
      odd = hn::MulAdd(h[n + 1], hn::Set(d, C[n + 1]), odd);
    }
    hn::StoreU(hn::Add(even, odd), d, y.row(t));
  }
  StoreTile(d, h, state);
}

// The state before each chunk, from `state` before the first.
template <bool Shared>
inline void Checkpoints(const Tile& tile, const float* state, float* checkpoints) {
  const D d;
  V h[tile_states];
  LoadTile(d, state, h);
  StoreTile(d, h, checkpoints);
  for (std::int64_t t = 0; t < (tile.length - 1) / tile.chunk * tile.chunk;) {
    AdvanceTile<Shared>(d, tile, t, h);
    if (++t % tile.chunk == 0) {
      StoreTile(d, h, checkpoints += tile_size);
    }
  }
}

struct TileGradients {
  Strided<float> x;      // written by the first tile of states, added to by the rest
  Strided<float> dt, a;  // added to: one number a row where Shared, else a vector a row
  Strided<float> B, C;   // written by the first tile of channels, added to by the rest
};

// g holds dL/dH after the last token and becomes dL/dH before the first. `states` holds chunk + 1 tiles.
template <bool Shared>
inline void BackwardTile(const Tile& tile, const float* checkpoints, float* states, Strided<const float> dy,
                         float* g_state, const TileGradients& out, bool first_states, bool first_channels) {
  const D d;
  V g[tile_states];
  LoadTile(d, g_state, g);
  for (std::int64_t begin = (tile.length - 1) / tile.chunk * tile.chunk; begin >= 0; begin -= tile.chunk) {
    const std::int64_t end = std::min(begin + tile.chunk, tile.length);
    V h[tile_states];
    LoadTile(d, checkpoints + begin / tile.chunk * tile_size, h);
    StoreTile(d, h, states);
    for (std::int64_t t = begin; t < end; ++t) {
      AdvanceTile<Shared>(d, tile, t, h);
      StoreTile(d, h, states + (t + 1 - begin) * tile_size);
    }
    for (std::int64_t t = end - 1; t >= begin; --t) {
      const float* before = states + (t - begin) * tile_size;
      const float* after = before + tile_size;
      const float* B = tile.B.row(t);
      const float* C = tile.C.row(t);
      const V a = PerLane<Shared>(d, tile.a.row(t)), dt = PerLane<Shared>(d, tile.dt.row(t));
      const V x = hn::LoadU(d, tile.x.row(t)), y = hn::LoadU(d, dy.row(t));
      const V input = hn::Mul(dt, x);
      V into_input = hn::Zero(d), into_decay = hn::Zero(d);
      V into_B[tile_states], into_C[tile_states];
#pragma GCC unroll 8
      for (int n = 0; n < tile_states; ++n) {
        g[n] = hn::MulAdd(y, hn::Set(d, C[n]), g[n]);
        into_C[n] = hn::Mul(y, hn::Load(d, after + n * lanes));
        into_B[n] = hn::Mul(g[n], input);
        into_input = hn::MulAdd(g[n], hn::Set(d, B[n]), into_input);
        into_decay = hn::MulAdd(g[n], hn::Load(d, before + n * lanes), into_decay);
        g[n] = hn::Mul(a, g[n]);
      }
#pragma GCC unroll 2
      for (int n = 0; n < tile_states; n += 4) {
        StoreSums(d, into_B[n], into_B[n + 1], into_B[n + 2], into_B[n + 3], out.B.row(t) + n, !first_channels);
        StoreSums(d, into_C[n], into_C[n + 1], into_C[n + 2], into_C[n + 3], out.C.row(t) + n, !first_channels);
      }
      const V into_x = hn::Mul(into_input, dt);
      hn::StoreU(first_states ? into_x : hn::Add(into_x, hn::LoadU(d, out.x.row(t))), d, out.x.row(t));
      const V into_dt = hn::Mul(into_input, x);
      if (Shared) {
        float sums[4];
        StoreSums(d, into_dt, into_decay, hn::Zero(d), hn::Zero(d), sums, false);
        *out.dt.row(t) += sums[0];
        *out.a.row(t) += sums[1];
      } else {
        hn::Store(hn::Add(into_dt, hn::Load(d, out.dt.row(t))), d, out.dt.row(t));
        hn::Store(hn::Add(into_decay, hn::Load(d, out.a.row(t))), d, out.a.row(t));
      }
    }
  }
  StoreTile(d, g, g_state);
}

class ChannelScan {
 public:
  ChannelScan(const SingleScan& scan, Scratch& scratch)
      : scan_(scan), channels_(scan.heads * scan.headdim), scratch_(scratch) {
    tile_.length = scan.length;
    // What the second-level cache holds is kept, and computed again from about sqrt(T) checkpoints beyond that.
    constexpr std::int64_t most = 1 << 18;  // floats
    tile_.chunk = scan.length * tile_size <= most
                      ? scan.length
                      : std::max<std::int64_t>(1, std::lround(std::sqrt(static_cast<double>(scan.length))));
  }

  // All tiles go through a window of tokens before the next one, so that its rows stay in the cache.
  void Forward(Strided<float> y, float* h_final) {
    constexpr std::int64_t window = 128;
    const Scratch::Frame frame(scratch_);
    const std::int64_t vectors = WholeVectors(channels_) / lanes,
                       tiles = (scan_.d_state + tile_states - 1) / tile_states;
    float* states = scratch_.floats(tiles * vectors * tile_size);
    const auto padded_y = scratch_.rows(window, lanes);
    const bool fetches = tiles > 4 || vectors > 2;  // shorter rows, one after the other, are foreseen
    Ahead ahead;
    for (begin_ = 0; begin_ < scan_.length; begin_ += window) {
      tile_.length = std::min(window, scan_.length - begin_);
      ahead.Clear();
      const std::int64_t next = begin_ + tile_.length, end = std::min(next + window, scan_.length);
      ahead.Add(scan_.B, next, end, scan_.d_state);
      ahead.Add(scan_.C, next, end, scan_.d_state);
      ahead.Add(scan_.x, next, end, channels_);
      ahead.Add(y, next, end, channels_);
      float* state = states;
      for (std::int64_t n = 0; n < scan_.d_state; n += tile_states) {
        const Scratch::Frame states_frame(scratch_);
        SelectStates(n);
        for (std::int64_t c = 0; c < channels_; c += lanes, state += tile_size) {
          const Scratch::Frame channels_frame(scratch_);
          SelectChannels(c);
          if (begin_ == 0) {
            ReadState(scan_.h0, state);
          }
          const Strided<float> target = {y.row(begin_) + c, y.stride};
          const auto destination = whole_channels_ ? target : padded_y;
          if (!whole_channels_ && n > 0) {
            CopyRows(target, destination, channel_count_);
          }
          const auto forward = shared_ ? (fetches ? ForwardTile<true, true> : ForwardTile<true, false>)
                                       : (fetches ? ForwardTile<false, true> : ForwardTile<false, false>);
          forward(tile_, state, destination, n == 0, ahead);
          if (!whole_channels_) {
            CopyRows(destination, target, channel_count_);
          }
          if (begin_ + tile_.length == scan_.length) {
            WriteState(state, h_final);
          }
        }
      }
    }
  }

  void Backward(Strided<const float> dy, const float* dh_final, const SingleScanGradients& out) {
    const Scratch::Frame frame(scratch_);
    const std::int64_t length = scan_.length, chunks = (length + tile_.chunk - 1) / tile_.chunk;
    float* state = scratch_.floats(tile_size);
    float* g = scratch_.floats(tile_size);
    float* checkpoints = scratch_.floats(chunks * tile_size);
    float* states = scratch_.floats((tile_.chunk + 1) * tile_size);
    const auto padded_dx = scratch_.rows(length, lanes), padded_dy = scratch_.rows(length, lanes);
    const auto per_lane_dt = scratch_.rows(length, lanes), per_lane_a = scratch_.rows(length, lanes);
    const auto padded_dB = scratch_.rows(length, tile_states), padded_dC = scratch_.rows(length, tile_states);
    const auto wanted = [&](Strided<float> rows, std::int64_t width) {
      return rows.data != nullptr ? rows : scratch_.rows(length, width);
    };
    const auto dx = wanted(out.x, channels_), ddt = wanted(out.dt, scan_.heads), da = wanted(out.a, scan_.heads);
    const auto dB = wanted(out.B, scan_.d_state), dC = wanted(out.C, scan_.d_state);
    for (std::int64_t t = 0; t < length; ++t) {
      std::fill_n(ddt.row(t), scan_.heads, 0.0f);
      std::fill_n(da.row(t), scan_.heads, 0.0f);
    }

    for (std::int64_t n = 0; n < scan_.d_state; n += tile_states) {
      const Scratch::Frame states_frame(scratch_);
      SelectStates(n);
      for (std::int64_t c = 0; c < channels_; c += lanes) {
        const Scratch::Frame channels_frame(scratch_);
        SelectChannels(c);
        TileGradients to;
        to.B = whole_states_ ? dB.columns(n) : padded_dB;
        to.C = whole_states_ ? dC.columns(n) : padded_dC;
        to.x = whole_channels_ ? dx.columns(c) : padded_dx;
        auto incoming = dy.columns(c);
        if (!whole_channels_) {
          CopyRows(incoming, padded_dy, channel_count_, lanes);
          incoming = padded_dy;
          if (n > 0) {
            CopyRows(dx.columns(c), padded_dx, channel_count_);
          }
        }
        to.dt = shared_ ? ddt.columns(c / scan_.headdim) : per_lane_dt;
        to.a = shared_ ? da.columns(c / scan_.headdim) : per_lane_a;
        if (!shared_) {
          std::fill_n(per_lane_dt.data, length * per_lane_dt.stride, 0.0f);
          std::fill_n(per_lane_a.data, length * per_lane_a.stride, 0.0f);
        }
        ReadState(scan_.h0, state);
        ReadState(dh_final, g);
        if (shared_) {
          Checkpoints<true>(tile_, state, checkpoints);
          BackwardTile<true>(tile_, checkpoints, states, incoming, g, to, n == 0, c == 0);
        } else {
          Checkpoints<false>(tile_, state, checkpoints);
          BackwardTile<false>(tile_, checkpoints, states, incoming, g, to, n == 0, c == 0);
          AddPerHead(per_lane_dt, ddt);
          AddPerHead(per_lane_a, da);
        }
        if (!whole_channels_) {
          CopyRows(padded_dx, dx.columns(c), channel_count_);
        }
        WriteState(g, out.h0);
      }
      if (!whole_states_) {
        CopyRows(padded_dB, dB.columns(n), state_count_);
        CopyRows(padded_dC, dC.columns(n), state_count_);
      }
    }
  }

 private:
  void SelectStates(std::int64_t n) {
    state_ = n;
    state_count_ = std::min(tile_states, scan_.d_state - n);
    whole_states_ = state_count_ == tile_states;
    tile_.B = FromBegin(scan_.B, n);
    tile_.C = FromBegin(scan_.C, n);
    if (!whole_states_) {
      tile_.B = Padded(tile_.B, state_count_, tile_states);
      tile_.C = Padded(tile_.C, state_count_, tile_states);
    }
  }

  void SelectChannels(std::int64_t c) {
    channel_ = c;
    channel_count_ = std::min(lanes, channels_ - c);
    whole_channels_ = channel_count_ == lanes;
    const std::int64_t head = c / scan_.headdim;
    shared_ = head == (c + channel_count_ - 1) / scan_.headdim;
    tile_.x = FromBegin(scan_.x, c);
    if (!whole_channels_) {
      tile_.x = Padded(tile_.x, channel_count_, lanes);
    }
    tile_.dt = FromBegin(scan_.dt, head);
    tile_.a = FromBegin(scan_.a, head);
    if (!shared_) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {  // lanes beyond the channels hold x = 0: any head will do
        head_of_lane_[lane] = (c + std::min(lane, channel_count_ - 1)) / scan_.headdim;
      }
      tile_.dt = PerLaneRows(FromBegin(scan_.dt, 0));
      tile_.a = PerLaneRows(FromBegin(scan_.a, 0));
    }
  }

  Strided<const float> FromBegin(const Strided<const float>& rows, std::int64_t column) const {
    return {rows.row(begin_) + column, rows.stride};
  }

  static void CopyRows(const Strided<const float>& from, const Strided<float>& to, std::int64_t rows,
                       std::int64_t width, std::int64_t padded_width) {
    for (std::int64_t t = 0; t < rows; ++t) {
      std::copy_n(from.row(t), width, to.row(t));
      std::fill(to.row(t) + width, to.row(t) + padded_width, 0.0f);
    }
  }
  void CopyRows(const Strided<const float>& from, const Strided<float>& to, std::int64_t width,
                std::int64_t padded_width = 0) const {
    CopyRows(from, to, tile_.length, width, std::max(width, padded_width));
  }

  Strided<const float> Padded(const Strided<const float>& rows, std::int64_t width, std::int64_t padded_width) {
    const auto copy = scratch_.rows(tile_.length, padded_width);
    CopyRows(rows, copy, width, padded_width);
    return copy;
  }

  Strided<const float> PerLaneRows(const Strided<const float>& per_head) {
    const auto copy = scratch_.rows(tile_.length, lanes);
    for (std::int64_t t = 0; t < tile_.length; ++t) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        copy.row(t)[lane] = per_head.row(t)[head_of_lane_[lane]];
      }
    }
    return copy;
  }

  void AddPerHead(const Strided<float>& per_lane, const Strided<float>& per_head) const {
    for (std::int64_t t = 0; t < tile_.length; ++t) {
      for (std::int64_t lane = 0; lane < channel_count_; ++lane) {
        per_head.row(t)[head_of_lane_[lane]] += per_lane.row(t)[lane];
      }
    }
  }

  // A tile of [heads, headdim, d_state] to [state][lane] and back; null reads as zeros and is not written.
  void ReadState(const float* from, float* tile) const {
    std::fill_n(tile, tile_size, 0.0f);
    for (std::int64_t lane = 0; from != nullptr && lane < channel_count_; ++lane) {
      for (std::int64_t n = 0; n < state_count_; ++n) {
        tile[n * lanes + lane] = from[StateIndex(lane, n)];
      }
    }
  }
  void WriteState(const float* tile, float* to) const {
    for (std::int64_t lane = 0; to != nullptr && lane < channel_count_; ++lane) {
      for (std::int64_t n = 0; n < state_count_; ++n) {
        to[StateIndex(lane, n)] = tile[n * lanes + lane];
      }
    }
  }
  std::int64_t StateIndex(std::int64_t lane, std::int64_t n) const {
    return (channel_ + lane) * scan_.d_state + state_ + n;
  }

  const SingleScan& scan_;
  std::int64_t channels_;
  Scratch& scratch_;
  Tile tile_;
  std::int64_t head_of_lane_[lanes] = {};
  std::int64_t begin_ = 0, state_ = 0, state_count_ = 0, channel_ = 0, channel_count_ = 0;
  bool whole_states_ = false, whole_channels_ = false, shared_ = false;
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_SCAN_CHANNEL_SCAN_INL_H_
