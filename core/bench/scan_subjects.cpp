#include "core/bench/scan_subjects.h"

#include <memory>

#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using kernels::Rows;

struct ScanTensors {
  at::Tensor x, dt, a, B, C, dy, y, dx, ddt, da, dB, dC;
};

ScanTensors make_tensors(const kernels::ScanShape& s) {
  auto generator = at::detail::createCPUGenerator(0);
  const auto uniform = [&](at::IntArrayRef sizes) { return torch::rand(sizes, generator); };
  ScanTensors t;
  t.x = uniform({s.batch, s.length, s.heads, s.headdim});
  t.dy = uniform({s.batch, s.length, s.heads, s.headdim});
  t.dt = uniform({s.batch, s.length, s.heads});
  t.a = 0.9 + 0.1 * uniform({s.batch, s.length, s.heads});
  t.B = uniform({s.batch, s.length, s.d_state});
  t.C = uniform({s.batch, s.length, s.d_state});
  t.y = torch::empty_like(t.x);
  t.dx = torch::empty_like(t.x);
  t.ddt = torch::empty_like(t.dt);
  t.da = torch::empty_like(t.a);
  t.dB = torch::empty_like(t.B);
  t.dC = torch::empty_like(t.C);
  return t;
}

Rows<float> rows(const at::Tensor& tensor) {
  const std::int64_t length = tensor.size(1), width = tensor.numel() / (tensor.size(0) * length);
  return {tensor.data_ptr<float>(), length * width, width};
}

}  // namespace

std::vector<Subject> scan_subjects(const kernels::ScanShape& shape, int threads) {
  const auto tensors = std::make_shared<ScanTensors>(make_tensors(shape));
  const auto forward = [tensors, shape, threads] {
    const ScanTensors& t = *tensors;
    kernels::selective_scan(shape, {rows(t.x), rows(t.dt), rows(t.a), rows(t.B), rows(t.C)}, rows(t.y), nullptr,
                            threads);
  };
  const auto backward = [tensors, shape, threads] {
    const ScanTensors& t = *tensors;
    kernels::selective_scan_backward(shape, {rows(t.x), rows(t.dt), rows(t.a), rows(t.B), rows(t.C)}, rows(t.dy),
                                     nullptr, {rows(t.dx), rows(t.ddt), rows(t.da), rows(t.dB), rows(t.dC)}, threads);
  };
  const auto with_operators = [tensors] {
    const ScanTensors& t = *tensors;
    std::vector<at::Tensor> inputs;
    for (const auto& input : {t.x, t.dt, t.a, t.B, t.C}) inputs.push_back(input.detach().requires_grad_(true));
    const auto y = operators::selective_scan(inputs[0], inputs[1], inputs[2], inputs[3], inputs[4]).y;
    torch::autograd::backward({y}, {t.dy});
  };
  const std::int64_t tokens = shape.batch * shape.length;
  std::vector<Subject> subjects(3);
  subjects[0].call = forward;
  subjects[1].call = [forward, backward] {
    forward();
    backward();
  };
  subjects[2].call = with_operators;
  for (Subject& subject : subjects) {
    subject.tokens = tokens;
    subject.threads = threads;
  }
  return subjects;
}

}  // namespace mambarium
