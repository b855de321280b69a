#include <QTemporaryDir>
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "worker_process.h"

using namespace mambarium;
using nlohmann::json;

// `evaluate` of an induction head.
class AnswersTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    const Finished trained =
        run_worker(small_run(folder_.path(), {"--task.kind=induction", "--task.states=8", "--training.steps=20"}));
    QVERIFY2(trained.code == 0, trained.err.constData());
    QVERIFY2(trained.out.contains(", gap to recall ") && trained.out.contains(" nats per answer. The run is in "),
             trained.out.constData());
    QVERIFY2(!trained.out.contains("oracle") && !trained.out.contains("per token"), trained.out.constData());
    run_ = QString::fromStdString(only_run_in(folder_.path()));
  }

  void itStandsBesideRecallAndAGuess() {
    const json document = evaluated({"--sequences=64", "--lengths=32"});
    QCOMPARE(document.at("unit").get<std::string>(), std::string("nats per answer"));
    QVERIFY(document.at("recall").at("mean") == 0.0);
    QCOMPARE(document.at("gap_recall").at("mean").get<double>(), document.at("model").at("mean").get<double>());
    QCOMPARE(document.at("uniform").at("mean").get<double>(), std::log(8.0));
    for (const char* const name : {"add_beta", "oracle", "gap_add_beta", "gap_oracle"})
      QVERIFY2(!document.contains(name), name);
  }

  void everyLengthHasTheSequencesAskedFor() {
    QCOMPARE(sequences_in(evaluated({"--sequences=50", "--lengths=16,2048"})), (std::vector<int>{50, 50}));
    QCOMPARE(evaluated({"--sequences=50", "--lengths=16"}).at("sequences").get<int>(), 50);
    // 2^17 tokens, and 32 sequences where these would be fewer.
    QCOMPARE(sequences_in(evaluated({"--lengths=1024,8192"})), (std::vector<int>{128, 32}));
  }

 private:
  json evaluated(const QStringList& more) const {
    const Finished finished = run_worker(QStringList{"evaluate", run_, "--json"} + more);
    return json::parse(finished.code == 0 ? finished.out.toStdString() : "null");
  }
  static std::vector<int> sequences_in(const json& document) {
    std::vector<int> found;
    for (const json& point : document.at("extrapolation").at("points")) found.push_back(point.at("sequences"));
    return found;
  }

  QTemporaryDir folder_;
  QString run_;
};

QTEST_GUILESS_MAIN(AnswersTest)
#include "answers_test.moc"
