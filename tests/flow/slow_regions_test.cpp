#include "core/flow/slow_regions.h"

#include <QTest>
#include <algorithm>
#include <cmath>

#include "core/flow/affine_field.h"
#include "core/flow/fixed_point.h"
#include "tests/contract/sentence.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

class SlowRegionsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // Also where a narrow valley across the grid has many nodes that are slower than their neighbours.
  void anAffineFieldHasExactlyItsFixedPoint() {
    RandomNumbers random(1);
    int inside = 0;
    for (int round = 0; round < 200; ++round) {
      const std::int64_t r = 2 + round % 2;
      const AffineField field{r, random.normals(r * r), random.normals(r)};
      const std::vector<double> z = fixed_point(field)->z;
      const Box box{std::vector<double>(r, -2.0), std::vector<double>(r, 3.0)};
      const auto points = slow_points(field, speed_grid(field, box, r == 2 ? 33 : 15));
      if (!box.contains(z)) {
        QVERIFY(std::ranges::none_of(points, [](const SlowPoint& point) { return point.fixed; }));
        continue;
      }
      ++inside;
      QCOMPARE(points.size(), std::size_t{1});
      QVERIFY(points[0].fixed);
      QVERIFY(largest_difference(points[0].z, z) < 1e-7);
    }
    QVERIFY(inside > 50);
  }

  // v = (x^2 - 1, y): two fixed points, and at x = 0 a ridge between them.
  void twoFixedPointsAreFound() {
    const auto field = [](std::span<const double> z, std::span<double> v) {
      v[0] = z[0] * z[0] - 1;
      v[1] = z[1];
    };
    const FieldView view(field, 2);
    auto points = slow_points(view, speed_grid(view, {{-2, -2}, {2, 2.5}}, 33));
    std::ranges::sort(points, {}, [](const SlowPoint& point) { return point.z[0]; });
    QCOMPARE(points.size(), std::size_t{2});
    QVERIFY(points[0].fixed && points[1].fixed);
    QVERIFY(largest_difference(points[0].z, {-1, 0}) < 1e-8 && largest_difference(points[1].z, {1, 0}) < 1e-8);
  }

  // v = (1/2 + (x - 0.3)^2, y): nowhere 0, slowest at (0.3, 0).
  void aSlowPointNeedNotBeFixed() {
    const auto field = [](std::span<const double> z, std::span<double> v) {
      v[0] = 0.5 + (z[0] - 0.3) * (z[0] - 0.3);
      v[1] = z[1];
    };
    const FieldView view(field, 2);
    const auto points = slow_points(view, speed_grid(view, {{-1, -1}, {1, 1}}, 33));
    QCOMPARE(points.size(), std::size_t{1});
    QVERIFY(!points[0].fixed);
    QVERIFY(std::abs(points[0].speed - 0.5) < 1e-8);
    QVERIFY(largest_difference(points[0].z, {0.3, 0}) < 1e-4);
  }

  void aFieldThatOnlyGetsSlowerTowardsABorderHasNoSlowPoint() {
    const AffineField field{2, {-1, 0, 0, -1}, {10, 0}};  // rests at (10, 0)
    QVERIFY(slow_points(field, speed_grid(field, {{-1, -1}, {1, 1}}, 21)).empty());
  }

  void aFieldThatIsTheSameEverywhereHasNoSlowPoint() {
    const AffineField field{2, {0, 0, 0, 0}, {1, 0}};
    QVERIFY(slow_points(field, speed_grid(field, {{-1, -1}, {1, 1}}, 33)).empty());
  }

  // |v| = |z|: slower than f times the largest is a disc of radius f sqrt(2), with area 2 pi f^2 of 4.
  void theSlowRegionIsADiscOfItsArea() {
    const AffineField field{2, {0, -1, 1, 0}, {0, 0}};
    const SpeedGrid speeds = speed_grid(field, {{-1, -1}, {1, 1}}, 401);
    const SlowRegion region = slow_region(speeds, 0.5, SpeedScale::largest);
    QVERIFY(std::abs(region.threshold - std::sqrt(0.5)) < 1e-14);
    QVERIFY(std::abs(region.share - std::numbers::pi / 8) < 0.005);
    std::vector<double> z(2);
    for (std::int64_t node = 0; node < speeds.grid.count(); ++node) {
      speeds.grid.place(node, z);
      QVERIFY(std::abs(speeds.speed[node] - length_of(z)) < 1e-14);
      QCOMPARE(bool(region.slow[node]), speeds.speed[node] <= region.threshold);
    }
    // Half of the nodes are slower than the median, by definition.
    QVERIFY(std::abs(slow_region(speeds, 1).share - 0.5) < 0.005);
  }

  void whereThereIsNoFieldThereIsNoSpeed() {
    const auto field = [](std::span<const double> z, std::span<double> v) {
      v[0] = z[0];
      v[1] = z[1];
      return z[0] >= 0;
    };
    const FieldView view(field, 2);
    const SpeedGrid speeds = speed_grid(view, {{-1, -1}, {1, 1}}, 21);
    QCOMPARE(std::ranges::count_if(speeds.speed, [](double speed) { return std::isnan(speed); }), 21 * 10);
    QVERIFY(slow_region(speeds, 10, SpeedScale::largest).share == 1);
  }

  void badRequestsAreRefusedInOneSentence() {
    const AffineField field{2, {0, -1, 1, 0}, {0, 0}};
    const auto refused = [](const auto& call) {
      try {
        call();
      } catch (const std::invalid_argument& error) {
        return is_one_sentence(error.what());
      }
      return false;
    };
    QVERIFY(refused([&] { speed_grid(field, {{0, 0, 0}, {1, 1, 1}}); }));
    QVERIFY(refused([&] { speed_grid(field, {{0}, {1}}); }));
    QVERIFY(refused([&] { speed_grid(field, {{0, 1}, {1, 0}}); }));
    QVERIFY(refused([&] { slow_region(speed_grid(field, {{0, 0}, {1, 1}}), -1); }));
  }
};

QTEST_APPLESS_MAIN(SlowRegionsTest)
#include "slow_regions_test.moc"
