#include "core/contract/model_start.h"

#include <QTest>
#include <stdexcept>

#include "sentence.h"

using namespace mambarium;

namespace {

std::vector<Problem> problems_of(const char* assignments) {
  return config_from_share_string(std::string("mambarium1:") + assignments).problems;
}

}  // namespace

class ModelStartTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void randomWeightsNeedNothing() {
    QVERIFY(!start_of(ExperimentConfig()).has_value());
    QVERIFY(!start_problem(ExperimentConfig()).has_value());
  }

  void everyConstructionHasAConfiguration() {
    for (const std::string& name : construction_names()) {
      ExperimentConfig config = construction_config({.name = name});
      QVERIFY(!config.set("model.start", name).has_value());
      QVERIFY2(config.validate().empty(), name.c_str());
      QCOMPARE(start_of(config)->name, name);
      QVERIFY(!config.set("model.d_state", std::int64_t{7}).has_value());
      QVERIFY(start_problem(config)->message.find("model.d_state=2,") != std::string::npos);
    }
    const ExperimentConfig third = construction_config({.name = "higher_order", .order = 3});
    QCOMPARE(third.integer("model.d_state"), std::int64_t{8});
    QCOMPARE(third.integer("model.d_conv"), std::int64_t{4});
  }

  void allOtherSettingsStandInOneSentence() {
    const auto problems = problems_of("model.start=theorem1");
    QCOMPARE(problems.size(), std::size_t{1});
    QCOMPARE(problems[0].where, std::string("model.start"));
    QVERIFY(is_one_sentence(problems[0].message));
    for (const char* const needed : {"model.kind=mamba_zero", "model.d_model=4", "model.d_state=2", "model.expand=1",
                                     "model.decay=one", "model.readout=l1", "model.start=random"})
      QVERIFY2(mentions(problems[0].message, needed), problems[0].message.c_str());
    QVERIFY(!mentions(problems[0].message, "model.d_conv"));
    QVERIFY(!mentions(problems[0].message, "model.gate"));
  }

  void tasksWithoutAConstructionAreNamed() {
    QVERIFY(mentions(problems_of("model.start=theorem1;task.order=2")[0].message, "order 1, not 2"));
    QVERIFY(mentions(problems_of("model.start=theorem4;task.states=3")[0].message, "2 states"));
    QVERIFY(mentions(problems_of("model.start=switching")[0].message, "task.kind=switching"));
    QVERIFY(mentions(problems_of("model.start=theorem1;task.kind=switching")[0].message, "task.kind=markov"));
  }

  void otherKindsOfModelHaveNoStart() {
    QVERIFY(problems_of("model.start=theorem1;model.kind=transformer").empty());
    QVERIFY(!start_of(config_from_share_string("mambarium1:model.start=theorem1;model.kind=ngram").config));
  }

  void filtersAreThoseOfChannels() {
    ExperimentConfig config = construction_config({.name = "theorem1"});
    config.set("model.start", std::string("theorem1"));
    config.set("model.conv_filters", std::string("fixed"));
    QVERIFY(mentions(start_problem(config)->message, "model.conv_filters=per_channel"));
  }

  void headsOtherThanOneAreNamed() {
    ExperimentConfig config = construction_config({.name = "theorem1"});
    config.set("model.start", std::string("theorem1"));
    config.set("model.headdim", std::int64_t{4});
    QVERIFY(!start_problem(config).has_value());
    config.set("model.headdim", std::int64_t{2});
    QVERIFY(mentions(start_problem(config)->message, "model.headdim=0"));
  }

  void sizesOutOfRangeAreRefused() {
    QVERIFY_EXCEPTION_THROWN(construction_config({.name = "higher_order", .states = 40, .order = 2}),
                             std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(construction_config({.name = "theorem2"}), std::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(ModelStartTest)
#include "model_start_test.moc"
