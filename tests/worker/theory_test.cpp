#include <QTest>
#include <nlohmann/json.hpp>

#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;

class TheoryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void itsNumbersAreThePromisesOfTheTheorems() {
    const Finished finished = run_worker({"theory", "--format", "json"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    const json report = json::parse(finished.out.toStdString());
    QVERIFY(report.at("constructions").size() >= 20);
    for (const json& row : report.at("constructions")) {
      const std::string name = row.at("name");
      const double exact = row.at("float64").at("probability"), fast = row.at("float32").at("probability");
      if (name == "theorem4") {
        QVERIFY2(row.at("float64").at("divergence") <= row.at("epsilon"), row.dump().c_str());
        continue;
      }
      QVERIFY2(exact <= (name == "switching" ? 3e-7 : 1e-12), row.dump().c_str());
      QVERIFY2(fast <= 1e-5, row.dump().c_str());
    }
    for (const json& row : report.at("confusable_pair"))
      QCOMPARE(row.at("state_distance").get<double>() < 1e-12, !row.at("convolution").get<bool>());
    const json& no_go = report.at("no_go");
    QVERIFY(no_go.at(0).at("residual") < 1e-9);
    for (std::size_t order = 1; order < no_go.size(); ++order) QVERIFY(no_go.at(order).at("residual") > 0.1);
    QVERIFY(!report.contains("quantisation"));
  }

  void theTextNamesEveryPart() {
    const Finished finished = run_worker({"theory"});
    QVERIFY2(finished.code == 0, finished.err.constData());
    for (const char* const part : {"theorem1", "theorem4", "higher_order", "switching", "w = 1", "k = 2", "Theorem 2"})
      QVERIFY2(finished.out.contains(part), part);
  }

  void badInputIsOneSentence() {
    const Finished at = run_worker({"theory", "--at", "5"});
    QVERIFY(at.code == 2 && at.err.contains("--run"));
    const Finished run = run_worker({"theory", "--run", "/nowhere"});
    QVERIFY(run.code == 2 && run.err.contains("/nowhere"));
    for (const Finished& finished : {at, run}) QCOMPARE(finished.complaints().size(), std::size_t{1});
  }
};

QTEST_GUILESS_MAIN(TheoryTest)
#include "theory_test.moc"
