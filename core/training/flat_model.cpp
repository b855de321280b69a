#include "core/training/flat_model.h"

#include <torch/torch.h>

#include <span>

#include "core/models/parameter.h"

namespace mambarium {

namespace {

using Arrays = std::vector<float*>;  // one for each parameter

Arrays weights_of(SequenceModel& model) {
  Arrays arrays;
  for (const Parameter& parameter : model.parameters()) arrays.push_back(parameter.tensor.data_ptr<float>());
  return arrays;
}

Arrays gradients_of(SequenceModel& model) {
  Arrays arrays;
  for (Parameter& parameter : model.parameters()) {
    at::Tensor& gradient = parameter.tensor.mutable_grad();
    if (!gradient.defined()) gradient = torch::empty_like(parameter.tensor.detach());
    arrays.push_back(gradient.data_ptr<float>());
  }
  return arrays;
}

Arrays moments_of(SequenceModel& model, AdamW& optimiser, std::span<float> (AdamW::*moment)(std::size_t)) {
  Arrays arrays;
  for (std::size_t i = 0; i < model.parameters().size(); ++i) arrays.push_back((optimiser.*moment)(i).data());
  return arrays;
}

}  // namespace

FlatModel::FlatModel(SequenceModel& model, AdamW& optimiser, std::int64_t batch, std::int64_t length)
    : model_(model), optimiser_(optimiser), plan_(model.whole_model_plan(batch, length)) {
  const auto tensors = plan_.tensors<const float>(weights_of(model));
  layout_ = kernels::WholeModelLayout(plan_.shape, tensors);
  roles_ = kernels::parameter_roles(plan_.shape, layout_, tensors);
}

FlatNumbers FlatModel::pack() {
  const auto packed = [&](const Arrays& arrays) {
    std::vector<float> flat(static_cast<std::size_t>(layout_.count));
    kernels::pack(plan_.shape, layout_, plan_.tensors<const float>(arrays), flat.data());
    return flat;
  };
  return {packed(weights_of(model_)),
          packed(moments_of(model_, optimiser_, &AdamW::first_moment)),
          packed(moments_of(model_, optimiser_, &AdamW::second_moment)),
          {}};
}

void FlatModel::unpack(const FlatNumbers& numbers) {
  const auto into = [&](const std::vector<float>& flat, const Arrays& arrays) {
    kernels::unpack(plan_.shape, layout_, flat.data(), plan_.tensors<float>(arrays));
  };
  into(numbers.weights, weights_of(model_));
  into(numbers.first_moment, moments_of(model_, optimiser_, &AdamW::first_moment));
  into(numbers.second_moment, moments_of(model_, optimiser_, &AdamW::second_moment));
  if (!numbers.gradient.empty()) into(numbers.gradient, gradients_of(model_));
}

}  // namespace mambarium
