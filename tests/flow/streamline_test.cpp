#include "core/flow/streamline.h"

#include <QTest>
#include <algorithm>
#include <cmath>

#include "core/flow/fixed_point.h"
#include "core/flow/grid_field.h"
#include "core/flow/seeds.h"
#include "tests/contract/sentence.h"
#include "tests/flow/affine_solution.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

namespace {

Box cube(std::int64_t dimension, double half) {
  return {std::vector<double>(dimension, -half), std::vector<double>(dimension, half)};
}

std::vector<double> point(const Streamline& line, std::int64_t index) {
  return {line.points.begin() + index * line.dimension, line.points.begin() + (index + 1) * line.dimension};
}

std::int64_t seed_of(const Streamline& line) {
  return std::ranges::find(line.time, 0.0) - line.time.begin();
}

// The largest distance, in box lengths, of a line's points from the closed form at their times.
double error_of(const AffineField& field, const Streamline& line, const Box& box) {
  const std::vector<double> seed = point(line, seed_of(line));
  double worst = 0;
  for (std::int64_t index = 0; index < line.count(); ++index) {
    const std::vector<double> expected = affine_solution(field, seed, line.time[index]), found = point(line, index);
    for (std::int64_t axis = 0; axis < field.r; ++axis)
      worst = std::max(worst, std::abs(found[axis] - expected[axis]) / box.extent(axis));
  }
  return worst;
}

}  // namespace

class StreamlineTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theClosedFormItselfIsRight() {
    const double e = std::exp(-1.0);
    QVERIFY(largest_difference(affine_solution({1, {-1}, {2}}, {5}, 1), {2 + 3 * e}) < 1e-14);
    QVERIFY(largest_difference(affine_solution({2, {0, -1, 1, 0}, {0, 0}}, {1, 0}, 2), {std::cos(2), std::sin(2)}) <
            1e-14);
  }

  void linesAreSolutionsOfTheirField_data() {
    QTest::addColumn<double>("tolerance");
    QTest::addColumn<double>("allowed");
    QTest::newRow("as asked for in a test") << 1e-10 << 1e-6;
    QTest::newRow("as drawn") << StreamlineOptions().tolerance << 1e-3;
  }
  void linesAreSolutionsOfTheirField() {
    QFETCH(double, tolerance);
    QFETCH(double, allowed);
    RandomNumbers random(1);
    StreamlineOptions options;
    options.tolerance = tolerance;
    double worst = 0;
    std::int64_t points = 0;
    for (int round = 0; round < 60; ++round) {
      const std::int64_t r = 1 + round % 5;
      const AffineField field{r, random.normals(r * r), random.normals(r)};
      Box box = cube(r, 2);
      box.upper[0] = 20;  // axes of different extents
      for (const Streamline& line : streamlines(field, even_seeds(box, 10), box, options)) {
        worst = std::max(worst, error_of(field, line, box));
        points += line.count();
      }
    }
    qInfo("%lld points, largest error %.2g box lengths", static_cast<long long>(points), worst);
    QVERIFY(points > 20000);
    QVERIFY(worst < allowed);
  }

  void aCentreIsFollowedRoundAndRound() {
    const AffineField field{2, {0, -1, 1, 0}, {0, 0}};
    StreamlineOptions options;
    options.direction = StreamlineDirection::forward;
    options.longest = 10;
    options.tolerance = 1e-8;
    const Streamline line = streamline(field, std::vector<double>{1, 0}, cube(2, 2), options);
    QCOMPARE(line.forward_end, StreamlineEnd::length);
    QCOMPARE(line.backward_end, StreamlineEnd::seed);
    for (std::int64_t index = 0; index < line.count(); ++index) {
      QVERIFY(std::abs(length_of(point(line, index)) - 1) < 1e-6);
      QVERIFY(std::abs(line.speed[index] - 1) < 1e-6);
    }
    // Ten box lengths are 40 units; the chords of 0.01 box lengths are short of their arcs by 1/24 of 0.04 squared.
    QVERIFY(std::abs(line.arc_length - 40) < 0.05);
    QVERIFY(std::abs(line.time.back() - 40) < 0.06);
  }

  void segmentsAreAsShortAsAskedFor() {
    RandomNumbers random(2);
    const AffineField field{2, {-0.3, -1, 1, -0.3}, {0.2, 0.1}};
    const Box box{{-1, -3}, {1, 3}};
    for (const double spacing : {0.05, 0.01}) {
      StreamlineOptions options;
      options.spacing = spacing;
      options.rest = 1e-2;
      for (const Streamline& line : streamlines(field, even_seeds(box, 20), box, options)) {
        for (std::int64_t index = 1; index < line.count(); ++index) {
          const double x = (line.points[2 * index] - line.points[2 * index - 2]) / 2;
          const double y = (line.points[2 * index + 1] - line.points[2 * index - 1]) / 6;
          QVERIFY(std::hypot(x, y) < 1.3 * spacing);  // the speed varies within a step
          QVERIFY(line.time[index] > line.time[index - 1]);
        }
      }
    }
  }

  void linesEndAtTheBorder() {
    const AffineField field{2, {0, 0, 0, 0}, {1, 0.5}};
    const Streamline line = streamline(field, std::vector<double>{0, 0}, cube(2, 1));
    QCOMPARE(line.forward_end, StreamlineEnd::border);
    QCOMPARE(line.backward_end, StreamlineEnd::border);
    QVERIFY(largest_difference(point(line, line.count() - 1), {1, 0.5}) < 1e-9);
    QVERIFY(largest_difference(point(line, 0), {-1, -0.5}) < 1e-9);
    QVERIFY(std::abs(line.arc_length - 2 * std::hypot(1, 0.5)) < 1e-9);
    QVERIFY(std::abs(line.time.back() - 1) < 1e-9 && std::abs(line.time.front() + 1) < 1e-9);
    QVERIFY(cube(2, 1).contains(point(line, line.count() - 1)));
  }

  void linesEndNearAFixedPoint() {
    const AffineField field{3, {-1, 0, 0, 0, -1, -3, 0, 3, -1}, {0.1, 0.2, 0.3}};
    const std::vector<double> rest = fixed_point(field)->z;
    StreamlineOptions options;
    options.longest = 100;
    const Streamline line = streamline(field, std::vector<double>{0.5, 0.6, -0.7}, cube(3, 1), options);
    QCOMPARE(line.forward_end, StreamlineEnd::at_rest);
    QCOMPARE(line.backward_end, StreamlineEnd::border);
    QVERIFY(largest_difference(point(line, line.count() - 1), rest) < 2e-3);
    QVERIFY(line.speed.back() <= 1e-3 * std::ranges::max(line.speed));
  }

  void aSeedAtTheFixedPointStaysThere() {
    const AffineField field{2, {-1, 0, 0, -2}, {0, 0}};
    const Streamline line = streamline(field, std::vector<double>{0, 0}, cube(2, 1));
    QCOMPARE(line.count(), std::int64_t{1});
    QCOMPARE(line.forward_end, StreamlineEnd::at_rest);
    QCOMPARE(line.backward_end, StreamlineEnd::at_rest);
    QCOMPARE(line.arc_length, 0.0);
  }

  void aSeedOutsideTheBoxStaysAlone() {
    const AffineField field{2, {-1, 0, 0, -2}, {0, 0}};
    const Streamline line = streamline(field, std::vector<double>{5, 0}, cube(2, 1));
    QCOMPARE(line.count(), std::int64_t{1});
    QCOMPARE(line.forward_end, StreamlineEnd::border);
  }

  void linesEndWhereTheFieldEnds() {
    const auto half = [](std::span<const double> z, std::span<double> v) {
      v[0] = 1;
      v[1] = 0;
      return z[0] < 0.5;
    };
    const FieldView view(half, 2);
    const Streamline line = streamline(view, std::vector<double>{0, 0}, cube(2, 1));
    QCOMPARE(line.forward_end, StreamlineEnd::no_field);
    QVERIFY(std::abs(point(line, line.count() - 1)[0] - 0.5) < 1e-6);
    QVERIFY(streamline(view, std::vector<double>{0.7, 0}, cube(2, 1)).count() == 0);
    const auto broken = [](std::span<const double>, std::span<double> v) { v[0] = v[1] = NAN; };
    QCOMPARE(streamline(FieldView(broken, 2), std::vector<double>{0, 0}, cube(2, 1)).count(), std::int64_t{1});
  }

  void thePointLimitIsKept() {
    StreamlineOptions options;
    options.most_points = 7;
    const AffineField field{2, {0, -1, 1, 0}, {0, 0}};
    const Streamline line = streamline(field, std::vector<double>{1, 0}, cube(2, 2), options);
    QCOMPARE(line.count(), std::int64_t{15});
    QCOMPARE(line.forward_end, StreamlineEnd::points);
    QCOMPARE(seed_of(line), std::int64_t{7});
  }

  // What is known to be affine takes a way of its own.
  void anAffineFieldIsFollowedAsAnyOther() {
    RandomNumbers random(3);
    for (int round = 0; round < 30; ++round) {
      const std::int64_t r = 1 + round % 5;
      const AffineField field{r, random.normals(r * r), random.normals(r)};
      const auto hidden = [&](std::span<const double> z, std::span<double> v) { field(z, v); };
      const Box box = cube(r, 2);
      const auto expected = streamlines(FieldView(hidden, r), even_seeds(box, 5), box),
                 found = streamlines(field, even_seeds(box, 5), box);
      for (std::size_t index = 0; index < found.size(); ++index) {
        QCOMPARE(found[index].count(), expected[index].count());
        QVERIFY(largest_difference(found[index].points, expected[index].points) < 1e-12);
        QVERIFY(largest_difference(found[index].speed, expected[index].speed) < 1e-12);
      }
    }
  }

  // A grid holds an affine field exactly, so the lines are the same.
  void linesOfAGridAreThoseOfItsField() {
    const AffineField field{2, {-0.2, -1, 1, -0.2}, {0.3, 0}};
    const Box box = cube(2, 2);
    GridField grid{make_grid(box, 33, "test"), {}, {}};
    std::vector<double> z(2), v(2);
    for (std::int64_t node = 0; node < grid.grid.count(); ++node) {
      grid.grid.place(node, z);
      field(z, v);
      grid.velocity.insert(grid.velocity.end(), v.begin(), v.end());
      grid.support.push_back(1);
    }
    const auto expected = streamlines(field, even_seeds(box, 20), box),
               found = streamlines(grid, even_seeds(box, 20), box);
    for (std::size_t index = 0; index < found.size(); ++index) QVERIFY(error_of(field, found[index], box) < 1e-4);
    // All but those that leave through the border where the grid's field ends have the same ends.
    for (std::size_t index = 0; index < found.size(); ++index)
      if (expected[index].forward_end == StreamlineEnd::at_rest)
        QCOMPARE(found[index].forward_end, StreamlineEnd::at_rest);
  }

  void seedsAreEvenAndTheirNumberMovesNone() {
    const Box box{{-1, 10}, {1, 40}};
    const std::vector<double> seeds = even_seeds(box, 400), fewer = even_seeds(box, 100);
    QCOMPARE(seeds.size(), std::size_t{800});
    QVERIFY(std::equal(fewer.begin(), fewer.end(), seeds.begin()));
    std::vector<int> cells(25);
    double nearest = 1;
    for (int i = 0; i < 400; ++i) {
      const double x = (seeds[2 * i] + 1) / 2, y = (seeds[2 * i + 1] - 10) / 30;
      QVERIFY(x >= 0 && x <= 1 && y >= 0 && y <= 1);
      ++cells[int(x * 5) * 5 + int(y * 5)];
      for (int j = 0; j < i; ++j)
        nearest = std::min(nearest, std::hypot(x - (seeds[2 * j] + 1) / 2, y - (seeds[2 * j + 1] - 10) / 30));
    }
    // 16 a cell; of random points some cell would have 4 or 30, and two would lie a twentieth of a grid's step apart.
    QVERIFY(std::ranges::min(cells) >= 13 && std::ranges::max(cells) <= 19);
    QVERIFY(nearest > 0.4 / 20);
    const std::vector<double> space = even_seeds(cube(3, 0.5), 512);
    nearest = 1;
    for (int i = 0; i < 512; ++i)
      for (int j = 0; j < i; ++j)
        nearest = std::min(nearest, std::hypot(space[3 * i] - space[3 * j], space[3 * i + 1] - space[3 * j + 1],
                                               space[3 * i + 2] - space[3 * j + 2]));
    QVERIFY(nearest > 0.5 / 8);
  }

  void badRequestsAreRefusedInOneSentence() {
    const AffineField field{2, {0, -1, 1, 0}, {0, 0}};
    const auto refused = [](const auto& call, const char* words) {
      try {
        call();
      } catch (const std::invalid_argument& error) {
        return is_one_sentence(error.what()) && mentions(error.what(), words);
      }
      return false;
    };
    const std::vector<double> seed{0, 0};
    QVERIFY(refused([&] { streamline(field, std::vector<double>{0}, cube(2, 1)); }, "1 coordinates"));
    QVERIFY(refused([&] { streamline(field, std::vector<double>{0, NAN}, cube(2, 1)); }, "not finite"));
    QVERIFY(refused([&] { streamline(field, seed, cube(3, 1)); }, "2 dimensions"));
    QVERIFY(refused([&] { streamline(field, seed, cube(2, 0)); }, "axis 0 of the box"));
    QVERIFY(refused([&] { streamlines(field, std::vector<double>{0, 0, 1}, cube(2, 1)); }, "whole seeds"));
    StreamlineOptions options;
    options.spacing = 0;
    QVERIFY(refused([&] { streamline(field, seed, cube(2, 1), options); }, "spacing is 0"));
    options = {};
    options.most_points = 0;
    QVERIFY(refused([&] { streamline(field, seed, cube(2, 1), options); }, "most_points is 0"));
    const AffineField large{17, std::vector<double>(289), std::vector<double>(17)};
    QVERIFY(refused([&] { streamline(large, std::vector<double>(17), cube(17, 1)); }, "17 dimensions"));
    QVERIFY(refused([&] { even_seeds(cube(2, 1), -1); }, "-1 seeds"));
  }
};

QTEST_APPLESS_MAIN(StreamlineTest)
#include "streamline_test.moc"
