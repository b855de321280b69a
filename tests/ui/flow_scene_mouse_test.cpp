// The 3-D scene under the mouse and the keys: what a click picks, and how the camera moves.
#include <QApplication>
#include <QSignalSpy>
#include <QWheelEvent>
#include <QtTest>

#include "flow_scene_fixture.h"
#include "ui/scene/flow_scene.h"
#include "ui/scene/flow_vector.h"

using namespace mambarium;
using namespace mambarium::fake;

namespace {

bool areClose(const FlowCamera& a, const FlowCamera& b) {
  return length(a.position - b.position) < 1e-9 && length(a.focal_point - b.focal_point) < 1e-9 &&
         length(a.view_up - b.view_up) < 1e-9 && std::abs(a.parallel_scale - b.parallel_scale) < 1e-9;
}

}  // namespace

class FlowSceneMouseTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() {
    QString why;
    QVERIFY2(VtkWidget::available(&why), qPrintable(why));
  }

  void aClickOnThePlanePicksThePointUnderIt() {
    Shown it(twoLines(2));
    const QSignalSpy spy(&it.scene, &FlowScene::pointPicked);
    const double unit = distance(it.scene.displayOf({0, 3, 0}), it.scene.displayOf({1, 3, 0}));  // pixels
    int clicks = 0;
    for (const FlowPoint& z : {FlowPoint{0, 3, 0}, {2.71, 4.4, 0}, {-0.9, 2.1, 0}}) {
      it.click(it.scene.displayOf(z));
      QCOMPARE(spy.count(), ++clicks);
      const FlowPick pick = spy.last().at(0).value<FlowPick>();
      QVERIFY(pick == *it.scene.picked() && pick.kind == FlowPick::Kind::plane);
      QVERIFY(length(pick.z - z) * unit < 0.75);  // a click falls on whole pixels
    }
  }

  void aClickInSpacePicksTheTokenOrTheLineUnderIt() {
    Shown it(withSpiral(twoLines(3)));
    const FlowPoint token_at = spiral().points[3];
    it.click(it.scene.displayOf(token_at));
    QVERIFY(it.scene.picked() && it.scene.picked()->kind == FlowPick::Kind::trajectory);
    QCOMPARE(it.scene.picked()->token.value_or(-1), std::int64_t{11});
    QCOMPARE(it.scene.picked()->z, token_at);

    const FlowPoint on_line = 0.5 * (twoLines(3).lines[1].points[18] + twoLines(3).lines[1].points[19]);
    it.click(it.scene.displayOf(on_line));
    QVERIFY(it.scene.picked()->kind == FlowPick::Kind::line);
    QCOMPARE(it.scene.picked()->index, 1);
    QVERIFY(length(it.scene.picked()->z - on_line) < 0.02);
    QVERIFY(!it.scene.picked()->token);
  }

  void aClickBesideEverythingPicksOnThePlaneThroughTheMiddle() {
    Shown it(twoLines(3));
    const QPointF at(500, 60);
    it.click(at);
    QVERIFY(it.scene.picked() && it.scene.picked()->kind == FlowPick::Kind::plane);
    QVERIFY(distance(it.scene.displayOf(it.scene.picked()->z), at) < 1e-6);
    const FlowPoint middle = FlowSpace(it.scene.picture(), false).world(it.scene.picked()->z);
    QVERIFY(std::abs(dot(middle - it.scene.camera().focal_point, it.scene.camera().direction())) < 1e-9);
  }

  void onAReliefThePickIsOnTheSurfaceThatIsSeen() {
    FlowPicture picture = emptyPicture(2);
    picture.surface = bowl();
    Shown it(picture);
    it.scene.setRelief(true);
    it.scene.setCamera(orbited(it.scene.camera(), 0, 35));  // into the bowl, over its near wall
    for (const FlowPoint& z : {FlowPoint{1, 3.5, 0}, {2.2, 3.1, 0}, {0.1, 4.2, 0}}) {
      const auto pick = it.scene.pickAt(it.scene.displayOf(z));
      QVERIFY(pick);
      QVERIFY2(length(pick->z - z) < 0.06, qPrintable(QString::number(length(pick->z - z))));
    }
  }

  void whatTheClipHidesIsNeitherSeenNorPicked_data() { addDimensions(); }
  void whatTheClipHidesIsNeitherSeenNorPicked() {
    QFETCH(int, dimension);
    Shown it(twoLines(dimension));
    const QColor ground = Theme::screen(Appearance::light).panel();
    const QPointF kept = it.scene.displayOf(it.scene.picture().lines[0].points[10]);
    const QPointF hidden = it.scene.displayOf(it.scene.picture().lines[1].points[10]);
    it.scene.setClip(FlowClip{.axis = 0, .position = 1, .hides_upper = true});
    QVERIFY(inked(it.frame(), kept, ground) > 150 && inked(it.frame(), hidden, ground) < 60);
    if (dimension == 3) {
      QVERIFY(it.scene.pickAt(kept)->kind == FlowPick::Kind::line);
      QVERIFY(it.scene.pickAt(hidden)->kind == FlowPick::Kind::plane);
    }
    it.scene.setClip(FlowClip{.axis = 0, .position = 1, .hides_upper = false});
    QVERIFY(inked(it.frame(), kept, ground) < 60 && inked(it.frame(), hidden, ground) > 150);
    it.scene.setClip(std::nullopt);
    QVERIFY(inked(it.frame(), kept, ground) > 150 && inked(it.frame(), hidden, ground) > 150);
    QVERIFY_EXCEPTION_THROWN(it.scene.setClip(FlowClip{.axis = dimension}), std::invalid_argument);
  }

  void draggingTurnsTheSceneAndPicksNothing() {
    Shown it(twoLines(3));
    const FlowCamera before = it.scene.camera();
    const QSignalSpy picks(&it.scene, &FlowScene::pointPicked);
    const QSignalSpy moves(&it.scene, &FlowScene::cameraChanged);
    it.drag({300, 240}, {60, 25});
    QCOMPARE(picks.count(), 0);
    QVERIFY(!it.scene.picked());
    QVERIFY(moves.count() > 0);
    const FlowCamera& after = it.scene.camera();
    QCOMPARE(after.focal_point, before.focal_point);
    const double turned = std::acos(dot(after.direction(), before.direction())) * 180 / M_PI;
    QVERIFY2(turned > 10 && turned < 40, qPrintable(QString::number(turned)));
    it.click({300, 240});
    QCOMPARE(picks.count(), 1);
  }

  void shiftDragPansTheWheelZoomsAndADoubleClickResets() {
    Shown it(twoLines(3));
    const FlowCamera start = it.scene.camera();
    it.drag({300, 240}, {50, 0}, Qt::ShiftModifier);
    QVERIFY(length(it.scene.camera().direction() - start.direction()) < 1e-12);
    QVERIFY(length(it.scene.camera().focal_point - start.focal_point) > 0.05);
    const double scale = it.scene.camera().parallel_scale;
    QWheelEvent wheel({300, 240}, it.widget.mapToGlobal(QPointF(300, 240)), {}, {0, 120}, Qt::NoButton, {},
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&it.widget, &wheel);
    QVERIFY(std::abs(it.scene.camera().parallel_scale * 1.15 - scale) < 1e-9);
    QTest::mouseDClick(&it.widget, Qt::LeftButton, {}, {300, 240});
    QVERIFY(areClose(it.scene.camera(), start));
    QTest::keyClick(&it.widget, Qt::Key_Right);
    QVERIFY(!areClose(it.scene.camera(), start));
    QTest::keyClick(&it.widget, Qt::Key_Home);
    QVERIFY(areClose(it.scene.camera(), start));
  }

  void lockedCamerasFollowEachOther() {
    Shown a(twoLines(3)), b(withSpiral(emptyPicture(3)));
    FlowScene::lockCameras(a.scene, b.scene);
    QCOMPARE(b.scene.camera(), a.scene.camera());
    a.drag({300, 240}, {80, 10});
    QCOMPARE(b.scene.camera(), a.scene.camera());
    const FlowCamera before = a.scene.camera();
    b.drag({300, 240}, {-30, 40});
    QCOMPARE(a.scene.camera(), b.scene.camera());
    QVERIFY(!(a.scene.camera() == before));
  }
};

int main(int argc, char** argv) {
  VtkWidget::prepareApplication();
  QApplication application(argc, argv);
  loadFonts();
  FlowSceneMouseTest test;
  return QTest::qExec(&test, argc, argv);
}
#include "flow_scene_mouse_test.moc"
