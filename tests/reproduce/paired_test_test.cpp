#include "core/reproduce/paired_test.h"

#include <QTest>
#include <cmath>
#include <limits>

using namespace mambarium;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

class PairedTestTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // ttest_1samp of SciPy 1.17 on the differences, which is its ttest_rel on the pairs.
  void itIsThatOfScipy_data() {
    QTest::addColumn<QList<double>>("differences");
    QTest::addColumn<double>("t");
    QTest::addColumn<double>("p");
    QTest::newRow("two pairs") << QList<double>{0.001, -0.002} << -0.3333333333333333 << 0.7951672353008665;
    QTest::newRow("three") << QList<double>{0.012, -0.003, 0.021} << 1.4285714285714286 << 0.28933094548129856;
    QTest::newRow("five") << QList<double>{0.31, 0.29, 0.35, 0.28, 0.33} << 24.36310685462255 << 1.6840632959355147e-05;
    QTest::newRow("six, below 0") << QList<double>{-0.02, -0.05, -0.01, -0.04, -0.03, -0.045} << -5.165676192553671
                                  << 0.003567754691277745;
    QTest::newRow("eight") << QList<double>{1.5, 0.2, 0.9, 1.1, -0.4, 0.6, 0.8, 1.9} << 3.238140991974634
                           << 0.01428976980095102;
  }
  void itIsThatOfScipy() {
    QFETCH(QList<double>, differences);
    QFETCH(double, t);
    QFETCH(double, p);
    const PairedTest test = paired_test({differences.constData(), static_cast<std::size_t>(differences.size())});
    QCOMPARE(test.n, static_cast<std::int64_t>(differences.size()));
    // Sums of a few numbers in double, taken in another order.
    QVERIFY2(std::abs(test.t - t) < 1e-12 * std::abs(t), qPrintable(QString::number(test.t, 'g', 17)));
    // p is 1 less a probability near 1: what its rounding leaves.
    QVERIFY2(std::abs(test.p - p) < 1e-14, qPrintable(QString::number(test.p, 'g', 17)));
  }

  void pairsThatDifferAlikeAreNotTested_data() {
    QTest::addColumn<QList<double>>("differences");
    QTest::addColumn<bool>("all_same");
    QTest::newRow("none differs") << QList<double>{0, 0, 0} << true;
    QTest::newRow("a count") << QList<double>{1560, 1560, 1560} << true;
    QTest::newRow("but for rounding") << QList<double>{0.5 - 0.45, 0.7 - 0.65, 0.9 - 0.85} << true;
    QTest::newRow("two pairs") << QList<double>{-0.25, -0.25} << true;
    QTest::newRow("one of them missing") << QList<double>{3, no_number, 3} << true;
    QTest::newRow("in the ninth digit") << QList<double>{0.123456789, 0.123456788, 0.123456789} << false;
    QTest::newRow("in sign") << QList<double>{1, -1, 1} << false;
    QTest::newRow("one differs") << QList<double>{0, 0, 1e-9} << false;
    QTest::newRow("one pair") << QList<double>{2, no_number} << false;
  }
  void pairsThatDifferAlikeAreNotTested() {
    QFETCH(QList<double>, differences);
    QFETCH(bool, all_same);
    const PairedTest test = paired_test({differences.constData(), static_cast<std::size_t>(differences.size())});
    QCOMPARE(test.all_same, all_same);
    QCOMPARE(std::isnan(test.p) && std::isnan(test.t), all_same || test.n < 2);
  }

  void differencesThatCancelAreNone() {
    const PairedTest even = paired_test(std::vector{1.0, -1.0, 0.0});
    QVERIFY(even.t == 0 && even.p == 1 && !even.all_same);
  }

  void pairsThatLackANumberDoNotCount() {
    const PairedTest whole = paired_test(std::vector{0.012, -0.003, 0.021});
    const PairedTest holed = paired_test(std::vector{0.012, no_number, -0.003, 0.021});
    QVERIFY(holed.n == 3 && holed.p == whole.p);
    const PairedTest alone = paired_test(std::vector{0.1, no_number});
    QVERIFY(alone.n == 1 && std::isnan(alone.t) && std::isnan(alone.p));
  }

  // multipletests(method='holm') of statsmodels 0.14.
  void holmIsThatOfStatsmodels() {
    const auto near = [](const std::vector<double>& adjusted, const std::vector<double>& expected) {
      bool all = adjusted.size() == expected.size();
      for (std::size_t index = 0; all && index < expected.size(); ++index)
        all = std::abs(adjusted[index] - expected[index]) < 1e-15;
      return all;
    };
    QVERIFY(near(holm_adjusted(std::vector{0.01, 0.04, 0.03, 0.005}), {0.03, 0.06, 0.06, 0.02}));
    QVERIFY(near(holm_adjusted(std::vector{0.6, 0.02, 0.02}), {0.6, 0.06, 0.06}));
    QVERIFY(
        near(holm_adjusted(std::vector{0.001, 0.2, 0.012, 0.05, 0.049, 0.03}), {0.006, 0.2, 0.06, 0.147, 0.147, 0.12}));
    QVERIFY(near(holm_adjusted(std::vector{0.4, 0.9}), {0.8, 0.9}));
    QVERIFY(near(holm_adjusted(std::vector{0.7, 0.9}), {1, 1}));
  }

  void whatWasNotTestedIsNoPartOfTheFamily() {
    const std::vector<double> adjusted = holm_adjusted(std::vector{no_number, 0.02, 0.04, no_number});
    QVERIFY(std::isnan(adjusted[0]) && std::isnan(adjusted[3]));
    QVERIFY(std::abs(adjusted[1] - 0.04) < 1e-15 && std::abs(adjusted[2] - 0.04) < 1e-15);
    QVERIFY(holm_adjusted({}).empty());
  }
};

QTEST_APPLESS_MAIN(PairedTestTest)
#include "paired_test_test.moc"
