// What a flow scene computes before anything is drawn: checks, colour scale, world, camera, lines and faces.
#include "ui/scene/flow_geometry.h"

#include <QtTest>
#include <functional>
#include <limits>

#include "flow_fake_data.h"
#include "ui/scene/flow_labels.h"
#include "ui/scene/flow_projection.h"
#include "ui/scene/flow_vector.h"

using namespace mambarium;
using namespace mambarium::fake;

namespace {

double distance(const FlowPoint& a, const FlowPoint& b) {
  return length(a - b);
}

}  // namespace

class FlowGeometryTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aPictureThatCannotBeDrawnIsRefusedInOneSentence_data() {
    QTest::addColumn<int>("which");
    QTest::addColumn<QString>("says");
    const char* const says[] = {"dimension is 4",     "lower end",       "colour range", "above 0",
                                "21 points",          "not finite",      "tokens",       "out of order",
                                "current trajectory", "no direction",    "cell",         "dimension 2",
                                "2 columns",          "it needs 31 x 41"};
    for (int which = 0; which < static_cast<int>(std::size(says)); ++which) {
      QTest::newRow(says[which]) << which << QString::fromLatin1(says[which]);
    }
  }
  void aPictureThatCannotBeDrawnIsRefusedInOneSentence() {
    QFETCH(int, which);
    QFETCH(QString, says);
    FlowPicture picture = withSpiral(twoLines(2));
    picture.surface = bowl();
    picture.fixed_point = FlowFixedPoint{.position = {1, 3.5, 0}, .type = "stable node", .directions = {{{1, 0, 0}}}};
    picture.slow_region = FlowSlowRegion{.below = 0.1, .cell = {0.1, 0.1, 0}, .cells = {{1, 3.5, 0}}};
    validate(picture);
    const std::function<void()> spoil[] = {
        [&] { picture.dimension = 4; },
        [&] { picture.upper[0] = picture.lower[0]; },
        [&] { picture.speed.upper = picture.speed.lower; },
        [&] { picture.speed.logarithmic = true; },
        [&] { picture.lines[1].speeds.pop_back(); },
        [&] { picture.lines[0].points[3][1] = std::numeric_limits<double>::quiet_NaN(); },
        [&] { picture.trajectories[0].tokens.pop_back(); },
        [&] { std::swap(picture.trajectories[0].tokens[3], picture.trajectories[0].tokens[4]); },
        [&] { picture.current_trajectory = 1; },
        [&] {
          picture.fixed_point->directions[0].direction = {0, 0, 1};
        },
        [&] { picture.slow_region->cell[1] = 0; },
        [&] { picture.dimension = 3, picture.slow_region.reset(), picture.fixed_point.reset(); },
        [&] { picture.surface->columns = 1; },
        [&] { picture.surface->speeds.pop_back(); },
    };
    spoil[which]();
    try {
      validate(picture);
      QFAIL("nothing was said");
    } catch (const std::invalid_argument& problem) {
      const QString sentence = QString::fromUtf8(problem.what());
      QVERIFY2(sentence.startsWith(QStringLiteral("flow picture: ")) && sentence.contains(says), problem.what());
      QVERIFY(!sentence.contains(QLatin1Char('\n')));
    }
  }

  void shadesAreLinearOrLogarithmicAndStayWithinTheScale() {
    QCOMPARE(shadeOf(0.5, {0, 2, false}), 0.25);
    QCOMPARE(shadeOf(9.0, {0, 2, false}), 1.0);
    QCOMPARE(shadeOf(0.1, {0.01, 100, true}), 0.25);
    QCOMPARE(shadeOf(0.0, {0.01, 100, true}), 0.0);
    QVERIFY(std::isnan(shadeOf(std::numeric_limits<double>::quiet_NaN(), {0, 1, false})));
  }

  void speedBetweenNodesIsBilinear() {
    FlowSpeedGrid grid{.columns = 3, .rows = 2, .lower = {0, 0}, .upper = {2, 1}, .speeds = {}};
    const auto plane = [](double x, double y) { return 1 + 2 * x + 3 * y + 0.5 * x * y; };
    for (const double y : {0.0, 1.0}) {
      for (const double x : {0.0, 1.0, 2.0}) grid.speeds.push_back(plane(x, y));
    }
    for (const auto& [x, y] : {std::pair(0.0, 0.0), {0.3, 0.7}, {1.6, 0.2}, {2.0, 1.0}}) {
      QVERIFY(std::abs(speedAt(grid, x, y) - plane(x, y)) < 1e-14);
    }
    QCOMPARE(speedAt(grid, 9, -4), plane(2, 0));
  }

  void theWorldIsTheBoxAboutTheOriginAndGoesBack() {
    const FlowSpace space(emptyPicture(3), false);
    QVERIFY(distance(space.world({1, 3.5, 11.5}), {0, 0, 0}) < 1e-15);
    QVERIFY(distance(space.upper(), {1, 0.75, 0.75}) < 1e-15);
    const FlowPoint z{-0.3, 4.4, 12.9};
    QVERIFY(distance(space.data(space.world(z)), z) < 1e-14);
    FlowPicture stretched = emptyPicture(3);
    stretched.equal_units = false;
    QVERIFY(distance(FlowSpace(stretched, false).upper(), {1, 1, 1}) < 1e-15);
  }

  void aReliefIsAsHighAsItsSpeed() {
    FlowPicture picture = emptyPicture(2);
    picture.surface = bowl();
    const FlowSpace relief(picture, true);
    QVERIFY(!relief.isFlat() && FlowSpace(picture, false).isFlat());
    QVERIFY(std::abs(relief.height({2, 3.5, 0}) / relief.upper()[2] - 0.5) < 1e-12);  // speed 1 of 2
    QCOMPARE(relief.height({1, 3.5, 0}), 0.0);
  }

  void orbitingKeepsTheDistanceAndTheHorizon() {
    FlowCamera camera = cameraOf(FlowView::isometric, false, {0.1, 0.2, 0.3}, 1.3, false);
    const double away = distance(camera.position, camera.focal_point);
    for (int turn = 0; turn < 50; ++turn) {
      camera = orbited(camera, 17, turn % 2 ? 31 : -23);
      QVERIFY(std::abs(distance(camera.position, camera.focal_point) - away) < 1e-9);
      QVERIFY(std::abs(dot(camera.view_up, camera.direction())) < 1e-9);
      QVERIFY(std::abs(camera.right()[2]) < 1e-9);
      QVERIFY(camera.view_up[2] > -1e-9);
    }
  }

  void aFullTurnIsNoTurnAndThePoleIsTheEnd() {
    const FlowCamera start = cameraOf(FlowView::front, false, {0, 0, 0}, 1, true);
    FlowCamera camera = start;
    for (int turn = 0; turn < 12; ++turn) camera = orbited(camera, 30, 0);
    QVERIFY(distance(camera.position, start.position) < 1e-9);
    camera = orbited(start, 0, 400);
    QVERIFY(distance(camera.direction(), {0, 0, -1}) < 1e-9);
    QVERIFY(distance(orbited(camera, 0, -90).direction(), start.direction()) < 1e-9);
  }

  void panningMovesTheSceneByAsMuchAsSaid() {
    const QSizeF size(800, 600);
    for (const bool parallel : {true, false}) {
      const FlowCamera camera = cameraOf(FlowView::isometric, false, {0, 0, 0}, 1.3, parallel);
      const FlowCamera moved = panned(camera, 0.1, -0.2);
      const QPointF before = FlowProjection{camera, size, {400, 300}}.display({0, 0, 0});
      const QPointF after = FlowProjection{moved, size, {400, 300}}.display({0, 0, 0});
      QVERIFY(std::abs((after - before).x() - 60) < 1e-9 && std::abs((after - before).y() - 120) < 1e-9);
    }
  }

  void theRayOfAPixelPassesThroughWhatIsSeenThere() {
    for (const bool parallel : {true, false}) {
      const FlowProjection view{
          cameraOf(FlowView::isometric, false, {0.1, 0, 0}, 1.2, parallel), {900, 500}, {410, 260}};
      for (const FlowPoint& point : {FlowPoint{0, 0, 0}, {0.7, -0.4, 0.9}, {-1, 1, -1}}) {
        const FlowRay ray = view.ray(view.display(point));
        QVERIFY(length(cross(point - ray.origin, ray.direction)) < 1e-12);
      }
    }
  }

  void aLineLeavesOutRepetitions() {
    FlowGeometry geometry;
    const FlowPoint a{0, 0, 0}, b{1, 0, 0};
    geometry.addLine(std::array{a, a, b, b});
    geometry.addLine(std::array{a, a});
    QCOMPARE(geometry.cells(), std::size_t{1});
    QCOMPARE(geometry.points.size(), std::size_t{2});
  }

  void aSlowSolidShowsItsOuterFacesOnly() {
    FlowPicture picture = emptyPicture(3);
    FlowSlowRegion region{.below = 0.1, .cell = {0.1, 0.2, 0.3}, .cells = {}};
    for (int i = 0; i < 8; ++i) {
      region.cells.push_back({1 + 0.1 * (i % 2), 3 + 0.2 * (i / 2 % 2), 11 + 0.3 * (i / 4)});
    }
    picture.slow_region = region;
    QCOMPARE(slowGeometry(picture, FlowSpace(picture, false)).cells(), std::size_t{24});
  }

  void anArrowPointsAlongItsVectorAndGrowsWithIt() {
    FlowPicture picture = emptyPicture(2);
    picture.glyphs = {{{0, 3, 0}, {0, 0.4, 0}}, {{1, 3, 0}, {0, 2, 0}}};
    const FlowSpace space(picture, false);
    const auto reach = [&](std::size_t index) {
      FlowPicture one = picture;
      one.glyphs = {picture.glyphs[index]};
      const FlowPoint from = space.place(one.glyphs[0].position, FlowLayer::glyphs);
      double along = 0, aside = 0;
      for (const FlowPoint& point : glyphGeometry(one, space).points) {
        along = std::max(along, point[1] - from[1]);
        aside = std::max(aside, std::abs(point[0] - from[0]));
      }
      return std::pair(along, aside);
    };
    QVERIFY(reach(0).first > 2 * reach(0).second);
    QVERIFY(reach(1).first > 1.5 * reach(0).first);
  }

  void theTailEndsAtTheBallAndTapers() {
    const FlowSpace space(withSpiral(emptyPicture(3)), false);
    const FlowTail tail = tailGeometry(spiral(), space, 20, 16, 0.1);
    QCOMPARE(tail.geometry.points.size(), std::size_t{16});
    QCOMPARE(tail.radii.size(), std::size_t{16});
    QVERIFY(distance(tail.geometry.points.back(), space.place(spiral().points[20], FlowLayer::trajectories)) < 1e-15);
    QVERIFY(std::is_sorted(tail.radii.begin(), tail.radii.end()) && tail.radii.back() == 0.1F);
    QCOMPARE(tailGeometry(spiral(), space, 3, 16, 0.1).geometry.points.size(), std::size_t{4});
  }

  void tokensFindTheirPoint() {
    const FlowTrajectory path = spiral();
    QCOMPARE(pointOfToken(path, 5), std::ptrdiff_t{0});
    QCOMPARE(pointOfToken(path, 83), std::ptrdiff_t{39});
    QCOMPARE(pointOfToken(path, 6), std::ptrdiff_t{-1});
    FlowTrajectory plain = path;
    plain.tokens.clear();
    QCOMPARE(pointOfToken(plain, 39), std::ptrdiff_t{39});
    QCOMPARE(pointOfToken(plain, 40), std::ptrdiff_t{-1});
  }

  void ticksAreRoundAndWithinTheAxis() {
    const auto texts = [](const std::vector<FlowTick>& ticks) {
      QStringList list;
      for (const FlowTick& tick : ticks) list << tick.text;
      return list.join(QLatin1Char(' '));
    };
    QCOMPARE(texts(flowTicks(-1, 1, 5)), QStringLiteral("−1.0 −0.5 0.0 0.5 1.0"));
    QCOMPARE(texts(flowTicks(-0.115, 0.115, 5)), QStringLiteral("−0.10 −0.05 0.00 0.05 0.10"));
    QCOMPARE(texts(flowTicks(0, 4000, 4)), QStringLiteral("0 1000 2000 3000 4000"));
    QCOMPARE(texts(speedTicks({0.01, 10, true})), QStringLiteral("0.01 0.1 1 10"));
  }
};

QTEST_GUILESS_MAIN(FlowGeometryTest)
#include "flow_geometry_test.moc"
