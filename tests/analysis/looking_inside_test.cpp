// State read-out, inner products, quantisation and Theorem 4, on models whose answers are known: the constructions.
#include <torch/torch.h>

#include <QTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/analysis/analysis.h"
#include "core/analysis/inner_products.h"
#include "core/analysis/linear_map.h"
#include "core/analysis/probe_sequence.h"
#include "core/analysis/quantisation.h"
#include "core/analysis/state_read_out.h"
#include "core/analysis/theorem4.h"
#include "core/analysis/transition_counts.h"
#include "core/contract/lower_bound.h"
#include "core/theory/constructions.h"

using namespace mambarium;

namespace {

ExperimentConfig config_of(const std::string& assignments) {
  return config_from_share_string("mambarium1:" + assignments).config;
}

const std::string theorem1_settings =
    "model.kind=mamba_zero;model.d_model=4;model.d_state=2;model.expand=1;model.decay=one;model.readout=l1";

std::unique_ptr<SequenceModel> theorem1(std::int64_t states = 2) {
  return make_construction({.name = "theorem1", .states = states}, Engine::torch, Precision::float64);
}

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

QString refusal(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request) {
  try {
    inspect(model, config, request, 0);
  } catch (const std::invalid_argument& fault) {
    return QString::fromUtf8(fault.what());
  }
  return {};
}

// Theorem 1's model in plain arithmetic, with every count rounded to one of 2^bits values up to `greatest` of it.
double rounded_loss(std::span<const std::int32_t> tokens, std::int64_t bits, const std::array<double, 4>& greatest) {
  const double steps = std::exp2(static_cast<double>(bits)) - 1;
  std::array<double, 4> counts{};
  double loss = 0;
  for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
    if (t > 0) ++counts[index(2 * tokens[t - 1] + tokens[t])];
    const std::size_t context = index(2 * tokens[t]), next = index(tokens[t + 1]);
    loss -= std::log((counts[context + next] + 1) / (counts[context] + counts[context + 1] + 2));
    for (std::size_t cell = 0; cell < 4; ++cell)
      counts[cell] = std::min(std::nearbyint(counts[cell] / greatest[cell] * steps), steps) * greatest[cell] / steps;
  }
  return loss / static_cast<double>(tokens.size() - 1);
}

}  // namespace

class LookingInsideTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void countsAreThoseOfTheWholePrefix() {
    const std::vector<std::int32_t> tokens{0, 1, 1, 2, 0, 1, 1, 3, 1, 1, 0, 1, 1, 0};  // 3 switches
    const auto counts = transition_counts(tokens, 2, 3);
    QCOMPARE(counts.size(), tokens.size() * 27);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const auto start = t < 7 ? 0 : 8;
      for (std::int32_t i = 0; i < 27; ++i) {
        float found = 0;
        for (std::int64_t end = start + 2; end <= static_cast<std::int64_t>(t); ++end)
          if (9 * tokens[index(end - 2)] + 3 * tokens[index(end - 1)] + tokens[index(end)] == i) ++found;
        if (tokens[t] == 3) found = 0;
        QCOMPARE(counts[27 * t + index(i)], found);
      }
    }
  }

  void aLinearMapIsFoundAmongUselessColumns() {
    torch::manual_seed(3);
    const auto double_type = torch::TensorOptions().dtype(torch::kFloat64);
    const auto useful = torch::randn({200, 3}, double_type), weight = torch::randn({3, 2}, double_type);
    const auto y = torch::matmul(useful, weight) + 5;
    const auto x =
        torch::cat({useful, useful.select(1, 0).unsqueeze(1) * 1e6, torch::full({200, 1}, 7, double_type)}, 1);
    const LinearMap map(x.narrow(0, 0, 100), y.narrow(0, 0, 100));
    QVERIFY((map(x) - y).abs().max().item<double>() < 1e-8);
    QVERIFY(r_squared(y, map(x)) > 1 - 1e-15);
    QVERIFY(std::abs(r_squared(y, y.mean(0).expand_as(y))) < 1e-12);
    QVERIFY(std::isnan(r_squared(torch::ones({4, 2}), torch::zeros({4, 2}))));
    x[3][1] = std::numeric_limits<double>::infinity();
    QVERIFY_EXCEPTION_THROWN(LinearMap(x, y), std::invalid_argument);
  }

  void theorem1sStateHoldsTheCounts() {
    const auto config = config_of(theorem1_settings);
    const auto model = theorem1();
    const StateData data = inspect_state(*model, config, {.what = "state", .probe = 3}, 9);
    QCOMPARE(data.step, std::int64_t{9});
    const ProbeSequence probe = probe_sequence(config, 3);
    QVERIFY(std::ranges::equal(data.tokens, probe.inputs()));
    QCOMPARE(data.state.shape, (std::vector<std::int64_t>{128, 4, 2}));
    QCOMPARE(data.counts.shape, (std::vector<std::int64_t>{128, 2, 2}));
    QCOMPARE(data.counts.data, transition_counts(data.tokens, 1, 2));
    QVERIFY(1 - data.r_squared < 1e-9);
    QVERIFY(data.r_squared_tokens > 0.6 && data.r_squared_tokens < 0.75);
    for (std::int64_t t = 0; t < 128; ++t)
      for (std::int64_t i = 0; i < 2; ++i)
        for (std::int64_t j = 0; j < 2; ++j) {
          const float count = data.counts.data[index(4 * t + 2 * i + j)];
          QCOMPARE(data.state.data[index(8 * t + 2 * (2 * j + 1) + i)], count);
          QVERIFY(std::abs(data.read_out.data[index(4 * t + 2 * i + j)] - count) < 1e-4F);
        }
  }

  void aModelThatSeesOneTokenHasNoCounts() {
    const auto with = config_of("training.seed=1"), without = config_of("training.seed=1;model.conv=none");
    const double seen = inspect_state(*make_model(with), with, {.what = "state"}, 0).r_squared;
    const double unseen = inspect_state(*make_model(without), without, {.what = "state"}, 0).r_squared;
    qInfo("r squared of initial weights: %.4f, without a convolution %.4f", seen, unseen);
    QVERIFY(unseen < seen - 0.02);
    QVERIFY(seen < 1);
  }

  void layersAndHeadsAreChosen() {
    const auto config = config_of("model.layers=2;model.headdim=4;task.kind=switching;task.length=30");
    const auto model = make_model(config);
    const StateData data = inspect_state(*model, config, {.what = "state", .layer = 1, .head = 3}, 0);
    QCOMPARE(data.state.shape, (std::vector<std::int64_t>{30, 4, 8}));
    QCOMPARE(data.layer, std::int64_t{1});
    QCOMPARE(data.head, std::int64_t{3});
    QVERIFY(refusal(*model, config, {.what = "state", .layer = 2}).contains("layer 2"));
    QVERIFY(refusal(*model, config, {.what = "state", .head = 4}).contains("head 4"));
    QVERIFY(refusal(*model, config, {.what = "state", .probe = 8}).contains("probe 8"));
  }

  void modelsWithoutARecurrentStateSaySo() {
    for (const char* const kind : {"transformer", "ngram"}) {
      const auto config = config_of(std::string("task.length=8;model.kind=") + kind);
      const auto model = make_model(config);
      for (const char* const what : {"state", "inner_products", "quantisation"})
        QVERIFY2(refusal(*model, config, {.what = what}).contains("recurrent state"), what);
      QVERIFY(refusal(*model, config, {.what = "theorem4"}).isEmpty());
    }
  }

  void whatIsTooLargeForAReadOutIsRefused() {
    const auto large = config_of("model.d_model=64;model.d_state=64;task.length=4");
    QVERIFY(refusal(*make_model(large), large, {.what = "state"}).contains("8192 numbers"));
    const auto many = config_of("task.order=5;task.states=4;task.length=20");
    QVERIFY(refusal(*make_model(many), many, {.what = "state"}).contains("4096 counts"));
  }

  void theorem1sInnerProductsAreOneWhereThePastFits() {
    for (const std::int64_t states : {2, 3}) {
      const auto config = config_of(theorem1_settings + ";task.states=" + std::to_string(states));
      const InnerProductData data = inspect_inner_products(*theorem1(states), config, 0, 4);
      const std::int64_t count = states * states;
      QCOMPARE(data.products.shape, (std::vector<std::int64_t>{count, count}));
      QCOMPARE(data.windows[index(states + 1)], std::string("11"));
      QCOMPARE(data.windows[1], std::string("01"));
      for (std::int64_t v = 0; v < count; ++v)
        for (std::int64_t u = 0; u < count; ++u)
          QCOMPARE(data.products.data[index(v * count + u)], v / states == u % states ? 1.0F : 0.0F);
      QCOMPARE(inner_product_leak(*theorem1(states), config), 0.0);
    }
  }

  void theLeakIsTheMeanOverOtherContexts() {
    const auto config = config_of("model.d_conv=3");
    const auto model = make_model(config);
    const InnerProductData data = inspect_inner_products(*model, config, 0, 0);
    double other = 0, same = 0;
    for (std::size_t v = 0; v < 8; ++v)
      for (std::size_t u = 0; u < 8; ++u)
        (data.windows[v][1] == data.windows[u][2] ? same : other) += std::abs(data.products.data[8 * v + u]);
    const double leak = inner_product_leak(*model, config);
    QVERIFY2(std::abs(leak - other / same) < 1e-6 && leak > 0.1, qPrintable(QString::number(leak)));
    for (const char* const settings :
         {"model.conv=none", "model.d_conv=7", "model.kind=transformer", "task.order=3;model.d_conv=3"}) {
      const auto refused = config_of(settings);
      QVERIFY2(std::isnan(inner_product_leak(*make_model(refused), refused)), settings);
    }
  }

  void theReadOutAloneIsTheInspections() {
    const auto config = config_of("training.seed=1;task.length=40");
    const auto model = make_model(config);
    const StateData data = inspect_state(*model, config, {.what = "state"}, 0);
    const CountsReadOut found = counts_read_out(*model, config);
    QCOMPARE(found.from_state, data.r_squared);
    QCOMPARE(found.from_tokens, data.r_squared_tokens);
    const auto none = config_of("model.kind=ngram;task.length=8");
    QVERIFY(std::isnan(counts_read_out(*make_model(none), none).from_state));
  }

  void innerProductsOfOtherModels() {
    const auto none = config_of("model.conv=none");
    QCOMPARE(inspect_inner_products(*make_model(none), none, 0, 0).windows, (std::vector<std::string>{"0", "1"}));
    const auto wide = config_of("model.d_conv=7");
    QVERIFY(refusal(*make_model(wide), wide, {.what = "inner_products"}).contains("128 windows"));
    const auto deep = config_of("model.layers=2");
    QVERIFY(refusal(*make_model(deep), deep, {.what = "inner_products", .layer = 1}).contains("layer 1"));
    const auto letters = config_of("task.states=12;model.d_conv=1");
    QCOMPARE(inspect_inner_products(*make_model(letters), letters, 0, 0).windows[11], std::string("11"));
  }

  void quantisationIsThatOfPlainArithmetic() {
    const auto config = config_of(theorem1_settings + ";task.length=40");
    const QuantisationData data = inspect_quantisation(*theorem1(), config, 6);
    QCOMPARE(data.bits.size(), std::size_t{16});
    QCOMPARE(data.bits.front(), std::int64_t{2});
    QCOMPARE(data.bits[14], std::int64_t{16});
    QCOMPARE(data.bits.back(), std::int64_t{32});
    QCOMPARE(data.state_numbers, *recurrent_state_numbers(config));
    QVERIFY(std::abs(data.gap.back()) < 1e-9);

    const SequenceBatch batch = beside_the_probes(config, 0, 128);
    std::array<double, 4> greatest{};
    for (std::int64_t row = 0; row < 64; ++row) {
      const auto counts = transition_counts(batch.sequence(row).first(40), 1, 2);
      for (std::size_t i = 0; i < 4; ++i)
        greatest[i] = std::max(greatest[i], static_cast<double>(counts[counts.size() - 4 + i]));
    }
    const auto best = make_add_beta(1, 2, 1);
    for (std::size_t p = 0; p < 15; ++p) {
      double gap = 0;
      for (std::int64_t row = 64; row < 128; ++row)
        gap += (rounded_loss(batch.sequence(row), data.bits[p], greatest) - mean_loss(*best, batch.sequence(row))) / 64;
      QVERIFY2(std::abs(data.gap[p] - gap) < 1e-6, qPrintable(QString::number(data.bits[p])));
      QVERIFY(data.standard_error[p] > 0);
    }
    QVERIFY(data.gap[0] > 0.05);
  }

  void everyNumberOfTheStateIsCounted() {
    const auto config = config_of("model.layers=2;model.conv=x,C;model.d_conv=3;task.length=6");
    const QuantisationData data = inspect_quantisation(*make_model(config), config, 0);
    QCOMPARE(data.state_numbers, *recurrent_state_numbers(config));
  }

  void theorem4KeepsItsPromise() {
    const TheoremData data =
        inspect(*theorem1(), config_of(theorem1_settings), {.what = "theorem4"}, 0).get<TheoremData>();
    QCOMPARE(data.every_short.sequences, std::int64_t{1024});
    QCOMPARE(data.random_long.length, std::int64_t{200});
    for (const auto& found : {data.every_short, data.random_long}) {
      QVERIFY(found.largest <= data.epsilon);
      QVERIFY(found.largest > 1e-7 && found.mean > 0 && found.mean < found.largest);
    }
    const std::vector<float> taps{-0.0995037F, 1, 10.0498756F, 1, 8.950372F, 10.049876F};
    const std::vector<float> found{data.conv_x.data[0], data.conv_x.data[1],    data.conv_B.data[0],
                                   data.conv_B.data[1], data.embedding.data[0], data.embedding.data[1]};
    for (std::size_t i = 0; i < taps.size(); ++i) QVERIFY(std::abs(found[i] - taps[i]) < 2e-6F * std::abs(taps[i]));
    QVERIFY(inspect_theorem4(1e-4, 2).every_short.largest < data.every_short.largest);
    QVERIFY_EXCEPTION_THROWN(inspect_theorem4(1.5, 1), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(inspect_theorem4(0.1, 0), std::invalid_argument);
  }
};

QTEST_GUILESS_MAIN(LookingInsideTest)
#include "looking_inside_test.moc"
