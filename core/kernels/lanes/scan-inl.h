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
HWY_INLINE void ScanChannels(const ScanRows& in, std::int64_t t, std::int64_t head, std::int64_t channel,
                             const float* before, float* after, NumbersOut y) {
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
      const std::int64_t at = ((channel + p) * in.d_state + n) * lanes;
      const V h = hn::MulAdd(a, hn::Load(d, before + at), hn::Mul(input[p], B));
      hn::Store(h, d, after + at);
      sum[p] = hn::MulAdd(h, C, sum[p]);
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

// h [heads * headdim][d_state] vectors goes from before the first row to after the last. `states`, where wanted,
// receives all rows + 1 of them.
inline void Scan(std::int64_t rows, const ScanRows& in, float* h, float* states, NumbersOut y) {
  const std::int64_t size = in.heads * in.headdim * in.d_state * lanes;
  if (states != nullptr) std::copy_n(h, size, states);
  for (std::int64_t t = 0; t < rows; ++t) {
    const float* before = states == nullptr ? h : states + t * size;
    float* after = states == nullptr ? h : states + (t + 1) * size;
    EachChannels(in, [&](std::int64_t head, std::int64_t channel, auto count)
                         HWY_ATTR { ScanChannels<count()>(in, t, head, channel, before, after, y); });
  }
  if (states != nullptr) std::copy_n(states + rows * size, size, h);
}

struct ScanRowGradients {
  NumbersOut x, B, C;  // x written, B and C added to
  NumbersOut dt, a;    // added to
};

template <int P>
HWY_INLINE void ScanBackwardChannels(const ScanRows& in, std::int64_t t, std::int64_t head, std::int64_t channel,
                                     const float* before, const float* after, Numbers dy, float* g,
                                     const ScanRowGradients& out) {
  const D d;
  const V a = At(in.a, t, head), dt = At(in.dt, t, head);
  V x[P], input[P], incoming[P], into_input[P], into_decay = Nothing();
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    x[p] = At(in.x, t, channel + p);
    input[p] = hn::Mul(dt, x[p]);
    incoming[p] = At(dy, t, channel + p);
    into_input[p] = Nothing();
  }
  for (std::int64_t n = 0; n < in.d_state; ++n) {
    const V B = At(in.B, t, n), C = At(in.C, t, n);
    V into_B = At(out.B, t, n), into_C = At(out.C, t, n);
#pragma GCC unroll 4
    for (int p = 0; p < P; ++p) {
      const std::int64_t at = ((channel + p) * in.d_state + n) * lanes;
      const V gradient = hn::MulAdd(incoming[p], C, hn::Load(d, g + at));
      into_C = hn::MulAdd(incoming[p], hn::Load(d, after + at), into_C);
      into_B = hn::MulAdd(gradient, input[p], into_B);
      into_input[p] = hn::MulAdd(gradient, B, into_input[p]);
      into_decay = hn::MulAdd(gradient, hn::Load(d, before + at), into_decay);
      hn::Store(hn::Mul(a, gradient), d, g + at);
    }
    Put(into_B, out.B, t, n);
    Put(into_C, out.C, t, n);
  }
  V into_dt = Nothing();
#pragma GCC unroll 4
  for (int p = 0; p < P; ++p) {
    Put(hn::Mul(into_input[p], dt), out.x, t, channel + p);
    into_dt = hn::MulAdd(into_input[p], x[p], into_dt);
  }
  Add(into_dt, out.dt, t, head);
  Add(into_decay, out.a, t, head);
}

// g [heads * headdim][d_state] vectors goes from dL/dH after the last row to before the first; `states` as Scan()
// left them.
inline void ScanBackward(std::int64_t rows, const ScanRows& in, const float* states, Numbers dy, float* g,
                         const ScanRowGradients& out) {
  const std::int64_t size = in.heads * in.headdim * in.d_state * lanes;
  for (std::int64_t t = rows - 1; t >= 0; --t) {
    const float* before = states + t * size;
    EachChannels(in, [&](std::int64_t head, std::int64_t channel, auto count) HWY_ATTR {
      ScanBackwardChannels<count()>(in, t, head, channel, before, before + size, dy, g, out);
    });
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_SCAN_INL_H_
