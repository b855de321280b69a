// A panel in a window of its own, and the hands and eyes of a person before it: named controls, the mouse, the plot.
#pragma once

#include <qcustomplot.h>

#include <QComboBox>
#include <QLabel>
#include <QSignalSpy>
#include <QSlider>
#include <QTest>
#include <QToolButton>
#include <memory>

#include "plots_fake_data.h"
#include "ui/plots/chart.h"
#include "ui/plots/panel.h"
#include "ui/plots/theme.h"

namespace mambarium {

// nullptr when no window appears.
inline std::unique_ptr<Panel> shownPanel(const QString& id, const PanelData& data) {
  std::unique_ptr<Panel> panel(makePanel(id, nullptr));
  panel->setTheme(Theme());
  panel->resize(640, 360);
  panel->show(data);
  panel->show();
  if (!QTest::qWaitForWindowExposed(panel.get())) return nullptr;
  QTest::qWait(30);
  return panel;
}

inline Chart* plotOf(const Panel& panel) {
  return static_cast<Chart*>(panel.plots().front());
}

// The control whose accessible name contains `part`.
template <typename Widget>
Widget* named(const Panel& panel, const QString& part) {
  for (Widget* widget : panel.findChildren<Widget*>())
    if (widget->accessibleName().contains(part)) return widget;
  return nullptr;
}

inline void moveMouse(QCustomPlot* plot, QPointF pixel) {
  QMouseEvent event(QEvent::MouseMove, pixel, plot->mapToGlobal(pixel), Qt::NoButton, Qt::NoButton, Qt::NoModifier);
  QCoreApplication::sendEvent(plot, &event);
}

// The main axis rect is the lowest; strips lie above it.
inline QCPAxisRect* mainRect(QCustomPlot* plot) {
  return plot->axisRects().back();
}

inline QPointF pixelOfToken(QCustomPlot* plot, int t) {
  return {mainRect(plot)->axis(QCPAxis::atBottom)->coordToPixel(t), double(mainRect(plot)->top() + 20)};
}

inline QStringList legendTexts(const Panel& panel) {
  QStringList texts;
  for (const LegendEntry& entry : plotOf(panel)->flowLegend()->entries()) texts << entry.text;
  return texts;
}

inline std::vector<QCPGraph*> visibleGraphs(const Panel& panel) {
  std::vector<QCPGraph*> graphs;
  for (int i = 0; i < plotOf(panel)->graphCount(); ++i)
    if (plotOf(panel)->graph(i)->visible()) graphs.push_back(plotOf(panel)->graph(i));
  return graphs;
}

}  // namespace mambarium
