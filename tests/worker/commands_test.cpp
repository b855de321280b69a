#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <nlohmann/json.hpp>

#include "../contract/sentence.h"
#include "core/contract/experiment_config.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;

namespace {

// Bad input: exit code 2, nothing on standard output, one sentence of ours on standard error.
std::string only_complaint(const Finished& finished) {
  const auto lines = finished.complaints();
  if (finished.code != 2 || !finished.out.isEmpty() || lines.size() != 1) return "";
  return is_one_sentence(lines[0]) && lines[0].starts_with("mambarium-worker: ") ? lines[0] : "";
}

}  // namespace

class CommandsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void infoIsTextOrJson() {
    const Finished text = run_worker({"info"});
    QCOMPARE(text.code, 0);
    for (const char* word : {"mambarium-worker", "LibTorch", "Compiler", "CPU", "CUDA"})
      QVERIFY2(text.out.contains(word), word);
    const Finished as_json = run_worker({"info", "--json"});
    QCOMPARE(as_json.code, 0);
    const json document = json::parse(as_json.out.toStdString());
    for (const char* key : {"version", "revision", "torch", "compiler", "cpu", "simd", "cores", "cuda"})
      QVERIFY2(document.contains(key), key);
  }

  void settingsPrintsTheirPage() {
    const Finished finished = run_worker({"settings"});
    QCOMPARE(finished.code, 0);
    QCOMPARE(finished.out.toStdString(), settings_markdown());
  }

  void helpHoldsEverySetting() {
    const Finished finished = run_worker({"train", "--help"});
    QCOMPARE(finished.code, 0);
    for (const Property& property : property_table())
      QVERIFY2(finished.out.contains(("--" + std::string(property.key)).c_str()), std::string(property.key).c_str());
    const QByteArray unwrapped = finished.out.simplified();
    for (const char* heading : {"Task", "Model", "Parts", "Training", "Run", "a whole number from 1 to 8", "--preset"})
      QVERIFY2(unwrapped.contains(heading), heading);
    QCOMPARE(run_worker({"--help"}).code, 0);
    QVERIFY(run_worker({"--version"}).out.startsWith("mambarium-worker "));
    for (const char* command :
         {"serve", "evaluate", "predict", "inspect", "sweep", "reproduce", "theory", "info", "settings"})
      QCOMPARE(run_worker({command, "--help"}).code, 0);
  }

  void badUsageIsOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, QStringList arguments, const char* says) {
      QTest::newRow(name) << std::move(arguments) << QString(says);
    };
    row("no command", {}, "train, evaluate, predict");
    row("unknown command", {"dance"}, "there is no command \"dance\"");
    row("a word before a command", {"help", "train"}, "there is no command \"help\"");
    row("flag without a command", {"--task.order=2"}, "--task.order=2");
    row("unknown flag", {"train", "--model.dconv", "3"}, "did you mean --model.d_conv?");
    row("unknown flag with a value", {"train", "--task.ordr=3"}, "did you mean --task.order?");
    row("far from any flag", {"train", "--wallpaper", "blue"}, "there is no flag --wallpaper");
    row("stray word", {"train", "fast"}, "\"fast\" is not expected here");
    row("missing value", {"train", "--task.order"},
        "--task.order: its value is missing; mambarium-worker train --help");
    row("a word for a whole number", {"evaluate", "/nowhere", "--picard", "x"}, "--picard: \"x\" is not a number; ");
    row("a broken number", {"evaluate", "/nowhere", "--at", "1.5"}, "--at: \"1.5\" is not a whole number; ");
    row("below a range", {"motif", "warm-up", "--seeds", "0"}, "--seeds: \"0\" is not a whole number from 1 to 1000");
    row("no number of a range", {"reproduce", "all", "--workers", "few"},
        "\"few\" is not a whole number from 1 to 4096");
    row("outside a real range", {"bench", "--seconds", "0"}, "--seconds: \"0\" is not a number from 0.01 to 600");
    row("twice", {"motif", "warm-up", "--lr", "0.1", "--lr", "0.2"}, "--lr: it can be given once");
    row("out of range", {"train", "--task.order", "9"}, "--task.order: 9 is not a whole number from 1 to 8");
    row("negative", {"train", "--training.lr", "-1"}, "-1 is not a number above 0");
    row("not a number", {"train", "--training.steps", "many"}, "\"many\" is not a whole number");
    row("not a choice", {"train", "--model.activation", "gelu"}, "silu, relu, none");
    row("headdim", {"train", "--model.headdim", "5"}, "5 does not divide d_inner = expand x d_model = 16");
    row("contexts", {"train", "--task.order=8", "--task.states=64"}, "order can be 2 at most");
    row("length", {"train", "--task.order=8", "--task.length=4"}, "must be above the order");
    row("memory", {"train", "--training.batch=65536", "--task.length=65536"}, "GiB");
    row("no such config", {"train", "--config", "/nowhere/experiment.json"}, "/nowhere/experiment.json");
    row("no such preset", {"train", "--preset", "order9"}, "order1-no-conv");
    row("share string", {"train", "--share", "mambarium1:task.order=x"}, "task.order");
    row("two sources", {"train", "--preset", "order1", "--share", "mambarium1:"}, "--preset");
    row("resume and settings", {"train", "--resume", "runs/a", "--task.order=2"}, "--task.order");
    row("resume nothing", {"train", "--resume", "/nowhere"}, "\"/nowhere\" is not a run folder");
    row("resume a folder", {"train", "--resume", "/etc"}, "\"/etc\" is not a run folder");
    row("fork of nothing", {"train", "--fork", "@3"}, "--fork: \"\" is not a run folder");
    for (const char* const flag : {"--resume", "--fork", "--folder", "--config", "--preset", "--share"})
      row(qPrintable(QString("empty ") + flag), {"train", flag, ""}, "its text is empty");
    row("empty run", {"theory", "--run", ""}, "--run: its text is empty");
    row("sequences", {"evaluate", "/nowhere", "--sequences", "1"}, "--sequences: 1 is not a number from 2");
    row("too many sequences", {"evaluate", "/nowhere", "--sequences", "1000000000000"}, "to 1048576");
    row("beta", {"train", "--task.beta", "1e-310"}, "--task.beta: 1e-310 is not a number from 1e-06");
    row("test set", {"train", "--training.test_sequences=1048576", "--task.length=65536", "--training.batch=1"}, "GiB");
    row("engine", {"train", "--engine", "steam"}, "auto, fused, torch");
    row("bench on steam", {"bench", "--device", "steam"}, "cpu, cuda");
    row("torch engine on a GPU", {"train", "--engine", "torch", "--run.device=cuda"}, "--engine fused");
    row("self-test on steam", {"selftest", "--device", "steam"}, "auto, cpu, cuda");
    if (!worker_has_gpu()) {
      row("cuda", {"train", "--run.device=cuda"}, "cuda is not usable");
      row("self-test on a GPU", {"selftest", "--device", "cuda"}, "cuda is not usable");
      row("bench on a GPU", {"bench", "--device", "cuda"}, "--device: cuda is not usable");
    }
    row("evaluate nothing", {"evaluate", "/nowhere"}, "/nowhere");
    row("evaluate any file", {"evaluate", "/etc/passwd"}, "/etc/passwd is not a checkpoint in a run folder");
    row("evaluate any folder", {"evaluate", "/etc"}, "/etc is not a run folder");
    row("evaluate what", {"evaluate"}, "run (FOLDER) is missing; mambarium-worker evaluate --help shows what it is");
    row("census of what", {"motif", "census"}, "file (FILE) is missing; mambarium-worker motif census --help");
    row("inspect nothing", {"inspect", "/nowhere", "--what", "decay"}, "/nowhere");
    row("a number for a step", {"inspect", "/nowhere", "--what", "decay", "--at", "last"}, "last");
  }
  void badUsageIsOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(QString, says);
    const Finished finished = run_worker(arguments);
    const std::string complaint = only_complaint(finished);
    QVERIFY2(!complaint.empty(), ("exit code " + QByteArray::number(finished.code) + ": " + finished.err).constData());
    QVERIFY2(mentions(complaint, says.toStdString()), complaint.c_str());
  }

  void outputThatNobodyGetsIsAFailure() {
    QProcess process;
    process.setStandardOutputFile("/dev/full");
    process.start(MAMBARIUM_BIN_DIR "/mambarium-worker", {"predict", "--estimator", "add_beta", "--tokens", "0,1,1"});
    QVERIFY(process.waitForFinished());
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 1);
    const QByteArray said = process.readAllStandardError();
    QVERIFY2(said.contains("could not be written") && said.contains("No space left"), said.constData());
  }

  void allProblemsOfAConfigurationComeAtOnce() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("bad.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"task": {"order": 0, "ordr": 1}, "model": {"headdim": 7}})");
    file.close();
    const Finished finished = run_worker({"train", "--config", path, "--training.lr", "fast"});
    QCOMPARE(finished.code, 2);
    QCOMPARE(finished.complaints().size(), std::size_t{4});
    for (const std::string& complaint : finished.complaints()) QVERIFY2(is_one_sentence(complaint), complaint.c_str());
  }

  // A notice for what was given and does nothing: by flag, or in a file that names some settings.
  void settingsWithoutEffectAreTold() {
    const QTemporaryDir folder;
    const auto write = [&](const char* name, const json& document) {
      QFile file(folder.filePath(name));
      if (file.open(QIODevice::WriteOnly)) file.write(QByteArray::fromStdString(document.dump()));
      return folder.filePath(name);
    };
    const auto notices = [&](const QStringList& arguments) {
      const Finished finished = run_worker(QStringList{"train", "--quiet", "--training.steps=1", "--training.batch=2",
                                                       "--task.length=16", "--run.out=" + folder.filePath("runs")} +
                                           arguments);
      if (finished.code != 0) qWarning("%s", finished.err.constData());
      return finished.code == 0 ? QString::fromUtf8(finished.err) : QString("it was refused");
    };
    const QString rank = "model.rank has no effect here: model.coupling is none.\n";
    QCOMPARE(notices({"--model.rank", "3"}), rank);
    QCOMPARE(notices({"--model.motif=Motif-2", "--task.trials=300"}),
             QString("task.trials has no effect here: task.kind is markov.\n"
                     "model.motif has no effect here: model.coupling is none.\n"));
    QCOMPARE(notices({"--model.rank", "2"}), QString());
    QCOMPARE(notices({"--model.coupling=etd", "--model.rank", "3"}), QString());
    const json partial = {{"model", {{"rank", 3}, {"d_conv", 3}}}};
    QCOMPARE(notices({"--config", write("partial.json", partial)}), rank);
    QCOMPARE(notices({"--config", write("partial.json", partial), "--model.coupling=etd"}), QString());
    ExperimentConfig whole;
    whole.set("model.rank", std::int64_t{3});
    QCOMPARE(notices({"--config", write("whole.json", to_json(whole))}), QString());
    QCOMPARE(notices({"--config", write("whole.json", to_json(whole)), "--model.rank=4"}), rank);
  }

  void aFlagRepairsWhatDoesNotFitInAFile() {
    const QTemporaryDir folder;
    const QString path = folder.filePath("odd.json");
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"model": {"headdim": 6, "d_model": 4}, "task": {"order": 3}})");
    file.close();
    QVERIFY(
        mentions(only_complaint(run_worker({"predict", "--estimator", "add_beta", "--task.order=0"})), "--task.order"));
    const Finished finished = run_worker({"train", "--config", path, "--model.headdim=4", "--training.steps=1",
                                          "--quiet", "--run.out=" + folder.filePath("runs")});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const json experiment = json::parse(content(finished.out.trimmed().toStdString() + "/experiment.json"));
    QCOMPARE(experiment["model"]["headdim"], 4);
    QCOMPARE(experiment["model"]["d_model"], 4);
    QCOMPARE(experiment["task"]["order"], 3);
  }
};

QTEST_GUILESS_MAIN(CommandsTest)
#include "commands_test.moc"
