#include "core/contract/experiment_config.h"

#include <QFile>
#include <QFloat16>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <stdexcept>

#include "sentence.h"

using namespace mambarium;
using nlohmann::json;

namespace {

std::string random_text(const Property& property, std::mt19937& random) {
  const auto pick = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
  switch (property.type) {
    case PropertyType::boolean:
      return random() % 2 == 0 ? "on" : "off";
    case PropertyType::integer:
      return std::to_string(std::uniform_int_distribution(static_cast<std::int64_t>(property.minimum),
                                                          static_cast<std::int64_t>(property.maximum))(random));
    case PropertyType::real:
      return value_to_string(pick(property.minimum, property.maximum));
    case PropertyType::choice:
      return std::string(property.choices[random() % property.choices.size()]);
    case PropertyType::choice_set: {
      std::string items;
      for (std::string_view choice : property.choices)
        if (random() % 2 == 0) items.append(items.empty() ? "" : ",").append(choice);
      return items.empty() ? "none" : items;
    }
    case PropertyType::text:
      return "runs; 100 % of \u00fcber=" + std::to_string(random());
  }
  return "";
}

ExperimentConfig random_config(std::mt19937& random) {
  ExperimentConfig config;
  for (const Property& property : property_table()) config.set_from_string(property.key, random_text(property, random));
  return config;
}

void write(const QString& path, const QByteArray& content) {
  QFile file(path);
  QVERIFY(file.open(QIODevice::WriteOnly));
  file.write(content);
}

}  // namespace

class ExperimentConfigTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void randomConfigurationsSurviveEveryForm() {
    std::mt19937 random(1);
    for (int round = 0; round < 300; ++round) {
      const ExperimentConfig config = random_config(random);
      QVERIFY(config_from_json(to_json(config)).config == config);
      QVERIFY(config_from_json(json::parse(to_json(config).dump())).config == config);
      QVERIFY(config_from_json(json::from_cbor(json::to_cbor(to_json(config)))).config == config);
      QVERIFY(config_from_share_string(share_string(config)).config == config);
    }
  }

  void onlyDifferencesAreShared() {
    ExperimentConfig config;
    QCOMPARE(share_string(config), std::string("mambarium1:"));
    QVERIFY(!config.set("training.seed", std::int64_t{3}));
    QVERIFY(!config.set("model.conv", std::string("none")));
    QCOMPARE(share_string(config), std::string("mambarium1:model.conv=none;training.seed=3"));
  }

  void peopleMayTypeValuesTheirWay() {
    ExperimentConfig config;
    QVERIFY(!config.set_from_string("training.lr", " 2e-3 "));
    QCOMPARE(config.real("training.lr"), 0.002);
    QVERIFY(!config.set_from_string("training.steps", "1e4"));
    QCOMPARE(config.integer("training.steps"), std::int64_t{10000});
    QVERIFY(!config.set_from_string("model.conv", "B , x, x"));
    QCOMPARE(config.text("model.conv"), std::string("x,B"));
    QVERIFY(config.includes("model.conv", "x") && !config.includes("model.conv", "C"));
    QVERIFY(!config.set_from_string("model.gate", "no"));
    QVERIFY(!config.boolean("model.gate"));
    QVERIFY(!config.set("training.clip", std::int64_t{0}));
    QCOMPARE(config.real("training.clip"), 0.0);
  }

  void aRefusedValueLeavesTheOldOne() {
    const std::vector<std::pair<const char*, const char*>> refused = {
        {"task.order", "0"},      {"task.order", "1.5"},    {"task.order", "99999999999999999999"},
        {"task.beta", "0"},       {"task.beta", "nan"},     {"training.lr", "inf"},
        {"training.lr", "fast"},  {"training.lr", "2e-3x"}, {"model.kind", "Mamba2"},
        {"model.conv", "x,D"},    {"model.conv", ""},       {"model.conv", "none,x"},
        {"model.gate", "maybe"},  {"run.out", "  "},        {"run.out", "two\nlines"},
        {"training.batch", "-1"}, {"model.d_state", "0"},   {"training.test_sequences", "511"}};
    for (const auto& [key, typed] : refused) {
      ExperimentConfig config;
      const auto problem = config.set_from_string(key, typed);
      QVERIFY2(problem, typed);
      QVERIFY2(is_one_sentence(to_string(*problem)) && problem->where == key, to_string(*problem).c_str());
      QVERIFY(config == ExperimentConfig());
    }
    ExperimentConfig config;
    QCOMPARE(to_string(config.set_from_string("model.d_state", "0").value()),
             std::string("model.d_state: 0 is not a whole number from 1 to 1024"));
    QCOMPARE(to_string(config.set("model.activation", std::string("gelu")).value()),
             std::string("model.activation: \"gelu\" is not one of silu, relu, none"));
    QVERIFY(config.set("model.gate", std::int64_t{1}));
    QVERIFY(config.set("task.order", 1.0));
  }

  void accessByAWrongKeyOrTypeIsAProgrammingError() {
    const ExperimentConfig config;
    QVERIFY_EXCEPTION_THROWN(config.value("task.odour"), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(config.real("task.order"), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(config.includes("model.conv", "D"), std::logic_error);
    QVERIFY_EXCEPTION_THROWN(ExperimentConfig().set("task.odour", true), std::logic_error);
  }

  void settingsApplyOrNot() {
    ExperimentConfig config;
    QVERIFY(config.applies("model.d_conv") && config.applies("model.gate"));
    QVERIFY(!config.set_from_string("model.conv", "none"));
    QVERIFY(!config.applies("model.d_conv"));
    QVERIFY(!config.set_from_string("model.kind", "mamba_zero"));
    for (const char* off : {"model.activation", "model.gate", "model.norm", "model.mlp", "model.skip"})
      QVERIFY2(!config.applies(off), off);
    QVERIFY(config.applies("model.decay") && config.applies("model.readout") && config.applies("model.conv"));
    QVERIFY(!config.applies("task.p_switch"));
    QVERIFY(!config.set_from_string("task.kind", "switching"));
    QVERIFY(config.applies("task.p_switch") && config.applies("task.order") && config.applies("task.beta"));
    QVERIFY(!config.set_from_string("model.kind", "transformer"));
    for (const char* of_mamba : {"model.d_state", "model.expand", "model.conv", "model.decay", "model.gate"})
      QVERIFY2(!config.applies(of_mamba), of_mamba);
    QVERIFY(config.applies("model.attention") && config.applies("model.conv_qkv") && config.applies("model.headdim"));
  }

  // The condition of the table, in words: what is not met, of the alternative that is nearest to being met.
  void whatHasNoEffectSaysWhy_data() {
    QTest::addColumn<QString>("share");
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("sentence");
    const auto row = [](const char* share, const char* key, const char* why) {
      const std::string sentence = std::string(key) + " has no effect here: " + why + ".";
      QTest::newRow(share) << share << key << (*why == '\0' ? QString() : QString::fromStdString(sentence));
    };
    row("model.rank=3", "model.rank", "model.coupling is none");
    row("model.motif=021U", "model.motif", "model.coupling is none");
    row("model.motif_beta=7", "model.motif_beta", "model.coupling is none");
    row("model.coupling=etd;model.motif_beta=7", "model.motif_beta", "model.motif is none");
    row("model.coupling=etd;model.motif=FRP;model.motif_fraction=0.5", "model.motif_fraction", "model.motif is FRP");
    row("task.trials=300", "task.trials", "task.kind is markov");
    row("task.kind=decoding;task.recording=windows;task.trials=300", "task.trials", "task.recording is windows");
    row("model.kind=lstm;model.d_conv=3", "model.d_conv", "model.kind is lstm");
    row("model.conv=none;model.d_conv=3", "model.d_conv", "model.conv is none and model.kind is mamba2");
    row("task.kind=decoding;model.start=theorem1", "model.start", "task.kind is decoding");
    row("model.decay=one;model.coupling=etd;model.coupling_cap=0.9", "model.coupling_cap", "model.decay is one");
    row("model.coupling=etd;model.rank=3", "model.rank", "");
    row("model.rank=2", "model.rank", "");
    row("model.conv=none;model.d_conv=3;model.rank=3", "training.lr", "");
  }
  void whatHasNoEffectSaysWhy() {
    QFETCH(QString, share);
    QFETCH(QString, key);
    QFETCH(QString, sentence);
    const ExperimentConfig config = config_from_share_string("mambarium1:" + share.toStdString()).config;
    const std::vector<std::string> keys = {key.toStdString()};
    QStringList sentences;
    for (const std::string& one : without_effect(config, keys)) sentences << QString::fromStdString(one);
    QCOMPARE(sentences, sentence.isEmpty() ? QStringList() : QStringList{sentence});
  }

  void whatHasNoEffectIsToldOnceForEachInTheTablesOrder() {
    const auto config = config_from_share_string("mambarium1:model.rank=3;task.trials=300;model.motif=210").config;
    const std::vector<std::string> keys = {"model.motif", "model.rank", "task.trials", "model.rank", "model.kind"};
    const std::vector<std::string> sentences = without_effect(config, keys);
    QCOMPARE(sentences.size(), std::size_t{3});
    QVERIFY(mentions(sentences[0], "task.trials") && mentions(sentences[1], "model.rank") &&
            mentions(sentences[2], "model.motif"));
  }

  void aFileNamesItsSettings() {
    const ParsedConfig parsed = config_from_json({{"task", {{"order", 2}}}, {"model", {{"rank", 99}, {"d_conv", 3}}}});
    QVERIFY(parsed.problems.size() == 1 && mentions(parsed.problems[0].where, "model.rank"));
    QVERIFY(
        (std::set(parsed.named.begin(), parsed.named.end()) == std::set<std::string>{"task.order", "model.d_conv"}));
    QCOMPARE(config_from_json(to_json(ExperimentConfig())).named.size(), property_table().size());
  }

  // By MAN name, by the number of the paper, by both; in any case of letters.
  void aMotifHasSeveralNames_data() {
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("stored");
    const Property& motif = *find_property("model.motif");
    for (int number = 1; number <= 13; ++number) {
      const std::string_view choice = motif.choices[static_cast<std::size_t>(number)];
      const QString name = QString::fromLatin1(choice.data(), static_cast<qsizetype>(choice.size()));
      for (const QString& typed : {name, QString::number(number), QString("Motif-%1").arg(number)})
        QTest::newRow(qPrintable(typed)) << typed << name;
    }
    for (const char* const other : {"none", "FRP", "profile"}) QTest::newRow(other) << other << other;
    QTest::newRow("lower case") << " motif-12 "
                                << "210";
    for (const char* const wrong : {"0", "14", "02", "Motif-14", "Motif-", "Motif2x", "-2", "2.0", "003", ""})
      QTest::newRow(qPrintable(QString("not ") + wrong)) << wrong << QString();
  }
  void aMotifHasSeveralNames() {
    QFETCH(QString, typed);
    QFETCH(QString, stored);
    ExperimentConfig config;
    const auto problem = config.set_from_string("model.motif", typed.toStdString());
    QCOMPARE(problem.has_value(), stored.isEmpty());
    QCOMPARE(QString::fromStdString(config.text("model.motif")), stored.isEmpty() ? QString("none") : stored);
    if (problem) QVERIFY2(mentions(problem->message, "1 to 13, also as Motif-2"), problem->message.c_str());
  }

  void aMotifIsANumberInAFileToo() {
    const auto read = [](const json& motif) {
      return config_from_json({{"model", {{"coupling", "etd"}, {"d_state", 4}, {"motif", motif}}}});
    };
    for (const auto& [motif, name] :
         {std::pair<json, const char*>{2, "021U"}, {12, "210"}, {"Motif-3", "021C"}, {201, "201"}}) {
      QVERIFY2(read(motif).problems.empty(), motif.dump().c_str());
      QCOMPARE(read(motif).config.text("model.motif"), std::string(name));
    }
    for (const json& motif : {json(14), json(2.5), json(true), json(nullptr)})
      QCOMPARE(read(motif).problems.size(), std::size_t{1});
    QVERIFY2(config_from_json({{"model", {{"kind", 2}}}}).problems.size() == 1, "other choices have no numbers");
  }

  void aMotifNeedsThreeStates() {
    const auto problems = [](const char* settings) {
      return config_from_share_string(std::string("mambarium1:model.coupling=etd;model.rank=1;") + settings).problems;
    };
    for (const char* const few : {"model.motif=021U;model.d_state=2", "model.motif=AVE;model.d_state=1"}) {
      QCOMPARE(problems(few).size(), std::size_t{1});
      QCOMPARE(problems(few)[0].where, std::string("model.d_state"));
      QVERIFY2(mentions(problems(few)[0].message, "a triad needs 3 nodes"), problems(few)[0].message.c_str());
      QVERIFY(is_one_sentence(to_string(problems(few)[0])));
    }
    QVERIFY(problems("model.motif=021U;model.d_state=3").empty());
    QVERIFY2(problems("model.d_state=2").empty(), "without a motif there is nothing to wire");
  }

  void theWindowIsOfEitherConvolution() {
    const auto applies = [](const char* settings) {
      return config_from_share_string(std::string("mambarium1:") + settings).config.applies("model.d_conv");
    };
    QVERIFY(applies("model.conv=B") && applies("model.kind=mamba_zero;model.conv_qkv=K"));
    QVERIFY(!applies("model.conv=none;model.conv_qkv=K"));
    QVERIFY(applies("model.kind=transformer;model.conv=none;model.conv_qkv=K"));
    QVERIFY(!applies("model.kind=transformer;model.conv=x"));
  }

  void attentionTakesTheSquareOfTheLength() {
    const auto bytes = [](const char* settings) {
      return estimated_bytes(
          config_from_share_string(std::string("mambarium1:model.kind=transformer;") + settings).config);
    };
    const double one = bytes("task.length=4096"), two = bytes("task.length=4096;model.layers=2");
    QVERIFY(two - one > 4.0 * 64 * 4096 * 4096 && two - one < 1.2 * 4.0 * 64 * 4096 * 4096);
    QVERIFY(bytes("task.length=4096;model.headdim=4") > 1.9 * one);
    QVERIFY(bytes("task.length=4096;model.attention=linear") < 0.1 * one);
  }

  void theSwitchTokenIsTheLastOfTheAlphabet() {
    ExperimentConfig config = config_from_share_string("mambarium1:task.states=4;task.beta=0.5").config;
    QCOMPARE(alphabet_of(config), std::int64_t{4});
    QVERIFY(!switch_token_of(config));
    QCOMPARE(best_predictor_name(config), std::string("add-0.5"));
    QVERIFY(!config.set_from_string("task.kind", "switching"));
    QCOMPARE(alphabet_of(config), std::int64_t{5});
    QCOMPARE(switch_token_of(config).value(), 4);
    QCOMPARE(best_predictor_name(config), std::string("Bayes"));
  }

  void whatDoesNotFitTogetherIsOneSentence_data() {
    QTest::addColumn<QString>("share");
    QTest::addColumn<QString>("where");
    QTest::addColumn<QString>("says");
    QTest::newRow("headdim") << "model.headdim=5"
                             << "model.headdim"
                             << "5 does not divide d_inner = expand x d_model = 16";
    QTest::newRow("headdim above d_inner") << "model.headdim=32"
                                           << "model.headdim"
                                           << "16";
    QTest::newRow("contexts") << "task.order=8;task.states=64"
                              << "task.order"
                              << "order can be 2 at most";
    QTest::newRow("just too many") << "task.order=4;task.states=32"
                                   << "task.order"
                                   << "order can be 3 at most";
    QTest::newRow("short") << "task.order=8;task.length=8"
                           << "task.length"
                           << "must be above the order";
    QTest::newRow("memory") << "training.batch=65536;task.length=65536"
                            << "training.batch"
                            << "GiB";
    QTest::newRow("a kernel after every switch") << "task.kind=switching;task.order=4;task.states=16;task.p_switch=0.5;"
                                                    "task.length=4096"
                                                 << "training.batch"
                                                 << "GiB";
    QTest::newRow("switching, short") << "task.kind=switching;task.order=8;task.length=8"
                                      << "task.length"
                                      << "must be above the order";
    QTest::newRow("never switches") << "task.kind=switching;task.p_switch=0"
                                    << "task.p_switch"
                                    << "a number above 0 and up to 0.5";
    QTest::newRow("switches too often") << "task.p_switch=0.6"
                                        << "task.p_switch"
                                        << "a number above 0 and up to 0.5";
    QTest::newRow("weights") << "model.d_model=4096;model.layers=64;model.expand=16"
                             << "training.batch"
                             << "GiB";
  }
  void whatDoesNotFitTogetherIsOneSentence() {
    QFETCH(QString, share);
    QFETCH(QString, where);
    QFETCH(QString, says);
    const auto parsed = config_from_share_string("mambarium1:" + share.toStdString());
    QCOMPARE(parsed.problems.size(), std::size_t{1});
    QCOMPARE(QString::fromStdString(parsed.problems[0].where), where);
    QVERIFY2(is_one_sentence(parsed.problems[0].message), parsed.problems[0].message.c_str());
    QVERIFY2(mentions(parsed.problems[0].message, says.toStdString()), parsed.problems[0].message.c_str());
  }

  void whatJustFitsIsAllowed() {
    for (const char* share :
         {"task.order=8;task.length=9", "task.states=64;task.order=2", "model.headdim=16", "model.headdim=1",
          "task.order=3;task.states=32", "task.length=65536;training.batch=16"}) {
      const auto parsed = config_from_share_string(std::string("mambarium1:") + share);
      QVERIFY2(parsed.problems.empty(), to_string(parsed.problems).c_str());
    }
  }

  void allProblemsComeAtOnce() {
    const auto parsed = config_from_json(json::parse(R"({
      "task": {"order": 0, "states": "two", "beta": 0.5},
      "model": {"dconv": 3, "headdim": 7, "gate": null, "d_state": 16},
      "training": {"steps": 10.5, "seed": 18446744073709551615},
      "extra": {}, "run": 3})"));
    std::vector<std::string> where;
    for (const Problem& problem : parsed.problems) {
      QVERIFY2(is_one_sentence(to_string(problem)), to_string(problem).c_str());
      where.push_back(problem.where);
    }
    std::ranges::sort(where);
    QCOMPARE(where, (std::vector<std::string>{"extra", "model.dconv", "model.gate", "model.headdim", "run",
                                              "task.order", "task.states", "training.seed", "training.steps"}));
    QCOMPARE(parsed.config.real("task.beta"), 0.5);
    QCOMPARE(parsed.config.integer("model.d_state"), std::int64_t{16});
    QCOMPARE(parsed.config.integer("task.order"), std::int64_t{1});
    QVERIFY(mentions(to_string(parsed.problems), "did you mean model.d_conv?"));
  }

  void invalidDocumentsGiveOneSentenceEach_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("says");
    QTest::newRow("empty") << QByteArray("") << "not valid JSON at line 1, column 1";
    QTest::newRow("cut") << QByteArray("{\n  \"task\": {\"order\": ") << "line 2";
    QTest::newRow("comma") << QByteArray("{\"task\": {\"order\": 1,}}") << "line 1, column 22";
    QTest::newRow("infinite") << QByteArray("{\"task\": {\"beta\": 1e999}}") << "too large";
    QTest::newRow("not utf-8") << QByteArray("{\"task\": \"\xff\"}") << "not valid JSON";
    QTest::newRow("a list") << QByteArray("[1]") << "a list is not a map of settings";
    QTest::newRow("a number") << QByteArray("7") << "7 is not a map";
    QTest::newRow("null") << QByteArray("null") << "null is not a map";
    QTest::newRow("flat") << QByteArray("{\"task.order\": 1}") << "write {\"task\": {\"order\": ...}}";
    QTest::newRow("section") << QByteArray("{\"tsak\": {\"order\": 1}}") << "no such setting";
    QTest::newRow("no map") << QByteArray("{\"task\": [1]}") << "a list is not a map of the settings of task";
    QTest::newRow("unknown") << QByteArray("{\"task\": {\"ordr\": 1}}") << "did you mean task.order?";
    QTest::newRow("text") << QByteArray("{\"task\": {\"order\": \"1\"}}") << "\"1\" is not a whole number from 1 to 8";
    QTest::newRow("range") << QByteArray("{\"task\": {\"order\": 9}}") << "9 is not a whole number from 1 to 8";
    QTest::newRow("map") << QByteArray("{\"task\": {\"order\": {}}}") << "a map is not a whole number";
    QTest::newRow("deep") << QByteArray("{\"task\": ") + QByteArray(100000, '[') << "not valid JSON";
  }
  void invalidDocumentsGiveOneSentenceEach() {
    QFETCH(QByteArray, text);
    QFETCH(QString, says);
    const QTemporaryDir folder;
    const QString path = folder.filePath("experiment.json");
    write(path, text);
    const auto parsed = config_from_file(path.toStdString());
    QCOMPARE(parsed.problems.size(), std::size_t{1});
    const std::string sentence = to_string(parsed.problems[0]);
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, path.toStdString()), sentence.c_str());
    QVERIFY2(mentions(sentence, says.toStdString()), sentence.c_str());
    QVERIFY(parsed.config == ExperimentConfig());
  }

  void unreadableFilesGiveOneSentenceEach() {
    const QTemporaryDir folder;
    for (const QString& path : {folder.filePath("absent.json"), folder.path()}) {
      const auto parsed = config_from_file(path.toStdString());
      QCOMPARE(parsed.problems.size(), std::size_t{1});
      QVERIFY(is_one_sentence(to_string(parsed.problems[0])));
    }
  }

  void badShareStringsGiveOneSentenceEach() {
    for (const char* text : {"", "mambarium2:task.order=1", "task.order=2", "mambarium1:task.order",
                             "mambarium1:task.ordr=2", "mambarium1:task.order=two", "mambarium1:run.out=%4",
                             "mambarium1:run.out=%zz", "mambarium1:;", "mambarium1:=1"}) {
      const auto parsed = config_from_share_string(text);
      QVERIFY2(parsed.problems.size() == (std::string_view(text) == "mambarium1:;" ? 2 : 1), text);
      QVERIFY2(is_one_sentence(to_string(parsed.problems[0])), to_string(parsed.problems[0]).c_str());
    }
  }

  void aWholeRealInJsonIsAWholeNumber() {
    const auto parsed = config_from_json(json::parse(R"({"training": {"steps": 2e3, "lr": 1}})"));
    QVERIFY2(parsed.problems.empty(), to_string(parsed.problems).c_str());
    QCOMPARE(parsed.config.integer("training.steps"), std::int64_t{2000});
    QCOMPARE(parsed.config.real("training.lr"), 1.0);
  }

  void derivedSizes() {
    ExperimentConfig config;
    QCOMPARE(d_inner_of(config), std::int64_t{16});
    QCOMPARE(headdim_of(config), std::int64_t{16});
    QVERIFY(!config.set("model.headdim", std::int64_t{4}));
    QCOMPARE(headdim_of(config), std::int64_t{4});
  }

  void theSettingsPageIsCurrent() {
    QFile page(MAMBARIUM_SOURCE_DIR "/docs/settings.md");
    QVERIFY(page.open(QIODevice::ReadOnly));
    QVERIFY2(page.readAll().toStdString() == settings_markdown(),
             "docs/settings.md differs from the property table: mambarium-worker settings > docs/settings.md");
    for (const Property& property : property_table())
      QVERIFY(mentions(settings_markdown(), std::string("`").append(property.key).append("`")));
  }
};

QTEST_APPLESS_MAIN(ExperimentConfigTest)
#include "experiment_config_test.moc"
