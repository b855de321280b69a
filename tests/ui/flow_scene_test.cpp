// The 3-D scene with a real OpenGL window and the pixels that come out.
#include "ui/scene/flow_scene.h"

#include <QApplication>
#include <QDir>
#include <QOpenGLContext>
#include <QOpenGLFunctions>
#include <QPointer>
#include <QProcess>
#include <QTemporaryDir>
#include <QtTest>
#include <cstring>

#include "flow_scene_fixture.h"
#include "ui/scene/flow_vector.h"
#include "ui/scene/turntable.h"

using namespace mambarium;
using namespace mambarium::fake;

namespace {

// What the test does where there is no OpenGL: 0 when it was refused as it should be.
int refusedWithoutOpenGl() {
  QString why;
  if (VtkWidget::available(&why) || !why.contains(QStringLiteral("OpenGL")) || !why.endsWith(QLatin1Char('.')))
    return 1;
  try {
    const VtkWidget widget;
  } catch (const std::runtime_error& problem) {
    return QString::fromUtf8(problem.what()) == why ? 0 : 2;
  }
  return 3;
}

FlowPicture withBall(int dimension, const FlowPoint& at) {
  FlowPicture picture = emptyPicture(dimension);
  picture.trajectories = {FlowTrajectory{.points = {at}, .tokens = {}}};
  picture.current_trajectory = 0;
  picture.cursor = 0;
  return picture;
}

}  // namespace

class FlowSceneTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QString why;
    QVERIFY2(VtkWidget::available(&why), qPrintable(why));
  }

  void withoutOpenGlItIsRefusedAndDoesNotCrash() {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
    process.setProcessEnvironment(environment);
    process.start(QCoreApplication::applicationFilePath(), {QStringLiteral("--refusal")});
    QVERIFY(process.waitForFinished(60'000));
    QCOMPARE(process.exitStatus(), QProcess::NormalExit);
    QCOMPARE(process.exitCode(), 0);
  }

  void aPictureIsDrawnWhereItSays_data() { addDimensions(); }
  void aPictureIsDrawnWhereItSays() {
    QFETCH(int, dimension);
    Shown it(twoLines(dimension));
    const QColor ground = Theme::screen(Appearance::light).panel();
    const QImage drawn = it.frame();
    for (const FlowLine& line : it.scene.picture().lines) {
      QVERIFY(inked(drawn, it.scene.displayOf(line.points[10]), ground) > 150);
    }
    FlowPicture other = twoLines(dimension);
    other.lines.pop_back();
    const QPointF gone = it.scene.displayOf(twoLines(dimension).lines[1].points[10]);
    it.scene.setPicture(other);
    QVERIFY(it.frame() != drawn);
    QVERIFY(inked(it.frame(), gone, ground) < 60);  // a line of the grid at most
  }

  void theBallIsDrawnWhereTheSceneSays_data() { addDimensions(); }
  void theBallIsDrawnWhereTheSceneSays() {
    QFETCH(int, dimension);
    const FlowPoint z{2.4, 2.6, 12.4};
    Shown it(withBall(dimension, z), {701, 503});
    it.scene.setColorBarVisible(false);
    const QImage image = it.frame();
    QPointF sum;
    double count = 0;
    for (int y = 0; y < image.height(); ++y) {
      for (int x = 0; x < image.width(); ++x) {
        const QColor pixel = image.pixelColor(x, y);
        if (pixel.red() < 80 || pixel.red() - pixel.blue() < 60) continue;
        sum += QPointF(x + 0.5, y + 0.5);
        ++count;
      }
    }
    QVERIFY(count > 30);
    const double off = distance(sum / count, it.scene.displayOf(z));
    QVERIFY2(off < 1, qPrintable(QString::number(off)));
    QVERIFY(length(*it.scene.ball() - FlowPoint{2.4, 2.6, dimension == 3 ? 12.4 : 0}) < 1e-12);
  }

  void theBallFollowsTheCursor() {
    Shown it(withSpiral(twoLines(3)));
    QVERIFY(!it.scene.ball());
    const FlowCounts counts = it.scene.counts();
    const QImage without = it.frame();
    it.scene.setCursor(11);
    QVERIFY(length(*it.scene.ball() - spiral().points[3]) < 1e-12);
    const QImage with = it.frame();
    QVERIFY(with != without);
    it.scene.setCursor(45);
    QVERIFY(length(*it.scene.ball() - spiral().points[20]) < 1e-12);
    QVERIFY(it.frame() != with);
    it.scene.setCursor(12);  // no point of this path
    QVERIFY(!it.scene.ball());
    QCOMPARE(it.frame(), without);
    QCOMPARE(it.scene.counts(), counts);
  }

  void newDataKeepTheViewAndAnotherDimensionResetsIt() {
    Shown it(twoLines(3));
    it.drag({300, 240}, {60, 25});
    const FlowCamera turned = it.scene.camera();
    it.scene.setPicture(withSpiral(twoLines(3)));
    QCOMPARE(it.scene.camera(), turned);
    QCOMPARE(it.scene.counts(),
             (FlowCounts{.lines = 2, .line_points = 42, .trajectories = 1, .trajectory_points = 40}));
    QCOMPARE(it.scene.caption(), QStringLiteral("2 streamlines, 1 trajectory."));
    it.scene.setPicture(twoLines(2));
    QVERIFY(it.scene.camera().parallel && length(it.scene.camera().direction() - FlowPoint{0, 0, -1}) < 1e-12);
    FlowPicture wrong = twoLines(2);
    wrong.lines[0].speeds.clear();
    QVERIFY_EXCEPTION_THROWN(it.scene.setPicture(wrong), std::invalid_argument);
    QCOMPARE(it.scene.picture().lines[0].speeds.size(), std::size_t{21});
  }

  void linesWhileItMovesAndTubesWhenItIsStill() {
    Shown it(twoLines(3));
    QTRY_VERIFY(it.scene.drawsTubes());
    const QImage still = it.frame();
    it.scene.setPicture(twoLines(3));
    QVERIFY(it.frame() != still);
    QVERIFY(!it.scene.drawsTubes());
    QTRY_VERIFY(it.scene.drawsTubes());
    it.scene.setLineStyle(FlowScene::LineStyle::lines);
    it.frame();
    QVERIFY(!it.scene.drawsTubes());
  }

  void theWholeBoxIsSeenAtAnySize() {
    Shown it(twoLines(3));
    for (const QSize& size : {QSize(300, 500), {900, 260}, {640, 480}}) {
      it.widget.resize(size);
      QTRY_COMPARE(it.widget.size(), size);
      for (int corner = 0; corner < 8; ++corner) {
        const QPointF at =
            it.scene.displayOf({corner % 2 ? 3.0 : -1, corner / 2 % 2 ? 5.0 : 2, corner / 4 ? 13.0 : 10});
        QVERIFY(QRectF(QPointF(), QSizeF(size)).contains(at));
      }
    }
  }

  void aLowSceneIsAllField() {
    Shown it(twoLines(3), {420, 100});
    const auto share = [&] {  // of the height, from the highest corner to the lowest
      double top = 1e9, bottom = -1e9;
      for (int corner = 0; corner < 8; ++corner) {
        const double y =
            it.scene.displayOf({corner % 2 ? 3.0 : -1, corner / 2 % 2 ? 5.0 : 2, corner / 4 ? 13.0 : 10}).y();
        top = std::min(top, y);
        bottom = std::max(bottom, y);
      }
      return (bottom - top) / it.widget.height();
    };
    QVERIFY2(share() > 0.65, qPrintable(QString::number(share())));
    it.widget.resize(640, 480);
    QTRY_COMPARE(it.widget.size(), QSize(640, 480));
    QVERIFY2(share() > 0.65, qPrintable(QString::number(share())));
  }

  void aStableFixedPointIsFilledAnotherIsHollow_data() { addDimensions(); }
  void aStableFixedPointIsFilledAnotherIsHollow() {
    QFETCH(int, dimension);
    const Theme theme = Theme::screen(Appearance::light);
    FlowPicture picture = emptyPicture(dimension);
    picture.fixed_point = FlowFixedPoint{.position = {0.5, 4, 11}, .type = "stable focus", .stable = true};
    Shown it(picture);
    const auto middle = [&] { return it.frame().pixelColor(it.scene.displayOf({0.5, 4, 11}).toPoint()); };
    QVERIFY(difference(middle(), theme.text()) < 12);
    picture.fixed_point->stable = false;
    it.scene.setPicture(picture);
    QVERIFY(difference(middle(), theme.panel()) < 12);
  }

  void aFixedPointHasItsEigenvalues() {
    FlowPicture picture = emptyPicture(3);
    picture.fixed_point = FlowFixedPoint{.position = {0.5, 4, 11}, .type = "stable focus"};
    Shown it(picture);
    QVERIFY(it.scene.caption().endsWith(QStringLiteral("fixed point: stable focus.")));
    const QImage without = it.frame();
    picture.fixed_point->eigenvalues = {{-0.307, 2.22}, {-0.307, -2.22}, -3.06};
    it.scene.setPicture(picture);
    QVERIFY(it.frame() != without);
    QVERIFY(it.scene.caption().endsWith(QStringLiteral("fixed point: stable focus, λ = −0.31 ± 2.2i, −3.1.")));
  }

  void aSeededLineIsAccentedAndWide_data() { addDimensions(); }
  void aSeededLineIsAccentedAndWide() {
    QFETCH(int, dimension);
    const Theme theme = Theme::screen(Appearance::light);
    FlowPicture picture = emptyPicture(dimension);
    const FlowLine line = straightLine({-0.5, 3.5, 11.5}, {2.5, 3.5, 11.5}, 1);
    picture.trajectories = {FlowTrajectory{.points = line.points, .tokens = {}}};
    Shown it(picture);
    // Pixels of the accent's hue in the column of the line's middle, whatever the light.
    const auto accented = [&] {
      const QImage image = it.frame();
      const QPoint at = it.scene.displayOf(line.points[10]).toPoint();
      int count = 0;
      for (int y = at.y() - 8; y <= at.y() + 8; ++y) {
        const QColor pixel = image.pixelColor(at.x(), y);
        count += std::abs(pixel.hsvHue() - theme.accent().hsvHue()) < 12 && pixel.hsvSaturation() > 120;
      }
      return count;
    };
    QCOMPARE(accented(), 0);
    picture.trajectories[0].seeded = true;
    it.scene.setPicture(picture);
    QVERIFY2(accented() >= 2, qPrintable(QString::number(accented())));
  }

  void theDarkThemeHasADarkGround() {
    Shown it(twoLines(3));
    const Theme dark = Theme::screen(Appearance::dark);
    QVERIFY(difference(it.frame().pixelColor(2, 2), Theme::screen(Appearance::light).panel()) <= 3);
    it.scene.setTheme(dark);
    QVERIFY(difference(it.frame().pixelColor(2, 2), dark.panel()) <= 3);
    QVERIFY(difference(it.scene.render(200, 150).pixelColor(2, 2), dark.panel()) <= 3);
  }

  // What shines through would be what lies below the widget.
  void aFrameIsOpaque_data() { addDimensions(); }
  void aFrameIsOpaque() {
    QFETCH(int, dimension);
    FlowPicture picture = withSpiral(twoLines(dimension));
    picture.slow_region = FlowSlowRegion{.below = 0.1, .cell = {0.1, 0.1, 0.1}, .cells = {{1, 3.5, 11}}};
    Shown it(picture);
    const auto leastAlpha = [&] {
      it.frame();
      it.widget.makeCurrent();
      const QSize size = it.widget.size() * it.widget.devicePixelRatioF();
      std::vector<unsigned char> bytes(static_cast<std::size_t>(size.width()) *
                                       static_cast<std::size_t>(size.height()) * 4);
      it.widget.context()->functions()->glReadPixels(0, 0, size.width(), size.height(), GL_RGBA, GL_UNSIGNED_BYTE,
                                                     bytes.data());
      it.widget.doneCurrent();
      unsigned char least = 255;
      for (std::size_t at = 3; at < bytes.size(); at += 4) least = std::min(least, bytes[at]);
      return int{least};
    };
    it.scene.setPicture(picture);
    QCOMPARE(leastAlpha(), 255);
    QTRY_VERIFY(it.scene.drawsTubes());
    QCOMPARE(leastAlpha(), 255);
  }

  void aRenderedPictureHasExactlyItsSize() {
    Shown it(withSpiral(twoLines(3)));
    const QImage frame = it.frame();
    for (const QSize& size : {QSize(1, 1), {333, 217}, {1920, 1080}, {3000, 2000}}) {
      QCOMPARE(it.scene.render(size.width(), size.height()).size(), size);
    }
    QVERIFY(it.scene.render(600, 400, 1) != it.scene.render(600, 400, 2));
    QCOMPARE(it.frame().size(), frame.size());
    QVERIFY_EXCEPTION_THROWN(it.scene.render(0, 100), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(it.scene.render(100, 100, 0), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(it.scene.render(1000000, 100), std::invalid_argument);
  }

  void aPictureNeedsNoVisibleWindow() {
    VtkWidget widget;
    FlowScene scene(widget);
    scene.setPicture(twoLines(2));
    const QImage image = scene.render(400, 300);
    int inks = 0;
    for (int x = 0; x < image.width(); ++x) inks += difference(image.pixelColor(x, 150), Qt::white) > 150;
    QVERIFY(inks > 4);
  }

  void aTurntableGoesAroundAndEndsWhereItBegan() {
    Shown it(withSpiral(twoLines(3)));
    const FlowCamera before = it.scene.camera();
    const QTemporaryDir folder;
    int done = 0;
    const auto count = [&](int frames) {
      done = frames;
      return true;
    };
    const auto turn = [&](double degrees) { return it.scene.render(160, 120, 1, degrees); };
    QVERIFY(!writeTurntable(folder.path(), 4, turn, count));
    QCOMPARE(done, 4);
    QCOMPARE(it.scene.camera(), before);
    const QStringList files = QDir(folder.path()).entryList({QStringLiteral("*.png")}, QDir::Files, QDir::Name);
    QCOMPARE(files.size(), 4);
    QCOMPARE(files.front(), QStringLiteral("frame-000.png"));
    const QImage first(folder.filePath(files[0])), second(folder.filePath(files[1]));
    QCOMPARE(first.size(), QSize(160, 120));
    QVERIFY(first != second);
    QCOMPARE(first.convertToFormat(QImage::Format_RGB32),
             it.scene.render(160, 120).convertToFormat(QImage::Format_RGB32));
    QVERIFY(writeTurntable(folder.filePath(QStringLiteral("missing")), 2, turn)
                ->contains(QStringLiteral("cannot be written")));
    QVERIFY(!writeTurntable(folder.path(), 9, turn, [](int frames) { return frames < 2; }));
    QVERIFY(!QFile::exists(folder.filePath(QStringLiteral("frame-004.png"))));
    QVERIFY_EXCEPTION_THROWN(writeTurntable(folder.path(), 0, turn), std::invalid_argument);
  }

  void aSceneMayBelongToItsWidget() {
    auto widget = std::make_unique<VtkWidget>();
    const QPointer<FlowScene> scene = new FlowScene(*widget, widget.get());
    scene->setPicture(withSpiral(twoLines(3)));
    widget->show();
    QVERIFY(QTest::qWaitForWindowExposed(widget.get()));
    QVERIFY(!scene->render(100, 100).isNull());
    widget.reset();
    QVERIFY(!scene);
  }

  void itSurvivesBeingMovedToAnotherWindow() {
    const auto widget = std::make_unique<VtkWidget>();
    FlowScene scene(*widget);
    scene.setPicture(twoLines(3));
    QWidget first, second;
    first.resize(500, 400);
    second.resize(500, 400);
    widget->setParent(&first);
    widget->resize(500, 400);
    first.show();
    second.show();
    QVERIFY(QTest::qWaitForWindowExposed(&first) && QTest::qWaitForWindowExposed(&second));
    const QPointF at = scene.displayOf(scene.picture().lines[0].points[10]);
    QVERIFY(inked(widget->grabFramebuffer(), at, Qt::white) > 150);
    widget->setParent(&second);
    widget->show();
    QTRY_VERIFY(inked(widget->grabFramebuffer(), at, Qt::white) > 150);
    widget->setParent(nullptr);
  }
};

int main(int argc, char** argv) {
  VtkWidget::prepareApplication();
  QApplication application(argc, argv);
  loadFonts();
  if (argc > 1 && std::strcmp(argv[1], "--refusal") == 0) return refusedWithoutOpenGl();
  FlowSceneTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "flow_scene_test.moc"
