// The wiring of whole models: means of the censuses of their couplings, and how these were warmed up.
#include "core/analysis/coupling_census.h"

#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <map>
#include <stdexcept>

#include "core/models/coupled_model.h"
#include "core/models/layer_coupling.h"
#include "core/models/parameter.h"
#include "core/motif/adjacency.h"
#include "core/motif/census.h"
#include "core/motif/soft_census.h"

using namespace mambarium;

namespace {

ExperimentConfig config_with(std::initializer_list<std::pair<const char*, const char*>> more) {
  ExperimentConfig config;
  const auto set = [&](const char* key, const char* value) {
    if (config.set_from_string(key, value)) throw std::logic_error(key);
  };
  for (const auto& [key, value] : {std::pair{"model.kind", "mamba1"},
                                   {"model.d_model", "4"},
                                   {"model.d_state", "8"},
                                   {"model.layers", "2"},
                                   {"model.coupling", "euler"},
                                   {"model.rank", "3"}})
    set(key, value);
  for (const auto& [key, value] : more) set(key, value);
  return config;
}

// M = k P Q of every coupling, by LibTorch and from the parameters' names alone.
std::vector<at::Tensor> matrices_of(SequenceModel& model) {
  std::map<std::string, at::Tensor> weights;
  for (const Parameter& parameter : model.parameters())
    weights[parameter.name] = parameter.tensor.detach().to(torch::kFloat64);
  std::vector<at::Tensor> all;
  for (const char* const layer : {"layers.0.coupling.", "layers.1.coupling."}) {
    const auto P = weights.at(std::string(layer) + "P"), Q = weights.at(std::string(layer) + "Q");
    const auto k = weights.at(std::string(layer) + "k");
    const auto M = torch::matmul(P, Q) * (k.dim() == 0 ? k : k.view({-1, 1, 1}));
    for (const at::Tensor& own : M.dim() == 2 ? std::vector{M} : M.unbind()) all.push_back(own.contiguous());
  }
  return all;
}

}  // namespace

class CouplingCensusTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void itIsTheMeanOverLayersAndChannels_data() {
    QTest::addColumn<QByteArray>("of");
    QTest::addColumn<int>("couplings");
    QTest::newRow("one of every layer") << QByteArray("layer") << 2;
    QTest::newRow("one of every channel") << QByteArray("channel") << 16;
  }
  void itIsTheMeanOverLayersAndChannels() {
    QFETCH(QByteArray, of);
    QFETCH(int, couplings);
    const ExperimentConfig config =
        config_with({{"model.coupling_of", of.constData()}, {"model.motif", "MOP"}, {"model.motif_warmup", "200"}});
    const auto model = make_model(config);
    model->coupled()->warm_up();
    const std::vector<at::Tensor> matrices = matrices_of(*model);
    QCOMPARE(matrices.size(), static_cast<std::size_t>(couplings));
    CouplingCensus expected;
    for (const at::Tensor& matrix : matrices) {
      const std::vector<double> M(matrix.data_ptr<double>(), matrix.data_ptr<double>() + 64);
      const HardCensus hard = hard_census(hard_adjacency(M, 8, {}), 8);
      const Census soft = SoftCensus(soft_adjacency(M, 8, {}), 8).counts();
      // MOP asks for Motif-11 (120C) and Motif-12 (210); 56 triples.
      expected.hard_share += static_cast<double>(hard[10] + hard[11]) / 56 / couplings;
      expected.soft_share += (soft[10] + soft[11]) / 56 / couplings;
      expected.cycle_hard_share += static_cast<double>(hard[9]) / 56 / couplings;
    }
    QVERIFY(expected.hard_share > 0.02);
    const auto census = coupling_census(*model, config);
    QVERIFY(census.has_value());
    // M in double from float32 numbers, multiplied in another order.
    QVERIFY(std::abs(census->hard_share - expected.hard_share) < 1e-12);
    QVERIFY(std::abs(census->soft_share - expected.soft_share) < 1e-9);
    QVERIFY(std::abs(census->cycle_hard_share - expected.cycle_hard_share) < 1e-12);
  }

  void withoutAMotifNoneIsAskedFor() {
    const ExperimentConfig config = config_with({});
    const auto model = make_model(config);
    const auto census = coupling_census(*model, config);
    QVERIFY(census && std::isnan(census->hard_share) && std::isnan(census->soft_share));
    QCOMPARE(census->cycle_hard_share, 0.0);
    const ExperimentConfig plain = config_with({{"model.coupling", "none"}});
    QVERIFY(!coupling_census(*make_model(plain), plain));
  }

  void theWarmUpSaysHowItWent() {
    const ExperimentConfig config = config_with({{"model.motif", "021U"}, {"model.motif_warmup", "400"}});
    const CouplingOptions options = coupling_options(config);
    const auto model = make_model(config);
    WarmUpRecord expected;
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      const CoupledModel::Parts parts = model->coupled()->coupling(layer, 0);
      const WarmUpResult result = run_warm_up({.n = 8, .rank = 3, .p = parts.P, .q = parts.Q, .k = parts.scale},
                                              *options.target, options.motif, {.max_steps = 400});
      expected.steps += static_cast<double>(result.steps) / 2;
      expected.reached += result.reached ? 0.5 : 0.0;
    }
    QVERIFY(expected.steps > 50);
    QVERIFY(model->coupled()->warm_up() == expected);
  }

  void whereNoneIsAllowedNoneIsTaken() {
    const auto model = make_model(config_with({{"model.motif", "021U"}, {"model.motif_warmup", "0"}}));
    const std::vector<at::Tensor> before = matrices_of(*model);
    QVERIFY(!model->coupled()->warm_up());
    const std::vector<at::Tensor> after = matrices_of(*model);
    for (std::size_t index = 0; index < before.size(); ++index) QVERIFY(torch::equal(before[index], after[index]));
    QVERIFY(!make_model(config_with({}))->coupled()->warm_up());
  }
};

QTEST_APPLESS_MAIN(CouplingCensusTest)
#include "coupling_census_test.moc"
