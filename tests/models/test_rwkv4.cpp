// RWKV-4 against its formulas on plain operators; counts, causality, stepping, gradients, masked targets.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <string>
#include <vector>

#include "core/models/rwkv4.h"
#include "tests/models/model_helpers.h"
#include "tests/models/plain_rwkv4.h"

using namespace mambarium;

namespace {

Rwkv4Options small() {
  Rwkv4Options options;
  options.states = 3;
  options.d_model = 6;
  options.layers = 2;
  return options;
}

}  // namespace

class TestRwkv4 : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void agrees_with_the_formulas() {
    Rwkv4 model(small(), Precision::float64);
    enlarge(model, 0.5);
    const torch::NoGradGuard no_gradients;
    const auto tokens = some_tokens(3, 70, 3);
    const auto expected = PlainRwkv4(named(model)).log_probabilities(tokens, 2);
    QVERIFY(largest_difference(model.log_probabilities(tokens), expected) < 1e-12);
  }

  void parameters_by_the_formula() {
    const auto count = [](std::int64_t states, std::int64_t d_model, std::int64_t layers) {
      Rwkv4Options options;
      options.states = states;
      options.d_model = d_model;
      options.layers = layers;
      return Rwkv4(options, Precision::float32).parameter_count();
    };
    QCOMPARE(count(64, 50, 2), 72700);
    QCOMPARE(count(64, 51, 2), 75480);
    QCOMPARE(count(64, 72, 2), 145872);
    QCOMPARE(count(5, 1, 1), 2 * 5 + 4 + 13 + 11);
  }

  void token_by_token_and_in_pieces_is_the_same_function() {
    for (const Precision precision : {Precision::float32, Precision::float64}) {
      Rwkv4 model(small(), precision);
      enlarge(model);
      check_steps_and_pieces(model, precision == Precision::float64 ? 1e-12 : 1e-5);
    }
  }

  void a_copied_state_goes_on_the_same() {
    Rwkv4 model(small(), Precision::float32);
    enlarge(model);
    check_copied_state(model);
  }

  void later_tokens_do_not_matter() {
    Rwkv4 model(small(), Precision::float32);
    enlarge(model);
    check_causality(model);
  }

  void gradients_agree_with_finite_differences() {
    Rwkv4 model(small(), Precision::float64);
    enlarge(model);
    const auto tokens = some_tokens(2, 9, 3), targets = some_tokens(2, 9, 3, 1);
    QVERIFY(gradient_error(model, tokens, targets, 12) < 1e-7);
  }

  void gradients_flow_through_the_state() {
    Rwkv4 model(small(), Precision::float64);
    enlarge(model);
    const auto tokens = some_tokens(2, 12, 3);
    std::vector<at::Tensor> weights, rows;
    for (const Parameter& parameter : model.parameters()) weights.push_back(parameter.tensor);
    const auto factors = torch::cos(torch::arange(72, torch::kFloat64)).view({2, 12, 3});
    const auto expected = torch::autograd::grad({(factors * model.log_probabilities(tokens)).sum()}, weights);
    const auto state = model.initial_state(2);
    for (std::int64_t t = 0; t < 12; ++t) rows.push_back(model.step(tokens.select(1, t), *state));
    const auto found = torch::autograd::grad({(factors * torch::stack(rows, 1)).sum()}, weights);
    for (std::size_t i = 0; i < weights.size(); ++i) QVERIFY(largest_difference(found[i], expected[i]) < 1e-11);
  }

  void keys_of_80_are_no_trouble() {
    Rwkv4 model(small(), Precision::float32);
    const auto weights = named(model);
    {
      const torch::NoGradGuard no_gradients;
      weights.at("layers.0.time_mix.key.weight").mul_(400);
      weights.at("layers.1.time_mix.key.weight").mul_(-400);
      weights.at("layers.0.time_mix.bonus").fill_(80);
      weights.at("layers.1.time_mix.bonus").fill_(-80);
    }
    const auto tokens = some_tokens(2, 200, 3);
    const auto loss = model.loss(tokens, some_tokens(2, 200, 3, 1));
    loss.backward();
    QVERIFY(std::isfinite(loss.item<double>()));
    for (const auto& [name, tensor] : weights) QVERIFY2(tensor.grad().isfinite().all().item<bool>(), name.c_str());
  }

  void targets_of_minus_one_do_not_count() {
    Rwkv4 model(small(), Precision::float64);
    enlarge(model);
    check_masked_targets(model);
  }

  void initial_values_and_decay() {
    Rwkv4Options options;
    options.states = options.d_model = 64;
    options.layers = 2;
    Rwkv4 model(options, Precision::float32);
    const auto weights = named(model);
    const double uniform = 1.0 / 8 / std::sqrt(3.0);
    for (const auto& [name, deviation] : {std::pair{"embedding.weight", 0.02},
                                          {"layers.0.time_mix.key.weight", uniform},
                                          {"layers.1.time_mix.output.weight", uniform / 2},
                                          {"layers.0.channel_mix.value.weight", uniform / 4},
                                          {"lm_head.weight", uniform}})
      QVERIFY2(std::abs(weights.at(name).std(false).item<double>() / deviation - 1) < 0.05, name);
    const auto value = [&](const char* name, std::int64_t channel) { return weights.at(name)[channel].item<double>(); };
    QVERIFY(std::abs(value("layers.0.time_mix.log_decay", 0) + 5) < 1e-6);
    QVERIFY(std::abs(value("layers.1.time_mix.log_decay", 63) - 3) < 1e-6);
    QVERIFY(std::abs(value("layers.0.time_mix.mix_k", 16) - 0.25) < 1e-6);
    QVERIFY(std::abs(value("layers.1.time_mix.mix_k", 16) - 0.5) < 1e-6);
    QVERIFY(std::abs(value("layers.1.time_mix.mix_v", 16) - 0.8) < 1e-6);
    QVERIFY(std::abs(value("layers.1.time_mix.bonus", 2) - std::log(0.3) + 0.5) < 1e-6);
    for (const Parameter& parameter : model.parameters()) {
      const bool is_map = parameter.tensor.dim() == 2 && parameter.name != "embedding.weight";
      QVERIFY2(parameter.decayed == is_map, parameter.name.c_str());
    }
    Rwkv4 exact(options, Precision::float64);
    for (const auto& [name, tensor] : named(exact))
      QVERIFY2(torch::equal(tensor.to(torch::kFloat32), weights.at(name)), name.c_str());
  }

  void a_configuration_describes_it() {
    const auto config = config_from_share_string("mambarium1:model.kind=rwkv4;model.d_model=12;model.layers=3").config;
    QVERIFY(config.validate().empty());
    const auto model = make_model(config);
    QCOMPARE(model->parameter_count(), 2 * 2 * 12 + 4 * 12 + 3 * (13 * 12 * 12 + 11 * 12));
    QCOMPARE(model->filters().size(), std::size_t{3});
    QVERIFY(model->filters()[2].empty());
    QCOMPARE(engine_of(config, Engine::fused), Engine::torch);
  }

  void what_does_not_fit_is_refused_in_one_sentence() {
    Rwkv4 model(small(), Precision::float32);
    const auto state = model.initial_state(2);
    const auto said = [&](const at::Tensor& tokens) { return refusal([&] { model.step(tokens, *state); }); };
    QVERIFY(said(torch::full({2}, 3, torch::kInt64)).find("0 to 2") != std::string::npos);
    QVERIFY(said(torch::zeros({3}, torch::kInt64)).find("initial_state(3)") != std::string::npos);
    QVERIFY(refusal([&] {
              model.loss(some_tokens(1, 4, 3), torch::full({1, 4}, -1, torch::kInt64));
            }).find("all are -1") != std::string::npos);
  }

  void the_read_out_may_be_l1() {
    auto options = small();
    options.readout = Readout::l1;
    Rwkv4 model(options, Precision::float64);
    enlarge(model);
    const torch::NoGradGuard no_gradients;
    QVERIFY((model.log_probabilities(some_tokens(2, 20, 3)).exp().sum(-1) - 1).abs().max().item<double>() < 1e-12);
  }
};

QTEST_APPLESS_MAIN(TestRwkv4)
#include "test_rwkv4.moc"
