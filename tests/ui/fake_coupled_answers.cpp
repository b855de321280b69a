// What a Motif-Mamba answers: the flow of z, states replayed from it, and the circuit.
#include <cmath>
#include <set>

#include "core/motif/motif_loss.h"
#include "core/motif/soft_census.h"
#include "fake_noise.h"
#include "plots_fake_data.h"

namespace mambarium::fake {

FlowData flow(std::int64_t n, std::int64_t r, int length) {
  FlowData data{.step = 300,
                .tokens = {},
                .A = {{n}, {}},
                .P = {{n, r}, {}},
                .Q = {{r, n}, {}},
                .dt = {{length}, {}},
                .drive = {{length, n}, {}},
                .z = {{length, r}, {}}};
  const auto wave = [](double i) { return static_cast<float>(std::sin(1.7 * i + 0.3)); };
  for (int i = 0; i < n; ++i) data.A.data.push_back(static_cast<float>(-1 - 0.4 * i));
  // Evenly spaced places of one sine would be rows of two dimensions, and Q of rank 2.
  const auto place = [&](int i) { return r > 2 ? i + 0.21 * i * i : i; };
  for (int i = 0; i < n * r; ++i) {
    data.P.data.push_back(0.3f * wave(place(i)));
    data.Q.data.push_back(wave(place(i) + 50));
  }
  std::vector<double> h(static_cast<std::size_t>(n));
  for (int t = 0; t < length; ++t) {
    data.tokens.push_back(t / 7 % 2);
    data.dt.data.push_back(0.2f);
    std::vector<double> z(static_cast<std::size_t>(r));
    for (std::size_t a = 0; a < z.size(); ++a)
      for (std::size_t i = 0; i < h.size(); ++i) z[a] += static_cast<double>(data.Q.data[a * h.size() + i]) * h[i];
    for (std::size_t i = 0; i < h.size(); ++i) {
      const double drive = std::sin(2.1 * static_cast<double>(i) + 3 * data.tokens.back());
      data.drive.data.push_back(static_cast<float>(drive));
      double coupling = 0;
      for (std::size_t a = 0; a < z.size(); ++a) coupling += static_cast<double>(data.P.data[i * z.size() + a]) * z[a];
      h[i] = std::exp(0.2 * static_cast<double>(data.A.data[i])) * h[i] + 0.2 * coupling + 0.2 * drive;
    }
    for (std::size_t a = 0; a < z.size(); ++a) {
      double now = 0;
      for (std::size_t i = 0; i < h.size(); ++i) now += static_cast<double>(data.Q.data[a * h.size() + i]) * h[i];
      data.z.data.push_back(static_cast<float>(now));
    }
  }
  return data;
}

ReconstructionData reconstruction(int length, int states) {
  ReconstructionData data{.step = 300,
                          .layer = 0,
                          .channel = 4,
                          .tokens = {},
                          .state = {{length, states}, {}},
                          .replayed = {{length, states}, {}},
                          .error = {}};
  for (int t = 0; t < length; ++t) {
    data.tokens.push_back(t % 2);
    for (int n = 0; n < states; ++n) {
      data.state.data.push_back(static_cast<float>(std::sin(0.3 * t + n)));
      data.replayed.data.push_back(data.state.data.back());
    }
    data.error.push_back(t == 0 ? 0 : 1e-16 * t);
  }
  data.float_error = 2.1e-7;
  return data;
}

CircuitData circuitOf(std::int64_t states, const std::vector<float>& coupling) {
  CircuitData data{.step = 1240, .rank = 2, .coupling = {{states, states}, coupling}, .scale = 0.13, .theta = 5e-5};
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  data.soft.assign(triad_count, nan);
  data.hard.assign(triad_count, nan);
  data.loss = data.r_squared = data.entropy = nan;
  data.norm = 0.124;
  data.bound = 0.632;
  data.largest_dt = data.slowest_decay = 1;
  data.picard = {2.4e-5, 7e-8, 3e-10};
  const auto n = static_cast<std::size_t>(states);
  const std::vector<double> matrix(coupling.begin(), coupling.end());
  if (n < 3 || std::ranges::any_of(matrix, [](double entry) { return !std::isfinite(entry); })) return data;
  const std::vector<double> adjacency = soft_adjacency(matrix, n, {});
  const Census soft = shares(SoftCensus(adjacency, n).counts(), n, CensusShare::triples);
  const Census hard = shares(as_real(hard_census(hard_adjacency(matrix, n, {}), n)), n, CensusShare::triples);
  data.soft.assign(soft.begin(), soft.end());
  data.hard.assign(hard.begin(), hard.end());
  data.entropy = mean_edge_entropy(adjacency, n);
  return data;
}

CircuitData circuit(bool causal) {
  constexpr std::int64_t states = 16;
  const std::set<std::int64_t> receivers = {2, 6, 11, 14}, apart = {4, 9, 15};
  std::vector<float> coupling;
  Noise noise(31);
  for (std::int64_t i = 0; i < states; ++i)
    for (std::int64_t j = 0; j < states; ++j) {
      const std::int64_t from = causal ? j : i, to = causal ? i : j;
      const bool sends = !receivers.contains(from) && !apart.contains(from) && receivers.contains(to);
      const double size = sends ? 0.013 + 0.012 * noise.uniform() : 0.002 * noise.uniform();
      coupling.push_back(static_cast<float>((from * 5 + to) % 3 == 0 ? -size : size));
    }
  CircuitData data = circuitOf(states, coupling);
  MotifLossSettings settings;
  settings.rule.edges = causal ? EdgeConvention::causal : EdgeConvention::index;
  const MotifTarget target = motif_target("021U");
  const std::vector<double> matrix(coupling.begin(), coupling.end());
  const MotifLoss loss = motif_loss(matrix, states, target, settings);
  data.causal = causal;
  if (causal) {
    const Census soft =
        shares(SoftCensus(soft_adjacency(matrix, states, settings.rule), states).counts(), states, settings.share);
    const Census hard =
        shares(as_real(hard_census(hard_adjacency(matrix, states, settings.rule), states)), states, settings.share);
    data.soft.assign(soft.begin(), soft.end());
    data.hard.assign(hard.begin(), hard.end());
  }
  data.target.assign(target.fractions.begin(), target.fractions.end());
  data.loss = loss.value;
  data.r_squared = loss.r_squared.value();
  return data;
}

PanelData circuitRun(const CircuitData& answer) {
  PanelData data = inspected(answer);
  RunSeries& run = data.runs[0];
  run.title = std::string("Motif-2");
  run.config.set("model.kind", std::string("mamba1"));
  run.config.set("model.d_state", std::int64_t{16});
  run.config.set("model.coupling", std::string("euler"));
  run.config.set("model.motif", std::string("021U"));
  for (MetricsRow& row : run.rows) {
    const double missing = std::exp(-static_cast<double>(row.step) / 200);
    row.motif_r_squared = 1 - 1.4 * missing;
    row.motif_loss = 0.0577 * 1.4 * missing;
  }
  return data;
}

}  // namespace mambarium::fake
