// Forks: runs that begin with a checkpoint of another.
#include <torch/torch.h>

#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/training/safetensors.h"
#include "tests/training/run_fixtures.h"

using namespace mambarium;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t forked_at = 100;

ExperimentConfig changed(const char* key, const char* value, ExperimentConfig config = small_experiment()) {
  if (config.set_from_string(key, value)) throw std::logic_error(key);
  return config;
}

std::vector<float> numbers(const SafetensorsEntry& entry) {
  std::vector<float> values(entry.data.size() / sizeof(float));
  std::memcpy(values.data(), entry.data.data(), entry.data.size());
  return values;
}

bool equal_bytes(const SafetensorsEntry& one, const SafetensorsEntry& other) {
  return one.shape == other.shape && std::ranges::equal(one.data, other.data);
}

bool all_zero(const SafetensorsEntry& entry) {
  return std::ranges::all_of(numbers(entry), [](float value) { return value == 0; });
}

}  // namespace

class ForkTest : public QObject {
  Q_OBJECT
  QTemporaryDir root_;

  fs::path at(const std::string& name) const { return fs::path(root_.path().toStdString()) / name; }

  // A run of 200 steps with a checkpoint at the step where the tests fork, which is one of its evaluations.
  RunFolder parent(const ExperimentConfig& config = small_experiment(), const char* name = "parent") const {
    if (!fs::exists(at(name))) {
      const auto trainer = Trainer::create(config, {.folder = at(name)});
      advance_to(*trainer, forked_at);
      trainer->write_checkpoint();
      advance_to(*trainer, 200);
    }
    return read_run_folder(at(name)).run;
  }

  SafetensorsFile weights(const char* run, std::int64_t step = forked_at) const {
    return SafetensorsFile::read(checkpoint_path(at(run), step));
  }
  SafetensorsFile moments(const char* run) const { return SafetensorsFile::read(state_path(at(run), forked_at)); }

 private Q_SLOTS:
  void partsThatAreSharedKeepTheirBits_data() {
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("value");
    QTest::addColumn<int>("gone");  // parameters that the parent alone has
    QTest::addColumn<int>("born");  // and the fork alone
    QTest::newRow("no convolution") << "model.conv"
                                    << "none" << 6 << 0;
    QTest::newRow("convolution on x") << "model.conv"
                                      << "x" << 4 << 0;
    QTest::newRow("one filter for all") << "model.conv_filters"
                                        << "shared" << 6 << 6;
    QTest::newRow("filters that are fixed") << "model.conv_filters"
                                            << "fixed" << 6 << 0;
    QTest::newRow("no gate") << "model.gate"
                             << "off" << 1 << 0;
    QTest::newRow("no decay") << "model.decay"
                              << "one" << 1 << 0;
    QTest::newRow("no norms") << "model.norm"
                              << "none" << 4 << 0;
    QTest::newRow("no MLP") << "model.mlp"
                            << "none" << 4 << 0;
    QTest::newRow("D skip") << "model.skip"
                            << "on" << 0 << 1;
    QTest::newRow("L1 read-out") << "model.readout"
                                 << "l1" << 0 << 0;
    QTest::newRow("ReLU") << "model.activation"
                          << "relu" << 0 << 0;
    QTest::newRow("learning rate") << "training.lr"
                                   << "0.01" << 0 << 0;
  }
  void partsThatAreSharedKeepTheirBits() {
    QFETCH(QString, setting);
    QFETCH(QString, value);
    QFETCH(int, gone);
    QFETCH(int, born);
    const std::string name = QTest::currentDataTag();
    const ExperimentConfig config = changed(qPrintable(setting), qPrintable(value));
    const auto trainer = Trainer::fork(parent(), forked_at, config, at(name));
    QCOMPARE(trainer->step(), forked_at);
    const SafetensorsFile before = weights("parent"), after = weights(name.c_str());
    const SafetensorsFile old_state = moments("parent"), new_state = moments(name.c_str());
    const auto fresh = Trainer::create(config, {.folder = at(name + ", fresh")});
    const SafetensorsFile initial = weights((name + ", fresh").c_str(), 0);
    int shared = 0, new_ones = 0;
    for (const auto& [tensor, entry] : after.tensors()) {
      const auto named = before.tensors().find(tensor);
      const bool is_shared = named != before.tensors().end() && named->second.shape == entry.shape;
      for (const std::string moment : {"first_moment.", "second_moment."}) {
        const SafetensorsEntry& held = new_state.tensors().at(moment + tensor);
        QVERIFY2(is_shared ? equal_bytes(held, old_state.tensors().at(moment + tensor)) : all_zero(held),
                 (moment + tensor).c_str());
      }
      if (is_shared) {
        QVERIFY2(equal_bytes(entry, named->second), tensor.c_str());
        ++shared;
      } else {
        QVERIFY2(equal_bytes(entry, initial.tensors().at(tensor)), tensor.c_str());
        ++new_ones;
      }
    }
    QCOMPARE(new_ones, born);
    QCOMPARE(static_cast<int>(before.tensors().size()) - shared, gone);
    advance_to(*trainer, 200);
    QCOMPARE(trainer->rows().size(), std::size_t{3});
  }

  // Sequences, schedule, moments, evaluations: all of it goes on as if nothing had happened.
  void anUnchangedForkIsItsParentGoneOnWith() {
    advance_to(*Trainer::fork(parent(), forked_at, small_experiment(), at("twin")), 200);
    for (const std::int64_t step : {120, 180, 200}) {
      QCOMPARE(text_of(checkpoint_path(at("twin"), step)), text_of(checkpoint_path(at("parent"), step)));
      QCOMPARE(text_of(state_path(at("twin"), step)), text_of(state_path(at("parent"), step)));
    }
    const auto twin = read_run_folder(at("twin")).run.rows, whole = parent().rows;
    QCOMPARE(twin.size(), std::size_t{3});
    for (std::size_t row = 0; row < twin.size(); ++row) {
      QCOMPARE(twin[row].step, whole[row + 2].step);
      QCOMPARE(twin[row].tokens, whole[row + 2].tokens);
      QCOMPARE(twin[row].test_loss, whole[row + 2].test_loss);
      QCOMPARE(twin[row].learning_rate, whole[row + 2].learning_rate);
      if (row > 0) QCOMPARE(twin[row].train_loss, whole[row + 2].train_loss);
    }
    QVERIFY(std::isnan(twin[0].train_loss));
    QVERIFY(twin[0].seconds >= whole[2].seconds);
  }

  void theManifestSaysWhereItComesFrom() {
    ExperimentConfig config = changed("model.conv", "none");
    config.set("model.gate", false);
    config.set("model.d_conv", std::int64_t{4});  // has no effect without a convolution
    config.set("run.threads", std::int64_t{2});
    Trainer::fork(parent(), forked_at, config, at("told"));
    for (int time = 0; time < 2; ++time) {
      const std::optional<Fork> fork = read_run_folder(at("told")).run.manifest.fork;
      QVERIFY(fork);
      QCOMPARE(fork->parent, std::string("parent"));
      QCOMPARE(fork->step, forked_at);
      QCOMPARE(fork->parent_title, run_title(small_experiment()));
      QVERIFY2(fork->changes.starts_with("conv none, ") && fork->changes.ends_with("gate off"), fork->changes.c_str());
      QVERIFY2(fork->changes.find("threads") == std::string::npos, fork->changes.c_str());
      Trainer::resume(at("told"))->write_checkpoint();
    }
    QVERIFY(!parent().manifest.fork);
  }

  void aWiderWindowIsTheSameFunction() {
    Trainer::fork(parent(), forked_at, changed("model.d_conv", "5"), at("wider"));
    const double before = parent().rows[2].test_loss, after = read_run_folder(at("wider")).run.rows[0].test_loss;
    QVERIFY2(std::abs(after - before) < 1e-7, qPrintable(QString::number(after - before)));
    for (const char* const tensor : {"layers.0.conv.x.weight", "layers.0.conv.C.weight"}) {
      const SafetensorsFile old_file = weights("parent"), new_file = weights("wider");
      QCOMPARE(new_file.tensors().at(tensor).shape.back(), 5);
      const std::vector<float> two = numbers(old_file.tensors().at(tensor));
      const std::vector<float> five = numbers(new_file.tensors().at(tensor));
      QCOMPARE(five.size() * 2, two.size() * 5);
      for (std::size_t channel = 0; channel < two.size() / 2; ++channel) {
        for (std::size_t tap = 0; tap < 3; ++tap) QCOMPARE(five[channel * 5 + tap], 0.0f);
        for (std::size_t tap = 0; tap < 2; ++tap) QCOMPARE(five[channel * 5 + 3 + tap], two[channel * 2 + tap]);
      }
    }
  }

  void aNarrowerWindowKeepsTheNewestTaps() {
    const ExperimentConfig wide = changed("model.d_conv", "4");
    Trainer::fork(parent(wide, "wide"), forked_at, changed("model.d_conv", "3"), at("narrower"));
    const std::vector<float> four = numbers(weights("wide").tensors().at("layers.0.conv.B.weight"));
    const std::vector<float> three = numbers(weights("narrower").tensors().at("layers.0.conv.B.weight"));
    for (std::size_t channel = 0; channel < four.size() / 4; ++channel)
      for (std::size_t tap = 0; tap < 3; ++tap) QCOMPARE(three[channel * 3 + tap], four[channel * 4 + 1 + tap]);
    const std::string moment = "second_moment.layers.0.conv.B.weight";
    const std::vector<float> old_moment = numbers(moments("wide").tensors().at(moment));
    const std::vector<float> new_moment = numbers(moments("narrower").tensors().at(moment));
    QCOMPARE(new_moment[0], old_moment[1]);
    QVERIFY(new_moment[0] > 0);
  }

  void stoppedAndResumedAForkEndsTheSame() {
    const ExperimentConfig config = changed("model.conv", "none");
    advance_to(*Trainer::fork(parent(), forked_at, config, at("fork whole")), 200);
    {
      const auto trainer = Trainer::fork(parent(), forked_at, config, at("fork parts"));
      advance_to(*trainer, 137);
      trainer->write_checkpoint();
    }
    const auto resumed = Trainer::resume(at("fork parts"));
    QVERIFY(resumed->notes().empty());
    QCOMPARE(resumed->step(), 137);
    advance_to(*resumed, 200);
    QCOMPARE(metrics_without_seconds(at("fork parts")), metrics_without_seconds(at("fork whole")));
    QCOMPARE(text_of(checkpoint_path(at("fork parts"), 200)), text_of(checkpoint_path(at("fork whole"), 200)));
    QCOMPARE(text_of(state_path(at("fork parts"), 200)), text_of(state_path(at("fork whole"), 200)));
  }

  void aForkMayBeResumedAtItsFirstStepAndForkedAgain() {
    Trainer::fork(parent(), forked_at, changed("model.gate", "off"), at("first"));
    const auto resumed = Trainer::resume(at("first"));
    QVERIFY2(resumed->notes().empty(), "a first row at the fork is no gap");
    QCOMPARE(resumed->step(), forked_at);
    advance_to(*resumed, 120);
    const ExperimentConfig back = changed("model.gate", "on");
    const auto again = Trainer::fork(read_run_folder(at("first")).run, 120, back, at("again"));
    QCOMPARE(again->rows().front().step, 120);
    QCOMPARE(read_run_folder(at("again")).run.manifest.fork->parent, std::string("first"));
    QCOMPARE(read_run_folder(at("again")).run.manifest.fork->changes, std::string("gate on"));
  }

  void aParentThatTrainsIsLeftAlone() {
    const auto living = Trainer::create(small_experiment(), {.folder = at("living")});
    advance_to(*living, 60);
    Trainer::fork(read_run_folder(at("living")).run, 60, changed("model.conv", "none"), at("of the living"));
    advance_to(*living, 200);
    QCOMPARE(metrics_without_seconds(at("living")), metrics_without_seconds(parent().path));
    QCOMPARE(text_of(checkpoint_path(at("living"), 200)), text_of(checkpoint_path(at("parent"), 200)));
  }

  void whatCannotBeForkedLeavesNoFolder_data() {
    QTest::addColumn<QString>("setting");
    QTest::addColumn<QString>("value");
    for (const auto& [setting, value] : {std::pair{"task.states", "3"},
                                         {"task.kind", "switching"},
                                         {"task.length", "32"},
                                         {"model.d_model", "8"},
                                         {"model.layers", "2"},
                                         {"model.kind", "mamba_zero"},
                                         {"training.batch", "8"},
                                         {"training.seed", "1"},
                                         {"training.test_sequences", "1024"},
                                         {"training.steps", "100"}})
      QTest::newRow(setting) << setting << value;
  }
  void whatCannotBeForkedLeavesNoFolder() {
    QFETCH(QString, setting);
    QFETCH(QString, value);
    const ExperimentConfig config = changed(qPrintable(setting), qPrintable(value));
    const QString said = refusal([&] { Trainer::fork(parent(), forked_at, config, at("refused")); });
    QVERIFY2(said.startsWith(setting + ": "), qPrintable(said));
    QVERIFY(!fs::exists(at("refused")));
  }

  void brokenCheckpointsAreNamedAndLeaveNoFolder() {
    const QString missing = refusal([&] { Trainer::fork(parent(), 137, small_experiment(), at("refused")); });
    QVERIFY2(missing.contains("step-000137.safetensors"), qPrintable(missing));
    fs::copy(parent().path, at("damaged"), fs::copy_options::recursive);
    const RunFolder damaged = read_run_folder(at("damaged")).run;
    fs::copy_file(checkpoint_path(at("parent"), 60), checkpoint_path(at("damaged"), forked_at),
                  fs::copy_options::overwrite_existing);
    const QString mixed = refusal([&] { Trainer::fork(damaged, forked_at, small_experiment(), at("refused")); });
    QVERIFY2(mixed.contains("belongs to other weights"), qPrintable(mixed));
    QVERIFY(!fs::exists(at("refused")));
  }
};

QTEST_APPLESS_MAIN(ForkTest)
#include "fork_test.moc"
