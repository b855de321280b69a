// The ends of the interval are the shares from which the measured one is just 1.96 of their own standard deviations
// away.
#include "core/contract/wilson_interval.h"

#include <QTest>
#include <cmath>

using namespace mambarium;

class WilsonIntervalTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void endsAreAsFarAsTheyMayBe_data() {
    QTest::addColumn<double>("share");
    QTest::addColumn<double>("trials");
    QTest::newRow("half") << 0.5 << 40.0;
    QTest::newRow("most") << 0.94 << 218.2;
    QTest::newRow("few") << 0.01 << 1000.0;
    QTest::newRow("two") << 0.5 << 2.0;
  }
  void endsAreAsFarAsTheyMayBe() {
    QFETCH(double, share);
    QFETCH(double, trials);
    const ShareInterval interval = wilson_interval(share, trials);
    QVERIFY(0 < interval.low && interval.low < share && share < interval.high && interval.high < 1);
    constexpr double z = 1.959963984540054, rounding = 1e-12;
    for (const double end : {interval.low, interval.high})
      QVERIFY(std::abs(std::abs(share - end) - z * std::sqrt(end * (1 - end) / trials)) < rounding);
  }
  void allAndNoneLeaveRoomOnOneSide() {
    const ShareInterval all = wilson_interval(1, 30), none = wilson_interval(0, 30);
    QCOMPARE(all.high, 1.0);
    QCOMPARE(none.low, 0.0);
    QVERIFY(all.low > 0.8 && all.low < 1);
    QVERIFY(std::abs(all.low + none.high - 1) < 1e-12);
  }
  void whatIsNoShareHasNone() {
    for (const auto& [share, trials] : {std::pair(1.1, 10.0), {-0.1, 10.0}, {0.5, 0.0}, {std::nan(""), 10.0}}) {
      QVERIFY(std::isnan(wilson_interval(share, trials).low));
      QVERIFY(std::isnan(wilson_interval(share, trials).high));
    }
  }
};

QTEST_APPLESS_MAIN(WilsonIntervalTest)
#include "wilson_interval_test.moc"
