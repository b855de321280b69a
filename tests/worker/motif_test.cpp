#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/contract/run_folder.h"
#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;

namespace {

// A cycle of three and a fourth node that converges on one of them with another.
constexpr const char* brain = ",V1,V2,M1,S1\nV1,0,1,0,0\nV2,0,0,-1,0\nM1,1,0,0,0\nS1,0,0,1,0\n";

json parsed(const Finished& finished) {
  return json::parse(finished.out.toStdString());
}

}  // namespace

class MotifTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    file_ = folder_.filePath("brain.csv");
    std::ofstream(file_.toStdString()) << brain;
  }

  void aCensusCountsTheTriadsOfAFile() {
    const Finished finished = run_worker({"motif", "census", file_, "--threshold", "0.5", "--format", "json"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const json report = parsed(finished);
    QCOMPARE(report.at("nodes").get<int>(), 4);
    for (const json& row : report.at("census")) {
      const std::string man = row.at("man");
      const int expected = man == "030C" || man == "021U" || man == "021C" || man == "012" ? 1 : 0;
      QVERIFY2(row.at("hard") == expected, row.dump().c_str());
      QVERIFY2(std::abs(row.at("soft").get<double>() - expected) < 1e-12, row.dump().c_str());
    }
  }

  void theCausalConventionTurnsEveryEdge() {
    const Finished finished =
        run_worker({"motif", "census", file_, "--threshold", "0.5", "--format", "csv", "--edges", "causal"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QVERIFY2(finished.out.contains("\n1,021D,1,1,0.25,0.25\n"), finished.out.constData());
    QVERIFY2(finished.out.contains("\n2,021U,0,0,0,0\n"), finished.out.constData());
  }

  void theTriplesOfATriadAreListedByName() {
    const Finished finished =
        run_worker({"motif", "census", file_, "--threshold", "0.5", "--format", "csv", "--list", "Motif-2"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QCOMPARE(finished.out, QByteArray("a,b,c\nV2,S1,M1\n"));
  }

  void theTextHasEveryNameAndNumber() {
    const Finished finished = run_worker({"motif", "census", file_});
    QVERIFY2(finished.code == 0, finished.err.constData());
    for (const char* const part : {"021D", "120C", "300", "003", "   13  ", "hard", "soft", "converge: a->c, b->c"})
      QVERIFY2(finished.out.contains(part), part);
  }

  void aWarmUpReachesItsTargetAndRankOneMakesNoCycle() {
    const Finished finished =
        run_worker({"motif", "warm-up", "--target", "2", "--rank", "1,2", "--seeds", "3", "--format", "json"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const json report = parsed(finished);
    QCOMPARE(report.at("target").get<std::string>(), std::string("Motif-2 (021U)"));
    QCOMPARE(report.at("ranks").size(), std::size_t{2});
    for (const json& rank : report.at("ranks")) {
      QCOMPARE(rank.at("reached").get<int>(), 3);
      QVERIFY2(rank.at("median_steps") > 100 && rank.at("median_steps") < 220, rank.at("median_steps").dump().c_str());
      for (const json& run : rank.at("runs")) {
        QVERIFY(run.at("final_loss") <= 0.1 * run.at("initial_loss").get<double>());
        if (rank.at("rank") == 1) QCOMPARE(run.at("hard").at("030C").get<int>(), 0);
      }
    }
  }

  // The largest learning rate that is taken leaves couplings of no use, and lines as long as others.
  void aWarmUpThatRunsAwayIsReadable() {
    const Finished finished =
        run_worker({"motif", "warm-up", "--lr", "10", "--k0", "10", "--std", "10", "--rank", "2", "--seeds", "1"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    for (const QByteArray& line : finished.out.split('\n')) QVERIFY2(line.size() < 140, line.constData());
  }

  void aRunMayNameItsMotifByNumber() {
    const QStringList trained = run("numbered", {"--model.motif=Motif-12", "--model.motif_warmup=1"});
    const ReadRunFolder read = read_run_folder(trained.back().toStdString());
    QCOMPARE(read.run.config.text("model.motif"), std::string("210"));
  }

  void aTargetOutOfReachIsSaidToBe() {
    const Finished finished = run_worker({"motif", "warm-up", "--target", "300", "--rank", "2", "--steps", "50"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QVERIFY2(finished.out.contains("0/5") && finished.out.contains(">50"), finished.out.constData());
  }

  void aRunSaysHowItsCouplingWasWarmedUpAndIsWired() {
    const QStringList trained = run("wired", {"--model.motif_warmup=1000"});
    const std::string folder = trained.back().toStdString();
    const ReadRunFolder read = read_run_folder(folder);
    QVERIFY(read.run.manifest.warm_up && read.run.manifest.warm_up->reached == 1);
    QVERIFY(read.run.manifest.warm_up->steps > 50 && read.run.manifest.warm_up->steps < 400);
    const Finished resumed = run_worker({"train", "--quiet", "--resume", trained.back()});
    QVERIFY2(resumed.code == 0, resumed.err.constData());
    QVERIFY(read_run_folder(folder).run.manifest.warm_up == read.run.manifest.warm_up);

    const json wiring = parsed(run_worker({"evaluate", trained.back(), "--json"}));
    // The rule by which the warm-up ends: m >= 0.25 - sqrt(0.1) 0.25.
    QVERIFY2(wiring.at("coupling").at("soft_share") > 0.17, wiring.dump().c_str());
    QVERIFY2(wiring.at("coupling").at("hard_share") > 0.1, wiring.dump().c_str());
    QVERIFY2(wiring.at("decay").at("ordinary").is_null(), "Mamba-1 has no decay factors to take a mean of");
    const Finished text = run_worker({"evaluate", trained.back()});
    QVERIFY2(text.code == 0 && text.out.contains("triads of the coupling") && text.out.contains("\n021U "),
             text.out.constData());
  }

  void twoStatesHaveACouplingAndNoTriads() {
    const QString folder = folder_.filePath("two-states");
    const Finished trained = run_worker({"train", "--quiet", "--task.length=16", "--model.d_state=2", "--model.rank=1",
                                         "--model.coupling=etd", "--training.steps=1", "--folder", folder});
    QVERIFY2(trained.code == 0, trained.err.constData());
    const Finished evaluated = run_worker({"evaluate", folder, "--json"});
    QVERIFY2(evaluated.code == 0, evaluated.err.constData());
    QVERIFY2(!parsed(evaluated).contains("coupling"), evaluated.out.constData());
    const Finished refused = run_worker({"train", "--quiet", "--model.d_state=2", "--model.coupling=etd",
                                         "--model.motif=2", "--folder", folder_.filePath("no-triads")});
    QCOMPARE(refused.code, 2);
    QCOMPARE(refused.complaints().size(), std::size_t{1});
    QVERIFY2(refused.err.contains("model.d_state: a triad needs 3 nodes"), refused.err.constData());
  }

  void aRunWithoutWarmUpStepsStartsCold() {
    const QStringList trained = run("cold", {"--model.motif_warmup=0"});
    QVERIFY(!read_run_folder(trained.back().toStdString()).run.manifest.warm_up);
    const json wiring = parsed(run_worker({"evaluate", trained.back(), "--json"}));
    QVERIFY2(wiring.at("coupling").at("hard_share") == 0, wiring.dump().c_str());
  }

  void picardPassesStandBesideTheRecurrence() {
    const QString coupled = run("picard", {"--model.motif_warmup=1000"}).back();
    double before = HUGE_VAL;
    for (const int passes : {1, 2, 16}) {
      const Finished finished = run_worker({"evaluate", coupled, "--json", "--picard", QString::number(passes)});
      QVERIFY2(finished.code == 0, finished.err.constData());
      const json report = parsed(finished), picard = report.at("picard");
      QCOMPARE(picard.at("passes").get<int>(), passes);
      QVERIFY2(picard.at("output_error") < before, picard.dump().c_str());
      QVERIFY2(std::abs(picard.at("exact_loss").get<double>() - report.at("model").at("mean").get<double>()) < 1e-6,
               report.dump().c_str());
      QVERIFY2(std::abs(picard.at("loss").get<double>() - picard.at("exact_loss").get<double>()) < 1e-3,
               picard.dump().c_str());
      before = picard.at("output_error");
    }
    QVERIFY2(before < 1e-5, "as many passes as tokens are the recurrence");
    const Finished text = run_worker({"evaluate", coupled, "--picard", "2"});
    QVERIFY2(text.out.contains("by 2 Picard passes") && text.out.contains("\nlargest state error "),
             text.out.constData());

    const QString plain = folder_.filePath("plain");
    const Finished trained = run_worker({"train", "--quiet", "--task.length=16", "--model.d_model=4",
                                         "--training.steps=1", "--training.batch=2", "--folder", plain});
    QVERIFY2(trained.code == 0, trained.err.constData());
    for (const auto& [folder, passes, words] :
         {std::tuple{coupled, "0", "0 is not a number of passes from 1 to 16"},
          std::tuple{coupled, "17", "17 is not a number of passes"}, std::tuple{plain, "2", "not coupled"}}) {
      const Finished refused = run_worker({"evaluate", folder, "--picard", passes});
      QCOMPARE(refused.code, 2);
      QCOMPARE(refused.complaints().size(), std::size_t{1});
      QVERIFY2(refused.err.contains(words), refused.err.constData());
    }
  }

  void badInputIsOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const QStringList& arguments, const char* words) {
      QTest::newRow(name) << arguments << QByteArray(words);
    };
    row("no part", {}, "motif census or motif warm-up");
    row("unknown part", {"count"}, "\"count\"");
    row("no file", {"census", "/nowhere.csv"}, "/nowhere.csv");
    row("unknown flag", {"census", file_, "--thresh", "1"}, "--thresh");
    row("two thresholds", {"census", file_, "--theta", "1", "--threshold", "1"}, "only one");
    row("unknown triad", {"census", file_, "--list", "021X"}, "021U");
    row("unknown target", {"warm-up", "--target", "FRQ"}, "FRP, MOP, AVE");
    row("rank too high", {"warm-up", "--rank", "17"}, "1 to 16");
    row("rank is a word", {"warm-up", "--rank", "low"}, "1,2,4");
    row("fraction of a profile", {"warm-up", "--target", "FRP", "--fraction", "0.4"}, "single motif");
    for (const char* const flag : {"--lr", "--k0", "--std"})
      for (const char* const number : {"0", "-1", "1e30", "nan", "inf", "fast"})
        row(qPrintable(QString("%1 %2").arg(flag, number)), {"warm-up", flag, number},
            "is not a number above 0 and up to 10");
    for (const char* const number : {"-1", "nan", "inf"}) {
      row(qPrintable(QString("theta ") + number), {"warm-up", "--theta", number}, "theta is");
      row(qPrintable(QString("threshold ") + number), {"census", file_, "--threshold", number}, "--threshold is");
      row(qPrintable(QString("beta ") + number), {"census", file_, "--beta", number}, "beta is");
      row(qPrintable(QString("fraction ") + number), {"warm-up", "--fraction", number}, "above 0 and at most 1");
      row(qPrintable(QString("stop ") + number), {"warm-up", "--stop", number}, "0 or above and below 1");
    }
    row("a threshold whose square is none", {"census", file_, "--threshold", "1e200"}, "--threshold is");
    row("no beta", {"warm-up", "--beta", "0"}, "beta is 0; it must be a number above 0");
    row("no fraction", {"warm-up", "--fraction", "0"}, "above 0 and at most 1");
  }
  void badInputIsOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(QByteArray, words);
    const Finished finished = run_worker(QStringList{"motif"} + arguments);
    QCOMPARE(finished.code, 2);
    QCOMPARE(finished.complaints().size(), std::size_t{1});
    QVERIFY2(finished.err.contains(words), finished.err.constData());
  }

 private:
  // Trains a coupled Mamba-1 for two steps; the last of the arguments that come back is its folder.
  QStringList run(const char* name, const QStringList& more) {
    const QStringList arguments = QStringList{"train",
                                              "--quiet",
                                              "--task.length=16",
                                              "--model.kind=mamba1",
                                              "--model.d_model=4",
                                              "--model.d_state=16",
                                              "--model.coupling=euler",
                                              "--model.motif=021U",
                                              "--training.steps=2",
                                              "--training.batch=2",
                                              "--training.lr=1e-6"} +
                                  more + QStringList{"--folder", folder_.filePath(name)};
    const Finished finished = run_worker(arguments);
    if (finished.code != 0) qWarning("%s", finished.err.constData());
    return arguments;
  }

  QTemporaryDir folder_;
  QString file_;
};

QTEST_GUILESS_MAIN(MotifTest)
#include "motif_test.moc"
