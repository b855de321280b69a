#include "plots_fake_data.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/motif/motif_loss.h"
#include "core/motif/soft_census.h"

namespace mambarium::fake {
namespace {

// Numerical Recipes' 32-bit congruential generator: the same noise on every machine.
class Noise {
 public:
  explicit Noise(std::uint32_t seed) : state_(seed) {}
  double uniform() {
    state_ = state_ * 1664525u + 1013904223u;
    return (state_ >> 8) / 16777216.0;
  }
  double centered() { return uniform() + uniform() + uniform() - 1.5; }

 private:
  std::uint32_t state_;
};

constexpr double add_beta_loss = 0.5039, oracle_loss = 0.4789;

}  // namespace

RunSeries run(const std::string& title, int style, double plateau, std::int64_t last_step, std::int64_t every) {
  RunSeries series;
  series.title = title;
  series.folder = "runs/2026-11-30-" + std::to_string(style);
  series.palette_index = style;
  series.marker_index = style;
  series.config.set("training.steps", std::int64_t{2000});
  Noise noise(static_cast<std::uint32_t>(style) + 7);
  const auto gap = [plateau](double step) {
    return plateau + 0.19 * std::exp(-step / 60) + 0.008 * std::exp(-step / 300);
  };
  for (std::int64_t step = 0; step <= last_step; ++step) {
    const double now = gap(static_cast<double>(step));
    const double train = add_beta_loss + now + 0.015 * noise.centered();
    if (step > 0) series.train_losses.emplace_back(step, train);
    if (step % every != 0) continue;
    MetricsRow row;
    row.step = step;
    row.tokens = step * 64 * 128;
    row.seconds = static_cast<double>(step) * 0.02;
    row.train_loss = step == 0 ? std::numeric_limits<double>::quiet_NaN() : train;
    row.test_loss = add_beta_loss + now * (1 + 0.05 * noise.centered());
    row.add_beta_loss = add_beta_loss;
    row.oracle_loss = oracle_loss;
    row.gap_add_beta = row.test_loss - row.add_beta_loss;
    row.gap_oracle = row.test_loss - row.oracle_loss;
    row.learning_rate = 2e-3;
    series.rows.push_back(row);
  }
  return series;
}

PanelData oneRun() {
  PanelData data;
  data.runs = {run("mamba2, order 1", 0, 0.0007)};
  return data;
}

PanelData threeRuns() {
  PanelData data;
  data.runs = {run("full", 0, 0.0007), run("no convolution", 1, 0.0527), run("window 2, order 2", 2, 0.0202, 800)};
  return data;
}

PanelData seedsAndAnother() {
  PanelData data;
  for (int seed = 0; seed < 3; ++seed) {
    data.runs.push_back(
        run("full · seed " + std::to_string(seed), seed, 0.0007 + 0.0004 * seed, seed == 2 ? 800 : 1240));
    data.runs.back().config.set("training.seed", std::int64_t{seed});
    data.runs.back().config.set("run.threads", std::int64_t{seed + 1});
  }
  data.runs.push_back(run("no convolution", 3, 0.05));
  data.runs.back().config.set("model.conv", std::string("none"));
  return data;
}

PredictionData prediction(std::int64_t length, std::int64_t states) {
  PredictionData data;
  data.step = 1240;
  Noise noise(3);
  const auto count = static_cast<std::size_t>(states);
  std::vector<std::vector<double>> kernel(count, std::vector<double>(count)), counts = kernel;
  for (auto& row : kernel) {
    double sum = 0;
    for (double& p : row) sum += p = -std::log(noise.uniform() + 1e-9);
    for (double& p : row) p /= sum;
  }
  for (Tensor* tensor : {&data.model, &data.add_beta, &data.oracle}) tensor->shape = {length, states};
  std::size_t token = 0;
  for (std::int64_t t = 0; t < length; ++t) {
    data.tokens.push_back(static_cast<std::int32_t>(token));
    double total = static_cast<double>(states), model_total = 0;
    for (const double c : counts[token]) total += c;
    std::vector<double> model(count);
    for (std::size_t s = 0; s < count; ++s) {
      const double estimate = (counts[token][s] + 1) / total;
      model[s] = std::max(1e-3, estimate + 0.03 * noise.centered());
      model_total += model[s];
      data.add_beta.data.push_back(static_cast<float>(estimate));
      data.oracle.data.push_back(static_cast<float>(kernel[token][s]));
    }
    for (const double p : model) data.model.data.push_back(static_cast<float>(p / model_total));
    double u = noise.uniform();
    std::size_t next = 0;
    while (next + 1 < count && u > kernel[token][next]) u -= kernel[token][next++];
    counts[token][next] += 1;
    token = next;
  }
  data.last_target = static_cast<std::int32_t>(token);
  return data;
}

DecayData decay(std::int64_t length, std::int64_t layers, std::int64_t heads) {
  DecayData data;
  data.step = 1240;
  data.tokens = prediction(length, 2).tokens;
  data.decay.shape = {layers, heads, length};
  Noise noise(11);
  for (std::int64_t line = 0; line < layers * heads; ++line)
    for (std::int64_t t = 0; t < length; ++t) {
      const double base = data.tokens[static_cast<std::size_t>(t)] == 0 ? 0.0022 : 0.0041;
      const double forgotten = base * std::pow(4.0, static_cast<double>(line)) * std::exp(0.4 * noise.centered());
      data.decay.data.push_back(static_cast<float>(1 - std::min(forgotten, 0.95)));
    }
  return data;
}

FilterData filters(std::int64_t layers, std::int64_t window) {
  FilterData data;
  data.step = 1240;
  Noise noise(5);
  const auto fill = [&](std::vector<std::int64_t> shape) {
    Tensor tensor{std::move(shape), {}};
    std::int64_t size = 1;
    for (const std::int64_t extent : tensor.shape) size *= extent;
    for (std::int64_t i = 0; i < size; ++i) tensor.data.push_back(static_cast<float>(0.9 * noise.centered()));
    return tensor;
  };
  for (std::int64_t layer = 0; layer < layers; ++layer)
    data.layers.push_back({{"x", fill({16, window}), fill({16})},
                           {"B", fill({8, window}), fill({8})},
                           {"C", fill({8, window}), fill({8})}});
  return data;
}

StateData state(std::int64_t length, std::int64_t states, std::int64_t order) {
  StateData data;
  data.step = 1240;
  data.order = order;
  data.states = states;
  data.tokens = prediction(length, states).tokens;
  std::int64_t contexts = 1;
  for (std::int64_t k = 0; k < order; ++k) contexts *= states;
  data.state.shape = {length, states, contexts};
  data.counts.shape = data.read_out.shape = {length, contexts, states};
  data.r_squared = 0.987;
  data.r_squared_tokens = 0.612;
  Noise noise(17);
  std::vector<float> counts(static_cast<std::size_t>(contexts * states));
  for (std::int64_t t = 0; t < length; ++t) {
    if (t >= order) {
      std::int64_t context = 0;
      for (std::int64_t k = order; k > 0; --k)
        context = context * states + data.tokens[static_cast<std::size_t>(t - k)];
      ++counts[static_cast<std::size_t>(context * states + data.tokens[static_cast<std::size_t>(t)])];
    }
    for (const float count : counts) {
      data.counts.data.push_back(count);
      data.read_out.data.push_back(count + static_cast<float>(0.6 * noise.centered()));
    }
    for (std::int64_t channel = 0; channel < states; ++channel)
      for (std::int64_t context = 0; context < contexts; ++context)
        data.state.data.push_back((channel % 2 ? -0.1F : 0.1F) *
                                  counts[static_cast<std::size_t>(context * states + channel)]);
  }
  return data;
}

InnerProductData innerProducts(std::int64_t states, std::int64_t window) {
  InnerProductData data;
  data.step = 1240;
  data.window = window;
  data.windows = {""};
  for (std::int64_t place = 0; place < window; ++place) {
    std::vector<std::string> longer;
    for (const std::string& head : data.windows)
      for (std::int64_t token = 0; token < states; ++token) longer.push_back(head + std::to_string(token));
    data.windows = std::move(longer);
  }
  const auto count = static_cast<std::int64_t>(data.windows.size());
  data.products.shape = {count, count};
  Noise noise(23);
  for (const std::string& stored : data.windows)
    for (const std::string& asking : data.windows) {
      const bool same = window >= 2 && stored[stored.size() - 2] == asking.back();
      data.products.data.push_back(static_cast<float>((same ? 0.83 : 0) + 0.05 * noise.centered()));
    }
  return data;
}

QuantisationData quantisation() {
  QuantisationData data;
  data.step = 1240;
  data.state_numbers = 160;
  Noise noise(29);
  for (std::int64_t bits = 2; bits <= 16; ++bits) {
    data.bits.push_back(bits);
    data.gap.push_back(bits == 13 ? -0.0001 : 0.0007 + 0.4 * std::pow(0.3, static_cast<double>(bits - 2)));
    data.standard_error.push_back(0.0002 + 0.00005 * noise.uniform());
  }
  data.bits.push_back(32);
  data.gap.push_back(0.0007);
  data.standard_error.push_back(0.0002);
  return data;
}

TheoremData theorem(double epsilon, double beta) {
  TheoremData data;
  data.epsilon = epsilon;
  data.beta = beta;
  data.every_short = {256, 8, 0.0004 * epsilon, 0.0011 * epsilon};
  data.random_long = {64, 128, 0.0001 * epsilon, 0.0009 * epsilon};
  data.embedding = {{2, 2}, {8.95F, 10.05F, 10.05F, 8.95F}};
  data.conv_x = {{2}, {-0.0995F, 1}};
  data.conv_B = {{2}, {10.05F, 1}};
  return data;
}

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

template <typename Answer>
PanelData coupledRun(const Answer& answer) {
  PanelData data = inspected(answer);
  data.runs[0].config.set_from_string("model.kind", "mamba1");
  data.runs[0].config.set_from_string("model.coupling", "euler");
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

ExtrapolationData extrapolation(double reach) {
  ExtrapolationData data{.step = 1240, .trained_length = 256, .chance = 1.0 / 63, .points = {}};
  constexpr double z = 1.959964;
  for (std::int64_t length = 64; length <= 4096; length *= 2) {
    const std::int64_t sequences = std::max<std::int64_t>(8192 / length, 8);
    const double share =
        data.chance + (0.995 - data.chance) / (1 + std::pow(static_cast<double>(length) / reach / 4, 2));
    const auto count = static_cast<double>(sequences);
    const std::int64_t right = std::llround(share * count);
    const double p = static_cast<double>(right) / count, scale = 1 / (1 + z * z / count);
    const double middle = scale * (p + z * z / (2 * count));
    const double half = scale * z * std::sqrt(p * (1 - p) / count + z * z / (4 * count * count));
    data.points.push_back({length, sequences, right, std::max(middle - half, 0.0), std::min(middle + half, 1.0)});
  }
  return data;
}

PanelData inductionRuns(int count) {
  PanelData data;
  constexpr const char* titles[] = {"Mamba", "Transformer", "Motif-2"};
  for (int i = 0; i < count; ++i) {
    const int which = count == 1 ? 2 : i;
    data.runs.push_back(run(titles[which], i, 0.01));
    data.runs.back().config.set("task.kind", std::string("induction"));
    data.runs.back().config.set("task.states", std::int64_t{64});
    data.runs.back().config.set("task.length", std::int64_t{256});
    const nlohmann::json answer = extrapolation(which == 0 ? 300 : which == 1 ? 90 : 700);
    if (i + 1 == count)
      data.inspected = answer;
    else
      data.others[data.runs.back().folder] = answer;
  }
  data.current = data.runs.size() - 1;
  return data;
}

namespace {

constexpr std::int64_t trials = 12, windows_of_a_trial = 11, bins_of_a_trial = 48, window_bins = 30;

std::vector<std::int64_t> decodedBins() {
  std::vector<std::int64_t> bins;
  for (std::int64_t trial = 0; trial < trials; ++trial)
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window)
      bins.push_back(46000 + trial * bins_of_a_trial + window_bins - 1 + window);
  return bins;
}

std::int64_t directionOf(std::int64_t trial) {
  return (3 * trial + 1) % 8;
}

// The directions beside the true one share what is not right, the next one most of it.
DecodingData::Quality decodedAs(double right, int late) {
  constexpr std::int64_t classes = 8, windows = 300;
  DecodingData::Quality quality;
  quality.confusion = {{classes, classes}, std::vector<float>(classes * classes)};
  std::int64_t hits = 0;
  for (std::int64_t truth = 0; truth < classes; ++truth) {
    const auto cell = [&](std::int64_t answer) -> float& {
      return quality.confusion.data[static_cast<std::size_t>(truth * classes + (answer + classes) % classes)];
    };
    const std::int64_t own = std::llround((right - 0.02 * static_cast<double>(truth)) * windows);
    const std::int64_t next = (windows - own) * 2 / 3, before = (windows - own - next) * 3 / 4;
    cell(truth) = static_cast<float>(own);
    cell(truth + 1) = static_cast<float>(next);
    cell(truth - 1) = static_cast<float>(before);
    cell(truth + 4) = static_cast<float>(windows - own - next - before);
    hits += own;
  }
  quality.accuracy = static_cast<double>(hits) / (classes * windows);
  quality.macro_f1 = quality.accuracy - 0.002;
  quality.loss = 3 * (1 - quality.accuracy);
  quality.trace.shape = {trials * windows_of_a_trial, 1};
  for (std::int64_t trial = 0; trial < trials; ++trial)
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window) {
      const bool too_early = trial % 3 == 0 && window < late;
      quality.trace.data.push_back(static_cast<float>((directionOf(trial) + (too_early ? 1 : 0)) % classes));
    }
  return quality;
}

}  // namespace

DecodingData decodedDirections(double skill) {
  DecodingData data{.step = 1240, .windows = 2400, .uniform_loss = std::log(8.0), .bin_seconds = 0.05};
  data.bins = decodedBins();
  data.truth.shape = {trials * windows_of_a_trial, 1};
  for (std::int64_t trial = 0; trial < trials; ++trial)
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window)
      data.truth.data.push_back(static_cast<float>(directionOf(trial)));
  data.model = decodedAs(0.3 + 0.7 * skill, 6);
  data.ideal = decodedAs(0.995, 2);
  return data;
}

DecodingData decodedOutputs(double skill) {
  DecodingData data{.step = 1240, .outputs = true, .windows = 2400, .uniform_loss = 1, .bin_seconds = 0.05};
  data.output_names = {"curs_p_x", "curs_p_y", "curs_v_x", "curs_v_y"};
  data.bins = decodedBins();
  Noise noise(37);
  for (Tensor* tensor : {&data.truth, &data.model.trace, &data.ideal.trace})
    tensor->shape = {trials * windows_of_a_trial, 4};
  constexpr double pi = 3.14159265358979323846;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    const double angle = static_cast<double>(directionOf(trial)) * pi / 4;
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window) {
      const double tau = std::clamp((static_cast<double>(window) + static_cast<double>(trial % 5) - 2) / 10, 0.0, 1.0);
      const double place = 8 * (10 - 15 * tau + 6 * tau * tau) * tau * tau * tau;
      const double speed = 8 * 30 * tau * tau * (1 - tau) * (1 - tau) / 0.5;
      const double truth[] = {place * std::cos(angle), place * std::sin(angle), speed * std::cos(angle),
                              speed * std::sin(angle)};
      for (int output = 0; output < 4; ++output) {
        const double unit = output < 2 ? 8 : 30;
        data.truth.data.push_back(static_cast<float>(truth[output]));
        data.model.trace.data.push_back(
            static_cast<float>((0.4 + 0.5 * skill) * truth[output] + 0.2 * (1.2 - skill) * unit * noise.centered()));
        data.ideal.trace.data.push_back(static_cast<float>(0.96 * truth[output] + 0.02 * unit * noise.centered()));
      }
    }
  }
  for (int output = 0; output < 4; ++output) {
    data.model.r_squared.push_back(skill - 0.07 * output);
    data.ideal.r_squared.push_back(0.93 - 0.02 * output);
  }
  data.model.r_squared_of_all = skill - 0.11;
  data.ideal.r_squared_of_all = 0.9;
  data.model.loss = 1.11 - skill;
  data.ideal.loss = 0.1;
  return data;
}

PanelData decodingRuns(int count, bool outputs) {
  PanelData data;
  constexpr const char* titles[] = {"LSTM", "Mamba", "Motif-2"};
  for (int i = 0; i < count; ++i) {
    const int which = count == 1 ? 1 : i;
    data.runs.push_back(run(titles[which], i, 0.01));
    data.runs.back().config.set("task.kind", std::string("decoding"));
    data.runs.back().config.set("task.answer", std::string(outputs ? "outputs" : "direction"));
    const double skill = 0.7 + 0.09 * which;
    const nlohmann::json answer = outputs ? decodedOutputs(skill) : decodedDirections(skill);
    if (i + 1 == count)
      data.inspected = answer;
    else
      data.others[data.runs.back().folder] = answer;
  }
  data.current = data.runs.size() - 1;
  return data;
}

PanelData panelData(const QString& id, bool rich) {
  if (id == u"circuit") return circuitRun(circuit(rich));
  if (id == u"flow") return coupledRun(flow(6, rich ? 3 : 2, 60));
  if (id == u"reconstruction") return coupledRun(reconstruction(60, rich ? 16 : 6));
  if (id == u"extrapolation") return inductionRuns(rich ? 3 : 1);
  if (id == u"decoding") return decodingRuns(rich ? 3 : 1, false);
  if (id == u"prediction") return inspected(prediction(128, rich ? 4 : 2));
  if (id == u"decay") return inspected(decay(128, rich ? 2 : 1, rich ? 2 : 1));
  if (id == u"filters") {
    PanelData data = inspected(filters(rich ? 2 : 1, rich ? 4 : 2));
    for (std::int64_t step = 0; step < 1240; step += 155) {
      FilterData earlier = data.inspected->get<FilterData>();
      earlier.step = step;
      for (FilterData::Layer& layer : earlier.layers)
        for (FilterData::Filter& filter : layer)
          for (float& tap : filter.taps.data) tap *= static_cast<float>(1 - std::exp(-static_cast<double>(step) / 300));
      data.earlier.push_back(nlohmann::json(earlier));
    }
    return data;
  }
  if (id == u"state") return inspected(state(128, rich ? 3 : 2, rich ? 2 : 1));
  if (id == u"inner-products") return inspected(innerProducts(2, rich ? 4 : 2));
  return threeRuns();
}

}  // namespace mambarium::fake
