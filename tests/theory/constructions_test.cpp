// Written-down weights against the estimators they are, over all short sequences and some long ones.
#include "core/theory/constructions.h"

#include <torch/torch.h>

#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/contract/preset.h"
#include "core/models/parameter.h"
#include "core/theory/theory_bench.h"
#include "core/training/trainer.h"

using namespace mambarium;

namespace {

ConstructionRow distances(const ConstructionSettings& settings) {
  const ConstructionRow row = measure_construction(settings);
  qInfo("%s S=%ld k=%ld beta=%g epsilon=%g: float64 |dp| %.1e, KL %.1e; float32 |dp| %.1e", settings.name.c_str(),
        static_cast<long>(settings.states), static_cast<long>(settings.order), settings.beta, settings.epsilon,
        row.exact.probability, row.exact.divergence, row.fast.probability);
  return row;
}

QString refusal(const ConstructionSettings& settings) {
  try {
    make_construction(settings, Engine::torch, Precision::float64);
  } catch (const std::invalid_argument& error) {
    return QString::fromStdString(error.what());
  }
  return {};
}

}  // namespace

class ConstructionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theSequencesAreAllAndRandom() {
    const TokenTable all = every_short_sequence(2), random = random_long_sequences(3, 0.05);
    std::set<std::vector<std::int32_t>> different;
    for (std::int64_t i = 0; i < all.count(); ++i) different.emplace(all.sequence(i).begin(), all.sequence(i).end());
    QCOMPARE(different.size(), std::size_t{1024});
    QCOMPARE(all.length, std::int64_t{10});
    QCOMPARE(every_short_sequence(8).length, std::int64_t{5});
    QCOMPARE(random.count(), std::int64_t{100});
    const auto last = static_cast<double>(std::ranges::count(random.tokens, 2));
    const auto ones = static_cast<double>(std::ranges::count(random.tokens, 1));
    QVERIFY(std::abs(last / 20000 - 0.05) < 3 * std::sqrt(0.05 * 0.95 / 20000));
    QVERIFY(std::abs(ones / 20000 - 0.475) < 3 * std::sqrt(0.475 * 0.525 / 20000));
  }

  // After 0 add-1 says 1/2, 1/2; after 0,0 it says 2/3, 1/3. The uniform estimator's model says 1/2 always.
  void distancesMeetTheirDefinition() {
    const auto model = make_construction({.name = "theorem1"}, Engine::torch, Precision::float64);
    const EstimatorDistance found = distance(*model, *make_uniform(2), {2, {0, 0}});
    QVERIFY(std::abs(found.probability - 1.0 / 6) < 1e-12);
    const double divergence = 0.5 * std::log(0.5 / (2.0 / 3)) + 0.5 * std::log(0.5 / (1.0 / 3));
    QVERIFY(std::abs(found.divergence - divergence) < 1e-12);
    QVERIFY(std::abs(found.mean_divergence - divergence / 2) < 1e-12);
  }

  void theorem1IsAddBeta() {
    for (const std::int64_t states : {2, 3, 5, 8}) {
      for (const double beta : {0.5, 1.0, 2.0}) {
        const auto found = distances({.name = "theorem1", .states = states, .beta = beta});
        QVERIFY(found.exact.probability <= 1e-12);
        QVERIFY(found.fast.probability <= 1e-5);
      }
    }
  }

  void theorem4IsWithinEpsilon() {
    for (const double epsilon : {0.1, 0.01, 1e-4}) {
      for (const double beta : {0.5, 1.0, 2.0}) {
        const auto found = distances({.name = "theorem4", .beta = beta, .epsilon = epsilon});
        QVERIFY(found.exact.divergence <= epsilon);
        QVERIFY(found.exact.probability > 1e-2 * epsilon);  // it is not exact, and the test would see it
        QVERIFY(std::abs(found.fast.probability - found.exact.probability) <= 1e-5);
      }
    }
  }

  void higherOrdersAreAddBeta() {
    const auto check = [](std::int64_t states, std::int64_t order, double beta) {
      const auto found = distances({.name = "higher_order", .states = states, .order = order, .beta = beta});
      QVERIFY(found.exact.probability <= 1e-12);
      QVERIFY(found.fast.probability <= 1e-5);
    };
    for (std::int64_t order = 1; order <= 5; ++order) check(2, order, 1);
    for (const std::int64_t states : {3, 4, 5}) check(states, 2, 0.5);
  }

  void switchingIsTheBayesPredictor() {
    for (const double p_switch : {0.01, 0.2}) {
      const auto found = distances({.name = "switching", .p_switch = p_switch});
      QVERIFY(found.exact.probability <= 3e-7);
      QVERIFY(found.fast.probability <= 1e-5);
    }
  }

  void theyLearnOnLikeAnyModel() {
    const auto model = make_construction({.name = "theorem1"}, Engine::fused, Precision::float32);
    const auto tokens = torch::randint(0, 2, {8, 65}, torch::kInt64);
    model->loss(tokens.narrow(1, 0, 64).contiguous(), tokens.narrow(1, 1, 64).contiguous()).backward();
    for (const Parameter& parameter : model->parameters()) {
      QVERIFY2(torch::isfinite(parameter.tensor.grad()).all().item<bool>(), parameter.name.c_str());
    }
  }

  void aRunStartsAsTheConstruction_data() {
    QTest::addColumn<QString>("preset");
    QTest::addColumn<double>("largest_gap");
    QTest::newRow("theorem1") << "start-theorem1" << 1e-5;
    QTest::newRow("theorem4") << "start-theorem4" << 1e-4;
    QTest::newRow("higher order") << "start-higher-order" << 1e-5;
    QTest::newRow("switching") << "start-switching" << 1e-5;
  }
  void aRunStartsAsTheConstruction() {
    QFETCH(QString, preset);
    QFETCH(double, largest_gap);
    const auto presets = load_presets(MAMBARIUM_SOURCE_DIR "/resources/presets").presets;
    const auto found = std::ranges::find(presets, preset.toStdString(), &Preset::id);
    QVERIFY(found != presets.end());
    QVERIFY(found->config.validate().empty());
    const auto trainer = Trainer::create(found->config);
    const MetricsRow& row = trainer->rows().front();
    QVERIFY2(std::abs(row.gap_add_beta) < largest_gap, qPrintable(QString::number(row.gap_add_beta)));
    for (int step = 0; step < 3; ++step) trainer->advance();
    QVERIFY(std::isfinite(trainer->last_train_loss()));
    ExperimentConfig random = found->config;
    random.set("model.start", std::string("random"));
    QVERIFY(Trainer::create(random)->rows().front().gap_add_beta > 0.05);
  }

  void whatHasNoConstructionIsSaid() {
    QVERIFY(refusal({.name = "theorem1"}).isEmpty());
    QVERIFY(refusal({.name = "theorem2"}).contains("theorem1, theorem4"));
    QVERIFY(refusal({.name = "theorem1", .order = 2}).contains("higher_order"));
    QVERIFY(refusal({.name = "theorem1", .beta = 0}).contains("beta"));
    QVERIFY(refusal({.name = "theorem4", .states = 3}).contains("2 states"));
    QVERIFY(refusal({.name = "theorem4", .epsilon = 1}).contains("epsilon"));
    QVERIFY(refusal({.name = "higher_order", .states = 3, .order = 3}).contains("order 3"));
    QVERIFY(refusal({.name = "switching", .p_switch = 1}).contains("switch"));
  }
};

QTEST_GUILESS_MAIN(ConstructionsTest)
#include "constructions_test.moc"
