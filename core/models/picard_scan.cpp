#include "core/models/picard_scan.h"

#include "core/kernels/coupled_scan.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

template <class Real>
operators::ScanResult scanned(const kernels::CoupledScanShape& shape, const std::vector<at::Tensor>& in,
                              std::int64_t passes) {
  const auto numbers = [&](std::size_t index) -> const Real* {
    return in[index].defined() ? in[index].data_ptr<Real>() : nullptr;
  };
  const auto rows = [&](std::size_t index) {
    const std::int64_t width = in[index].size(2);
    return kernels::Rows<const Real>{numbers(index), shape.length * width, width};
  };
  const auto y = torch::empty_like(in[0]);
  const auto state = torch::empty({shape.batch, shape.channels, shape.d_state}, y.options());
  const kernels::CoupledScanInputs<Real> inputs{rows(0),    rows(1),    rows(2),    rows(3),
                                                numbers(4), numbers(5), numbers(6), numbers(7)};
  kernels::coupled_scan_picard<Real>(shape, inputs, static_cast<int>(passes - 1),
                                     {y.data_ptr<Real>(), shape.length * shape.channels, shape.channels},
                                     state.data_ptr<Real>());
  return {y, state};
}

}  // namespace

operators::ScanResult picard_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                                  const at::Tensor& A, const at::Tensor& P, const at::Tensor& Q, CouplingForm form,
                                  std::int64_t passes, const at::Tensor& h0) {
  const torch::NoGradGuard no_gradients;
  const kernels::CoupledScanShape shape{.batch = x.size(0),
                                        .length = x.size(1),
                                        .channels = x.size(2),
                                        .d_state = P.size(-2),
                                        .rank = P.size(-1),
                                        .per_channel = P.dim() == 3,
                                        .form = form};
  std::vector<at::Tensor> in;
  for (const at::Tensor& tensor : {x, dt, B, C, A, P, Q, h0}) {
    in.push_back(tensor.defined() ? tensor.detach().contiguous() : tensor);
  }
  return x.scalar_type() == torch::kFloat64 ? scanned<double>(shape, in, passes) : scanned<float>(shape, in, passes);
}

}  // namespace mambarium
