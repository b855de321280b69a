#include "core/flow/empirical_field.h"

#include <QTest>
#include <algorithm>
#include <cmath>

#include "tests/contract/sentence.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

namespace {

Trajectory wander(RandomNumbers& random, std::int64_t k, std::int64_t points) {
  Trajectory trajectory{k, random.normals(k)};
  for (std::int64_t t = 1; t < points; ++t)
    for (std::int64_t axis = 0; axis < k; ++axis)
      trajectory.z.push_back(0.9 * trajectory.z[(t - 1) * k + axis] + 0.3 * random.normal());
  return trajectory;
}

// The formula, sample by sample.
struct Estimate {
  std::vector<double> v;
  double support = 0;
};

Estimate estimate(const std::vector<Trajectory>& trajectories, std::span<const double> node, double sigma, double most,
                  double blend) {
  const auto k = std::int64_t(node.size());
  Estimate result{std::vector<double>(k), 0};
  std::vector<double> mean(k);
  double count = 0;
  for (const Trajectory& trajectory : trajectories)
    for (std::int64_t t = 0; t + 1 < trajectory.points(); ++t, ++count) {
      double squares = 0;
      for (std::int64_t i = 0; i < k; ++i)
        squares += std::pow((trajectory.point(t)[i] + trajectory.point(t + 1)[i]) / 2 - node[i], 2);
      const double weight = std::exp(-squares / (2 * sigma * sigma));
      result.support += weight;
      for (std::int64_t i = 0; i < k; ++i) {
        const double step = trajectory.point(t + 1)[i] - trajectory.point(t)[i];
        result.v[i] += weight * step;
        mean[i] += step;
      }
    }
  const double e = std::exp(-result.support / (blend * most));
  for (std::int64_t i = 0; i < k; ++i) result.v[i] = (1 - e) * result.v[i] / result.support + e * mean[i] / count;
  return result;
}

}  // namespace

class EmpiricalFieldTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyNodeIsTheWeightedMeanOfTheSteps_data() {
    QTest::addColumn<int>("dimension");
    QTest::addColumn<int>("nodes");
    QTest::newRow("plane") << 2 << 33;
    QTest::newRow("space") << 3 << 9;
  }
  void everyNodeIsTheWeightedMeanOfTheSteps() {
    QFETCH(int, dimension);
    QFETCH(int, nodes);
    RandomNumbers random(1);
    const std::vector<Trajectory> trajectories{wander(random, dimension, 60), wander(random, dimension, 40)};
    EmpiricalFieldOptions options;
    options.nodes_per_axis = nodes;
    const GridField field = empirical_field(trajectories, options);
    QCOMPARE(field.grid.nodes, std::vector<std::int64_t>(dimension, nodes));
    double range = 0;
    for (int axis = 0; axis < dimension; ++axis) {
      double low = INFINITY, high = -INFINITY;
      for (const Trajectory& trajectory : trajectories)
        for (std::int64_t t = 0; t < trajectory.points(); ++t) {
          low = std::min(low, trajectory.point(t)[axis]);
          high = std::max(high, trajectory.point(t)[axis]);
        }
      range = std::max(range, high - low);
      QVERIFY(std::abs(field.grid.box.lower[axis] - (low - 0.05 * (high - low))) < 1e-13);
    }
    std::vector<double> z(dimension);
    double most = 0;
    for (std::int64_t node = 0; node < field.grid.count(); ++node) {
      field.grid.place(node, z);
      most = std::max(most, estimate(trajectories, z, 0.24 * range, 1, 0.28).support);
    }
    double worst = 0;
    for (std::int64_t node = 0; node < field.grid.count(); ++node) {
      field.grid.place(node, z);
      const Estimate expected = estimate(trajectories, z, 0.24 * range, most, 0.28);
      for (int axis = 0; axis < dimension; ++axis)
        worst = std::max(worst, std::abs(field.velocity[node * dimension + axis] - expected.v[axis]));
      worst = std::max(worst, std::abs(field.support[node] - expected.support / most));
    }
    QVERIFY(worst < 1e-12);
  }

  // Circles around 0, turned by 0.2 a token: the field turns the same way, at right angles to the radius.
  void aRotationIsSeenAsOne() {
    std::vector<Trajectory> circles;
    for (int circle = 1; circle <= 10; ++circle) {
      Trajectory& trajectory = circles.emplace_back(Trajectory{2, {}});
      for (int t = 0; t < 63; ++t) {
        const double angle = 0.2 * t + circle;
        trajectory.z.push_back(0.1 * circle * std::cos(angle));
        trajectory.z.push_back(0.1 * circle * std::sin(angle));
      }
    }
    EmpiricalFieldOptions options;
    options.bandwidth = 0.05;
    const GridField field = empirical_field(circles, options);
    QVERIFY(field.grid.count() > 0);
    std::vector<double> v(2);
    double worst = 1;
    for (int step = 0; step < 32; ++step) {
      const double angle = 0.3 * step;
      for (const double radius : {0.3, 0.5, 0.7}) {
        const std::vector<double> z{radius * std::cos(angle), radius * std::sin(angle)};
        QVERIFY(field(z, v));
        worst = std::min(worst, (-std::sin(angle) * v[0] + std::cos(angle) * v[1]) / length_of(v));
      }
    }
    qInfo("smallest cosine to the true direction %.5f", worst);
    QVERIFY(worst > std::cos(0.05));  // 3 degrees
  }

  void equalStepsGiveAConstantField() {
    std::vector<Trajectory> lines;
    for (int line = 0; line < 5; ++line) {
      Trajectory& trajectory = lines.emplace_back(Trajectory{2, {}});
      for (int t = 0; t < 10; ++t) {
        trajectory.z.push_back(0.1 * t);
        trajectory.z.push_back(-0.05 * t + line);
      }
    }
    const GridField field = empirical_field(lines);
    for (std::int64_t node = 0; node < field.grid.count(); ++node) {
      QVERIFY(std::abs(field.velocity[2 * node] - 0.1) < 1e-14);
      QVERIFY(std::abs(field.velocity[2 * node + 1] + 0.05) < 1e-14);
    }
    QVERIFY(std::ranges::max(field.support) == 1 && std::ranges::min(field.support) < 0.9);
  }

  // So far away that every weight is 0: the mean of all steps remains, and no support.
  void farFromTheDataTheMeanRemains() {
    const std::vector<Trajectory> one{{2, {0, 0, 0.1, 0.2}}};
    EmpiricalFieldOptions options;
    options.box = Box{{-100, -100}, {100, 100}};
    options.nodes_per_axis = 5;
    const GridField field = empirical_field(one, options);
    QCOMPARE(field.support.front(), 0.0);
    QVERIFY(std::abs(field.velocity[0] - 0.1) < 1e-15 && std::abs(field.velocity[1] - 0.2) < 1e-15);
  }

  void betweenNodesTheFieldIsLinearAndOutsideThereIsNone() {
    GridField field{make_grid({{0, 0, 0}, {2, 4, 6}}, 3, "test"), {}, {}};
    std::vector<double> z(3), v(3), expected(3);
    const auto bilinear = [](const std::vector<double>& at) {
      return std::vector<double>{1 + at[0] - at[1], at[0] * at[1] * at[2], at[2]};
    };
    for (std::int64_t node = 0; node < 27; ++node) {
      field.grid.place(node, z);
      expected = bilinear(z);
      field.velocity.insert(field.velocity.end(), expected.begin(), expected.end());
      field.support.push_back(z[0] / 2);
    }
    // x y z is linear along each axis, so a trilinear interpolant meets it everywhere.
    RandomNumbers random(2);
    for (int round = 0; round < 100; ++round) {
      z = {random.uniform(0, 2), random.uniform(0, 4), random.uniform(0, 6)};
      QVERIFY(field(z, v));
      QVERIFY(largest_difference(v, bilinear(z)) < 1e-13);
      QVERIFY(std::abs(field.support_at(z) - z[0] / 2) < 1e-14);
    }
    z = {2, 4, 6};
    QVERIFY(field(z, v) && largest_difference(v, bilinear(z)) < 1e-13);
    z = {2.001, 1, 1};
    QVERIFY(!field(z, v));
    QCOMPARE(field.support_at(z), 0.0);
    z = {1, NAN, 1};
    QVERIFY(!field(z, v));
  }

  void aModelThatStandsStillHasAFieldOfZeros() {
    const std::vector<Trajectory> still{{2, {1, 1, 1, 1, 1, 1}}};
    const GridField field = empirical_field(still);
    QVERIFY(std::ranges::all_of(field.velocity, [](double value) { return value == 0; }));
  }

  void pathsAreMeasured() {
    // A square of side 2.
    const PathMeasures square = path_measures({2, {0, 0, 2, 0, 2, 2, 0, 2}});
    QCOMPARE(square.length, 6.0);
    QCOMPARE(square.mean_step, 2.0);
    QVERIFY(std::abs(square.radius - std::sqrt(2)) < 1e-15 && std::abs(square.spread - std::sqrt(2)) < 1e-15);
    const PathMeasures line = path_measures({1, {0, 0, 3}});
    QVERIFY(std::abs(line.radius - 4.0 / 3) < 1e-15 && std::abs(line.spread - std::sqrt(2)) < 1e-15);
  }

  void badDataIsRefusedInOneSentence() {
    const auto refused = [](const std::vector<Trajectory>& trajectories, const EmpiricalFieldOptions& options,
                            const char* words) {
      try {
        empirical_field(trajectories, options);
      } catch (const std::invalid_argument& error) {
        return is_one_sentence(error.what()) && mentions(error.what(), words);
      }
      return false;
    };
    const std::vector<Trajectory> good{{2, {0, 0, 1, 1}}};
    QVERIFY(refused({}, {}, "no trajectory"));
    QVERIFY(refused({{2, {0, 0}}}, {}, "two points"));
    QVERIFY(refused({{1, {0, 1}}}, {}, "2 or 3 dimensions"));
    QVERIFY(refused({{4, std::vector<double>(16)}}, {}, "2 or 3 dimensions"));
    QVERIFY(refused({{2, {0, 0, 1, INFINITY}}}, {}, "not finite"));
    EmpiricalFieldOptions options;
    options.nodes_per_axis = 1;
    QVERIFY(refused(good, options, "1 nodes per axis"));
    options.nodes_per_axis = 1'000'000;
    QVERIFY(refused(good, options, "2^24"));
    options = {};
    options.bandwidth = 0;
    QVERIFY(refused(good, options, "bandwidth is 0"));
    options = {};
    options.box = Box{{0, 1}, {1, 1}};
    QVERIFY(refused(good, options, "axis 1 of the box"));
    options.box = Box{{0}, {1}};
    QVERIFY(refused(good, options, "2 dimensions"));
    QVERIFY(!refused(good, {}, ""));
  }
};

QTEST_APPLESS_MAIN(EmpiricalFieldTest)
#include "empirical_field_test.moc"
