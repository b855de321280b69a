#include "core/reproduce/median.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace mambarium;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

// 1 to n, in an order that is not theirs.
std::vector<double> shuffled(std::size_t n) {
  std::vector<double> values;
  for (std::size_t index = 0; index < n; ++index) values.push_back(static_cast<double>((index * 7 + 3) % n + 1));
  return values;
}

}  // namespace

class MedianTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Places of the bounds from SciPy's binom.cdf(k - 1, n, 0.5) <= 0.025; n is no multiple of 7.
  void theIntervalIsOfTheBinomialsPlaces_data() {
    QTest::addColumn<int>("n");
    QTest::addColumn<double>("low");
    QTest::newRow("6") << 6 << 1.0;
    QTest::newRow("9") << 9 << 2.0;
    QTest::newRow("10") << 10 << 2.0;
    QTest::newRow("20") << 20 << 6.0;
    QTest::newRow("25") << 25 << 8.0;
    QTest::newRow("60") << 60 << 22.0;
  }
  void theIntervalIsOfTheBinomialsPlaces() {
    QFETCH(int, n);
    QFETCH(double, low);
    const SweepSummary median = median_summary(shuffled(static_cast<std::size_t>(n)));
    QCOMPARE(median.n, static_cast<std::int64_t>(n));
    QCOMPARE(median.mean, (n + 1) / 2.0);
    QCOMPARE(median.low, low);
    QCOMPARE(median.high, n + 1 - low);
    QVERIFY(std::isnan(median.standard_error));
  }

  void oneFarOutDoesNotMoveIt() {
    std::vector<double> values = shuffled(25);
    *std::ranges::max_element(values) = 1e9;
    const SweepSummary median = median_summary(values);
    QVERIFY(median.mean == 13 && median.low == 8 && median.high == 18);
  }

  void aFewHaveNoInterval() {
    const SweepSummary five = median_summary(std::vector{3.0, 1.0, no_number, 2.0, 5.0, 4.0});
    QVERIFY(five.n == 5 && five.mean == 3 && std::isnan(five.low) && std::isnan(five.high));
    const SweepSummary two = median_summary(std::vector{1.0, 4.0});
    QCOMPARE(two.mean, 2.5);
    const SweepSummary none = median_summary(std::vector{no_number});
    QVERIFY(none.n == 0 && std::isnan(none.mean));
  }
};

QTEST_APPLESS_MAIN(MedianTest)
#include "median_test.moc"
