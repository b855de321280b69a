// The n-gram model is the add-beta estimator, number by number.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/analysis.h"
#include "core/models/ngram.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

class TestNgram : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void is_the_estimator_exactly() {
    for (const auto& [order, states, beta] : {std::tuple{0, 2, 1.0}, {1, 2, 1.0}, {2, 3, 0.5}, {8, 2, 2.0}}) {
      Ngram model(order, states, beta, Precision::float64);
      const auto tokens = some_tokens(3, 200, states), targets = some_tokens(3, 200, states, 1);
      const auto found = model.log_probabilities(tokens);
      const auto estimator = make_add_beta(order, states, beta);
      std::vector<double> row(static_cast<std::size_t>(states));
      double loss = 0;
      for (std::int64_t sequence = 0; sequence < 3; ++sequence) {
        estimator->reset();
        for (std::int64_t t = 0; t < 200; ++t) {
          estimator->observe(tokens.index({sequence, t}).item<std::int32_t>());
          estimator->predict(row);
          for (std::int64_t s = 0; s < states; ++s)
            QCOMPARE(found.index({sequence, t, s}).item<double>(), std::log(row[static_cast<std::size_t>(s)]));
          loss -= std::log(row[static_cast<std::size_t>(targets.index({sequence, t}).item<std::int64_t>())]);
        }
      }
      QVERIFY(std::abs(model.loss(tokens, targets).item<double>() - loss / 600) < 1e-12);
      Ngram rounded(order, states, beta, Precision::float32);
      QVERIFY(torch::equal(rounded.log_probabilities(tokens), found.to(torch::kFloat32)));
    }
  }

  void token_by_token_is_the_same_function() {
    Ngram model(2, 3, 1.0, Precision::float64);
    const auto tokens = some_tokens(4, 60, 3);
    const auto expected = model.log_probabilities(tokens);
    const auto state = model.initial_state(4);
    for (std::int64_t t = 0; t < 60; ++t) {
      const auto before = t == 30 ? state->clone() : nullptr;
      const auto found = model.step(tokens.select(1, t), *state);
      QVERIFY(torch::equal(found, expected.select(1, t)));
      if (before) QVERIFY(torch::equal(model.step(tokens.select(1, t), *before), found));
    }
    QVERIFY_EXCEPTION_THROWN(model.step(torch::zeros({3}, torch::kInt64), *state), std::invalid_argument);
  }

  void a_configuration_describes_it() {
    auto config =
        config_from_share_string("mambarium1:task.kind=switching;model.kind=ngram;model.ngram_order=3").config;
    QVERIFY(config.validate().empty());
    const auto model = make_model(config);
    QCOMPARE(model->parameter_count(), 0);
    const PredictionData prediction = inspect_prediction(*model, config, 0, 0);
    QCOMPARE(prediction.model.shape, (std::vector<std::int64_t>{128, 3}));
    for (const char* what : {"decay", "filters"})
      QVERIFY_EXCEPTION_THROWN(inspect(*model, config, {what, 0, std::nullopt}, 0), std::invalid_argument);
    for (const char* without_weights : {"model.d_model", "model.layers", "training.lr", "model.d_conv"})
      QVERIFY2(!config.applies(without_weights), without_weights);
    config = config_from_share_string("mambarium1:model.kind=ngram;model.ngram_order=8;task.states=20").config;
    QCOMPARE(config.validate().at(0).where, std::string("model.ngram_order"));
    QVERIFY2(to_string(config.validate()).find("can be 4 at most") != std::string::npos,
             to_string(config.validate()).c_str());
  }
};

QTEST_APPLESS_MAIN(TestNgram)
#include "test_ngram.moc"
