#include "core/models/layer_coupling.h"

#include <limits>

#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

void write(const std::vector<double>& numbers, const at::Tensor& to) {
  to.copy_(torch::tensor(numbers, torch::kFloat64).view(to.sizes()));
}

// The loss of each of the matrices [count, n, n].
std::vector<MotifLoss> losses_of(const at::Tensor& matrices, const MotifTarget& target,
                                 const MotifLossSettings& settings) {
  std::vector<MotifLoss> losses;
  const auto n = static_cast<std::size_t>(matrices.size(1));
  for (std::int64_t index = 0; index < matrices.size(0); ++index)
    losses.push_back(motif_loss(doubles_of(matrices[index]), n, target, settings));
  return losses;
}

struct Aim : torch::CustomClassHolder {
  MotifTarget target;
  MotifLossSettings settings;
};

struct MotifLossFunction : torch::autograd::Function<MotifLossFunction> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& matrices,
                            const c10::intrusive_ptr<Aim>& aim) {
    double sum = 0;
    std::vector<at::Tensor> gradients;
    const auto count = static_cast<double>(matrices.size(0));
    for (const MotifLoss& loss : losses_of(matrices, aim->target, aim->settings)) {
      sum += loss.value;
      gradients.push_back(torch::tensor(loss.gradient, torch::kFloat64) / count);
    }
    context->save_for_backward({torch::stack(gradients).view(matrices.sizes()).to(matrices.scalar_type())});
    return torch::full({}, sum / count, matrices.options());
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list incoming) {
    return {context->get_saved_variables()[0] * incoming[0], at::Tensor()};
  }
};

}  // namespace

std::vector<double> doubles_of(const at::Tensor& tensor) {
  const auto numbers = tensor.detach().to(torch::kFloat64).contiguous();
  const double* data = numbers.data_ptr<double>();
  return {data, data + numbers.numel()};
}

CouplingOptions coupling_options(const ExperimentConfig& config) {
  CouplingOptions options;
  if (!has_coupling(config)) return options;
  options.rank = config.integer("model.rank");
  options.etd = config.text("model.coupling") == "etd";
  options.per_channel = config.text("model.coupling_of") == "channel";
  options.scale = config.real("model.coupling_scale");
  if (config.applies("model.coupling_cap")) options.cap = config.real("model.coupling_cap");
  options.motif.rule = {
      .beta = config.real("model.motif_beta"),
      .theta = config.real("model.motif_theta"),
      .edges = config.text("model.motif_edges") == "causal" ? EdgeConvention::causal : EdgeConvention::index};
  options.motif.kind = config.text("model.motif_loss") == "r2" ? MotifLossKind::r_squared : MotifLossKind::sse;
  options.motif.share =
      config.text("model.motif_shares") == "connected" ? CensusShare::connected : CensusShare::triples;
  options.weight = config.real("model.motif_weight");
  options.warm_up_steps = config.integer("model.motif_warmup");
  const std::string& motif = config.text("model.motif");
  if (motif != "none")
    options.target = motif_target(motif == "profile" ? config.text("model.motif_profile") : motif,
                                  config.real("model.motif_fraction"));
  return options;
}

at::Tensor LayerCoupling::scaled_P() const {
  return k.dim() == 0 ? k * P : k.view({-1, 1, 1}) * P;
}

at::Tensor LayerCoupling::matrix() const {
  const auto M = torch::matmul(scaled_P(), Q);
  return M.dim() == 2 ? M.unsqueeze(0) : M;
}

Coupling LayerCoupling::channel(std::int64_t index) const {
  const auto of_channel = [&](const at::Tensor& all, std::int64_t dimensions) {
    return all.dim() == dimensions ? all : all[index];
  };
  return {.n = static_cast<std::size_t>(P.size(-2)),
          .rank = static_cast<std::size_t>(P.size(-1)),
          .p = doubles_of(of_channel(P, 2)),
          .q = doubles_of(of_channel(Q, 2)),
          .k = of_channel(k, 0).item<double>()};
}

std::vector<std::pair<std::string, at::Tensor>> LayerCoupling::named(const std::string& prefix) const {
  if (!defined()) return {};
  return {{prefix + "coupling.P", P}, {prefix + "coupling.Q", Q}, {prefix + "coupling.k", k}};
}

LayerCoupling initial_coupling(const CouplingOptions& options, const Initialiser& draw, const std::string& prefix,
                               std::int64_t channels, std::int64_t d_state) {
  using Shape = Initialiser::Shape;
  const std::int64_t rank = options.rank;
  if (rank == 0) return {};
  constexpr double deviation = 0.01;
  const bool own = options.per_channel;
  return {
      .P = draw.normal(prefix + "coupling.P", own ? Shape{channels, d_state, rank} : Shape{d_state, rank}, deviation),
      .Q = draw.normal(prefix + "coupling.Q", own ? Shape{channels, rank, d_state} : Shape{rank, d_state}, deviation),
      .k = draw.constant(own ? Shape{channels} : Shape{}, options.scale)};
}

at::Tensor motif_loss(const at::Tensor& matrices, const MotifTarget& target, const MotifLossSettings& settings) {
  auto aim = c10::make_intrusive<Aim>();
  aim->target = target;
  aim->settings = settings;
  return MotifLossFunction::apply(matrices, aim);
}

MotifStanding motif_standing(const at::Tensor& matrices, const MotifTarget& target, const MotifLossSettings& settings) {
  MotifStanding standing;
  const auto count = static_cast<double>(matrices.size(0));
  for (const MotifLoss& loss : losses_of(matrices, target, settings)) {
    standing.loss += loss.value / count;
    standing.r_squared += loss.r_squared.value_or(std::numeric_limits<double>::quiet_NaN()) / count;
  }
  return standing;
}

std::optional<WarmUpRecord> warm_up(LayerCoupling& coupling, const CouplingOptions& options,
                                    const std::vector<double>& highest_norms) {
  if (!options.target || options.warm_up_steps == 0) return std::nullopt;
  WarmUpRecord record;
  const torch::NoGradGuard no_gradients;
  const std::int64_t count = coupling.P.dim() == 2 ? 1 : coupling.P.size(0);
  for (std::int64_t index = 0; index < count; ++index) {
    const WarmUpSettings settings{.highest_norm = highest_norms.at(static_cast<std::size_t>(index)),
                                  .max_steps = options.warm_up_steps};
    const WarmUpResult result = run_warm_up(coupling.channel(index), *options.target, options.motif, settings);
    const auto of_channel = [&](const at::Tensor& all, std::int64_t dimensions) {
      return all.dim() == dimensions ? all : all[index];
    };
    write(result.coupling.p, of_channel(coupling.P, 2));
    write(result.coupling.q, of_channel(coupling.Q, 2));
    write({result.coupling.k}, of_channel(coupling.k, 0));
    record.steps += static_cast<double>(result.steps) / static_cast<double>(count);
    record.reached += (result.reached ? 1.0 : 0.0) / static_cast<double>(count);
  }
  return record;
}

std::vector<double> highest_norms(const CouplingOptions& options, const at::Tensor& slowest) {
  std::vector<double> norms = doubles_of(options.per_channel ? slowest : slowest.min());
  for (double& norm : norms) norm = options.cap == 0 ? std::numeric_limits<double>::infinity() : options.cap * norm;
  return norms;
}

void hold_norms(LayerCoupling& coupling, const std::vector<double>& highest_norms) {
  const torch::NoGradGuard no_gradients;
  for (std::size_t index = 0; index < highest_norms.size(); ++index) {
    const auto place = static_cast<std::int64_t>(index);
    Coupling own = coupling.channel(place);
    const double before = own.k;
    hold_norm(own, highest_norms[index]);
    if (own.k != before) write({own.k}, coupling.k.dim() == 0 ? coupling.k : coupling.k[place]);
  }
}

}  // namespace mambarium
