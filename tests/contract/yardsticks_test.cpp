#include "core/contract/yardsticks.h"

#include <QTest>

using namespace mambarium;

class YardsticksTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyTaskHasItsOwnNames_data() {
    QTest::addColumn<QString>("task");
    QTest::addColumn<QString>("answer");
    QTest::addColumn<QString>("unit");
    QTest::addColumn<QString>("best");
    QTest::addColumn<QString>("oracle");
    QTest::addColumn<QString>("same");
    const auto row = [](const char* task, const char* answer, const char* unit, const char* best, const char* oracle,
                        const char* same) {
      QTest::addRow("%s %s", task, answer)
          << QString(task) << QString(answer) << QString(unit) << QString(best) << QString(oracle) << QString(same);
    };
    row("markov", "direction", "nats per token", "add_beta", "oracle", "uniform");
    row("file", "direction", "nats per token", "add_beta", "oracle", "uniform");
    row("switching", "outputs", "nats per token", "bayes", "oracle", "uniform");
    row("induction", "direction", "nats per answer", "recall", "", "uniform");
    row("decoding", "direction", "nats per window", "ideal_decoder", "", "uninformed");
    row("decoding", "outputs", "variances", "ideal_decoder", "", "uninformed");
  }
  void everyTaskHasItsOwnNames() {
    QFETCH(QString, task);
    QFETCH(QString, answer);
    QFETCH(QString, unit);
    QFETCH(QString, best);
    QFETCH(QString, oracle);
    QFETCH(QString, same);
    ExperimentConfig config;
    QVERIFY(!config.set_from_string("task.kind", task.toStdString()));
    QVERIFY(!config.set_from_string("task.answer", answer.toStdString()));
    const Yardsticks names = yardsticks(config);
    QCOMPARE(loss_unit(config), unit.toStdString());
    QCOMPARE(names.best, best.toStdString());
    QCOMPARE(names.oracle, oracle.toStdString());
    QCOMPARE(names.same, same.toStdString());
  }
};

QTEST_APPLESS_MAIN(YardsticksTest)
#include "yardsticks_test.moc"
