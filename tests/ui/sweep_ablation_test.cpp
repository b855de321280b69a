// Which parts an ablation takes out, and the sweep file it writes.

#include <QFloat16>
#include <QTest>
#include <nlohmann/json.hpp>

#include "core/contract/model_start.h"
#include "ui/session/ablation.h"

using namespace mambarium;
using nlohmann::json;

namespace {

QStringList textsOf(const AblationPart& part) {
  QStringList texts;
  for (const PropertyValue& value : part.alternatives) texts << QString::fromStdString(value_to_string(value));
  return texts;
}

const AblationPart* find(const std::vector<AblationPart>& parts, const char* key) {
  for (const AblationPart& part : parts)
    if (part.key == key) return &part;
  return nullptr;
}

Ablation gateAndMlp() {
  Ablation ablation;
  ablation.config.set("training.seed", std::int64_t{4});
  ablation.seeds = 2;
  ablation.steps = 20;
  for (const char* const key : {"model.gate", "model.mlp"})
    ablation.parts.push_back(*find(ablationParts(ablation.config), key));
  return ablation;
}

}  // namespace

class SweepAblationTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void partsComeFromThePropertyTable() {
    ExperimentConfig config;
    const auto parts = ablationParts(config);
    for (const Property& property : property_table()) {
      const bool can = property.group == "Parts" && config.applies(property.key) &&
                       property.type != PropertyType::integer && property.type != PropertyType::real;
      QCOMPARE(find(parts, std::string(property.key).c_str()) != nullptr, can);
    }
    QCOMPARE(textsOf(*find(parts, "model.conv")), (QStringList{"B,C", "x,C", "x,B", "none"}));
    QCOMPARE(textsOf(*find(parts, "model.gate")), (QStringList{"off"}));
    QCOMPARE(textsOf(*find(parts, "model.activation")), (QStringList{"relu", "none"}));
    for (const AblationPart& part : parts)
      for (const PropertyValue& value : part.alternatives) {
        QVERIFY(value != part.present);
        QVERIFY2(!config.set(part.key, value), part.key.c_str());
      }
    ExperimentConfig bare;
    bare.set("model.kind", std::string("mamba_zero"));
    QVERIFY(!find(ablationParts(bare), "model.gate"));
    bare.set("model.conv", std::string("none"));
    QCOMPARE(textsOf(*find(ablationParts(bare), "model.conv")), (QStringList{"x,B,C"}));
  }

  void whatCouldNotBeTrainedIsNotOffered() {
    ConstructionSettings settings;
    settings.name = "theorem1";
    Ablation ablation{construction_config(settings), {}};
    QVERIFY(find(ablationParts(ablation.config), "model.decay"));
    QVERIFY(!ablation.config.set("model.start", settings.name));
    QVERIFY(ablation.config.validate().empty());
    QVERIFY(ablationParts(ablation.config).empty());
    QVERIFY2(obstacle(ablation).contains(QStringLiteral("no part")), qPrintable(obstacle(ablation)));

    ExperimentConfig of_gpu;
    of_gpu.set("run.device", std::string("cuda"));
    QVERIFY2(find(ablationParts(of_gpu), "model.conv_filters"), "a sweep trains on a device of its own");
  }

  void theFileIsASweepOfEveryCombination() {
    const Ablation ablation = gateAndMlp();
    QCOMPARE(ablation.combinations(), std::size_t{6});
    QCOMPARE(ablation.models(), std::size_t{12});
    QVERIFY(obstacle(ablation).isEmpty());
    const json document = json::parse(sweepFile(ablation).toStdString());
    QCOMPARE(document["grid"], (json{{"model.gate", {true, false}}, {"model.mlp", {"gated", "plain", "none"}}}));
    QCOMPARE(document["seeds"], (json{4, 5}));
    QCOMPARE(document["base"]["training"]["steps"], 20);
    QVERIFY(!document["base"].contains("run") && !document["base"]["training"].contains("seed"));
    QCOMPARE(document["title"], "Without Gate, MLP");
  }

  void equalAblationsHaveOneFolder() {
    Ablation ablation = gateAndMlp();
    const QString folder = folderName(ablation);
    QCOMPARE(folderName(gateAndMlp()), folder);
    ablation.steps = 21;
    QVERIFY(folderName(ablation) != folder);
  }

  void seedsEndWhereTheSettingDoes() {
    Ablation ablation = gateAndMlp();
    ablation.config.set("training.seed", std::int64_t{2147483647});
    QCOMPARE(json::parse(sweepFile(ablation).toStdString())["seeds"], (json{2147483646, 2147483647}));
  }

  void obstaclesAreSentences() {
    Ablation ablation = gateAndMlp();
    ablation.parts.clear();
    QVERIFY(obstacle(ablation).contains(QStringLiteral("at least one part")));
    ablation.parts = ablationParts(ablation.config);
    QVERIFY2(obstacle(ablation).contains(QStringLiteral("64 at most")), qPrintable(obstacle(ablation)));
    ablation = gateAndMlp();
    ablation.config.set("model.headdim", std::int64_t{7});
    QVERIFY(!obstacle(ablation).isEmpty());
  }
};

QTEST_GUILESS_MAIN(SweepAblationTest)
#include "sweep_ablation_test.moc"
