#include "core/analysis/channel_flow.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <stdexcept>

#include "core/analysis/probe_sequence.h"
#include "core/decoding/decoding_task.h"
#include "core/flow/reconstruction.h"
#include "core/kernels/coupled_scan.h"
#include "core/models/layer_coupling.h"
#include "core/models/model_tensors.h"
#include "core/models/parameter.h"
#include "core/motif/adjacency.h"
#include "core/motif/census.h"
#include "core/motif/coupling.h"
#include "core/motif/soft_census.h"
#include "core/torch_precompiled.h"
#include "core/training/sequence_tensors.h"

namespace mambarium {

namespace {

CoupledModel& coupled(SequenceModel& model) {
  CoupledModel* const own = model.coupled();
  if (own == nullptr) throw std::invalid_argument("the states of this model are not coupled");
  return *own;
}

Tensor tensor_of(std::vector<std::int64_t> shape, const std::vector<double>& numbers) {
  Tensor tensor{std::move(shape), {}};
  for (const double number : numbers) tensor.data.push_back(static_cast<float>(number));
  return tensor;
}

struct Traced {
  std::vector<std::int32_t> tokens;
  ChannelTrace trace;
  std::optional<ProbeWindow> window = {};
  std::int64_t length() const { return static_cast<std::int64_t>(tokens.size()); }
};

Traced traced_window(SequenceModel& model, const DecodingTask& recording, const InspectRequest& request) {
  const std::int64_t place = probe_window(recording, request.probe);
  SequenceBatch batch;
  recording.test(place, 1, batch);
  const auto windows = sequence_tensors(batch, 0, 1).inputs.to(model.parameters().front().tensor.scalar_type());
  std::vector<std::int32_t> bins(static_cast<std::size_t>(batch.length));
  std::iota(bins.begin(), bins.end(), 0);
  const auto number = static_cast<std::size_t>(recording.split().test[static_cast<std::size_t>(place)]);
  const DecodingWindows& all = recording.windows();
  return {std::move(bins), coupled(model).trace(model.embedded(windows), request.layer, request.head),
          ProbeWindow{all.day[number], all.first_bin[number], all.label[number], recording.bin_seconds()}};
}

Traced traced(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
              const DecodingTask* recording) {
  const torch::NoGradGuard no_gradients;
  CoupledModel& own = coupled(model);
  if (is_decoder(config))
    return recording != nullptr ? traced_window(model, *recording, request)
                                : traced_window(model, DecodingTask(config), request);
  const ProbeSequence sequence = probe_sequence(config, request.probe);
  const auto inputs = sequence.inputs();
  return {{inputs.begin(), inputs.end()}, own.trace(model.embedded(row_of(inputs)), request.layer, request.head)};
}

LatentSystem system_of(const ChannelTrace& trace) {
  return {.n = trace.d_state, .r = trace.rank, .A = trace.A, .P = trace.P, .Q = trace.Q};
}

// z = Q h of each of the states [T, n].
std::vector<double> latent_of(const ChannelTrace& trace, std::span<const double> states) {
  const LatentSystem system = system_of(trace);
  const auto n = static_cast<std::size_t>(trace.d_state);
  std::vector<double> all;
  for (std::size_t first = 0; first + n <= states.size(); first += n) {
    const std::vector<double> z = read_state(system, states.subspan(first, n));
    all.insert(all.end(), z.begin(), z.end());
  }
  return all;
}

// What z was before each token: all of it, one token later and without the last.
std::vector<double> before_each(const std::vector<double>& z, std::int64_t rank) {
  std::vector<double> shifted(z.size());
  std::copy(z.begin(), z.end() - rank, shifted.begin() + rank);
  return shifted;
}

// One channel as a scan of one channel, in double: B carries dt-free drive, x is 1.
struct ScanOfOneChannel {
  explicit ScanOfOneChannel(const ChannelTrace& traced)
      : trace(traced),
        shape{.batch = 1,
              .length = static_cast<std::int64_t>(trace.dt.size()),
              .channels = 1,
              .d_state = trace.d_state,
              .rank = trace.rank,
              .form = trace.etd ? kernels::CouplingForm::etd : kernels::CouplingForm::euler},
        ones(trace.dt.size(), 1.0),
        read(trace.drive.size(), 1.0) {}

  template <class Real>
  static kernels::Rows<const Real> rows(const std::vector<Real>& numbers, std::int64_t width) {
    return {numbers.data(), static_cast<std::int64_t>(numbers.size()), width};
  }
  kernels::CoupledScanInputs<double> inputs() const {
    return {
        rows(ones, 1),  rows(trace.dt, 1), rows(trace.drive, trace.d_state), rows(read, trace.d_state), trace.A.data(),
        trace.P.data(), trace.Q.data()};
  }

  // h_t after every token [T, n], in double.
  std::vector<double> states() const {
    const auto n = static_cast<std::size_t>(trace.d_state);
    std::vector<double> all, h(n, 0.0), next(n), y(1);
    kernels::CoupledScanShape one = shape;
    one.length = 1;
    for (std::size_t t = 0; t < trace.dt.size(); ++t) {
      kernels::CoupledScanInputs<double> in = inputs();
      in.dt = {trace.dt.data() + t, 1, 1};
      in.B = {trace.drive.data() + t * n, trace.d_state, trace.d_state};
      in.h0 = h.data();
      kernels::coupled_scan_reference<double>(one, in, {y.data(), 1, 1}, next.data());
      h = next;
      all.insert(all.end(), h.begin(), h.end());
    }
    return all;
  }

  // Relative errors of h_T after 1, 2 and 3 corrections.
  std::vector<double> picard_errors() const {
    const auto n = static_cast<std::size_t>(trace.d_state);
    std::vector<double> y(trace.dt.size()), exact(n), found(n), errors;
    const kernels::Rows<double> out{y.data(), shape.length, 1};
    kernels::coupled_scan_reference<double>(shape, inputs(), out, exact.data());
    double size = 0;
    for (const double number : exact) size = std::max(size, std::abs(number));
    for (const int corrections : {1, 2, 3}) {
      kernels::coupled_scan_picard<double>(shape, inputs(), corrections, out, found.data());
      double off = 0;
      for (std::size_t i = 0; i < n; ++i) off = std::max(off, std::abs(found[i] - exact[i]));
      errors.push_back(size > 0 ? off / size : 0.0);
    }
    return errors;
  }

  const ChannelTrace& trace;
  kernels::CoupledScanShape shape;
  std::vector<double> ones, read;
};

}  // namespace

CircuitData inspect_circuit(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                            std::int64_t step, const DecodingTask* recording) {
  const Traced sequence = traced(model, config, request, recording);
  const ChannelTrace& trace = sequence.trace;
  const CouplingOptions options = coupling_options(config);
  const CoupledModel::Parts parts = coupled(model).coupling(request.layer, request.head);
  const auto n = static_cast<std::size_t>(trace.d_state);
  const Coupling coupling{n, static_cast<std::size_t>(trace.rank), parts.P, parts.Q, parts.scale};
  const std::vector<double> M = coupling_matrix(coupling);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();

  CircuitData data{.step = step, .layer = request.layer, .channel = request.head, .rank = trace.rank};
  data.shared = coupled(model).shared_by_channels();
  data.coupling = tensor_of({trace.d_state, trace.d_state}, M);
  data.scale = parts.scale;
  data.theta = options.motif.rule.theta;
  data.causal = options.motif.rule.edges == EdgeConvention::causal;
  data.loss = data.r_squared = data.entropy = nan;
  constexpr std::size_t fewest_nodes = 3;
  if (n >= fewest_nodes) {
    const std::vector<double> adjacency = soft_adjacency(M, n, options.motif.rule);
    const Census soft = shares(SoftCensus(adjacency, n).counts(), n, options.motif.share);
    const Census hard =
        shares(as_real(hard_census(hard_adjacency(M, n, options.motif.rule), n)), n, options.motif.share);
    data.soft.assign(soft.begin(), soft.end());
    data.hard.assign(hard.begin(), hard.end());
    data.entropy = mean_edge_entropy(adjacency, n);
    if (options.target) {
      data.target.assign(options.target->fractions.begin(), options.target->fractions.end());
      const MotifLoss loss = motif_loss(M, n, *options.target, options.motif);
      data.loss = loss.value;
      data.r_squared = loss.r_squared.value_or(nan);
    }
  } else {
    data.soft.assign(triad_count, nan);
    data.hard.assign(triad_count, nan);
  }

  data.largest_dt = *std::ranges::max_element(trace.dt);
  std::vector<double> decays(n);
  std::ranges::transform(trace.A, decays.begin(), [](double a) { return -a; });
  data.slowest_decay = *std::ranges::min_element(decays);
  data.norm = spectral_norm(coupling);
  data.bound = nan;
  if (data.slowest_decay > 0 && data.largest_dt > 0) {
    const CouplingStability stability = coupling_stability(coupling, decays, data.largest_dt);
    data.bound = trace.etd ? data.norm + stability.etd_margin : stability.euler_limit;
  }
  data.picard = ScanOfOneChannel(trace).picard_errors();
  return data;
}

FlowData inspect_flow(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                      std::int64_t step, const DecodingTask* recording) {
  Traced sequence = traced(model, config, request, recording);
  const ChannelTrace& trace = sequence.trace;
  const std::int64_t n = trace.d_state, r = trace.rank, length = sequence.length();
  return {.step = step,
          .layer = request.layer,
          .channel = request.head,
          .etd = trace.etd,
          .tokens = sequence.tokens,
          .A = tensor_of({n}, trace.A),
          .P = tensor_of({n, r}, trace.P),
          .Q = tensor_of({r, n}, trace.Q),
          .dt = tensor_of({length}, trace.dt),
          .drive = tensor_of({length, n}, trace.drive),
          .z = tensor_of({length, r}, latent_of(trace, trace.state)),
          .window = sequence.window};
}

ReconstructionData inspect_reconstruction(SequenceModel& model, const ExperimentConfig& config,
                                          const InspectRequest& request, std::int64_t step,
                                          const DecodingTask* recording) {
  Traced sequence = traced(model, config, request, recording);
  const ChannelTrace& trace = sequence.trace;
  const LatentSystem system = system_of(trace);
  const ReplayInputs inputs{.form = trace.etd ? UpdateForm::etd : UpdateForm::euler,
                            .h0 = std::vector<double>(static_cast<std::size_t>(trace.d_state), 0.0),
                            .dt = trace.dt,
                            .b = trace.drive};
  const std::vector<double> exact = ScanOfOneChannel(trace).states();
  const std::vector<double> z = before_each(latent_of(trace, exact), trace.rank);
  const std::vector<double> own_z = before_each(latent_of(trace, trace.state), trace.rank);
  const std::int64_t n = trace.d_state, length = sequence.length();
  return {.step = step,
          .layer = request.layer,
          .channel = request.head,
          .tokens = sequence.tokens,
          .state = tensor_of({length, n}, exact),
          .replayed = tensor_of({length, n}, replay_states(system, inputs, z)),
          .error = replay_error(system, inputs, z, exact).per_token,
          .float_error = replay_error(system, inputs, own_z, trace.state).largest,
          .window = sequence.window};
}

}  // namespace mambarium
