#include "core/models/threaded_linear.h"

#include <algorithm>

#include "core/kernels/parallel.h"
#include "core/torch_precompiled.h"

namespace mambarium::fused {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LinearFunction : torch::autograd::Function<LinearFunction> {
  static constexpr std::int64_t rows_at_once = 1024, outputs_at_once = 64;

  // out(part) = what `product` of that part of 0 .. count - 1 gives.
  template <class Product>
  static void in_parts(std::int64_t count, std::int64_t at_once, int threads, const Product& product) {
    kernels::parallel_ranges((count + at_once - 1) / at_once, threads, [&](std::int64_t begin, std::int64_t end) {
      const at::AutoDispatchBelowADInplaceOrView no_autograd;
      for (std::int64_t part = begin; part < end; ++part) {
        product(part * at_once, std::min(at_once, count - part * at_once));
      }
    });
  }

  static Tensor forward(AutogradContext* context, const Tensor& u, const Tensor& weight, std::int64_t threads) {
    context->save_for_backward({u, weight});
    context->saved_data["threads"] = threads;
    const auto rows = u.reshape({-1, u.size(-1)}), columns = weight.t();
    auto out = torch::empty({rows.size(0), weight.size(0)}, u.options());
    in_parts(rows.size(0), rows_at_once, static_cast<int>(threads), [&](std::int64_t first, std::int64_t count) {
      auto part = out.narrow(0, first, count);
      at::mm_out(part, rows.narrow(0, first, count), columns);
    });
    auto sizes = u.sizes().vec();
    sizes.back() = weight.size(0);
    return out.view(sizes);
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto tensors = context->get_saved_variables();
    const auto& u = tensors[0];
    const auto& weight = tensors[1];
    const int threads = static_cast<int>(context->saved_data["threads"].toInt());
    const auto rows = u.reshape({-1, u.size(-1)}), dout = incoming[0].reshape({-1, weight.size(0)});
    auto du = torch::empty_like(rows), dweight = torch::empty_like(weight);
    in_parts(rows.size(0), rows_at_once, threads, [&](std::int64_t first, std::int64_t count) {
      auto part = du.narrow(0, first, count);
      at::mm_out(part, dout.narrow(0, first, count), weight);
    });
    in_parts(weight.size(0), outputs_at_once, threads, [&](std::int64_t first, std::int64_t count) {
      auto part = dweight.narrow(0, first, count);
      at::mm_out(part, dout.narrow(1, first, count).t(), rows);
    });
    return {du.view(u.sizes()), dweight, Tensor()};
  }
};

}  // namespace

Tensor threaded_linear(const Tensor& u, const Tensor& weight, int threads) {
  return LinearFunction::apply(u, weight, threads);
}

}  // namespace mambarium::fused
