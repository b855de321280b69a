// The LSTM against a loop written from its equations; counts, causality, stepping, gradients, masked targets.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <string>
#include <vector>

#include "core/models/lstm.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

namespace {

LstmOptions small() {
  LstmOptions options;
  options.states = 3;
  options.d_model = 6;
  options.layers = 2;
  return options;
}

// The model as loops over float64 numbers.
class PlainLstm {
 public:
  explicit PlainLstm(const std::map<std::string, at::Tensor>& weights) : weights_(weights) {}

  // log P(next = s) after every token: [T][S].
  std::vector<std::vector<double>> log_probabilities(const std::vector<std::int64_t>& tokens, std::size_t layers) {
    const std::size_t d = length("final_norm.weight");
    std::vector<std::vector<double>> h(layers, std::vector<double>(d)), c = h, all;
    for (const std::int64_t token : tokens) {
      std::vector<double> x;
      for (std::size_t i = 0; i < d; ++i) x.push_back(number("embedding.weight", static_cast<std::size_t>(token), i));
      for (std::size_t layer = 0; layer < layers; ++layer) {
        const std::string prefix = "layers." + std::to_string(layer) + ".";
        std::vector<double> gates(4 * d);
        for (std::size_t row = 0; row < 4 * d; ++row) {
          gates[row] = number(prefix + "input.bias", row) + number(prefix + "recurrent.bias", row);
          for (std::size_t j = 0; j < d; ++j)
            gates[row] += number(prefix + "input.weight", row, j) * x[j] +
                          number(prefix + "recurrent.weight", row, j) * h[layer][j];
        }
        for (std::size_t j = 0; j < d; ++j) {
          c[layer][j] = sigmoid(gates[d + j]) * c[layer][j] + sigmoid(gates[j]) * std::tanh(gates[2 * d + j]);
          h[layer][j] = sigmoid(gates[3 * d + j]) * std::tanh(c[layer][j]);
        }
        x = h[layer];
      }
      all.push_back(read_out(x));
    }
    return all;
  }

 private:
  static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
  std::size_t length(const std::string& name) const { return static_cast<std::size_t>(weights_.at(name).size(0)); }
  double number(const std::string& name, std::size_t i) const {
    return weights_.at(name)[static_cast<std::int64_t>(i)].item<double>();
  }
  double number(const std::string& name, std::size_t i, std::size_t j) const {
    return weights_.at(name).index({static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)}).item<double>();
  }
  std::vector<double> read_out(const std::vector<double>& x) const {
    const auto width = static_cast<double>(x.size());
    double mean = 0, variance = 0, sum = 0;
    for (const double value : x) mean += value / width;
    for (const double value : x) variance += (value - mean) * (value - mean) / width;
    std::vector<double> logits(length("lm_head.weight"));
    for (std::size_t s = 0; s < logits.size(); ++s) {
      for (std::size_t i = 0; i < x.size(); ++i)
        logits[s] += number("lm_head.weight", s, i) *
                     ((x[i] - mean) / std::sqrt(variance + 1e-5) * number("final_norm.weight", i) +
                      number("final_norm.bias", i));
      sum += std::exp(logits[s]);
    }
    for (double& logit : logits) logit -= std::log(sum);
    return logits;
  }

  std::map<std::string, at::Tensor> weights_;
};

}  // namespace

class TestLstm : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void agrees_with_the_equations() {
    Lstm model(small(), Precision::float64);
    enlarge(model, 0.7);
    const torch::NoGradGuard no_gradients;
    const auto tokens = some_tokens(2, 40, 3);
    const auto found = model.log_probabilities(tokens);
    for (std::int64_t sequence = 0; sequence < 2; ++sequence) {
      const auto* first = tokens.data_ptr<std::int64_t>() + 40 * sequence;
      const auto expected = PlainLstm(named(model)).log_probabilities({first, first + 40}, 2);
      for (std::int64_t t = 0; t < 40; ++t)
        for (std::int64_t s = 0; s < 3; ++s)
          QVERIFY(std::abs(found.index({sequence, t, s}).item<double>() -
                           expected[static_cast<std::size_t>(t)][static_cast<std::size_t>(s)]) < 1e-12);
    }
  }

  void as_many_parameters_as_the_papers() {
    LstmOptions options;
    options.states = options.d_model = 64;
    options.layers = 2;
    QCOMPARE(Lstm(options, Precision::float32).parameter_count(), 74880);
    options.states = 5;
    options.d_model = 7;
    options.layers = 3;
    QCOMPARE(Lstm(options, Precision::float64).parameter_count(), 2 * 5 * 7 + 2 * 7 + 3 * (8 * 7 * 7 + 8 * 7));
  }

  void token_by_token_and_in_pieces_is_the_same_function() {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      Lstm model(small(), precision);
      enlarge(model);
      check_steps_and_pieces(model, precision == Precision::float64 ? 1e-12 : 1e-5);
    }
  }

  void a_copied_state_goes_on_the_same() {
    Lstm model(small(), Precision::float32);
    enlarge(model);
    check_copied_state(model);
  }

  void later_tokens_do_not_matter() {
    Lstm model(small(), Precision::float32);
    enlarge(model);
    check_causality(model);
  }

  void gradients_agree_with_finite_differences() {
    Lstm model(small(), Precision::float64);
    enlarge(model);
    const auto tokens = some_tokens(2, 9, 3), targets = some_tokens(2, 9, 3, 1);
    QVERIFY(gradient_error(model, tokens, targets, 12) < 1e-7);
  }

  void targets_of_minus_one_do_not_count() {
    Lstm model(small(), Precision::float64);
    enlarge(model);
    check_masked_targets(model);
  }

  void initial_values_and_decay() {
    LstmOptions options;
    options.states = options.d_model = 64;
    options.layers = 2;
    Lstm model(options, Precision::float32);
    const auto weights = named(model);
    const double uniform = 1.0 / 8 / std::sqrt(3.0);
    for (const auto& [name, deviation] : {std::pair{"embedding.weight", 1.0},
                                          {"layers.0.input.weight", uniform},
                                          {"layers.1.recurrent.weight", uniform},
                                          {"lm_head.weight", uniform}})
      QVERIFY2(std::abs(weights.at(name).std(false).item<double>() / deviation - 1) < 0.05, name);
    for (const Parameter& parameter : model.parameters()) {
      const bool is_map = parameter.tensor.dim() == 2 && parameter.name != "embedding.weight";
      QVERIFY2(parameter.decayed == is_map, parameter.name.c_str());
    }
    options.layers = 3;
    Lstm deeper(options, Precision::float64);
    const auto found = named(deeper);
    for (const auto& [name, tensor] : weights)
      QVERIFY2(torch::equal(tensor, found.at(name).to(torch::kFloat32)), name.c_str());
  }

  void a_configuration_describes_it() {
    const auto config = config_from_share_string("mambarium1:model.kind=lstm;model.d_model=12;model.layers=2").config;
    QVERIFY(config.validate().empty());
    const auto model = make_model(config);
    QCOMPARE(model->parameter_count(), 2 * 2 * 12 + 2 * 12 + 2 * (8 * 12 * 12 + 8 * 12));
    QCOMPARE(model->filters().size(), std::size_t{2});
    QVERIFY(model->filters()[1].empty());
    QCOMPARE(engine_of(config, Engine::fused), Engine::torch);
  }

  void what_does_not_fit_is_refused_in_one_sentence() {
    Lstm model(small(), Precision::float32);
    Lstm deeper(
        [] {
          auto options = small();
          options.layers = 3;
          return options;
        }(),
        Precision::float32);
    const auto state = model.initial_state(2);
    const auto said = [&](const at::Tensor& tokens) { return refusal([&] { model.step(tokens, *state); }); };
    QVERIFY(said(torch::full({2}, 3, torch::kInt64)).find("0 to 2") != std::string::npos);
    QVERIFY(said(torch::zeros({3}, torch::kInt64)).find("initial_state(3)") != std::string::npos);
    QVERIFY(refusal([&] { deeper.step(torch::zeros({2}, torch::kInt64), *state); }).find("initial_state(2)") !=
            std::string::npos);
    const auto tokens = some_tokens(1, 4, 3);
    QVERIFY(refusal([&] {
              model.loss(tokens, torch::full({1, 4}, -1, torch::kInt64));
            }).find("all are -1") != std::string::npos);
  }

  void the_read_out_may_be_l1() {
    auto options = small();
    options.readout = Readout::l1;
    Lstm model(options, Precision::float64);
    enlarge(model);
    const torch::NoGradGuard no_gradients;
    QVERIFY((model.log_probabilities(some_tokens(2, 20, 3)).exp().sum(-1) - 1).abs().max().item<double>() < 1e-12);
  }
};

QTEST_APPLESS_MAIN(TestLstm)
#include "test_lstm.moc"
