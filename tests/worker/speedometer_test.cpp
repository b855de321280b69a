#include "core/service/speedometer.h"

#include <QTest>
#include <cmath>

#include "core/service/duration_text.h"

using namespace mambarium;
using std::chrono::milliseconds;

class SpeedometerTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void nothingIsKnownBeforeTheFirstStep() {
    Speedometer speed;
    QCOMPARE(speed.steps_per_second(), 0.0);
    QVERIFY(speed.seconds_left(100) < 0);
    speed.restart(0);
    QCOMPARE(speed.steps_per_second(), 0.0);
    QVERIFY(speed.seconds_left(100) < 0);
  }

  void theLastSecondCounts() {
    Speedometer speed;
    const Speedometer::Clock::time_point start{};
    speed.restart(0, start);
    std::int64_t step = 0;
    for (int ms = 100; ms <= 10000; ms += 100) speed.passed(++step, start + milliseconds(ms));
    QVERIFY(std::abs(speed.steps_per_second() - 10) < 0.01);
    for (int ms = 10010; ms <= 12000; ms += 10) speed.passed(++step, start + milliseconds(ms));
    QVERIFY(std::abs(speed.steps_per_second() - 100) < 1);
    QVERIFY(std::abs(speed.seconds_left(step + 500) - 5) < 0.05);
  }

  void aPauseIsForgotten() {
    Speedometer speed;
    const Speedometer::Clock::time_point start{};
    speed.restart(0, start);
    speed.passed(10, start + milliseconds(1000));
    speed.restart(10, start + std::chrono::hours(1));
    speed.passed(30, start + std::chrono::hours(1) + milliseconds(1000));
    QVERIFY(std::abs(speed.steps_per_second() - 20) < 0.01);
  }

  void slowStepsAreMeasuredToo() {
    Speedometer speed;
    const Speedometer::Clock::time_point start{};
    speed.restart(0, start);
    for (int step = 1; step <= 5; ++step) speed.passed(step, start + milliseconds(4000 * step));
    QVERIFY(std::abs(speed.steps_per_second() - 0.25) < 0.001);
  }

  void wordsForDurationsAndRates() {
    QCOMPARE(clock_text(6.2), std::string("0:07"));
    QCOMPARE(clock_text(750), std::string("12:30"));
    QCOMPARE(clock_text(7500), std::string("2:05:00"));
    QCOMPARE(clock_text(-1), std::string("unknown"));
    QCOMPARE(clock_text(std::nan("")), std::string("unknown"));
    QCOMPARE(rate_text(850), std::string("850"));
    QCOMPARE(rate_text(36210), std::string("36.2 k"));
    QCOMPARE(rate_text(2104000), std::string("2.10 M"));
  }
};

QTEST_APPLESS_MAIN(SpeedometerTest)
#include "speedometer_test.moc"
