#include "core/contract/length_schedule.h"

#include <QTest>
#include <cstdlib>
#include <map>

#include "core/contract/fork.h"
#include "tests/contract/sentence.h"

using namespace mambarium;

class LengthScheduleTest : public QObject {
  Q_OBJECT

  static ExperimentConfig growing(std::int64_t first, std::int64_t length, std::int64_t steps) {
    ExperimentConfig config;
    config.set("training.first_length", first);
    config.set("task.length", length);
    config.set("training.steps", steps);
    return config;
  }

  static QString refusal(const ExperimentConfig& config) {
    for (const Problem& problem : config.validate())
      if (problem.where == "training.first_length") return QString::fromStdString(problem.message);
    return {};
  }

 private Q_SLOTS:
  void withoutItLengthsAreTheTasks() {
    const LengthSchedule lengths(growing(0, 100, 50));
    for (const std::int64_t step : {0, 1, 25, 49}) QCOMPARE(lengths.at(step), std::int64_t{100});
    QCOMPARE(lengths.tokens_before(50), std::int64_t{50 * 100 * 64});
  }

  void lengthsDouble_data() {
    QTest::addColumn<int>("length");
    QTest::addColumn<int>("steps");
    QTest::addColumn<QList<int>>("expected");
    QTest::newRow("a power of two times the first") << 64 << 997 << QList<int>{8, 16, 32, 64};
    QTest::newRow("not a power of two times the first") << 50 << 400 << QList<int>{8, 16, 32, 50};
    QTest::newRow("no longer than the first") << 8 << 40 << QList<int>{8};
    QTest::newRow("fewer steps than lengths") << 64 << 2 << QList<int>{8, 16};
    QTest::newRow("a single step") << 64 << 1 << QList<int>{8};
  }
  void lengthsDouble() {
    QFETCH(int, length);
    QFETCH(int, steps);
    QFETCH(QList<int>, expected);
    const LengthSchedule lengths(growing(8, length, steps));
    QList<int> seen;
    std::map<std::int64_t, std::int64_t> tokens_of_length;
    std::int64_t tokens = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
      QCOMPARE(lengths.tokens_before(step), tokens);
      const std::int64_t now = lengths.at(step);
      if (seen.isEmpty() || seen.back() != now) seen.append(static_cast<int>(now));
      QCOMPARE(lengths.tokens_in(step), 64 * now);
      tokens += 64 * now;
      tokens_of_length[now] += now;
    }
    QCOMPARE(lengths.tokens_before(steps), tokens);
    QCOMPARE(seen, expected);
    if (steps < 100) return;
    for (const auto& [one, of_one] : tokens_of_length)
      for (const auto& [other, of_other] : tokens_of_length)
        QVERIFY2(std::abs(of_one - of_other) <= one + other, "every length is given as many tokens");
  }

  void whatIsLeftIsCountedInStepsOfThePresentLength() {
    const LengthSchedule plain(growing(0, 64, 120)), lengths(growing(8, 64, 120));
    for (const std::int64_t step : {1, 60, 119, 120}) QCOMPARE(plain.steps_left_alike(step), 120 - step);
    QCOMPARE(lengths.at(0), std::int64_t{8});
    const std::int64_t all = lengths.tokens_before(120) / (8 * 64);
    QVERIFY(std::abs(lengths.steps_left_alike(1) - (all - 1)) <= 1);
    QCOMPARE(lengths.steps_left_alike(120), std::int64_t{0});
  }

  void aFirstLengthThatCannotBeIsRefused() {
    QVERIFY(refusal(growing(8, 64, 10)).isEmpty());
    QVERIFY(mentions(refusal(growing(65, 64, 10)).toStdString(), "more than the 64 of task.length"));
    QVERIFY(mentions(refusal(growing(1, 64, 10)).toStdString(), "choose 2 at least"));
    QVERIFY(refusal(growing(2, 64, 10)).isEmpty());
    ExperimentConfig config = growing(4, 64, 10);
    QVERIFY(refusal(config).isEmpty());
    config.set("task.order", std::int64_t{4});
    QVERIFY(mentions(refusal(config).toStdString(), "above the order"));
    config = growing(4, 64, 10);
    config.set("task.kind", std::string("induction"));
    config.set("task.states", std::int64_t{8});
    QVERIFY(is_one_sentence(refusal(config).toStdString()));
    QVERIFY(mentions(refusal(config).toStdString(), "induction needs 8"));
    config.set("task.kind", std::string("decoding"));
    QVERIFY2(refusal(config).isEmpty(), "a decoder has windows of one length");
    QCOMPARE(LengthSchedule(config).at(0), length_of(config));
  }

  // Parent and fork see the same sequences at the same steps.
  void aForkKeepsTheLengths() {
    const ExperimentConfig parent = growing(8, 64, 100);
    QVERIFY(fork_problems(parent, parent, 10).empty());
    QCOMPARE(fork_problems(parent, growing(16, 64, 100), 10).front().where, std::string("training.first_length"));
    QCOMPARE(fork_problems(parent, growing(8, 64, 200), 10).front().where, std::string("training.steps"));
    QVERIFY(fork_problems(growing(0, 64, 100), growing(0, 64, 200), 10).empty());
  }
};

QTEST_APPLESS_MAIN(LengthScheduleTest)
#include "length_schedule_test.moc"
