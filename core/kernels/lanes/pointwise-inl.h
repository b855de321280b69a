// Gates, decay factors and the embedding over LaneRows. Include after hwy/foreach_target.h.

#if defined(MAMBARIUM_KERNELS_LANES_POINTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_LANES_POINTWISE_INL_H_
#undef MAMBARIUM_KERNELS_LANES_POINTWISE_INL_H_
#else
#define MAMBARIUM_KERNELS_LANES_POINTWISE_INL_H_
#endif

#include <cmath>

#include "core/kernels/lanes/lane_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// out = act(in); slope, where wanted, receives act'(in).
template <Activation A>
void Activate(std::int64_t rows, std::int64_t width, Numbers in, NumbersOut out, NumbersOut slope) {
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t c = 0; c < width; ++c) {
      V derivative;
      Put(Activated<A>(D(), At(in, t, c), derivative), out, t, c);
      if (slope.data != nullptr) Put(derivative, slope, t, c);
    }
  }
}

// out = one * other; out may be either.
inline void Product(std::int64_t rows, std::int64_t width, Numbers one, Numbers other, NumbersOut out) {
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t c = 0; c < width; ++c) Put(hn::Mul(At(one, t, c), At(other, t, c)), out, t, c);
  }
}

// out = gain * in, a gain per column.
inline void Scale(std::int64_t rows, std::int64_t width, const float* gain, Numbers in, NumbersOut out) {
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t c = 0; c < width; ++c) Put(hn::Mul(At(in, t, c), All(gain[c])), out, t, c);
  }
}

// out = value * act(gate); without a value, act(gate). Where wanted (`slope`), also act(gate) and act'(gate).
template <Activation A>
void Gate(std::int64_t rows, std::int64_t width, Numbers value, Numbers gate, NumbersOut out, NumbersOut active,
          NumbersOut slope) {
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t c = 0; c < width; ++c) {
      V derivative;
      V result;
      if (slope.data == nullptr) {
        result = Activated<A>(D(), At(gate, t, c));
      } else {
        result = Activated<A>(D(), At(gate, t, c), derivative);
        Put(derivative, slope, t, c);
        Put(result, active, t, c);
      }
      Put(value.data == nullptr ? result : hn::Mul(result, At(value, t, c)), out, t, c);
    }
  }
}

// dvalue may be dout.
inline void GateBackward(std::int64_t rows, std::int64_t width, Numbers value, Numbers active, Numbers slope,
                         Numbers dout, NumbersOut dvalue, NumbersOut dgate) {
  for (std::int64_t t = 0; t < rows; ++t) {
    for (std::int64_t c = 0; c < width; ++c) {
      const V incoming = At(dout, t, c);
      V into_gate = hn::Mul(incoming, At(slope, t, c));
      if (value.data != nullptr) {
        into_gate = hn::Mul(into_gate, At(value, t, c));
        Put(hn::Mul(incoming, At(active, t, c)), dvalue, t, c);
      }
      Put(into_gate, dgate, t, c);
    }
  }
}

// dt = softplus(raw + bias), a = exp(-exp(A_log) dt); a = 1 without A_log. dt_slope, where wanted, receives softplus'.
inline void Decay(std::int64_t rows, std::int64_t heads, const float* bias, const float* A_log, Numbers raw,
                  NumbersOut dt, NumbersOut a, NumbersOut dt_slope) {
  const D d;
  for (std::int64_t head = 0; head < heads; ++head) {
    const V rate = All(A_log == nullptr ? 0.0f : -std::exp(A_log[head]));
    for (std::int64_t t = 0; t < rows; ++t) {
      const V sum = hn::Add(At(raw, t, head), All(bias[head]));
      const V step = Softplus(d, sum);
      Put(step, dt, t, head);
      if (dt_slope.data != nullptr) Put(Sigmoid(d, sum), dt_slope, t, head);
      Put(A_log == nullptr ? All(1.0f) : FaithfulExp(d, hn::Mul(rate, step)), a, t, head);
    }
  }
}

// draw is written; ddt is overwritten; dbias and dA_log [heads] vectors are added to.
inline void DecayBackward(std::int64_t rows, std::int64_t heads, const float* A_log, Numbers dt, Numbers a,
                          Numbers dt_slope, NumbersOut ddt, Numbers da, NumbersOut draw, float* dbias, float* dA_log) {
  const D d;
  for (std::int64_t head = 0; head < heads; ++head) {
    const V rate = All(A_log == nullptr ? 0.0f : -std::exp(A_log[head]));
    for (std::int64_t t = 0; t < rows; ++t) {
      V into_dt = At(ddt, t, head);
      if (A_log != nullptr) {
        const V into_exponent = hn::Mul(At(da, t, head), At(a, t, head));
        into_dt = hn::MulAdd(into_exponent, rate, into_dt);
        float* const sum = dA_log + head * lanes;
        const V into_A_log = hn::Mul(into_exponent, hn::Mul(rate, At(dt, t, head)));
        hn::Store(hn::Add(into_A_log, hn::Load(d, sum)), d, sum);
      }
      const V into_raw = hn::Mul(into_dt, At(dt_slope, t, head));
      Put(into_raw, draw, t, head);
      hn::Store(hn::Add(into_raw, hn::Load(d, dbias + head * lanes)), d, dbias + head * lanes);
    }
  }
}

// y += D x, one D per head.
inline void Skip(std::int64_t rows, std::int64_t heads, std::int64_t headdim, const float* D_of_head, Numbers x,
                 NumbersOut y) {
  for (std::int64_t head = 0; head < heads; ++head) {
    const V skip = All(D_of_head[head]);
    for (std::int64_t t = 0; t < rows; ++t) {
      for (std::int64_t c = head * headdim; c < (head + 1) * headdim; ++c) {
        Put(hn::MulAdd(skip, At(x, t, c), At(y, t, c)), y, t, c);
      }
    }
  }
}

// dx and dD [heads] vectors are added to.
inline void SkipBackward(std::int64_t rows, std::int64_t heads, std::int64_t headdim, const float* D_of_head, Numbers x,
                         Numbers dy, NumbersOut dx, float* dD) {
  const D d;
  for (std::int64_t head = 0; head < heads; ++head) {
    const V skip = All(D_of_head[head]);
    V even = hn::Load(d, dD + head * lanes), odd = Nothing();
    for (std::int64_t t = 0; t < rows; ++t) {
      for (std::int64_t c = head * headdim; c < (head + 1) * headdim; ++c) {
        const V incoming = At(dy, t, c);
        Put(hn::MulAdd(skip, incoming, At(dx, t, c)), dx, t, c);
        const V sum = hn::MulAdd(incoming, At(x, t, c), even);
        even = odd;
        odd = sum;
      }
    }
    hn::Store(hn::Add(even, odd), d, dD + head * lanes);
  }
}

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_LANES_POINTWISE_INL_H_
