#include "core/models/mamba2_kernels.h"

#include <algorithm>
#include <array>

#include "core/kernels/cross_entropy.h"
#include "core/kernels/mixer.h"
#include "core/kernels/mlp.h"
#include "core/models/kernel_functions.h"
#include "core/models/mamba2_operators.h"
#include "core/models/operators.h"
#include "core/models/threaded_linear.h"
#include "core/torch_precompiled.h"

namespace mambarium::fused {

namespace {

using at::Tensor;
using kernels::MixerShape;
using kernels::MlpShape;
using kernels::ReadOutShape;
using kernels::Rows;
using kernels::Strided;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The weights of a kernel as a list of tensors: `members` name its pointers in the order of the list; undefined tensors
// stand for parts that are off. Autograd only ever sees the defined ones.
template <template <class> class Tensors>
struct Members;

template <>
struct Members<kernels::MixerTensors> {
  template <class Real>
  static constexpr auto list() {
    using T = kernels::MixerTensors<Real>;
    return std::array{&T::norm,    &T::in_x,        &T::in_B,   &T::in_C,        &T::in_z,    &T::in_dt,
                      &T::conv_x,  &T::conv_x_bias, &T::conv_B, &T::conv_B_bias, &T::conv_C,  &T::conv_C_bias,
                      &T::dt_bias, &T::A_log,       &T::D,      &T::y_norm,      &T::out_proj};
  }
};
template <>
struct Members<kernels::MlpTensors> {
  template <class Real>
  static constexpr auto list() {
    using T = kernels::MlpTensors<Real>;
    return std::array{&T::norm, &T::fc1, &T::fc1_gate, &T::fc2};
  }
};
template <>
struct Members<kernels::ReadOutTensors> {
  template <class Real>
  static constexpr auto list() {
    using T = kernels::ReadOutTensors<Real>;
    return std::array{&T::norm, &T::lm_head};
  }
};

// What a function remembers besides tensors.
template <class Shape>
struct Plan : torch::CustomClassHolder {
  Shape shape;
  int threads = 1;
  bool flag = false;
  std::vector<std::size_t> slots;  // which members the tensors of the list are
};
template <class Shape>
using PlanPointer = c10::intrusive_ptr<Plan<Shape>>;

template <class Shape>
void keep(AutogradContext* context, const PlanPointer<Shape>& plan) {
  context->saved_data["plan"] = c10::IValue::make_capsule(plan);
}

template <class Shape>
PlanPointer<Shape> kept(AutogradContext* context) {
  return c10::static_intrusive_pointer_cast<Plan<Shape>>(context->saved_data["plan"].toCapsule());
}

template <class Shape>
PlanPointer<Shape> make_plan(const Shape& shape, int threads, const std::vector<Tensor>& weights,
                             variable_list& defined) {
  auto plan = c10::make_intrusive<Plan<Shape>>();
  plan->shape = shape;
  plan->threads = threads;
  for (std::size_t slot = 0; slot < weights.size(); ++slot) {
    if (weights[slot].defined()) {
      plan->slots.push_back(slot);
      defined.push_back(weights[slot]);
    }
  }
  return plan;
}

// Pointers into tensors, the first of which is u and not a weight.
template <template <class> class Tensors, class Real, class Shape>
Tensors<Real> pointers(const Plan<Shape>& plan, at::TensorList tensors) {
  constexpr auto members = Members<Tensors>::template list<Real>();
  Tensors<Real> result;
  for (std::size_t index = 0; index < plan.slots.size(); ++index) {
    result.*members[plan.slots[index]] = tensors[index + 1].template data_ptr<float>();
  }
  return result;
}

variable_list empty_like_all(at::TensorList tensors) {
  variable_list gradients;
  for (const Tensor& tensor : tensors) {
    gradients.push_back(torch::empty_like(tensor, at::MemoryFormat::Contiguous));
  }
  return gradients;
}

// What backward() returns: nothing for the plan, then the gradients.
variable_list after_plan(const variable_list& gradients) {
  variable_list result{Tensor()};
  result.insert(result.end(), gradients.begin(), gradients.end());
  return result;
}

template <class Real>
Rows<Real> rows(const Tensor& tensor) {
  return {tensor.data_ptr<float>(), tensor.size(1) * tensor.size(2), tensor.size(2)};
}

template <class Real>
Strided<Real> flat(const Tensor& tensor) {
  return {tensor.data_ptr<float>(), tensor.size(-1)};
}

struct MixerFunction : torch::autograd::Function<MixerFunction> {
  static Tensor forward(AutogradContext* context, const PlanPointer<MixerShape>& plan, at::TensorList tensors) {
    keep(context, plan);
    context->save_for_backward(tensors.vec());
    const auto weights = pointers<kernels::MixerTensors, const float>(*plan, tensors);
    auto out = torch::empty_like(tensors[0]);
    kernels::mixer(plan->shape, weights, rows<const float>(tensors[0]), rows<float>(out), plan->threads);
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto plan = kept<MixerShape>(context);
    const auto tensors = context->get_saved_variables();
    const auto gradients = empty_like_all(tensors);
    const auto dout = incoming[0].contiguous();
    kernels::mixer_backward(plan->shape, pointers<kernels::MixerTensors, const float>(*plan, tensors),
                            rows<const float>(tensors[0]), rows<const float>(dout), rows<float>(gradients[0]),
                            pointers<kernels::MixerTensors, float>(*plan, gradients), plan->threads);
    return after_plan(gradients);
  }
};

struct MixerInsideFunction : torch::autograd::Function<MixerInsideFunction> {
  static Tensor forward(AutogradContext* context, const PlanPointer<MixerShape>& plan, at::TensorList tensors) {
    keep(context, plan);
    context->save_for_backward(tensors.vec());
    const auto& projected = tensors[0];
    auto gated = torch::empty({projected.size(0), projected.size(1), plan->shape.inner()}, projected.options());
    kernels::mixer_inside(plan->shape, plan->flag, pointers<kernels::MixerTensors, const float>(*plan, tensors),
                          rows<const float>(projected), rows<float>(gated), plan->threads);
    return gated;
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto plan = kept<MixerShape>(context);
    const auto tensors = context->get_saved_variables();
    const auto gradients = empty_like_all(tensors);
    const auto dgated = incoming[0].contiguous();
    kernels::mixer_inside_backward(plan->shape, plan->flag,
                                   pointers<kernels::MixerTensors, const float>(*plan, tensors),
                                   rows<const float>(tensors[0]), rows<const float>(dgated), rows<float>(gradients[0]),
                                   pointers<kernels::MixerTensors, float>(*plan, gradients), plan->threads);
    return after_plan(gradients);
  }
};

struct MlpFunction : torch::autograd::Function<MlpFunction> {
  static Tensor forward(AutogradContext* context, const PlanPointer<MlpShape>& plan, at::TensorList tensors) {
    keep(context, plan);
    context->save_for_backward(tensors.vec());
    auto out = torch::empty_like(tensors[0]);
    kernels::mlp(plan->shape, pointers<kernels::MlpTensors, const float>(*plan, tensors), flat<const float>(tensors[0]),
                 flat<float>(out), plan->threads);
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto plan = kept<MlpShape>(context);
    const auto tensors = context->get_saved_variables();
    const auto gradients = empty_like_all(tensors);
    const auto dout = incoming[0].contiguous();
    kernels::mlp_backward(plan->shape, pointers<kernels::MlpTensors, const float>(*plan, tensors),
                          flat<const float>(tensors[0]), flat<const float>(dout), flat<float>(gradients[0]),
                          pointers<kernels::MlpTensors, float>(*plan, gradients), plan->threads);
    return after_plan(gradients);
  }
};

// The gradients are taken on the way forward, where the rows are in cache; backward only scales them.
struct LossFunction : torch::autograd::Function<LossFunction> {
  static Tensor forward(AutogradContext* context, const PlanPointer<ReadOutShape>& plan, const Tensor& targets,
                        at::TensorList tensors) {
    const auto weights = pointers<kernels::ReadOutTensors, const float>(*plan, tensors);
    const bool wanted = plan->flag;
    const auto gradients = wanted ? empty_like_all(tensors) : variable_list();
    const double loss = kernels::cross_entropy(
        plan->shape, weights, flat<const float>(tensors[0]), targets.data_ptr<std::int64_t>(),
        wanted ? flat<float>(gradients[0]) : Strided<float>{},
        wanted ? pointers<kernels::ReadOutTensors, float>(*plan, gradients) : kernels::ReadOutTensors<float>{},
        plan->threads);
    context->save_for_backward(gradients);
    return torch::full({}, loss, tensors[0].options());
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    auto gradients = context->get_saved_variables();
    for (Tensor& gradient : gradients) {
      gradient = gradient * incoming[0];
    }
    variable_list result{Tensor(), Tensor()};
    result.insert(result.end(), gradients.begin(), gradients.end());
    return result;
  }
};

std::vector<float*> pointers_to(at::TensorList tensors) {
  std::vector<float*> pointers;
  for (const Tensor& tensor : tensors) pointers.push_back(tensor.data_ptr<float>());
  return pointers;
}

// The gradients are taken on the way forward; backward only scales them.
struct WholeLossFunction : torch::autograd::Function<WholeLossFunction> {
  static Tensor forward(AutogradContext* context, const WholeModelPlan* plan, const Tensor& tokens,
                        const Tensor& targets, kernels::WholeModelWorkspace* workspace, int threads, bool wanted,
                        at::TensorList weights) {
    const auto gradients = wanted ? empty_like_all(weights) : variable_list();
    kernels::WholeModelTensors<float> into;
    if (wanted) into = plan->tensors<float>(pointers_to(gradients));
    const double loss = kernels::whole_model_loss(plan->shape, plan->tensors<const float>(pointers_to(weights)),
                                                  tokens.data_ptr<std::int64_t>(), targets.data_ptr<std::int64_t>(),
                                                  wanted ? &into : nullptr, *workspace, threads);
    context->save_for_backward(gradients);
    return torch::full({}, loss, weights[0].options());
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    auto gradients = context->get_saved_variables();
    if (incoming[0].item<float>() != 1) {
      for (Tensor& gradient : gradients) gradient = gradient * incoming[0];
    }
    variable_list result(6);
    result.insert(result.end(), gradients.begin(), gradients.end());
    return result;
  }
};

Activation mlp_activation(const Mamba2Options& options) {
  const bool plain = options.mlp == Mlp::plain;
  return plain && options.activation == Activation::none ? Activation::relu : options.activation;
}

MixerShape mixer_shape(const Mamba2Options& options, std::int64_t batch, std::int64_t length) {
  const bool convolved = options.conv_x || options.conv_B || options.conv_C;
  return {.batch = batch,
          .length = length,
          .d_model = options.d_model,
          .heads = options.heads(),
          .headdim = options.head_width(),
          .d_state = options.d_state,
          .d_conv = convolved ? options.d_conv : 1,
          .activation = options.activation};
}

MixerShape mixer_shape(const Mamba2Options& options, const Tensor& u) {
  return mixer_shape(options, u.size(0), u.size(1));
}

// The kernels know filters per channel only: one of all channels is repeated, and autograd adds its gradients up.
Tensor for_every_channel(const Mamba2Options& options, const Tensor& of_filters, std::int64_t channels) {
  if (!of_filters.defined() || options.filters == Filters::per_channel) return of_filters;
  auto sizes = of_filters.sizes().vec();
  sizes[0] = channels;
  return of_filters.expand(sizes).contiguous();
}

std::vector<Tensor> mixer_weights(const Mamba2Options& options, const Mamba2Layer& layer) {
  const auto per_channel = [&](const Tensor& of_filters, std::int64_t channels) {
    return for_every_channel(options, of_filters, channels);
  };
  const std::int64_t inner = options.d_inner(), d_state = options.d_state;
  return {layer.norm,
          layer.in_x,
          layer.in_B,
          layer.in_C,
          layer.in_z,
          layer.in_dt,
          per_channel(layer.conv_x, inner),
          per_channel(layer.conv_x_bias, inner),
          per_channel(layer.conv_B, d_state),
          per_channel(layer.conv_B_bias, d_state),
          per_channel(layer.conv_C, d_state),
          per_channel(layer.conv_C_bias, d_state),
          layer.dt_bias,
          layer.A_log,
          layer.D,
          layer.y_norm,
          layer.out_proj};
}

bool is_narrow(const Mamba2Options& options) {
  return options.d_model <= widest_fused;
}

operators::Linear linear_of(const Mamba2Options& options) {
  return [threads = options.threads](const Tensor& input, const Tensor& weight) {
    return threaded_linear(input, weight, threads);
  };
}

Tensor narrow_mlp(const Mamba2Options& options, const Mamba2Layer& layer, const Tensor& mixed) {
  const MlpShape shape{.rows = mixed.size(0) * mixed.size(1),
                       .d_model = options.d_model,
                       .hidden = layer.fc1.size(0),
                       .activation = mlp_activation(options)};
  variable_list tensors{mixed};
  const auto plan = make_plan(shape, options.threads, {layer.mlp_norm, layer.fc1, layer.fc1_gate, layer.fc2}, tensors);
  return MlpFunction::apply(plan, at::TensorList(tensors));
}

Tensor with_mlp(const Mamba2Options& options, const Mamba2Layer& layer, const Tensor& mixed) {
  if (options.mlp == Mlp::none) return mixed;
  if (is_narrow(options)) return narrow_mlp(options, layer, mixed);
  const auto normed = options.norm ? operators::layer_norm(mixed, layer.mlp_norm) : mixed;
  return mixed + operators::mlp(options, layer, normed, linear_of(options));
}

Tensor narrow_block(const Mamba2Options& options, const Mamba2Layer& layer, const Tensor& u) {
  variable_list tensors{u.contiguous()};
  const auto plan = make_plan(mixer_shape(options, u), options.threads, mixer_weights(options, layer), tensors);
  return with_mlp(options, layer, MixerFunction::apply(plan, at::TensorList(tensors)));
}

Tensor wide_block(const Mamba2Options& options, const Mamba2Layer& layer, const Tensor& u) {
  const auto linear = linear_of(options);
  std::vector<Tensor> projections{layer.in_x, layer.in_B, layer.in_C};
  if (options.gate) {
    projections.push_back(layer.in_z);
  }
  projections.push_back(layer.in_dt);
  const auto normed = options.norm ? operators::layer_norm(u, layer.norm) : u;
  auto weights = mixer_weights(options, layer);
  for (const std::size_t outside : {0, 1, 2, 3, 4, 5, 16}) {
    weights[outside] = Tensor();
  }
  variable_list tensors{linear(normed, torch::cat(projections, 0))};
  const auto plan = make_plan(mixer_shape(options, u), options.threads, weights, tensors);
  plan->flag = options.gate;
  const auto gated = MixerInsideFunction::apply(plan, at::TensorList(tensors));
  return with_mlp(options, layer, u + linear(gated, layer.out_proj));
}

kernels::WholeModelShape whole_shape(const Mamba2Options& options, std::int64_t batch, std::int64_t length) {
  return {.mixer = mixer_shape(options, batch, length),
          .mlp_activation = mlp_activation(options),
          .hidden = options.mlp == Mlp::none ? 0 : 4 * options.d_model,
          .states = options.states,
          .l1 = options.readout == Readout::l1};
}

// By slots (WholeModelPlan); undefined where a part is off.
std::vector<Tensor> whole_weights(const Mamba2Options& options, const ModelWeights& weights) {
  std::vector<Tensor> all;
  for (const Mamba2Layer& layer : weights.layers) {
    const auto of_mixer = mixer_weights(options, layer);
    all.insert(all.end(), of_mixer.begin(), of_mixer.end());
    all.insert(all.end(), {layer.mlp_norm, layer.fc1, layer.fc1_gate, layer.fc2});
  }
  all.insert(all.end(), {weights.embedding, weights.final_norm, weights.lm_head});
  return all;
}

}  // namespace

bool suits_whole_loss(const Mamba2Options& options, const Tensor& tokens) {
  if (options.coupling.rank > 0) return false;
  return kernels::suits_whole_model(whole_shape(options, tokens.size(0), tokens.size(1)));
}

WholeModelPlan whole_model_plan(const Mamba2Options& options, const ModelWeights& weights,
                                const std::vector<Parameter>& parameters, std::int64_t batch, std::int64_t length) {
  if (options.filters != Filters::per_channel) {
    throw std::invalid_argument("it takes model.conv_filters per_channel only");
  }
  if (options.coupling.rank > 0) {
    throw std::invalid_argument("it takes model.coupling none only");
  }
  WholeModelPlan plan{whole_shape(options, batch, length), weights.layers.size(), {}};
  const auto all = whole_weights(options, weights);
  for (const Parameter& parameter : parameters) {
    const auto slot = std::ranges::find_if(all, [&](const Tensor& of) { return of.is_same(parameter.tensor); });
    plan.slots.push_back(static_cast<std::size_t>(slot - all.begin()));
  }
  return plan;
}

Tensor whole_loss(const Mamba2Options& options, const ModelWeights& weights, const Tensor& tokens,
                  const Tensor& targets, kernels::WholeModelWorkspace& workspace) {
  WholeModelPlan plan{whole_shape(options, tokens.size(0), tokens.size(1)), weights.layers.size(), {}};
  const auto all = whole_weights(options, weights);
  variable_list defined;
  for (std::size_t slot = 0; slot < all.size(); ++slot) {
    if (!all[slot].defined()) continue;
    plan.slots.push_back(slot);
    defined.push_back(all[slot]);
  }
  const bool wanted = torch::GradMode::is_enabled() && weights.lm_head.requires_grad();
  return WholeLossFunction::apply(&plan, tokens.contiguous(), targets.contiguous(), &workspace, options.threads, wanted,
                                  at::TensorList(defined));
}

Tensor block(const Mamba2Options& options, const Mamba2Layer& layer, const Tensor& u) {
  if (layer.coupling.defined()) return coupled_block(options, layer, u);
  return is_narrow(options) ? narrow_block(options, layer, u) : wide_block(options, layer, u);
}

Tensor coupled_block(const Mamba2Options& options, const Mamba2Layer& layer, const Tensor& u,
                     operators::ScanInputs* taken) {
  const operators::MixerFunctions functions{
      .linear = linear_of(options),
      .convolution =
          [&](const Tensor& rows, const Tensor& weight, const Tensor& bias) {
            const std::int64_t channels = rows.size(-1);
            return causal_convolution(rows, for_every_channel(options, weight, channels),
                                      for_every_channel(options, bias, channels), options.activation, options.threads);
          },
      .coupled_scan =
          [&](const Tensor& x, const Tensor& dt, const Tensor& B, const Tensor& C, const Tensor& A, const Tensor& P,
              const Tensor& Q) {
            return coupled_scan(x, dt, B, C, A, P, Q, options.coupling.form(), {}, options.threads);
          }};
  const auto normed = options.norm ? operators::layer_norm(u, layer.norm) : u;
  return with_mlp(options, layer, u + operators::mixer(options, layer, normed, nullptr, taken, functions));
}

Tensor loss(const Mamba2Options& options, const Tensor& u, const Tensor& final_norm, const Tensor& lm_head,
            const Tensor& targets) {
  const ReadOutShape shape{.rows = u.size(0) * u.size(1),
                           .d_model = options.d_model,
                           .states = options.states,
                           .l1 = options.readout == Readout::l1};
  variable_list tensors{u.contiguous()};
  const auto plan = make_plan(shape, options.threads, {final_norm, lm_head}, tensors);
  plan->flag = torch::GradMode::is_enabled() && (u.requires_grad() || lm_head.requires_grad());
  return LossFunction::apply(plan, targets.contiguous(), at::TensorList(tensors));
}

}  // namespace mambarium::fused

namespace mambarium {

template <class Real>
kernels::WholeModelTensors<Real> WholeModelPlan::tensors(std::span<float* const> numbers) const {
  constexpr auto of_mixer = fused::Members<kernels::MixerTensors>::list<Real>();
  constexpr auto of_mlp = fused::Members<kernels::MlpTensors>::list<Real>();
  constexpr std::size_t of_block = of_mixer.size() + of_mlp.size();
  std::vector<Real*> all(blocks * of_block + 3);
  for (std::size_t index = 0; index < slots.size(); ++index) all[slots[index]] = numbers[index];
  kernels::WholeModelTensors<Real> result;
  result.embedding = all[blocks * of_block];
  result.read_out = {all[blocks * of_block + 1], all[blocks * of_block + 2]};
  result.blocks.resize(blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    Real* const* next = all.data() + block * of_block;
    for (const auto member : of_mixer) result.blocks[block].mixer.*member = *next++;
    for (const auto member : of_mlp) result.blocks[block].mlp.*member = *next++;
  }
  return result;
}

template kernels::WholeModelTensors<float> WholeModelPlan::tensors(std::span<float* const>) const;
template kernels::WholeModelTensors<const float> WholeModelPlan::tensors(std::span<float* const>) const;

}  // namespace mambarium
