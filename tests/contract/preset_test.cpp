#include "core/contract/preset.h"

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <fstream>

#include "core/contract/resources.h"
#include "sentence.h"

using namespace mambarium;
namespace fs = std::filesystem;

class PresetTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void thePresetsThatShipAreSound() {
    const LoadedPresets loaded = load_presets(MAMBARIUM_SOURCE_DIR "/resources/presets");
    QVERIFY2(loaded.problems.empty(), to_string(loaded.problems).c_str());
    QCOMPARE(loaded.presets.front().id, std::string("order1"));
    QVERIFY2(loaded.presets.front().config == ExperimentConfig(), "the first preset is what a new window shows");
    for (const char* id : {"order1-no-conv", "order1-no-conv-2-layers", "one-filter", "transformer-1-layer",
                           "transformer-2-layers", "transformer-convolution", "order2", "order2-short-window", "order3",
                           "mamba-zero", "four-states", "switching", "paper", "ngram"})
      QVERIFY2(std::ranges::count(loaded.presets, id, &Preset::id) == 1, id);
  }

  // A motif asks for edges without end; what keeps the states from growing is the cap.
  void presetsWithAMotifHoldTheirCoupling() {
    int motifs = 0;
    for (const Preset& preset : load_presets(MAMBARIUM_SOURCE_DIR "/resources/presets").presets) {
      if (!preset.config.applies("model.motif_weight")) continue;
      ++motifs;
      QVERIFY2(preset.config.applies("model.coupling_cap"), preset.id.c_str());
      QVERIFY2(preset.config.real("model.coupling_cap") == 0.9, preset.id.c_str());
    }
    QCOMPARE(motifs, 3);
  }

  void aBrokenPresetIsNamedAndTheOthersAreKept() {
    const QTemporaryDir folder;
    const auto write = [&](const char* name, const char* content) {
      std::ofstream(fs::path(folder.path().toStdString()) / name) << content;
    };
    write("1.json", R"({"id": "a", "title": "A", "description": "", "experiment": {"task": {"order": 3}}})");
    write("2.json", R"({"id": "a", "title": "twice", "description": "", "experiment": {}})");
    write("3.json", R"({"id": "c", "title": "C", "description": "", "experiment": {"task": {"order": 0}}})");
    write("4.json", R"({"id": "d", "title": 4, "description": "", "experiment": {}})");
    write("5.json", R"({"id": )");
    write("6.json", R"({"id": "f", "title": "F", "description": "", "experiment": {}})");
    write("notes.txt", "not a preset");
    const LoadedPresets loaded = load_presets(folder.path().toStdString());
    QCOMPARE(loaded.presets.size(), std::size_t{2});
    QCOMPARE(loaded.presets[0].config.integer("task.order"), std::int64_t{3});
    QCOMPARE(loaded.problems.size(), std::size_t{4});
    for (const Problem& problem : loaded.problems) {
      QVERIFY2(is_one_sentence(to_string(problem)), to_string(problem).c_str());
      QVERIFY(mentions(problem.where, ".json"));
    }
  }

  void anAbsentFolderIsOneProblem() { QCOMPARE(load_presets("/nowhere/at/all").problems.size(), std::size_t{1}); }

  void theEnvironmentChoosesTheResources() {
    const QTemporaryDir folder;
    QVERIFY(fs::is_regular_file(preset_directory() / "10-order1.json"));
    qputenv("MAMBARIUM_RESOURCES", folder.path().toUtf8());
    QCOMPARE(resource_directory().string(), folder.path().toStdString());
    qputenv("MAMBARIUM_RESOURCES", "/nowhere/at/all");
    QVERIFY(fs::is_regular_file(preset_directory() / "10-order1.json"));
    qunsetenv("MAMBARIUM_RESOURCES");
  }
};

QTEST_APPLESS_MAIN(PresetTest)
#include "preset_test.moc"
