#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

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

  void aTargetOutOfReachIsSaidToBe() {
    const Finished finished = run_worker({"motif", "warm-up", "--target", "300", "--rank", "2", "--steps", "50"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    QVERIFY2(finished.out.contains("0/5") && finished.out.contains(">50"), finished.out.constData());
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
    row("learning rate", {"warm-up", "--lr", "0"}, "learning rate");
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
  QTemporaryDir folder_;
  QString file_;
};

QTEST_GUILESS_MAIN(MotifTest)
#include "motif_test.moc"
