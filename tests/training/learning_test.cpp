#include <QTest>
#include <cmath>
#include <cstdio>

#include "core/training/trainer.h"

using namespace mambarium;

namespace {

// Gap to the add-1 estimator after 300 steps on order-1 chains.
double gap_after_training(const char* conv) {
  ExperimentConfig config;
  config.set("training.steps", std::int64_t{300});
  config.set("training.eval_every", std::int64_t{300});
  config.set("model.conv", std::string(conv));
  const auto trainer = Trainer::create(config);
  while (!trainer->finished()) trainer->advance();
  const double gap = trainer->rows().back().gap_add_beta;
  std::printf("convolution %s: gap to add-1 after 300 steps %.5f nats\n", conv, gap);
  return gap;
}

}  // namespace

// The paper's first finding in small: with the convolution one layer of Mamba finds the Laplace estimator, without it
// not.
class LearningTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void withConvolution() { QVERIFY(gap_after_training("x,B,C") < 0.02); }
  // Below what one gets who knows how often switches come and nothing else.
  void switchingChains() {
    ExperimentConfig config = config_from_share_string("mambarium1:task.kind=switching;task.length=256").config;
    config.set("training.steps", std::int64_t{200});
    config.set("training.eval_every", std::int64_t{200});
    const auto trainer = Trainer::create(config);
    while (!trainer->finished()) trainer->advance();
    const MetricsRow& last = trainer->rows().back();
    constexpr double p = 0.01;
    const double blind = -p * std::log(p) - (1 - p) * std::log((1 - p) / 2);
    std::printf("switching: test loss after 200 steps %.5f, Bayes %.5f, oracle %.5f nats\n", last.test_loss,
                last.add_beta_loss, last.oracle_loss);
    QVERIFY(last.test_loss < blind - 0.05);
    QVERIFY(last.oracle_loss < last.add_beta_loss && last.add_beta_loss < last.test_loss);
  }
  void withoutConvolution() { QVERIFY(gap_after_training("none") > 0.04); }
};

QTEST_APPLESS_MAIN(LearningTest)
#include "learning_test.moc"
