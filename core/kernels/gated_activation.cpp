#include "core/kernels/gated_activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/gated_activation.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

void Gate(std::int64_t length, std::int64_t width, Strided<const float> value, Strided<const float> gate,
          Activation activation, Strided<float> out) {
  const D d;
  WithActivation(activation, [&](auto a) HWY_ATTR {
    for (std::int64_t t = 0; t < length; ++t) {
      ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
        V result = Activated<a()>(d, LoadUpTo(d, gate.row(t) + c, count));
        if (value.data != nullptr) {
          result = hn::Mul(result, LoadUpTo(d, value.row(t) + c, count));
        }
        StoreUpTo(result, d, out.row(t) + c, count);
      });
    }
  });
}

void GateBackward(std::int64_t length, std::int64_t width, Strided<const float> value, Strided<const float> gate,
                  Activation activation, Strided<const float> dout, Strided<float> dvalue, Strided<float> dgate,
                  Strided<float> out) {
  const D d;
  WithActivation(activation, [&](auto a) HWY_ATTR {
    for (std::int64_t t = 0; t < length; ++t) {
      ForEachVector(width, [&](std::int64_t c, std::int64_t count) HWY_ATTR {
        V slope;
        V result = Activated<a()>(d, LoadUpTo(d, gate.row(t) + c, count), slope);
        const V incoming = LoadUpTo(d, dout.row(t) + c, count);
        V into_gate = hn::Mul(incoming, slope);
        if (value.data != nullptr) {
          const V factor = LoadUpTo(d, value.row(t) + c, count);
          StoreUpTo(hn::Mul(incoming, result), d, dvalue.row(t) + c, count);
          into_gate = hn::Mul(into_gate, factor);
          result = hn::Mul(result, factor);
        }
        StoreUpTo(into_gate, d, dgate.row(t) + c, count);
        if (out.data != nullptr) {
          StoreUpTo(result, d, out.row(t) + c, count);
        }
      });
    }
  });
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(Gate);
HWY_EXPORT(GateBackward);

void gated_activation(std::int64_t length, std::int64_t width, Strided<const float> value, Strided<const float> gate,
                      Activation activation, Strided<float> out) {
  HWY_DYNAMIC_DISPATCH(Gate)(length, width, value, gate, activation, out);
}

void gated_activation_backward(std::int64_t length, std::int64_t width, Strided<const float> value,
                               Strided<const float> gate, Activation activation, Strided<const float> dout,
                               Strided<float> dvalue, Strided<float> dgate, Strided<float> out) {
  HWY_DYNAMIC_DISPATCH(GateBackward)(length, width, value, gate, activation, dout, dvalue, dgate, out);
}

}  // namespace mambarium::kernels
#endif
