// Panels with little height: what a chart leaves out so that nothing of the rest lies over anything else.

#include "panel_fixture.h"

using namespace mambarium;

class LowPanelsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void nothingOverlaps_data() { charts(); }
  void nothingOverlaps();
  void aHighPanelHasAllParts_data() { charts(); }
  void aHighPanelHasAllParts();
  void partsAreLeftOutOneAfterTheOther();
  void aTitleWithoutRoomLosesItsUnitFirst();

 private:
  static void charts() {
    QTest::addColumn<QString>("id");
    QTest::addColumn<bool>("rich");
    // The others arrange what they draw themselves, each with a test of its own.
    for (const char* id : {"loss", "gap", "prediction", "decay", "filters", "state", "inner-products", "flow",
                           "extrapolation", "theory"})
      for (const bool rich : {false, true})
        QTest::newRow(qPrintable(QLatin1String(id) + (rich ? QStringLiteral(" rich") : QString())))
            << QString::fromLatin1(id) << rich;
  }
  static std::unique_ptr<Panel> shown(const QString& id, bool rich) {
    auto panel = shownPanel(id, fake::panelData(id, rich));
    if (panel && id == u"flow") panel->setOptions({{"view", "plane"}});
    return panel;
  }
  static void resize(Panel& panel, const QSize& size) {
    panel.resize(size);
    QTest::qWait(60);
    plotOf(panel)->replot();
  }
  static std::vector<QCPAxisRect*> seen(const Panel& panel) {
    std::vector<QCPAxisRect*> rects;
    for (QCPAxisRect* rect : plotOf(panel)->axisRects())
      if (rect->visible()) rects.push_back(rect);
    return rects;
  }
  static bool isFixed(const QCPAxisRect& rect) { return rect.maximumSize().height() < QWIDGETSIZE_MAX; }
  // Of a title beside an axis: from where to where, in pixels from the top.
  struct Title {
    double from, to;
  };
  static std::optional<Title> titleBeside(const QCPAxisRect& rect) {
    const QCPAxis& axis = *rect.axis(QCPAxis::atLeft);
    if (!axis.visible() || axis.label().isEmpty()) return std::nullopt;
    const double half = QFontMetricsF(axis.labelFont()).horizontalAdvance(axis.label()) / 2;
    const double middle = QRectF(rect.rect()).center().y();
    return Title{middle - half, middle + half};
  }
};

void LowPanelsTest::nothingOverlaps() {
  QFETCH(QString, id);
  QFETCH(bool, rich);
  const auto panel = shown(id, rich);
  for (const int height : {196, 210, 230, 260, 320, 500}) {
    for (const int width : {420, 640}) {
      resize(*panel, {width, height});
      const QString where = QStringLiteral("%1 x %2").arg(width).arg(height);
      const QRect view = plotOf(*panel)->viewport();
      const FlowLegend* legend = plotOf(*panel)->flowLegend();
      const auto rects = seen(*panel);
      QVERIFY(!rects.empty());
      for (const QCPAxisRect* rect : rects) {
        QVERIFY2(view.contains(rect->rect()), qPrintable(where));
        QVERIFY2(isFixed(*rect) || rect->height() >= std::max(rect->minimumSize().height() - 1, 12),
                 qPrintable(QStringLiteral("%1: axes of %2 pixels").arg(where).arg(rect->height())));
        if (legend->isShown() && !legend->entries().empty())
          QVERIFY2(legend->rect().bottom() <= rect->rect().top(), qPrintable(where));
        for (const QCPAxisRect* other : rects)
          QVERIFY2(other == rect || !other->outerRect().intersects(rect->outerRect()), qPrintable(where));
        const auto title = titleBeside(*rect);
        if (!title) continue;
        QVERIFY2(title->from >= view.top() - 1 && title->to <= view.bottom() + 1, qPrintable(where));
        for (const QCPAxisRect* other : rects) {
          const bool same_column = other != rect && other->left() == rect->left();
          const auto next = same_column ? titleBeside(*other) : std::nullopt;
          QVERIFY2(!next || next->to <= title->from + 1 || title->to <= next->from + 1, qPrintable(where));
        }
      }
    }
  }
}

void LowPanelsTest::aHighPanelHasAllParts() {
  QFETCH(QString, id);
  QFETCH(bool, rich);
  const auto panel = shown(id, rich);
  const auto parts = [&] {
    QStringList all;
    for (const QCPAxisRect* rect : seen(*panel)) {
      for (const auto side : {QCPAxis::atLeft, QCPAxis::atBottom, QCPAxis::atTop})
        if (rect->axis(side)->visible()) all << rect->axis(side)->label();
    }
    return all;
  };
  resize(*panel, {900, 900});
  const QStringList all = parts();
  QVERIFY(plotOf(*panel)->flowLegend()->isShown());
  resize(*panel, {900, 200});
  resize(*panel, {900, 900});
  QCOMPARE(parts(), all);
  QVERIFY(plotOf(*panel)->flowLegend()->isShown());
}

void LowPanelsTest::partsAreLeftOutOneAfterTheOther() {
  const auto panel = shown(QStringLiteral("decay"), false);
  const auto hasTitle = [&] { return !mainRect(plotOf(*panel))->axis(QCPAxis::atBottom)->label().isEmpty(); };
  const auto hasLegend = [&] { return plotOf(*panel)->flowLegend()->isShown(); };
  resize(*panel, {640, 360});
  QVERIFY(hasTitle() && hasLegend());
  bool title_went_first = false, both_went = false;
  for (int height = 300; height >= 110; height -= 5) {
    resize(*panel, {640, height});
    QVERIFY2(hasLegend() || !hasTitle(), qPrintable(QString::number(height)));
    title_went_first = title_went_first || (hasLegend() && !hasTitle());
    both_went = both_went || (!hasLegend() && !hasTitle());
  }
  QVERIFY(title_went_first && both_went);
  QVERIFY(!plotOf(*panel)->flowLegend()->entries().empty());  // they are there again when there is room
  resize(*panel, {640, 360});
  QVERIFY(hasTitle() && hasLegend());
}

void LowPanelsTest::aTitleWithoutRoomLosesItsUnitFirst() {
  const auto panel = shown(QStringLiteral("loss"), false);
  const auto title = [&] { return mainRect(plotOf(*panel))->axis(QCPAxis::atLeft)->label(); };
  resize(*panel, {640, 500});
  QCOMPARE(title(), QStringLiteral("Loss (nats per token)"));
  resize(*panel, {640, 150});
  QCOMPARE(title(), QStringLiteral("Loss"));
}

QTEST_MAIN(LowPanelsTest)
#include "low_panels_test.moc"
