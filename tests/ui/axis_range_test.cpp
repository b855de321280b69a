// Axes that grow in steps, and the text of numbers.

#include "ui/plots/axis_range.h"

#include <QTest>
#include <cmath>
#include <set>

#include "ui/plots/axis_ticker.h"
#include "ui/plots/number_text.h"

using namespace mambarium;

class AxisRangeTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void niceNumbersBracketTheValue();
  void linearRangeHoldsTheDataAndChangesSeldom();
  void stepRangeGrowsToTheEndOfTheExperiment();
  void logRangeHoldsPositivesAndStripsTheRest();
  void logRangeChangesSeldom();
  void numbersBecomeText();
  void exactTextReadsBack();
  void tickTexts();
};

void AxisRangeTest::niceNumbersBracketTheValue() {
  for (double value = 1.3e-9; value < 1e9; value *= 1.37) {
    QVERIFY(niceBelow(value) <= value * (1 + 1e-8));
    QVERIFY(niceAbove(value) >= value * (1 - 1e-8));
    QVERIFY(niceAbove(value) / niceBelow(value) < 2.6);
    const double near = niceNear(value);
    QVERIFY(near == niceAbove(value) || near == niceBelow(value));
  }
  for (const double nice : {1e-4, 2e-4, 5e-4, 1.0, 2.0, 5.0, 1e6}) {
    QCOMPARE(niceAbove(nice), nice);
    QCOMPARE(niceBelow(nice), nice);
  }
}

void AxisRangeTest::linearRangeHoldsTheDataAndChangesSeldom() {
  std::optional<AxisRange> range;
  std::set<std::pair<double, double>> seen;
  for (int step = 0; step < 2000; ++step) {
    const double high = 0.75 + 0.05 * std::sin(step * 0.37) * std::exp(-step / 500.0);
    const double low = 0.5 + 0.02 * std::cos(step * 0.71);
    range = linearRange(low, high, range);
    QVERIFY(range->lower <= low && high <= range->upper);
    seen.insert({range->lower, range->upper});
  }
  QVERIFY(seen.size() <= 4);
  const AxisRange flat = linearRange(0.5, 0.5, std::nullopt);
  QVERIFY(flat.lower < flat.upper && flat.lower <= 0.5 && 0.5 <= flat.upper);
  QVERIFY(linearRange(0, 0.01, AxisRange{0, 100}).upper < 1);
}

void AxisRangeTest::stepRangeGrowsToTheEndOfTheExperiment() {
  std::set<double> seen;
  for (std::int64_t step = 0; step <= 3000; ++step) {
    const AxisRange range = stepRange(step, 3000);
    QVERIFY(range.lower == 0 && range.upper >= static_cast<double>(step));
    seen.insert(range.upper);
  }
  QCOMPARE(*seen.rbegin(), 3000.0);
  QVERIFY(seen.size() <= 9);
  QCOMPARE(stepRange(3500, 3000).upper, 5000.0);
  QCOMPARE(stepRange(700, 0).upper, 1000.0);
}

void AxisRangeTest::logRangeHoldsPositivesAndStripsTheRest() {
  LogRangeFinder finder(1e-6);
  for (const double value : {0.19, 0.0007, std::nan("")}) finder.add(value);
  LogRange range = finder.range(std::nullopt);
  QCOMPARE(range.floor, 5e-4);
  QCOMPARE(range.upper, 0.2);
  QVERIFY(!range.has_strip);
  QCOMPARE(range.end(), range.floor);
  QCOMPARE(range.place(0.0007), 0.0007);

  finder.add(-0.001);
  range = finder.range(range);
  QVERIFY(range.has_strip && !range.clips_positive);
  QVERIFY(range.end() < range.stripCenter() && range.stripCenter() < range.floor);
  QCOMPARE(range.place(-0.001), range.stripCenter());
  QCOMPARE(range.place(0), range.stripCenter());
  QCOMPARE(range.floor, 5e-4);

  finder.add(1e-9);
  QVERIFY(finder.range(range).clips_positive);

  LogRangeFinder nothing(1e-6);
  nothing.add(-1);
  const LogRange empty = nothing.range(std::nullopt);
  QVERIFY(empty.floor > 0 && empty.upper > empty.floor && empty.has_strip);
}

void AxisRangeTest::logRangeChangesSeldom() {
  std::optional<LogRange> range;
  std::set<std::pair<double, double>> seen;
  for (int step = 0; step < 2000; ++step) {
    LogRangeFinder finder(1e-6);
    const double gap = 0.2 * std::exp(-step / 300.0) * (1 + 0.2 * std::sin(step * 1.3)) + 5e-4;
    finder.add(gap);
    finder.add(0.21);
    range = finder.range(range);
    QVERIFY(range->floor <= gap && gap <= range->upper);
    seen.insert({range->floor, range->upper});
  }
  QVERIFY(seen.size() <= 10);
}

void AxisRangeTest::numbersBecomeText() {
  QCOMPARE(stepText(1240), QStringLiteral("1,240"));
  QCOMPARE(natsText(0.00071), QStringLiteral("0.0007"));
  QCOMPARE(natsText(-0.00021), QStringLiteral("−0.0002"));
  QCOMPARE(natsText(-0.00001), QStringLiteral("0.0000"));
  QCOMPARE(natsText(std::nan("")), QStringLiteral("–"));
  QCOMPARE(signedText(0.412), QStringLiteral("+0.412"));
  QCOMPARE(signedText(-0.0981), QStringLiteral("−0.098"));
  QCOMPARE(signedText(0.0001), QStringLiteral("0.000"));
  QCOMPARE(decayText(0.99743), QStringLiteral("0.9974"));
  QCOMPARE(decayText(0.5), QStringLiteral("0.500"));
  QCOMPARE(decayText(0.9999951), QStringLiteral("0.9999951"));
  QCOMPARE(decayText(1), QStringLiteral("1.0000"));
  QCOMPARE(countText(1, QStringLiteral("token"), QStringLiteral("tokens")), QStringLiteral("1 token"));
  QCOMPARE(countText(1240, QStringLiteral("token"), QStringLiteral("tokens")), QStringLiteral("1,240 tokens"));
}

void AxisRangeTest::exactTextReadsBack() {
  for (double value = 1.2345678901234567e-12; value < 1e12; value *= 13.37) {
    QCOMPARE(exactText(value).toDouble(), value);
    QCOMPARE(exactText(-value).toDouble(), -value);
    const auto single = static_cast<float>(value);
    QCOMPARE(exactText(single).toFloat(), single);
  }
  QCOMPARE(exactText(std::nan("")), QString());
}

void AxisRangeTest::tickTexts() {
  QCOMPARE(powerText(0.001), QStringLiteral("0.001"));
  QCOMPARE(powerText(0.2), QStringLiteral("0.2"));
  QCOMPARE(powerText(1), QStringLiteral("1"));
  QCOMPARE(powerText(5e-6), QStringLiteral("5×10⁻⁶"));
  QCOMPARE(powerText(1e-12), QStringLiteral("10⁻¹²"));
  QCOMPARE(powerText(9.7e-7), QStringLiteral("10⁻⁶"));
  QCOMPARE(powerText(9.4e-7), QStringLiteral("9×10⁻⁷"));
  QCOMPARE(powerText(9.8e-5), QStringLiteral("0.0001"));
  QCOMPARE(powerText(99600), QStringLiteral("10⁵"));

  LogStripTicker ticker(powerText);
  LogRange range;
  range.floor = 5e-4;
  range.upper = 0.2;
  range.has_strip = true;
  ticker.setLogRange(range, QStringLiteral("≤ 0"));
  QVector<double> ticks, sub_ticks;
  QVector<QString> labels;
  ticker.generate({range.end(), range.upper}, QLocale(), u'g', 6, ticks, &sub_ticks, &labels);
  QCOMPARE(labels, (QVector<QString>{QStringLiteral("≤ 0"), QStringLiteral("0.001"), QStringLiteral("0.01"),
                                     QStringLiteral("0.1")}));
  for (const double tick : sub_ticks) QVERIFY(tick >= range.floor && tick <= range.upper);
}

QTEST_APPLESS_MAIN(AxisRangeTest)
#include "axis_range_test.moc"
