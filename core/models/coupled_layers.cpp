#include "core/models/coupled_layers.h"

#include <limits>
#include <stdexcept>

#include "core/models/kernel_functions.h"
#include "core/models/model_tensors.h"
#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium {

std::int64_t CoupledLayers::coupled_layers() const {
  return static_cast<std::int64_t>(layer_couplings().size());
}

bool CoupledLayers::shared_by_channels() const {
  return !coupling_settings().per_channel;
}

CoupledModel::Parts CoupledLayers::coupling(std::int64_t layer, std::int64_t channel) const {
  check_place(layer, coupled_layers(), "layer");
  check_place(channel, channels(), "channel");
  const Coupling own = layer_couplings()[static_cast<std::size_t>(layer)].channel(channel);
  return {own.k, own.p, own.q};
}

bool CoupledLayers::has_motif() const {
  return coupling_settings().target.has_value();
}

at::Tensor CoupledLayers::matrices() const {
  std::vector<at::Tensor> all;
  for (const LayerCoupling& layer : layer_couplings()) all.push_back(layer.matrix());
  return torch::cat(all, 0);
}

at::Tensor CoupledLayers::penalty() {
  const CouplingOptions& settings = coupling_settings();
  if (!settings.target || settings.weight == 0) return {};
  return settings.weight * motif_loss(matrices(), *settings.target, settings.motif);
}

MotifStanding CoupledLayers::motif_standing() const {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const CouplingOptions& settings = coupling_settings();
  if (!settings.target) return {nan, nan};
  const torch::NoGradGuard no_gradients;
  return mambarium::motif_standing(matrices(), *settings.target, settings.motif);
}

std::vector<double> CoupledLayers::highest_norms_of(std::int64_t layer) const {
  const torch::NoGradGuard no_gradients;
  const CouplingOptions& settings = coupling_settings();
  return highest_norms(settings, settings.cap == 0 ? torch::ones({channels()}) : slowest_decays(layer));
}

void CoupledLayers::hold_couplings() {
  if (coupling_settings().cap == 0) return;
  std::int64_t index = 0;
  for (LayerCoupling& layer : layer_couplings()) hold_norms(layer, highest_norms_of(index++));
}

void CoupledLayers::evaluate_by(std::shared_ptr<PicardEvaluation> picard) {
  if (picard) throw std::invalid_argument("Picard passes are there for models of the kind mamba1 alone");
}

std::optional<WarmUpRecord> CoupledLayers::warm_up() {
  std::optional<WarmUpRecord> mean;
  std::int64_t index = 0;
  std::vector<LayerCoupling> layers = layer_couplings();
  const auto count = static_cast<double>(layers.size());
  for (LayerCoupling& layer : layers) {
    const auto record = mambarium::warm_up(layer, coupling_settings(), highest_norms_of(index++));
    if (!record) return std::nullopt;
    if (!mean) mean.emplace();
    mean->steps += record->steps / count;
    mean->reached += record->reached / count;
  }
  return mean;
}

ChannelTrace channel_trace(const CouplingOptions& options, const LayerCoupling& coupling, std::int64_t channel,
                           const ScannedChannel& scanned, Engine engine) {
  const torch::NoGradGuard no_gradients;
  const std::int64_t d_state = scanned.B.size(-1);
  const Coupling own = coupling.channel(channel);
  ChannelTrace trace{.etd = options.etd, .d_state = d_state, .rank = options.rank, .P = own.p, .Q = own.q};
  for (double& number : trace.P) number *= own.k;
  trace.A = doubles_of(scanned.A);
  trace.dt = doubles_of(scanned.dt);
  trace.drive = doubles_of(scanned.x[0].to(torch::kFloat64) * scanned.B[0]);

  const auto all_P = coupling.scaled_P();
  const auto P = all_P.dim() == 2 ? all_P : all_P[channel];
  const auto Q = coupling.Q.dim() == 2 ? coupling.Q : coupling.Q[channel];
  const auto x = scanned.x.contiguous(), dt = scanned.dt.contiguous();
  const auto A = scanned.A.to(x.scalar_type()).unsqueeze(0);
  // C = a unit vector reads one state out as y: n scans of one channel instead of a scan that keeps its states.
  std::vector<at::Tensor> states;
  for (std::int64_t state = 0; state < d_state; ++state) {
    auto C = torch::zeros_like(scanned.B);
    C.select(-1, state).fill_(1);
    const auto scan = engine == Engine::fused ? fused::coupled_scan(x, dt, scanned.B, C, A, P, Q, options.form())
                                              : operators::coupled_scan(x, dt, scanned.B, C, A, P, Q, options.form());
    states.push_back(scan.y[0].select(-1, 0));
  }
  trace.state = doubles_of(torch::stack(states, -1));
  return trace;
}

}  // namespace mambarium
