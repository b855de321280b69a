// What panels of a Motif-Mamba and of an induction head are told: the wiring, z and the replayed state of a channel,
// and right answers by length.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "core/analysis/channel_flow.h"
#include "core/analysis/extrapolation.h"
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

std::unique_ptr<SequenceModel> coupled_model(const ExperimentConfig& config) {
  auto model = make_model(config);
  const torch::NoGradGuard no_gradients;
  for (Parameter& parameter : model->parameters())
    if (parameter.name.find("coupling") != std::string::npos && parameter.tensor.dim() > 0)
      parameter.tensor.mul_(30);  // large enough to matter
  return model;
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
    const ExtrapolationData data = extrapolate(model, induction_config(), lengths, 1 << 10, 40, 5);
    QCOMPARE(data.step, 5);
    QCOMPARE(data.points.size(), 3u);
    for (const ExtrapolationData::Point& point : data.points) {
      QCOMPARE(point.sequences, 40);
      QCOMPARE(point.right, point.sequences);
      // Wilson at 40 of 40: n / (n + z^2).
      QVERIFY(std::abs(point.low - 40 / (40 + 1.959963984540054 * 1.959963984540054)) < 1e-12);
      QCOMPARE(point.high, 1.0);
    }
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
