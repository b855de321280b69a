// What panels of a Motif-Mamba and of an induction head are told: the wiring, z and the replayed state of a channel,
// and right answers by length.
#include <torch/torch.h>

#include <QTest>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "core/analysis/analysis.h"
#include "core/analysis/channel_flow.h"
#include "core/analysis/extrapolation.h"
#include "core/analysis/probe_sequence.h"
#include "core/decoding/decoding_task.h"
#include "core/estimators/estimators.h"
#include "core/models/parameter.h"
#include "core/motif/triads.h"

using namespace mambarium;

namespace {

ExperimentConfig coupled_config(const char* coupling = "euler") {
  ExperimentConfig config;
  for (const auto& [key, value] : {std::pair{"model.kind", "mamba1"},
                                   {"model.d_state", "6"},
                                   {"model.layers", "2"},
                                   {"model.coupling", coupling},
                                   {"model.coupling_scale", "0.5"},
                                   {"model.motif", "021U"},
                                   {"task.length", "48"}})
    if (config.set_from_string(key, value)) throw std::logic_error(key);
  return config;
}

ExperimentConfig coupled_decoder(const char* coupling = "euler") {
  ExperimentConfig config = coupled_config(coupling);
  for (const auto& [key, value] : {std::pair{"task.kind", "decoding"},
                                   {"task.trials", "40"},
                                   {"task.channels", "8"},
                                   {"task.window", "12"},
                                   {"model.d_conv", "4"}})
    if (config.set_from_string(key, value)) throw std::logic_error(key);
  return config;
}

std::unique_ptr<SequenceModel> coupled_model(const ExperimentConfig& config, Engine engine = Engine::fused,
                                             Precision precision = Precision::float32) {
  auto model = make_model(config, engine, precision);
  const torch::NoGradGuard no_gradients;
  for (Parameter& parameter : model->parameters())
    if (parameter.name.find("coupling") != std::string::npos && parameter.tensor.dim() > 0)
      parameter.tensor.mul_(30);  // large enough to matter
  return model;
}

// z of one channel of a decoder's first layer after every bin of a window, from the weights alone: float64, bin by bin.
std::vector<std::vector<double>> replayed_z(SequenceModel& model, std::span<const float> window,
                                            std::int64_t window_channels, std::int64_t channel, bool etd) {
  std::map<std::string, at::Tensor> weights;
  for (const Parameter& parameter : model.parameters())
    weights[parameter.name] = parameter.tensor.detach().to(torch::kFloat64);
  const auto of_layer = [&](const std::string& name) { return weights.at("layers.0." + name); };
  const auto affine = [&](const at::Tensor& x, const std::string& name) {
    return torch::mv(weights.at(name + ".weight"), x) + weights.at(name + ".bias");
  };
  const auto silu = [](const at::Tensor& x) { return x / (1 + torch::exp(-x)); };
  const auto taps = of_layer("conv.x.weight");
  const auto A = -torch::exp(of_layer("A_log"))[channel];
  const auto P = of_layer("coupling.P") * of_layer("coupling.k"), Q = of_layer("coupling.Q");
  const std::int64_t bins = std::ssize(window) / window_channels, width = taps.size(1);
  std::vector<at::Tensor> raw;
  auto h = torch::zeros({A.size(0)}, torch::kFloat64);
  std::vector<std::vector<double>> all;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    std::vector<double> counts;
    for (std::int64_t c = 0; c < window_channels; ++c)
      counts.push_back(static_cast<double>(window[static_cast<std::size_t>(bin * window_channels + c)]));
    const auto wide = affine(torch::tensor(counts, torch::kFloat64), "encoder.0");
    const auto u = affine(0.5 * wide * (1 + torch::erf(wide / std::sqrt(2.0))), "encoder.1");
    const auto centred = u - u.mean();
    const auto normed = centred / torch::sqrt(centred.square().mean() + 1e-5);
    raw.push_back(torch::mv(of_layer("in_proj.x.weight"), normed * of_layer("norm.weight") + of_layer("norm.bias")));
    auto filtered = of_layer("conv.x.bias").clone();
    for (std::int64_t k = 0; k < std::min(width, bin + 1); ++k)
      filtered += taps.select(1, width - 1 - k) * raw[static_cast<std::size_t>(bin - k)];
    const auto x = silu(filtered);
    const auto low = torch::mv(of_layer("x_proj.dt.weight"), x), B = torch::mv(of_layer("x_proj.B.weight"), x);
    const auto dt = torch::log1p(torch::exp(torch::mv(of_layer("dt_proj.weight"), low) + of_layer("dt_bias")))[channel];
    const auto weight = etd ? (torch::exp(dt * A) - 1) / A : dt.expand({A.size(0)});
    h = torch::exp(dt * A) * h + weight * torch::mv(P, torch::mv(Q, h)) + dt * x[channel] * B;
    const auto z = torch::mv(Q, h).contiguous();
    all.emplace_back(z.data_ptr<double>(), z.data_ptr<double>() + z.numel());
  }
  return all;
}

ExperimentConfig induction_config() {
  ExperimentConfig config;
  for (const auto& [key, value] :
       {std::pair{"task.kind", "induction"}, {"task.states", "64"}, {"task.length", "64"}, {"model.kind", "lstm"}})
    if (config.set_from_string(key, value)) throw std::logic_error(key);
  return config;
}

// The perfect induction head, or one that always answers 1: a model of nothing but an estimator for each sequence.
class Answering final : public SequenceModel {
 public:
  explicit Answering(bool perfect) : perfect_(perfect) {}
  std::vector<Parameter>& parameters() override { return none_; }
  at::Tensor log_probabilities(const at::Tensor& tokens) override {
    return read(tokens, *initial_state(tokens.size(0)));
  }
  at::Tensor loss(const at::Tensor&, const at::Tensor&) override { throw std::logic_error("not asked for"); }
  std::unique_ptr<ModelState> initial_state(std::int64_t batch) override {
    auto state = std::make_unique<State>();
    for (std::int64_t i = 0; i < batch; ++i) state->estimators.push_back(make_recall(64));
    return state;
  }
  at::Tensor step(const at::Tensor& tokens, ModelState& state) override {
    longest_piece = std::max(longest_piece, ++piece_);
    auto& own = dynamic_cast<State&>(state);
    auto rows = torch::zeros({tokens.size(0), 64}, torch::kFloat64);
    std::vector<double> p(64);
    for (std::int64_t i = 0; i < tokens.size(0); ++i) {
      Estimator& estimator = *own.estimators[static_cast<std::size_t>(i)];
      estimator.observe(static_cast<std::int32_t>(tokens[i].item<std::int64_t>()));
      estimator.predict(p);
      if (!perfect_) p.assign(64, 0.0), p[1] = 1;
      rows[i].copy_(torch::tensor(p).log());
    }
    return rows;
  }
  at::Tensor read(const at::Tensor& tokens, ModelState& state) override {
    piece_ = 0;
    return SequenceModel::read(tokens, state);
  }
  std::vector<FilterData::Layer> filters() override { return {}; }

  std::int64_t longest_piece = 0;

 private:
  struct State final : ModelState {
    std::vector<std::unique_ptr<Estimator>> estimators;
    std::unique_ptr<ModelState> clone() const override { throw std::logic_error("not asked for"); }
  };
  bool perfect_;
  std::int64_t piece_ = 0;
  std::vector<Parameter> none_;
};

}  // namespace

class CoupledInspectionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theCensusIsOfTheMatrixShown() {
    const ExperimentConfig config = coupled_config();
    const auto model = coupled_model(config);
    const CircuitData data = inspect_circuit(*model, config, {.what = "circuit", .layer = 1, .head = 3}, 7);
    QCOMPARE(data.step, 7);
    QCOMPARE(data.coupling.shape, (std::vector<std::int64_t>{6, 6}));
    QVERIFY(std::abs(std::accumulate(data.soft.begin(), data.soft.end(), 0.0) - 1) < 1e-12);
    QVERIFY(std::abs(std::accumulate(data.hard.begin(), data.hard.end(), 0.0) - 1) < 1e-12);
    // Edges counted from the matrix itself: of 20 triples each, the empty ones are those without an edge among them.
    const auto edge = [&](std::size_t i, std::size_t j) {
      const auto entry = static_cast<double>(data.coupling.data[6 * i + j]);
      return entry * entry > data.theta;
    };
    int empty = 0;
    for (std::size_t a = 0; a < 6; ++a)
      for (std::size_t b = a + 1; b < 6; ++b)
        for (std::size_t c = b + 1; c < 6; ++c)
          empty += edge(a, b) || edge(b, a) || edge(a, c) || edge(c, a) || edge(b, c) || edge(c, b) ? 0 : 1;
    QVERIFY(std::abs(data.hard[find_triad("003")] - empty / 20.0) < 1e-12);
    QCOMPARE(data.target[1], 0.25);
    QVERIFY(data.norm > 0 && data.bound > 0 && data.largest_dt > 0);
  }

  void picardErrorsFall() {
    const ExperimentConfig config = coupled_config("etd");
    const CircuitData data = inspect_circuit(*coupled_model(config), config, {.what = "circuit"}, 0);
    QCOMPARE(data.picard.size(), 3u);
    QVERIFY(data.picard[0] > data.picard[1] && data.picard[1] > data.picard[2] && data.picard[2] > 0);
  }

  void theStateIsReplayedFromZAlone() {
    for (const char* const coupling : {"euler", "etd"}) {
      const ExperimentConfig config = coupled_config(coupling);
      const auto model = coupled_model(config);
      const ReconstructionData data =
          inspect_reconstruction(*model, config, {.what = "reconstruction", .probe = 2, .layer = 1, .head = 5}, 0);
      QVERIFY(*std::ranges::max_element(data.error) < 1e-12);
      QVERIFY(data.float_error > 0 && data.float_error < 1e-5);
      float largest = 0;
      for (const float number : data.state.data) largest = std::max(largest, std::abs(number));
      QVERIFY(largest > 1e-4f);
    }
  }

  void zIsQTimesTheState() {
    const ExperimentConfig config = coupled_config();
    const auto model = coupled_model(config);
    const InspectRequest request{.what = "flow", .probe = 1, .layer = 0, .head = 2};
    const FlowData flow = inspect_flow(*model, config, request, 0);
    const ReconstructionData states = inspect_reconstruction(*model, config, request, 0);
    for (std::size_t t = 0; t < flow.tokens.size(); ++t)
      for (std::size_t a = 0; a < 2; ++a) {
        double z = 0;
        for (std::size_t n = 0; n < 6; ++n)
          z += static_cast<double>(flow.Q.data[6 * a + n]) * static_cast<double>(states.state.data[6 * t + n]);
        QVERIFY(std::abs(z - static_cast<double>(flow.z.data[2 * t + a])) < 1e-6);
      }
  }

  void zAlongAWindowIsThatOfAStepByStepReplay_data() {
    QTest::addColumn<QString>("coupling");
    for (const char* coupling : {"euler", "etd"}) QTest::newRow(coupling) << coupling;
  }
  void zAlongAWindowIsThatOfAStepByStepReplay() {
    QFETCH(QString, coupling);
    const torch::NoGradGuard no_gradients;
    const ExperimentConfig config = coupled_decoder(coupling.toUtf8());
    QVERIFY2(config.validate().empty(), to_string(config.validate()).c_str());
    const DecodingTask recording(config);
    const InspectRequest request{.what = "flow", .probe = 3, .layer = 0, .head = 5};
    const auto place = static_cast<std::size_t>(probe_window(recording, 3));
    const std::int64_t number = recording.split().test[place];
    const auto exact = coupled_model(config, Engine::torch, Precision::float64);
    const auto z = replayed_z(*exact, recording.windows().window(number), 8, 5, coupling == "etd");
    double largest = 0;
    for (const auto& row : z)
      for (const double value : row) largest = std::max(largest, std::abs(value));
    QVERIFY(largest > 1e-3);
    // The answer's numbers are float32; the fused engine computes in float32 too.
    for (const bool fused : {false, true}) {
      const auto model = fused ? coupled_model(config) : coupled_model(config, Engine::torch, Precision::float64);
      const FlowData flow = inspect_flow(*model, config, request, 4, &recording);
      QCOMPARE(flow.z.shape, (std::vector<std::int64_t>{12, 2}));
      double off = 0;
      for (std::size_t t = 0; t < 12; ++t)
        for (std::size_t a = 0; a < 2; ++a)
          off = std::max(off, std::abs(z[t][a] - static_cast<double>(flow.z.data[2 * t + a])));
      QVERIFY2(off < (fused ? 1e-5 : 1e-7) * largest, qPrintable(QString::number(off / largest)));
      const DecodingWindows& all = recording.windows();
      const auto w = static_cast<std::size_t>(number);
      QCOMPARE(flow.window, (ProbeWindow{0, all.first_bin[w], all.label[w], 0.05}));
      for (std::size_t t = 0; t < 12; ++t) QCOMPARE(flow.tokens[t], static_cast<std::int32_t>(t));
    }
  }

  void theStateOfADecoderIsReplayedFromZAlone() {
    for (const char* const coupling : {"euler", "etd"}) {
      const ExperimentConfig config = coupled_decoder(coupling);
      const auto model = coupled_model(config);
      // Without a recording at hand it is made again.
      const ReconstructionData data =
          inspect_reconstruction(*model, config, {.what = "reconstruction", .probe = 7, .layer = 1, .head = 9}, 0);
      QVERIFY(*std::ranges::max_element(data.error) < 1e-12);
      QVERIFY(data.float_error > 0 && data.float_error < 1e-5);
      QVERIFY(data.window.has_value());
      QCOMPARE(data.tokens.size(), std::size_t{12});
      const CircuitData circuit = inspect_circuit(*model, config, {.what = "circuit"}, 0);
      QVERIFY(circuit.largest_dt > 0 && circuit.picard[0] > circuit.picard[2]);
    }
  }

  void everyProbeIsAnotherWindowOfTheTestPart() {
    const DecodingTask recording(coupled_decoder());
    std::int64_t before = -1;
    for (std::int64_t probe = 0; probe < probe_count; ++probe) {
      const std::int64_t place = probe_window(recording, probe);
      QVERIFY(place > before && place < recording.test_windows());
      before = place;
    }
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, probe_window(recording, probe_count));
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, probe_window(recording, -1));
  }

  void theWindowSurvivesTheWire() {
    const ExperimentConfig decoder = coupled_decoder(), chain = coupled_config();
    for (const char* what : {"flow", "reconstruction"}) {
      const nlohmann::json sent = inspect(*coupled_model(decoder), decoder, {.what = what}, 0);
      QVERIFY(sent.at("window").is_object());
      const bool same = std::string(what) == "flow" ? nlohmann::json(sent.get<FlowData>()) == sent
                                                    : nlohmann::json(sent.get<ReconstructionData>()) == sent;
      QVERIFY(same);
      nlohmann::json of_tokens = inspect(*coupled_model(chain), chain, {.what = what}, 0);
      QVERIFY(of_tokens.at("window").is_null());
      of_tokens.erase("window");  // as earlier versions wrote it
      if (std::string(what) == "flow") QVERIFY(!of_tokens.get<FlowData>().window);
      auto broken = sent;
      broken["window"]["first_bin"] = -1;
      if (std::string(what) == "flow")
        QVERIFY_THROWS_EXCEPTION(std::invalid_argument, broken.get<FlowData>());
      else
        QVERIFY_THROWS_EXCEPTION(std::invalid_argument, broken.get<ReconstructionData>());
    }
  }

  void whatIsNotThereIsASentence() {
    const ExperimentConfig config = coupled_config();
    const auto model = coupled_model(config);
    for (const InspectRequest& request : {InspectRequest{.what = "flow", .layer = 2},
                                          {.what = "flow", .head = 16},
                                          {.what = "flow", .probe = 8},
                                          {.what = "flow", .layer = -1}})
      QVERIFY_THROWS_EXCEPTION(std::invalid_argument, inspect_flow(*model, config, request, 0));
    const ExperimentConfig plain;
    const auto uncoupled = make_model(plain);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, inspect_circuit(*uncoupled, plain, {.what = "circuit"}, 0));
  }

  void aPerfectHeadIsAlwaysRight() {
    Answering model(true);
    const std::vector<std::int64_t> lengths = {64, 600, 1200};
    std::vector<std::array<std::int64_t, 3>> told;
    const ExtrapolationData data = extrapolate(model, induction_config(), lengths, 1 << 10, 40, 5,
                                               [&](std::int64_t length, std::int64_t done, std::int64_t wanted) {
                                                 told.push_back({length, done, wanted});
                                               });
    QCOMPARE(data.step, 5);
    QCOMPARE(data.points.size(), 3u);
    for (const ExtrapolationData::Point& point : data.points) {
      QCOMPARE(point.sequences, 40);
      QCOMPARE(point.right, point.sequences);
      // Wilson at 40 of 40: n / (n + z^2).
      QVERIFY(std::abs(point.low - 40 / (40 + 1.959963984540054 * 1.959963984540054)) < 1e-12);
      QCOMPARE(point.high, 1.0);
    }
    // 32 sequences at once, and the rest.
    QVERIFY((told == std::vector<std::array<std::int64_t, 3>>{
                         {64, 0, 40}, {64, 32, 40}, {600, 0, 40}, {600, 32, 40}, {1200, 0, 40}, {1200, 32, 40}}));
    QCOMPARE(model.longest_piece, 512);  // no more tokens at once, however long the sequence
  }

  void aConstantAnswerIsRightByChance() {
    Answering model(false);
    const std::vector<std::int64_t> lengths = {64};
    const ExtrapolationData data = extrapolate(model, induction_config(), lengths, 64, 2000, 0);
    const double share = data.points[0].accuracy(), expected = data.chance;
    QVERIFY(std::abs(share - expected) < 4 * std::sqrt(expected * (1 - expected) / 2000));
  }

  void lengthsAreReadOrRefused() {
    QCOMPARE(lengths_from("64, 256,1024"), (std::vector<std::int64_t>{64, 256, 1024}));
    for (const char* const bad : {"", "7", "64,64", "256,64", "64,x", "2000000", "64,"})
      QVERIFY_THROWS_EXCEPTION(std::invalid_argument, lengths_from(bad));
    ExperimentConfig config = induction_config();
    QCOMPARE(usual_lengths(config).back(), 16384);
    config.set_from_string("model.kind", "transformer");
    QCOMPARE(usual_lengths(config), (std::vector<std::int64_t>{64}));
    config.set_from_string("model.positions", "sinusoidal");
    QCOMPARE(usual_lengths(config).size(), 9u);
  }

  void aTransformerReadsInPiecesAsAWhole() {
    ExperimentConfig config = induction_config();
    config.set_from_string("model.kind", "transformer");
    config.set_from_string("model.positions", "sinusoidal");
    const auto model = make_model(config, Engine::torch, Precision::float64);
    const torch::NoGradGuard no_gradients;
    const auto tokens = torch::arange(1, 61).remainder(63).add(1).view({2, 30});
    const auto whole = model->log_probabilities(tokens);
    const auto state = model->initial_state(2);
    std::vector<at::Tensor> pieces;
    for (const auto& piece : tokens.split(11, 1)) pieces.push_back(model->read(piece.contiguous(), *state));
    QVERIFY((torch::cat(pieces, 1) - whole).abs().max().item<double>() < 1e-12);
  }
};

QTEST_APPLESS_MAIN(CoupledInspectionTest)
#include "coupled_inspection_test.moc"
