#include "core/flow/axes.h"

#include <QTest>
#include <cmath>

#include "core/flow/fixed_point.h"
#include "tests/contract/sentence.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

namespace {

template <class Call>
bool refused(const Call& call, const char* words) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return is_one_sentence(error.what()) && mentions(error.what(), words);
  }
  return false;
}

// Points m + 3 a u + b v + 0.1 c w with u, v, w orthonormal in five dimensions.
struct Cloud {
  std::vector<double> mean{1, 2, 3, 4, 5}, u{0.6, 0.8, 0, 0, 0}, v{-0.8, 0.6, 0, 0, 0}, w{0, 0, 0, 0, 1};
  std::vector<Trajectory> trajectories;

  Cloud() {
    RandomNumbers random(1);
    for (int part = 0; part < 3; ++part) {
      Trajectory& trajectory = trajectories.emplace_back(Trajectory{5, {}});
      for (int point = 0; point < 2000; ++point) {
        const double a = 3 * random.normal(), b = random.normal(), c = 0.1 * random.normal();
        for (int i = 0; i < 5; ++i) trajectory.z.push_back(mean[i] + a * u[i] + b * v[i] + c * w[i]);
      }
    }
  }
};

}  // namespace

class AxesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void principalAxesAreThoseOfTheCloud() {
    const Cloud cloud;
    const PrincipalAxes found = principal_axes(cloud.trajectories, 3);
    double with_u = 0, with_v = 0, with_w = 0;
    for (int i = 0; i < 5; ++i) {
      with_u += found.axes.directions[i * 3] * cloud.u[i];
      with_v += found.axes.directions[i * 3 + 1] * cloud.v[i];
      with_w += found.axes.directions[i * 3 + 2] * cloud.w[i];
    }
    // 6000 points: sampling turns the axes by about (3 * 1 / 8) / sqrt(6000) = 0.005.
    QVERIFY(std::abs(with_u) > 0.9998 && std::abs(with_v) > 0.9998 && std::abs(with_w) > 0.9998);
    QVERIFY(largest_difference(found.axes.origin, cloud.mean) < 4 * 3 / std::sqrt(6000.0));
    QVERIFY(largest_difference(found.explained, {9 / 10.01, 1 / 10.01, 0.01 / 10.01}) < 0.01);
    QVERIFY(std::abs(found.explained[0] + found.explained[1] + found.explained[2] - 1) < 1e-12);
  }

  void theProjectedCloudHasTheVariancesAndNoCorrelation() {
    const Cloud cloud;
    const PrincipalAxes found = principal_axes(cloud.trajectories, 2);
    double xx = 0, xy = 0, yy = 0, x = 0, y = 0;
    for (const Trajectory& trajectory : cloud.trajectories) {
      const Trajectory flat = project(trajectory, found.axes);
      QCOMPARE(flat.points(), trajectory.points());
      for (std::int64_t t = 0; t < flat.points(); ++t) {
        x += flat.point(t)[0] / 6000;
        y += flat.point(t)[1] / 6000;
        xx += flat.point(t)[0] * flat.point(t)[0] / 6000;
        xy += flat.point(t)[0] * flat.point(t)[1] / 6000;
        yy += flat.point(t)[1] * flat.point(t)[1] / 6000;
      }
    }
    QVERIFY(std::abs(x) < 1e-12 && std::abs(y) < 1e-12 && std::abs(xy) < 1e-11);
    QVERIFY(std::abs(xx / yy - found.explained[0] / found.explained[1]) < 1e-10);
  }

  void axesAndBackIsTheSamePointOfThePlane() {
    const PrincipalAxes found = principal_axes(Cloud().trajectories, 2);
    const std::vector<double> y{0.3, -0.7};
    QVERIFY(largest_difference(found.axes.to_axes(found.axes.from_axes(y)), y) < 1e-14);
  }

  void aSliceAlongCoordinatesHoldsTheOthers() {
    RandomNumbers random(2);
    const AffineField field{4, random.normals(16), random.normals(4)};
    const std::vector<std::int64_t> which{3, 1};
    const Axes axes = coordinate_axes(which, std::vector<double>{0.5, 9, -0.25, 9});
    const AffineField flat = slice(field, axes);
    std::vector<double> v(4), seen(2);
    field(std::vector<double>{0.5, 0.7, -0.25, 0.2}, v);
    flat(std::vector<double>{0.2, 0.7}, seen);
    QVERIFY(largest_difference(seen, {v[3], v[1]}) < 1e-15);
    QCOMPARE(axes.from_axes(std::vector<double>{0.2, 0.7}), (std::vector<double>{0.5, 0.7, -0.25, 0.2}));
  }

  void aSliceAlongPrincipalAxesIsTheProjectedVelocity() {
    RandomNumbers random(3);
    const AffineField field{5, random.normals(25), random.normals(5), FieldKind::displacement};
    const Axes axes = principal_axes(Cloud().trajectories, 3).axes;
    const AffineField flat = slice(field, axes);
    QCOMPARE(flat.kind, FieldKind::displacement);
    const std::vector<double> y{0.3, -1, 2};
    std::vector<double> v(5), seen(3);
    field(axes.from_axes(y), v);
    flat(y, seen);
    for (int i = 0; i < 5; ++i) v[i] += axes.origin[i];
    QVERIFY(largest_difference(seen, axes.to_axes(v)) < 1e-13);
  }

  void aSliceThroughTheFixedPointRestsThere() {
    RandomNumbers random(4);
    const AffineField field{4, random.normals(16), random.normals(4)};
    const std::vector<double> z = fixed_point(field)->z;
    const std::vector<std::int64_t> which{0, 2};
    QVERIFY(largest_difference(fixed_point(slice(field, coordinate_axes(which, z)))->z, {z[0], z[2]}) < 1e-11);
    const std::vector<double> beside{z[0], z[1] + 1, z[2], z[3]};
    QVERIFY(largest_difference(fixed_point(slice(field, coordinate_axes(which, beside)))->z, {z[0], z[2]}) > 1e-3);
  }

  void aCloudOfOnePointExplainsNothing() {
    const std::vector<Trajectory> still{{2, {1, 2, 1, 2}}};
    QCOMPARE(principal_axes(still, 2).explained, (std::vector<double>{0, 0}));
  }

  void badAxesAreRefusedInOneSentence() {
    const std::vector<double> held(3);
    QVERIFY(refused([&] { coordinate_axes(std::vector<std::int64_t>{0, 3}, held); }, "no coordinate 3"));
    QVERIFY(refused([&] { coordinate_axes(std::vector<std::int64_t>{1, 1}, held); }, "chosen twice"));
    QVERIFY(refused([&] { coordinate_axes(std::vector<std::int64_t>{}, held); }, "no coordinate is chosen"));
    QVERIFY(refused([&] { principal_axes(Cloud().trajectories, 6); }, "6 axes"));
    QVERIFY(refused([&] { principal_axes({}, 1); }, "no trajectory"));
    QVERIFY(refused([&] { principal_axes(std::vector<Trajectory>{{2, {1, 2, 3}}}, 1); }, "whole points"));
    QVERIFY(refused([&] { principal_axes(std::vector<Trajectory>{{2, {}}}, 1); }, "no points"));
    QVERIFY(refused([&] { principal_axes(std::vector<Trajectory>{{2, {1, NAN}}}, 1); }, "not finite"));
    QVERIFY(refused([&] { principal_axes(std::vector<Trajectory>{{2, {1, 2}}, {1, {1}}}, 1); }, "trajectory 1"));
    const Axes axes = coordinate_axes(std::vector<std::int64_t>{0}, held);
    QVERIFY(refused([&] { slice({2, {1, 0, 0, 1}, {0, 0}}, axes); }, "of 3 dimensions"));
    QVERIFY(refused([&] { project({2, {1, 2}}, axes); }, "of 3 dimensions"));
  }
};

QTEST_APPLESS_MAIN(AxesTest)
#include "axes_test.moc"
