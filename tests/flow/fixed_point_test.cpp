#include "core/flow/fixed_point.h"

#include <QTest>
#include <cmath>

#include "tests/contract/sentence.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

namespace {

std::string type_of(std::vector<double> J, FieldKind kind = FieldKind::velocity) {
  const auto r = static_cast<std::int64_t>(std::sqrt(double(J.size())) + 0.5);
  const auto point = fixed_point({r, std::move(J), std::vector<double>(r, 1.0), kind});
  return point ? to_text(point->stability) : "none";
}

}  // namespace

class FixedPointTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theFieldIsZeroThere() {
    RandomNumbers random(1);
    for (std::int64_t r = 1; r <= 16; ++r) {
      const AffineField field{r, random.normals(r * r), random.normals(r)};
      const auto point = fixed_point(field);
      QVERIFY(point);
      std::vector<double> v(r);
      field(point->z, v);
      QVERIFY(length_of(v) < 1e-12 * (1 + length_of(point->z)));
    }
  }

  void planarTypesAreNamed() {
    QCOMPARE(type_of({-1, 0, 0, -2}), "stable node");
    QCOMPARE(type_of({-1, 0, 0, -1}), "stable node");
    QCOMPARE(type_of({1, 1, 0, 2}), "unstable node");
    QCOMPARE(type_of({-0.1, -1, 1, -0.1}), "stable focus");
    QCOMPARE(type_of({0.1, -1, 1, 0.1}), "unstable focus");
    QCOMPARE(type_of({1, 2, 2, 1}), "saddle");
    QCOMPARE(type_of({0, -2, 0.5, 0}), "centre");
    QCOMPARE(type_of({1, 2, 2, 4}), "none");
    QCOMPARE(type_of({-1}), "stable node");
    QCOMPARE(type_of({1}), "unstable node");
  }

  // A tiny field is of the same type as a large one.
  void typesDoNotDependOnTheUnit() {
    QCOMPARE(type_of({-1e-9, -1e-8, 1e-8, -1e-9}), "stable focus");
    QCOMPARE(type_of({1e-9, 2e-9, 2e-9, 1e-9}), "saddle");
    QCOMPARE(type_of({-1e9, 0, 0, -2e9}), "stable node");
  }

  void typesInMoreDimensionsCountTheirDirections() {
    QCOMPARE(type_of({-1, 0, 0, 0, -2, 0, 0, 0, 3}), "saddle, 2 stable directions and 1 unstable");
    QCOMPARE(type_of({-1, 0, 0, 0, 2, 0, 0, 0, 3}), "saddle, 1 stable direction and 2 unstable");
    QCOMPARE(type_of({-1, -2, 0, 2, -1, 0, 0, 0, 3}), "saddle with rotation, 2 stable directions and 1 unstable");
    QCOMPARE(type_of({-1, -2, 0, 2, -1, 0, 0, 0, -3}), "stable focus");
    QCOMPARE(type_of({0, -2, 0, 2, 0, 0, 0, 0, -3}), "centre in 2 directions, 1 direction stable");
    QCOMPARE(type_of({-1, 0, 0, 0, -2, 0, 0, 0, -3}), "stable node");
  }

  void aNeutralRealDirectionIsDegenerate() {
    const std::vector<std::complex<double>> eigenvalues{0, -1};
    const Stability found = stability(eigenvalues, FieldKind::velocity);
    QCOMPARE(found.type, FixedPointType::degenerate);
    QCOMPARE(found.neutral, std::int64_t{1});
    QCOMPARE(to_text(found), "degenerate, 1 direction without growth or decay");
  }

  // J = -2.5 in steps: 1 - 2.5 jumps ever farther to the other side.
  void displacementsAreStableInsideTheUnitCircle() {
    QCOMPARE(type_of({-2.5}, FieldKind::velocity), "stable node");
    QCOMPARE(type_of({-2.5}, FieldKind::displacement), "unstable node");
    QCOMPARE(type_of({-1.5}, FieldKind::displacement), "stable node");
    // A rotation by 0.1 is neutral as a step; as a velocity its displacement goes inwards.
    const double turn = 0.1;
    const std::vector<double> step{std::cos(turn) - 1, -std::sin(turn), std::sin(turn), std::cos(turn) - 1};
    QCOMPARE(type_of(step, FieldKind::displacement), "centre");
    QCOMPARE(type_of(step, FieldKind::velocity), "stable focus");
  }

  void directionsBelongToRealEigenvalues() {
    const auto point = fixed_point({3, {-1, -2, 0, 2, -1, 0, 0, 0, 3}, {1, 2, 3}});
    QCOMPARE(point->eigenvalues.front(), std::complex<double>(3));
    QVERIFY(largest_difference(point->directions[0], {0, 0, 1}) < 1e-12);
    QVERIFY(point->directions[1].empty() && point->directions[2].empty());
  }

  void badFieldsAreRefusedInOneSentence() {
    const std::vector<AffineField> fields{{2, {1, 2, 3}, {0, 0}}, {2, {1, 2, 3, 4}, {0}}, {0, {}, {}}, {1, {NAN}, {0}}};
    for (const AffineField& bad : fields) {
      try {
        fixed_point(bad);
        QFAIL("accepted");
      } catch (const std::invalid_argument& error) {
        QVERIFY(is_one_sentence(error.what()) && mentions(error.what(), "affine field"));
      }
    }
  }
};

QTEST_APPLESS_MAIN(FixedPointTest)
#include "fixed_point_test.moc"
