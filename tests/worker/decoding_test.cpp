#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "../contract/sentence.h"
#include "../decoding/stored_npz.h"
#include "core/contract/decoding_inspection.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;

class DecodingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const Finished trained = run_worker(small("directions", {}));
    QVERIFY2(trained.code == 0, trained.err.constData());
    told_ = trained.out;
    directions_ = QString::fromStdString(only_run_in(out("directions")));
    QVERIFY(!directions_.isEmpty());
  }

  void trainingSaysHowManyAreRight() {
    const QList<QByteArray> lines = told_.split('\n');
    const auto evaluated =
        std::ranges::find_if(lines, [](const QByteArray& line) { return line.startsWith("step 0 "); });
    QVERIFY(evaluated != lines.end());
    QVERIFY2(evaluated->contains(" % right, gap to ideal decoder "), evaluated->constData());
    QVERIFY2(told_.contains("Finished after 40 steps, test loss ") && !told_.contains("nan") &&
                 !told_.contains("oracle") && told_.contains(" bins/s"),
             told_.constData());
  }

  void evaluatePrintsTheConfusionAndTheIdeal() {
    const Finished text = run_worker({"evaluate", directions_});
    QVERIFY2(text.code == 0, text.err.constData());
    for (const char* const part : {"ideal decoder", "right, %", "macro F1", "windows by direction", "uninformed loss"})
      QVERIFY2(text.out.contains(part), text.out.constData());
    const json document = parsed(run_worker({"evaluate", directions_, "--json"}));
    QCOMPARE(document.at("confusion").size(), std::size_t{8});
    double all = 0, right = 0;
    for (std::size_t row = 0; row < 8; ++row)
      for (std::size_t column = 0; column < 8; ++column) {
        const double windows = document.at("confusion").at(row).at(column);
        all += windows;
        right += row == column ? windows : 0;
      }
    QCOMPARE(all, document.at("sequences").get<double>());
    QVERIFY(std::abs(document.at("accuracy").at("mean").get<double>() - right / all) < 1e-12);
    QVERIFY(document.at("ideal_accuracy").at("mean") > document.at("accuracy").at("mean"));
    QVERIFY(document.at("ideal_decoder").at("mean") < document.at("model").at("mean"));
    QCOMPARE(document.at("gap_ideal_decoder").at("mean").get<double>(),
             document.at("model").at("mean").get<double>() - document.at("ideal_decoder").at("mean").get<double>());
    QCOMPARE(document.at("uninformed").at("mean").get<double>(), std::log(8.0));
    for (const char* const name : {"add_beta", "oracle", "uniform", "gap_add_beta", "gap_oracle"})
      QVERIFY2(!document.contains(name), name);
    QVERIFY(document.at("ideal_macro_f1").at("mean") > document.at("macro_f1").at("mean"));
    QCOMPARE(document.at("unit").get<std::string>(), std::string("nats per window"));
    const ReadRunFolder read = read_run_folder(directions_.toStdString());
    QVERIFY(read.problems.empty());
    QCOMPARE(document.at("model").at("mean").get<double>(), read.run.rows.back().test_loss);
    QCOMPARE(document.at("accuracy").at("mean").get<double>(), read.run.rows.back().accuracy);
  }

  void outputsHaveAnRSquaredEach() {
    const Finished trained = run_worker(small("outputs", {"--task.answer=outputs", "--model.kind=lstm", "--quiet"}));
    QVERIFY2(trained.code == 0, trained.err.constData());
    const QString run = QString::fromStdString(only_run_in(out("outputs")));
    QVERIFY(content(run.toStdString() + "/metrics.csv").find(",r_squared\n") != std::string::npos);
    const Finished text = run_worker({"evaluate", run});
    QVERIFY2(text.out.contains("R^2 of curs_v_y") && !text.out.contains("nan"), text.out.constData());
    const json document = parsed(run_worker({"evaluate", run, "--json"}));
    QCOMPARE(document.at("r_squared_by_output").size(), std::size_t{4});
    QVERIFY(document.at("ideal_r_squared").at("mean") > document.at("r_squared").at("mean"));
    QVERIFY(!document.contains("confusion"));
    QCOMPARE(document.at("unit").get<std::string>(), std::string("variances"));
  }

  void filesOfWindowsTrainWithoutAnIdealDecoder() {
    write_day(out("one.npz").toStdString(), 200, 5, 3);
    write_day(out("two.npz").toStdString(), 200, 5, 3);
    const QStringList files = {"--task.recording=windows", "--task.window=5",
                               "--task.files=" + out("one.npz") + ";" + out("two.npz")};
    const Finished trained = run_worker(small("files", files));
    QVERIFY2(trained.code == 0, trained.err.constData());
    QVERIFY2(!trained.out.contains("gap") && !trained.out.contains("nan") && trained.out.contains(" % right"),
             trained.out.constData());
    const QString run = QString::fromStdString(only_run_in(out("files")));
    const Finished text = run_worker({"evaluate", run});
    QVERIFY2(text.code == 0 && !text.out.contains("ideal") && !text.out.contains("nan"), text.out.constData());
    const json document = parsed(run_worker({"evaluate", run, "--json"}));
    QVERIFY(document.at("ideal_decoder").at("mean").is_null());
    QVERIFY(document.at("gap_ideal_decoder").at("mean").is_null());
    QCOMPARE(document.at("confusion").size(), std::size_t{3});
    QVERIFY(document.at("ideal_confusion").empty());
  }

  void aRecordingThatIsGoneOrAnotherOneIsASentence() {
    const std::string file = out("day.npz").toStdString();
    write_day(file, 200, 5, 3);
    const Finished trained =
        run_worker(small("kept", {"--task.recording=windows", "--task.window=5", "--task.files=" + out("day.npz")}));
    QVERIFY2(trained.code == 0, trained.err.constData());
    const QString run = QString::fromStdString(only_run_in(out("kept")));
    const Finished unchanged = run_worker({"evaluate", run});
    QVERIFY2(unchanged.code == 0 && unchanged.err.isEmpty(), unchanged.err.constData());

    // The same sizes, and every label one on.
    std::vector<float> activity;
    std::vector<std::int32_t> label;
    for (int w = 0; w < 200; ++w) {
      label.push_back((w + 1) % 3);
      for (int bin = 0; bin < 5; ++bin) activity.insert(activity.end(), {float(w % 3), float(bin)});
    }
    write_npz(file, {{"neural_activity", npy_of("<f4", "(200, 5, 2)", activity)},
                     {"classification_label", npy_of("<i4", "(200,)", label)}});
    const Finished other = run_worker({"evaluate", run});
    QVERIFY2(other.code == 0 && other.out.contains("right, %"), other.err.constData());
    QCOMPARE(other.complaints().size(), std::size_t{1});
    QVERIFY2(is_one_sentence(other.complaints()[0]) && mentions(other.complaints()[0], "the recording is another one"),
             other.err.constData());

    write_day(file, 200, 5, 4);
    one_sentence(run_worker({"evaluate", run}), "shape");
    QVERIFY(QFile::remove(QString::fromStdString(file)));
    one_sentence(run_worker({"evaluate", run}), "day.npz: there is no such file");
  }

  void oneLabelIsNothingToLearn() {
    write_day(out("single.npz").toStdString(), 200, 5, 1);
    one_sentence(run_worker(small(
                     "single", {"--task.recording=windows", "--task.window=5", "--task.files=" + out("single.npz")})),
                 "at least two labels");
    QVERIFY(only_run_in(out("single")).empty());
  }

  void inspectAnswersWhatADecoderHas() {
    const Finished finished = run_worker({"inspect", directions_, "--what", "decoding"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const auto data = parsed(finished).get<DecodingData>();
    QCOMPARE(data.step, std::int64_t{40});
    QVERIFY(!data.bins.empty() && data.bin_seconds == 0.05);
    for (const char* what : {"prediction", "state", "decay"})
      one_sentence(run_worker({"inspect", directions_, "--what", what}), "windows of a recording");
    one_sentence(run_worker({"inspect", directions_, "--what", "flow"}), "not coupled");
  }

  void inspectTracesTheChannelsOfACoupledDecoder() {
    const Finished trained = run_worker(small("coupled", {"--model.coupling=euler", "--quiet"}));
    QVERIFY2(trained.code == 0, trained.err.constData());
    const QString run = QString::fromStdString(only_run_in(out("coupled")));
    const json flow = parsed(run_worker({"inspect", run, "--what", "flow", "--head", "3", "--probe", "5"}));
    QCOMPARE(flow.at("tokens").size(), std::size_t{10});
    QVERIFY(flow.at("window").at("first_bin").get<int>() > 0);
    QVERIFY(parsed(run_worker({"inspect", run, "--what", "circuit"})).at("largest_dt").get<double>() > 0);
    const json states = parsed(run_worker({"inspect", run, "--what", "reconstruction"}));
    for (const json& error : states.at("error")) QVERIFY(error.get<double>() < 1e-12);
    one_sentence(run_worker({"inspect", run, "--what", "flow", "--head", "16"}), "channel 16");
  }

  void whatTakesLongIsSaidBeforehand() {
    Conversation worker;
    worker.greet();
    const auto opened = [&](json task, const char* name) {
      worker.passed.clear();
      worker.send(OpenConfig{{{"task", std::move(task)},
                              {"model", {{"kind", "mamba1"}}},
                              {"training", {{"steps", 20}, {"batch", 8}}},
                              {"run", {{"out", out(QLatin1String(name)).toStdString()}}}}});
      return worker.next_of<OpenedReport>().has_value();
    };
    QVERIFY(opened({{"kind", "decoding"}, {"trials", 40}, {"channels", 8}, {"window", 10}}, "said"));
    QCOMPARE(worker.passed.size(), std::size_t{1});
    const auto* said = std::get_if<PreparingReport>(&worker.passed[0]);
    QVERIFY(said);
    QCOMPARE(said->text, std::string("Preparing the recording and its ideal decoder"));
    QVERIFY(worker.until(RunState::paused));
    QVERIFY(opened({{"kind", "markov"}, {"length", 32}}, "unsaid"));
    QVERIFY(worker.passed.empty());
  }

  void badInputIsOneSentence() {
    one_sentence(run_worker({"predict", "--run", directions_, "--tokens=0,1"}), "windows of a recording");
    one_sentence(run_worker({"evaluate", directions_, "--sequences=600"}), "--sequences");
    one_sentence(run_worker({"evaluate", directions_, "--lengths=64"}), "--lengths");
    const QStringList windows = {"--task.recording=windows", "--task.window=5"};
    one_sentence(run_worker(small("bad", windows + QStringList{"--task.files=nowhere.npz"})), "nowhere.npz");
    std::ofstream(out("text.npz").toStdString()) << "no zip";
    one_sentence(run_worker(small("bad", windows + QStringList{"--task.files=" + out("text.npz")})), "text.npz");
    std::ofstream(out("text.mat").toStdString()) << "no MAT-file";
    one_sentence(run_worker(small("bad", {"--task.recording=xds", "--task.files=" + out("text.mat")})), "text.mat");
    write_day(out("other.npz").toStdString(), 200, 6, 3);
    one_sentence(run_worker(small("bad", windows + QStringList{"--task.files=" + out("other.npz")})), "task.window");
    one_sentence(run_worker(small("bad", windows + QStringList{"--task.answer=outputs"})), "task.answer");
    one_sentence(run_worker(small("bad", {"--model.kind=ngram"})), "model.kind");
    one_sentence(run_worker(small("bad", {"--task.window=41"})), "task.window");
  }

 private:
  QString out(const QString& name) const { return folder_.filePath(name); }

  QStringList small(const QString& name, const QStringList& more) const {
    return QStringList{"train",
                       "--task.kind=decoding",
                       "--model.kind=mamba1",
                       "--task.trials=40",
                       "--task.channels=8",
                       "--task.window=10",
                       "--training.batch=8",
                       "--training.steps=40",
                       "--training.eval_every=10",
                       "--run.out=" + out(name)} +
           more;
  }

  static json parsed(const Finished& finished) { return json::parse(finished.out.toStdString()); }

  static void one_sentence(const Finished& finished, const char* words) {
    const auto complaints = finished.complaints();
    QCOMPARE(finished.code, 2);
    QCOMPARE(complaints.size(), std::size_t{1});
    QVERIFY2(is_one_sentence(complaints[0]) && mentions(complaints[0], words), complaints[0].c_str());
  }

  QTemporaryDir folder_;
  QString directions_;
  QByteArray told_;
};

QTEST_GUILESS_MAIN(DecodingTest)
#include "decoding_test.moc"
