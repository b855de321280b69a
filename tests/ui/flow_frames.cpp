// How many frames a second the flow field has in 3-D: not a test, a measurement (scripts/measure-flow).
//
//   flow_frames [SECONDS]
//
// 200 streamlines of an affine field in three dimensions, in a widget of 1280 x 800 pixels, are orbited for SECONDS as
// by a hand that does not rest; then a cursor runs along a trajectory; then the whole picture is another one each time.
#include <QApplication>
#include <QElapsedTimer>
#include <QTest>
#include <cmath>
#include <cstdio>
#include <functional>

#include "core/flow/affine_field.h"
#include "core/flow/seeds.h"
#include "core/flow/streamline.h"
#include "ui/scene/flow_scene.h"

using namespace mambarium;

namespace {

FlowPicture picture(double phase) {
  const AffineField field{.r = 3, .J = {-0.3, 1, 0, -1, -0.3, 0, 0, 0, -0.5}, .c = {0.1 * std::sin(phase), 0, 0}};
  const Box box{{-1, -1, -1}, {1, 1, 1}};
  FlowPicture picture;
  picture.dimension = 3;
  picture.speed = {0, 2, false};
  constexpr std::int64_t lines = 200, points = 50;
  for (const Streamline& line :
       streamlines(field, even_seeds(box, lines), box, {.spacing = 0.02, .longest = 2, .most_points = points})) {
    FlowLine drawn{.points = {}, .speeds = line.speed};
    for (std::int64_t i = 0; i < line.count(); ++i) {
      const auto at = static_cast<std::size_t>(3 * i);
      drawn.points.push_back({line.points[at], line.points[at + 1], line.points[at + 2]});
    }
    picture.lines.push_back(std::move(drawn));
  }
  FlowTrajectory path;
  for (int t = 0; t < 200; ++t) path.points.push_back({std::cos(0.1 * t), std::sin(0.1 * t), 0.01 * t - 1});
  picture.trajectories = {path};
  picture.current_trajectory = 0;
  return picture;
}

double frames_per_second(VtkWidget& widget, double seconds, const std::function<void(int)>& move) {
  int frames = 0;
  QObject::connect(&widget, &QOpenGLWidget::frameSwapped, &widget, [&] { ++frames; });
  QElapsedTimer clock;
  clock.start();
  int moves = 0, drawn = 0;
  while (static_cast<double>(clock.elapsed()) < 1000 * seconds) {
    move(moves++);
    widget.update();
    while (frames == drawn) QApplication::processEvents(QEventLoop::AllEvents, 5);
    drawn = frames;
  }
  QObject::disconnect(&widget, &QOpenGLWidget::frameSwapped, &widget, nullptr);
  return 1000.0 * frames / static_cast<double>(clock.elapsed());
}

}  // namespace

int main(int argc, char** argv) {
  VtkWidget::prepareApplication();
  QApplication application(argc, argv);
  const double seconds = application.arguments().value(1, QStringLiteral("5")).toDouble();
  VtkWidget widget;
  FlowScene scene(widget);
  scene.setPicture(picture(0));
  widget.resize(1280, 800);
  widget.show();
  if (!QTest::qWaitForWindowExposed(&widget)) return 1;
  QTest::qWait(200);
  const double orbiting =
      frames_per_second(widget, seconds, [&](int) { scene.setCamera(orbited(scene.camera(), 1.5, 0)); });
  const double cursor = frames_per_second(widget, seconds, [&](int move) { scene.setCursor(move % 200); });
  const double live = frames_per_second(widget, seconds, [&](int move) { scene.setPicture(picture(0.1 * move)); });
  std::printf(
      "%s, 1280 x 800, 200 streamlines, frames a second: %.1f orbiting, %.1f with the cursor moving, %.1f with "
      "another field each time\n",
      qPrintable(widget.rendererName()), orbiting, cursor, live);
}
