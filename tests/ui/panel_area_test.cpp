// Which panels there are to be seen, by clicks and after a restart.

#include "ui/panel_area.h"

#include <QAction>
#include <QApplication>
#include <QMenu>
#include <QSettings>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>

#include "panel_fixture.h"

using namespace mambarium;

class PanelAreaTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { loadFonts(); }
  void fiveAreThereAtFirst();
  void aClickShowsAndHides();
  void aHiddenPanelMayFillTheArea();
  void whatIsShownSurvives();
  void aLayoutOfFewerPanelsStillFits();
  void panelsWithoutRoomStandInAMenu();

 private:
  static std::unique_ptr<PanelArea> shownArea() {
    auto area = std::make_unique<PanelArea>(makePanels(nullptr));
    area->setTheme(Theme());
    area->resize(1400, 900);
    area->show();
    return QTest::qWaitForWindowExposed(area.get()) ? std::move(area) : nullptr;
  }
  static QStringList visible(const PanelArea& area) {
    QStringList ids;
    for (const Panel* panel : area.panels())
      if (panel->isVisible()) ids << panel->id();
    return ids;
  }
  static QToolButton* button(const PanelArea& area, const char* id) {
    return area.findChild<QToolButton*>(QStringLiteral("choose-") + QLatin1String(id));
  }
};

void PanelAreaTest::fiveAreThereAtFirst() {
  const auto area = shownArea();
  QCOMPARE(visible(*area), (QStringList{QStringLiteral("loss"), QStringLiteral("gap"), QStringLiteral("prediction"),
                                        QStringLiteral("decay"), QStringLiteral("filters")}));
  for (const QString& id : panelIds()) {
    const QToolButton* choose = button(*area, qPrintable(id));
    QVERIFY2(choose && choose->isVisible(), qPrintable(id));
    QVERIFY(!choose->accessibleName().isEmpty() && !choose->toolTip().isEmpty());
    QVERIFY(choose->focusPolicy() & Qt::TabFocus);
    QCOMPARE(choose->isChecked(), visible(*area).contains(id));
  }
}

void PanelAreaTest::aClickShowsAndHides() {
  const auto area = shownArea();
  QTest::mouseClick(button(*area, "state"), Qt::LeftButton);
  QTRY_VERIFY(area->panel(QStringLiteral("state"))->isVisible());
  QVERIFY(area->panel(QStringLiteral("state"))->height() >= 190);
  QTest::mouseClick(button(*area, "theory"), Qt::LeftButton);
  QTRY_VERIFY(area->panel(QStringLiteral("theory"))->height() >= 190);
  auto* loss = button(*area, "loss");
  loss->setFocus();
  QTest::keyClick(loss, Qt::Key_Space);
  QTRY_VERIFY(!area->panel(QStringLiteral("loss"))->isVisible());
}

void PanelAreaTest::aHiddenPanelMayFillTheArea() {
  const auto area = shownArea();
  Panel* state = area->panel(QStringLiteral("state"));
  area->maximise(state);
  QCOMPARE(visible(*area), QStringList{QStringLiteral("state")});
  area->maximise(nullptr);
  QCOMPARE(visible(*area).size(), 5);
  QVERIFY(!area->showAction(state)->isChecked());
  area->maximise(state);
  QTest::mouseClick(button(*area, "theory"), Qt::LeftButton);
  QCOMPARE(visible(*area).size(), 6);
}

void PanelAreaTest::whatIsShownSurvives() {
  const QTemporaryDir folder;
  const QString path = folder.filePath(QStringLiteral("window.ini"));
  {
    const auto area = shownArea();
    QTest::mouseClick(button(*area, "inner-products"), Qt::LeftButton);
    QTest::mouseClick(button(*area, "gap"), Qt::LeftButton);
    area->panel(QStringLiteral("theory"))->setOptions({{"epsilon", 0.1}});
    QSettings settings(path, QSettings::IniFormat);
    area->save(settings);
  }
  const auto area = shownArea();
  area->restore(QSettings(path, QSettings::IniFormat));
  QCOMPARE(visible(*area), (QStringList{QStringLiteral("loss"), QStringLiteral("prediction"), QStringLiteral("decay"),
                                        QStringLiteral("filters"), QStringLiteral("inner-products")}));
  QCOMPARE(area->panel(QStringLiteral("theory"))->options()["epsilon"].get<double>(), 0.1);
}

void PanelAreaTest::aLayoutOfFewerPanelsStillFits() {
  QSettings settings(QTemporaryDir().filePath(QStringLiteral("old.ini")), QSettings::IniFormat);
  std::vector<Panel*> five;
  for (const char* id : {"loss", "gap", "prediction", "decay", "filters"})
    five.push_back(makePanel(QLatin1String(id), nullptr));
  {
    PanelArea old(five);
    old.setTheme(Theme());
    old.resize(1000, 900);
    old.show();
    QVERIFY(QTest::qWaitForWindowExposed(&old));
    old.save(settings);
  }
  const auto area = shownArea();
  area->restore(settings);
  QCOMPARE(visible(*area).size(), 5);
  QTest::mouseClick(button(*area, "state"), Qt::LeftButton);
  QTRY_VERIFY(area->panel(QStringLiteral("state"))->height() >= 190);
  for (const Panel* panel : area->panels()) QVERIFY(!panel->isVisible() || panel->height() >= 190);
}

void PanelAreaTest::panelsWithoutRoomStandInAMenu() {
  const auto area = shownArea();
  area->resize(700, 900);
  QApplication::setActiveWindow(area.get());
  auto* more = area->findChild<QToolButton*>(QStringLiteral("qt_toolbar_ext_button"));
  QTRY_VERIFY(more->isVisible());
  QVERIFY(more->width() >= more->fontMetrics().horizontalAdvance(more->text()) + 16 && !more->text().isEmpty());
  QVERIFY(!more->accessibleName().isEmpty() && (more->focusPolicy() & Qt::TabFocus));
  QAction* theory = area->showAction(area->panel(QStringLiteral("theory")));
  for (const Panel* panel : area->panels()) {
    QAction* action = area->showAction(panel);
    QVERIFY2(action->isCheckable(), qPrintable(panel->id()));  // the menu shows a check mark
    QVERIFY2(button(*area, qPrintable(panel->id()))->isVisible() != more->menu()->actions().contains(action),
             qPrintable(panel->id()));
  }
  QVERIFY(more->menu()->actions().contains(theory));
  QVERIFY(!theory->isChecked());
  // With the keyboard alone; the menu waits for a choice before keyClick() comes back.
  QTimer::singleShot(50, this, [] {
    QWidget* menu = QApplication::activePopupWidget();
    QVERIFY(menu);
    QTest::keyClick(menu, Qt::Key_Up);  // the last
    QTest::keyClick(menu, Qt::Key_Return);
  });
  more->setFocus();
  QTest::keyClick(more, Qt::Key_Space);
  QTRY_VERIFY(theory->isChecked());
  QVERIFY(area->panel(QStringLiteral("theory"))->isVisible());
}

QTEST_MAIN(PanelAreaTest)
#include "panel_area_test.moc"
