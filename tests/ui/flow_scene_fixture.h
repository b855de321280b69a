// A flow scene in a window of its own, the hands before it, and the colours that come out.
#pragma once

#include <QtTest>
#include <cmath>

#include "flow_fake_data.h"
#include "ui/scene/flow_scene.h"

namespace mambarium::fake {

struct Shown {
  VtkWidget widget;
  FlowScene scene{widget};

  explicit Shown(FlowPicture picture, const QSize& size = {640, 480}) {
    scene.setTheme(Theme::screen(Appearance::light));
    scene.setPicture(std::move(picture));
    widget.resize(size);
    widget.show();
    if (!QTest::qWaitForWindowExposed(&widget)) qFatal("the window did not appear");
  }
  QImage frame() { return widget.grabFramebuffer(); }
  // A drag in steps, as a hand makes it.
  void drag(const QPoint& from, const QPoint& by, Qt::KeyboardModifiers keys = {}) {
    QTest::mousePress(&widget, Qt::LeftButton, keys, from);
    for (int step = 1; step <= 5; ++step) QTest::mouseMove(&widget, from + by * step / 5);
    QTest::mouseRelease(&widget, Qt::LeftButton, keys, from + by);
  }
  void click(const QPointF& at) { QTest::mouseClick(&widget, Qt::LeftButton, {}, at.toPoint()); }
};

inline int difference(const QColor& a, const QColor& b) {
  return std::abs(a.red() - b.red()) + std::abs(a.green() - b.green()) + std::abs(a.blue() - b.blue());
}

// The largest difference from `ground` within two pixels of a place.
inline int inked(const QImage& image, const QPointF& at, const QColor& ground) {
  int most = 0;
  for (int y = -2; y <= 2; ++y) {
    for (int x = -2; x <= 2; ++x)
      most = std::max(most, difference(image.pixelColor(at.toPoint() + QPoint(x, y)), ground));
  }
  return most;
}

inline double distance(const QPointF& a, const QPointF& b) {
  return std::hypot(a.x() - b.x(), a.y() - b.y());
}

inline void addDimensions() {
  QTest::addColumn<int>("dimension");
  QTest::newRow("plane") << 2;
  QTest::newRow("solid") << 3;
}

}  // namespace mambarium::fake
