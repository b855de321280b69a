// What cannot be done: the confusable pair without a convolution, and counting at order 2 without activations.
#include <QTest>
#include <cmath>
#include <stdexcept>

#include "core/estimators/estimators.h"
#include "core/models/mamba2.h"
#include "core/theory/confusable_pair.h"
#include "core/theory/no_go.h"

using namespace mambarium;

namespace {

Mamba2Options linear_model(bool convolution, std::uint64_t seed) {
  Mamba2Options options;
  options.conv_x = options.conv_B = options.conv_C = convolution;
  options.activation = Activation::none;
  options.gate = options.norm = options.learned_decay = false;
  options.mlp = Mlp::none;
  options.seed = seed;
  return options;
}

Confusion confusion_of(const Mamba2Options& options) {
  Mamba2 model(options, Engine::torch, Precision::float64);
  return confusion(model);
}

}  // namespace

class LimitsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theEstimatorTellsThePairApart() {
    const auto estimator = make_add_beta(1, 2, 1);
    for (const ConfusableSequence& sequence : confusable_pair) {
      estimator->reset();
      for (const std::int32_t token : sequence.tokens) estimator->observe(token);
      std::array<double, 2> probabilities;
      estimator->predict(probabilities);
      QCOMPARE(probabilities[1], sequence.add_one);
    }
  }

  void withoutAConvolutionTheStateIsTheSame() {
    for (const std::uint64_t seed : {0, 1, 2}) {
      Mamba2Options full = linear_model(false, seed);
      full.activation = Activation::silu;
      full.gate = full.norm = true;
      full.mlp = Mlp::gated;
      for (const Mamba2Options& options : {linear_model(false, seed), full}) {
        const Confusion found = confusion_of(options);
        QVERIFY(found.largest_number > 0);
        QVERIFY(found.state_distance <= 1e-14 * found.largest_number);
        QVERIFY(std::abs(found.predicted[0] - found.predicted[1]) <= 1e-14);
      }
    }
  }

  void aConvolutionOrADecayTellsThemApart() {
    for (const std::uint64_t seed : {0, 1, 2}) {
      Mamba2Options decaying = linear_model(false, seed);
      decaying.learned_decay = true;
      for (const Mamba2Options& options : {linear_model(true, seed), decaying}) {
        const Confusion found = confusion_of(options);
        // Against 1e-14 where nothing tells them apart.
        QVERIFY2(found.state_distance > 1e-8 * found.largest_number,
                 qPrintable(QString::number(found.state_distance / found.largest_number)));
      }
    }
  }

  void otherAlphabetsHaveNoPair() {
    Mamba2Options three = linear_model(false, 0);
    three.states = 3;
    QVERIFY_EXCEPTION_THROWN(confusion_of(three), std::invalid_argument);
  }

  void aLinearModelCannotCountAtOrderTwo() {
    QVERIFY(std::abs(no_go_residual(1)) <= 1e-12);
    QVERIFY(std::abs(no_go_residual(2) - 0.125) <= 1e-12);
    QVERIFY(std::abs(no_go_residual(3) - 0.3125) <= 1e-12);
    for (std::int64_t order = 4; order <= 8; ++order) QVERIFY(no_go_residual(order) > no_go_residual(order - 1));
    QVERIFY_EXCEPTION_THROWN(no_go_residual(0), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(no_go_residual(9), std::invalid_argument);
  }
};

QTEST_GUILESS_MAIN(LimitsTest)
#include "limits_test.moc"
