#include "core/contract/property.h"

#include <QTest>
#include <algorithm>
#include <set>

#include "core/contract/experiment_config.h"
#include "core/contract/text.h"

using namespace mambarium;

class PropertyTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyLineOfTheTableIsComplete() {
    std::set<std::string_view> keys;
    const std::set<std::string_view> groups = {"Task", "Model", "Parts", "Coupling", "Training", "Run"};
    for (const Property& property : property_table()) {
      QVERIFY2(keys.insert(property.key).second, "a key stands twice");
      QCOMPARE(std::ranges::count(property.key, '.'), 1);
      QVERIFY(groups.contains(property.group));
      QVERIFY(!property.label.empty() && property.help.ends_with('.'));
      const bool has_choices = property.type == PropertyType::choice || property.type == PropertyType::choice_set;
      QCOMPARE(!property.choices.empty(), has_choices);
    }
  }

  void theKeysPeopleScriptAgainstAreThere() {
    for (const char* key : {"task.kind",
                            "task.order",
                            "task.states",
                            "task.beta",
                            "task.p_switch",
                            "task.length",
                            "model.kind",
                            "model.d_model",
                            "model.d_state",
                            "model.expand",
                            "model.headdim",
                            "model.layers",
                            "model.d_conv",
                            "model.conv",
                            "model.activation",
                            "model.gate",
                            "model.decay",
                            "model.norm",
                            "model.mlp",
                            "model.skip",
                            "model.readout",
                            "training.steps",
                            "training.batch",
                            "training.lr",
                            "training.schedule",
                            "training.weight_decay",
                            "training.clip",
                            "training.seed",
                            "training.eval_every",
                            "training.test_sequences",
                            "training.checkpoint_every",
                            "run.threads",
                            "run.device",
                            "run.out"})
      QVERIFY2(find_property(key) != nullptr, key);
    QVERIFY(find_property("model") == nullptr);
  }

  void everyDefaultIsAllowed() {
    for (const Property& property : property_table()) {
      ExperimentConfig config;
      QVERIFY(!config.set(property.key, property.default_value));
      QVERIFY(config.value(property.key) == property.default_value);
    }
    QVERIFY(ExperimentConfig().validate().empty());
  }

  void otherNamesAreOfChoicesAndNoChoicesThemselves() {
    for (const Property& property : property_table()) {
      QCOMPARE(property.other_names.empty(), property.other_names_text.empty());
      std::set<std::string_view> names;
      for (const auto& [name, choice] : property.other_names) {
        QVERIFY2(names.insert(name).second && std::ranges::count(property.choices, name) == 0,
                 std::string(name).c_str());
        QVERIFY2(std::ranges::count(property.choices, choice) == 1, std::string(choice).c_str());
      }
    }
    QCOMPARE(find_property("model.motif")->other_names.size(), std::size_t{26});
  }

  void conditionsNameKnownKeysAndPossibleValues() {
    for (const Property& property : property_table()) {
      if (property.applies_when.empty()) continue;
      for (const std::string_view clauses : split(property.applies_when, '|'))
        for (const std::string_view clause : split(clauses, '&')) {
          const std::size_t negation = clause.find("!="), equals = clause.find('=');
          const std::string key(trimmed(clause.substr(0, negation == std::string::npos ? equals : negation)));
          const std::string shown(clause);
          QVERIFY2(find_property(key) != nullptr, shown.c_str());
          QVERIFY2(!ExperimentConfig().set_from_string(key, trimmed(clause.substr(equals + 1))), shown.c_str());
        }
    }
  }

  void mistypedKeysFindTheirNeighbour() {
    QVERIFY(nearest_key("model.dconv") == "model.d_conv");
    QVERIFY(nearest_key("modle.d_state") == "model.d_state");
    QVERIFY(nearest_key("training.order") == "task.order");
    QVERIFY(nearest_key("lr") == "training.lr");
    QVERIFY(!nearest_key("wallpaper.colour"));
    QVERIFY(!nearest_key(""));
    QVERIFY(!nearest_key(std::string(1000, 'm')));
  }
};

QTEST_APPLESS_MAIN(PropertyTest)
#include "property_test.moc"
