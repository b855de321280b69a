#include "core/contract/lower_bound.h"

#include <QTest>
#include <cmath>

using namespace mambarium;

namespace {

std::int64_t numbers_of(const char* assignments) {
  return recurrent_state_numbers(config_from_share_string(std::string("mambarium1:") + assignments).config).value();
}

}  // namespace

class LowerBoundTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // 0.97 log2(100) = 6.4445 bits a context.
  void theBoundIsThePapers() {
    QVERIFY(std::abs(lower_bound_bits(2, 1, 0.01) - 12.889) < 1e-3);
    QVERIFY(std::abs(lower_bound_bits(2, 4, 0.01) - 103.11) < 1e-2);
    QVERIFY(std::abs(lower_bound_bits(2, 10, 0.01) - 6599.2) < 0.1);
    QVERIFY(std::abs(lower_bound_bits(3, 2, 0.01) - 9 * 6.44446) < 1e-3);
  }

  void aLooseDemandNeedsNothing() {
    QCOMPARE(lower_bound_bits(2, 3, 0.4), 0.0);
    QCOMPARE(lower_bound_bits(2, 3, 1.0), 0.0);
    QVERIFY(lower_bound_bits(2, 3, 0.3) > 0);
  }

  void theStateIsHiddenNumbersAndWindows() {
    QCOMPARE(numbers_of(""), std::int64_t{16 * 8 + (16 + 8 + 8)});
    QCOMPARE(numbers_of("model.conv=none"), std::int64_t{128});
    QCOMPARE(numbers_of("model.conv=x,B;model.d_conv=4;model.layers=2"), std::int64_t{2 * (128 + 24 * 3)});
    QCOMPARE(numbers_of("model.kind=mamba_zero;model.d_model=4;model.d_state=2;model.expand=1"), std::int64_t{8 + 8});
    QVERIFY(!recurrent_state_numbers(config_from_share_string("mambarium1:model.kind=transformer").config));
  }
};

QTEST_APPLESS_MAIN(LowerBoundTest)
#include "lower_bound_test.moc"
