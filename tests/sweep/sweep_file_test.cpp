#include "core/sweep/sweep_file.h"

#include <QTest>
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "../contract/sentence.h"
#include "core/sweep/sweep_points.h"

using namespace mambarium;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json example() {
  return json::parse(R"({
    "name": "example", "title": "An example",
    "base": {"task": {"length": 32}, "training": {"steps": 20}},
    "grid": {"model.d_conv": [2, 3], "task.order": [1, 2, 3]},
    "linked": [{"model.d_state": [2, 4], "model.d_model": [2, 4]}],
    "cases": [{"label": "full", "settings": {}},
              {"label": "no gate", "settings": {"model": {"gate": false, "norm": "none"}}}],
    "seeds": [5, 6]})");
}

ParsedSweep parsed(const json& document) {
  return sweep_from_json(document, "s.json");
}

std::vector<std::string> problems_of(const char* text) {
  std::vector<std::string> all;
  for (const Problem& problem : parsed(json::parse(text)).problems) all.push_back(to_string(problem));
  return all;
}

std::set<std::string> ids_of(const json& document) {
  std::set<std::string> ids;
  for (const SweepPoint& point : parsed(document).points) ids.insert(point.id);
  return ids;
}

std::string hash_in(const std::string& id) {
  return id.substr(id.rfind('_') + 1);
}

}  // namespace

class SweepFileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void axesStandInOneOrder() {
    const ParsedSweep read = parsed(example());
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    const auto& axes = read.sweep.axes;
    QCOMPARE(axes.size(), std::size_t{4});
    QVERIFY(axes[0] == (SweepAxis{"task.order", "Order k", {"task.order"}, {"1", "2", "3"}, {1, 2, 3}}));
    QVERIFY(axes[1] == (SweepAxis{"model.d_conv", "Window w", {"model.d_conv"}, {"2", "3"}, {2, 3}}));
    QVERIFY(axes[2] == (SweepAxis{"model.d_model+model.d_state",
                                  "Width d_model = State size d_state",
                                  {"model.d_model", "model.d_state"},
                                  {"2", "4"},
                                  {2, 4}}));
    QVERIFY(axes[3] == (SweepAxis{"case", "Case", {"model.gate", "model.norm"}, {"full", "no gate"}, {}}));
    QCOMPARE(read.sweep.keys, (std::vector<std::string>{"task.order", "model.d_model", "model.d_state", "model.d_conv",
                                                        "model.gate", "model.norm"}));
  }

  void pointsAreAllCombinationsTheSeedFastest() {
    const ParsedSweep read = parsed(example());
    QCOMPARE(read.points.size(), std::size_t{3 * 2 * 2 * 2 * 2});
    std::size_t index = 0;
    for (const std::int64_t order : {1, 2, 3})
      for (const std::int64_t d_conv : {2, 3})
        for (const std::int64_t width : {2, 4})
          for (const bool gate : {true, false})
            for (const std::int64_t seed : {5, 6}) {
              const SweepPoint& point = read.points[index++];
              QCOMPARE(point.config.integer("task.order"), order);
              QCOMPARE(point.config.integer("model.d_conv"), d_conv);
              QCOMPARE(point.config.integer("model.d_model"), width);
              QCOMPARE(point.config.integer("model.d_state"), width);
              QCOMPARE(point.config.boolean("model.gate"), gate);
              QCOMPARE(point.config.integer("training.seed"), seed);
              QCOMPARE(point.seed, seed);
              QCOMPARE(point.config.integer("task.length"), std::int64_t{32});
            }
    QCOMPARE(place_in_words(read.sweep, read.points[1]),
             std::string("task.order 1, model.d_conv 2, model.d_model+model.d_state 2, case full, seed 6"));
  }

  void aPointIsNamedByItsWholeConfiguration() {
    const auto ids = ids_of(example());
    QCOMPARE(ids.size(), std::size_t{48});
    QVERIFY(parsed(example()).points[2].id.starts_with("order-1_d_conv-2_d_model-2_no-gate_seed-5_"));
    QVERIFY2(ids == ids_of(example()), "twice the same");

    json more = example();
    more["seeds"] = {5, 6, 7};
    more["grid"]["task.order"] = {4, 1, 2, 3};
    more["title"] = "The same, and more";
    more["base"]["model"]["headdim"] = 0;
    const auto more_ids = ids_of(more);
    QVERIFY2(std::ranges::includes(more_ids, ids), "points that were there keep their names");

    json changed = example();
    changed["base"]["training"]["lr"] = 0.001;
    std::vector<std::string> common;
    std::ranges::set_intersection(ids, ids_of(changed), std::back_inserter(common));
    QVERIFY2(common.empty(), "a changed experiment is another one");

    const json plain = {{"name", "plain"}, {"base", example()["base"]}, {"seeds", {5}}};
    json same = plain;
    same["grid"] = {{"task.order", {1}}};
    QCOMPARE(hash_in(parsed(plain).points.at(0).id), hash_in(parsed(same).points.at(0).id));
  }

  void idsAreFitForFileNames() {
    json odd = example();
    odd["cases"][1]["label"] = "../\u00fcber / " + std::string(200, 'x');
    odd["grid"] = {{"model.conv", {"x,B,C", "none"}}, {"training.lr", {1e-5, 0.5}}};
    const auto ids = ids_of(odd);
    QCOMPARE(ids.size(), std::size_t{32});
    for (const std::string& id : ids) {
      QVERIFY(id.size() < 200 && id.find_first_of("/ ,\"") == std::string::npos && id.front() != '.');
    }
  }

  void oneSeedAndNoAxesIsOnePoint() {
    const ParsedSweep read = parsed({{"name", "one"}});
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    QCOMPARE(read.points.size(), std::size_t{1});
    QCOMPARE(read.sweep.title, std::string("one"));
    QVERIFY(read.points[0].config == ExperimentConfig());
  }

  void aGridMayRepairTheBase() {
    const ParsedSweep read =
        parsed(json::parse(R"({"name": "a", "base": {"model": {"headdim": 6}}, "grid": {"model.d_model": [3, 9]}})"));
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
  }

  void everyFaultIsToldAtOnce() {
    const auto problems = problems_of(R"({
      "name": "two words", "title": 3,
      "base": {"task": {"lenght": 32}, "run": {"threads": 2}, "model.gate": true},
      "grid": {"task.ordr": [1], "model.d_conv": [2, 99], "model.gate": true, "model.norm": [], "task.states": [2, 2],
               "training.seed": [1]},
      "linked": [{"model.d_model": [2, 4], "model.d_state": [2]}, 7, {"model.d_conv": [2, 3]},
                 {"model.layers": [1, 2, 1], "training.lr": [0.1, 0.1, 0.1]}],
      "cases": [{"label": "a", "settings": {"model": {"expand": 0}}}, {"label": "a", "settings": {}}, {"settings": {}}],
      "seeds": [0, 0, -1, "x"],
      "sedes": [1]})");
    for (const std::string& problem : problems) {
      QVERIFY2(is_one_sentence(problem), problem.c_str());
      QVERIFY(problem.starts_with("s.json: "));
    }
    for (const char* expected : {"s.json: name: \"two words\" is not one word",
                                 "s.json: title: 3 is not one line of text",
                                 "s.json: base.task.lenght: there is no such setting; did you mean task.length?",
                                 "s.json: base.run.threads: ",
                                 "s.json: base.model.gate: settings nest",
                                 "s.json: grid.task.ordr: there is no such setting; did you mean task.order?",
                                 "s.json: grid.model.d_conv: 99 is not a whole number from 1 to 32",
                                 "s.json: grid.model.gate: true is not a list",
                                 "s.json: grid.model.norm: an empty list is not",
                                 "s.json: grid.task.states: 2 stands twice",
                                 "s.json: grid.training.seed: the seeds",
                                 "s.json: linked[0].model.d_state: 1 values, and model.d_model has 2",
                                 "s.json: linked[1]: 7 is not a map",
                                 "s.json: linked[2].model.d_conv: this setting varies along another axis already",
                                 "s.json: linked[3]: positions 1 and 3 are the same",
                                 "s.json: cases[0].model.expand: 0 is not a whole number",
                                 "s.json: cases[1]: another case has the label \"a\"",
                                 "s.json: cases[2]: case: \"label\" is missing",
                                 "s.json: seeds: 0 stands twice",
                                 "s.json: seeds: -1 is not",
                                 "s.json: seeds: \"x\" is not",
                                 "s.json: \"sedes\": there is no such field; the fields are name, title, base"})
      QVERIFY2(std::ranges::count_if(problems, [&](const auto& problem) { return problem.starts_with(expected); }) == 1,
               expected);
    QCOMPARE(problems.size(), std::size_t{22});
  }

  void whatDoesNotFitTogetherIsToldOnceForAllPoints() {
    const auto problems = problems_of(
        R"({"name": "a", "base": {"model": {"headdim": 3}}, "grid": {"model.d_model": [3, 4, 8], "task.order": [1, 2]}})");
    QCOMPARE(problems.size(), std::size_t{2});
    QVERIFY2(mentions(problems[0], "the point task.order 1, model.d_model 4, seed 0 and 1 more: model.headdim"),
             problems[0].c_str());
  }

  void tooManyPointsAreRefused() {
    json huge = {{"name", "huge"}};
    std::vector<int> many(2000);
    std::iota(many.begin(), many.end(), 1);
    for (const char* key : {"training.steps", "training.batch", "training.eval_every"}) huge["grid"][key] = many;
    const auto read = parsed(huge);
    QCOMPARE(read.problems.size(), std::size_t{1});
    QVERIFY(mentions(read.problems[0].message, "more than 100000 points"));
  }

  void aFileThatIsNoSweepIsOneProblem() {
    QCOMPARE(problems_of("[1, 2]").size(), std::size_t{1});
    QCOMPARE(sweep_from_file("/nowhere/s.json").problems.size(), std::size_t{1});
  }

  void theSweepsThatShipAreSound() {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(MAMBARIUM_SOURCE_DIR "/resources/sweeps")) {
      const ParsedSweep read = sweep_from_file(entry.path().string());
      QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
      QCOMPARE(read.sweep.name, entry.path().stem().string());
      names.insert(read.sweep.name);
      QVERIFY(read.points.size() >= 12);
    }
    QCOMPARE(names, (std::set<std::string>{"induction", "layers", "order-window", "states", "width"}));
  }
};

QTEST_APPLESS_MAIN(SweepFileTest)
#include "sweep_file_test.moc"
