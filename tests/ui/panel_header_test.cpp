// The header of a panel at any width: no word is cut, nothing lies over anything, and Tab follows what is seen.

#include <QStyleOptionComboBox>

#include "panel_fixture.h"
#include "ui/panel_area.h"

using namespace mambarium;

class PanelHeaderTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme().applyTo(*qApp); }  // with the paddings of the style sheet
  void noWordIsCut_data();
  void noWordIsCut();
  void controlsGoBelowATitleWithoutRoom();
  void aChoiceThatIsLongerTakesTheRoomItNeeds();
  void theExportButtonGivesWayToAMenu();
  void tabFollowsTheHeader();

 private:
  static int textRoom(const QComboBox& box) {
    QStyleOptionComboBox option;
    option.initFrom(&box);
    return box.style()->subControlRect(QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, &box).width();
  }
  // Where it ends to the right and to the left, and all that is visible of the panel's own.
  static void verifyHeader(const Panel& panel) {
    QList<QWidget*> seen;
    for (QWidget* widget : panel.findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly)) {
      const bool is_title = widget->property("role") == QStringLiteral("title");
      const bool is_control = qobject_cast<QComboBox*>(widget) || qobject_cast<QToolButton*>(widget);
      if (widget->isVisible() && (is_title || is_control)) seen << widget;
    }
    QVERIFY(seen.size() >= 2);
    for (const QWidget* widget : seen) {
      const QString name = panel.id() + u' ' + widget->accessibleName();
      QVERIFY2(panel.rect().contains(widget->geometry()), qPrintable(name));
      if (const auto* box = qobject_cast<const QComboBox*>(widget))
        QVERIFY2(textRoom(*box) >= box->fontMetrics().horizontalAdvance(box->currentText()),
                 qPrintable(name + u' ' + box->currentText()));
      else
        QVERIFY2(widget->width() >= widget->sizeHint().width(), qPrintable(name));
      for (const QWidget* other : seen)
        QVERIFY2(other == widget || !other->geometry().intersects(widget->geometry()),
                 qPrintable(name + QStringLiteral(" and ") + other->accessibleName()));
    }
  }
};

void PanelHeaderTest::noWordIsCut_data() {
  QTest::addColumn<int>("width");
  for (const int width : {690, 780, 868, 1100, 1500}) QTest::newRow(qPrintable(QString::number(width))) << width;
}

void PanelHeaderTest::noWordIsCut() {
  QFETCH(int, width);
  PanelArea area(makePanels(nullptr));
  area.setTheme(Theme());
  for (Panel* panel : area.panels()) {
    area.showAction(panel)->setChecked(true);
    panel->show(fake::panelData(panel->id(), true));
  }
  area.panel(QStringLiteral("flow"))->setOptions({{"view", "plane"}});
  area.resize(width, 2800);
  area.show();
  QVERIFY(QTest::qWaitForWindowExposed(&area));
  QTest::qWait(100);
  for (const Panel* panel : area.panels()) verifyHeader(*panel);
}

void PanelHeaderTest::controlsGoBelowATitleWithoutRoom() {
  const auto panel = shownPanel(QStringLiteral("decay"), fake::panelData(QStringLiteral("decay")));
  const auto* log = named<QToolButton>(*panel, QStringLiteral("Spread out"));
  const auto* title = panel->findChild<QLabel*>();
  for (QLabel* label : panel->findChildren<QLabel*>())
    if (label->property("role") == QStringLiteral("title")) title = label;
  const auto isBeside = [&] { return log->y() < title->geometry().bottom(); };
  QTRY_VERIFY(isBeside());
  const int high = plotOf(*panel)->height();
  panel->resize(300, 360);
  QTRY_VERIFY(!isBeside());
  verifyHeader(*panel);
  QVERIFY(plotOf(*panel)->height() < high);  // it makes room, nothing lies over it
  panel->resize(640, 360);
  QTRY_VERIFY(isBeside());
  QTRY_COMPARE(plotOf(*panel)->height(), high);
}

void PanelHeaderTest::aChoiceThatIsLongerTakesTheRoomItNeeds() {
  const auto panel = shownPanel(QStringLiteral("decay"), fake::panelData(QStringLiteral("decay")));
  auto* view = named<QComboBox>(*panel, QStringLiteral("View of the decay"));
  for (const int width : {330, 380, 420, 460}) {
    panel->resize(width, 300);
    for (int index = 0; index < view->count(); ++index) {
      view->setCurrentIndex(index);
      QTest::qWait(40);
      verifyHeader(*panel);
    }
  }
}

void PanelHeaderTest::theExportButtonGivesWayToAMenu() {
  const auto panel = shownPanel(QStringLiteral("prediction"), fake::panelData(QStringLiteral("prediction")));
  const auto* button = panel->findChild<QToolButton*>(QStringLiteral("exportButton"));
  panel->resize(340, 300);
  QTest::qWait(40);
  QVERIFY2(button->isVisible(), "it is the only way to export");
  auto* menu = new QToolButton;
  menu->setText(QStringLiteral("⋮"));
  panel->addToHeader(menu);
  menu->show();
  QTRY_VERIFY(!button->isVisible());
  panel->resize(700, 300);
  QTRY_VERIFY(button->isVisible());
  QVERIFY(button->geometry().right() < menu->geometry().left());
}

void PanelHeaderTest::tabFollowsTheHeader() {
  const auto panel = shownPanel(QStringLiteral("decay"), fake::panelData(QStringLiteral("decay")));
  QApplication::setActiveWindow(panel.get());
  QList<QWidget*> order;
  for (QWidget* widget : panel->findChildren<QWidget*>(QString(), Qt::FindDirectChildrenOnly))
    if (widget->isVisible() && (widget->focusPolicy() & Qt::TabFocus)) order << widget;
  std::ranges::sort(order, {}, &QWidget::x);
  QVERIFY(order.size() >= 4);
  order.front()->setFocus();
  for (qsizetype index = 1; index < order.size(); ++index) {
    QTest::keyClick(panel->windowHandle(), Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), order[index]);
  }
}

QTEST_MAIN(PanelHeaderTest)
#include "panel_header_test.moc"
