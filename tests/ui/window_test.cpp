// The window with real clicks and keys, on the fake worker.
#include <QAccessible>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QFrame>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QScreen>
#include <QToolButton>
#include <QTreeWidget>
#include <QWindow>
#include <set>

#include "ui/command_palette.h"
#include "ui/figure/export_dialog.h"
#include "ui/form/experiment_form.h"
#include "ui/run_text.h"
#include "ui/runs_view.h"
#include "window_fixture.h"

using namespace mambarium;

class WindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theFirstStartIsOneGesture() {
    WindowFixture it(QStringLiteral("--speed 100"), true);
    QTRY_VERIFY(it.window->hint() && it.window->hint()->isVisible());
    QVERIFY(it.play()->isEnabled());
    QCOMPARE(it.session->draft().config().integer("task.order"), 1);
    it.click(it.play());
    QTRY_VERIFY(!it.window->hint());
    QTRY_VERIFY(it.run() && it.run()->rows().size() >= 3);
    QCOMPARE(it.play()->text(), QStringLiteral("Pause"));
    for (const char* const id : {"loss", "gap"}) {
      const Panel* const panel = it.window->panels().panel(QLatin1String(id));
      QTRY_VERIFY(panel->data().runs.size() == 1 && panel->data().runs[0].rows.size() >= 3);
      QVERIFY(!panel->table().rows.empty());
    }
    it.reopen();
    QTest::qWait(50);
    QVERIFY2(!it.window->hint(), "the hint shows once");
  }

  void aFocusedButtonKeepsItsSpaceBar() {
    WindowFixture it;
    auto* const gate = it.window->form().field("model.gate");
    gate->setFocus(Qt::TabFocusReason);
    QTest::keyClick(gate, Qt::Key_Space);
    QVERIFY(!it.session->draft().config().boolean("model.gate"));
    QVERIFY(!it.run());
  }

  void tabGoesOnFromTheButtonThatWasClicked() {
    WindowFixture it;
    const Panel* const gap = it.window->panels().panel(QStringLiteral("gap"));
    QToolButton* log = nullptr;
    for (QToolButton* const button : gap->findChildren<QToolButton*>())
      if (button->accessibleName().startsWith(QStringLiteral("Logarithmic"))) log = button;
    QVERIFY(log && log->isVisible());
    const auto* const menu = gap->findChild<QToolButton*>(QStringLiteral("panel-menu"));
    const auto* const exports = gap->findChild<QToolButton*>(QStringLiteral("exportButton"));
    const QWidget* const next = exports->isVisible() ? exports : menu;
    QWindow* const screen = it.window->windowHandle();
    const auto clickOn = [&](const QWidget* widget) {
      QTest::mouseClick(screen, Qt::LeftButton, {}, widget->mapTo(it.window.get(), widget->rect().center()));
    };

    clickOn(log);
    QTest::keyClick(screen, Qt::Key_Tab);
    QVERIFY(QApplication::focusWidget());
    QCOMPARE(QApplication::focusWidget()->accessibleName(), next->accessibleName());
    QCOMPARE(QApplication::focusWidget(), next);
    QTest::keyClick(screen, Qt::Key_Backtab, Qt::ShiftModifier);
    QCOMPARE(QApplication::focusWidget(), log);

    // A click in a field puts the focus there, and Tab goes on from it whatever was clicked before.
    QWidget* const field = it.window->form().field("task.order");
    clickOn(log);
    field->setFocus();
    QTest::keyClick(screen, Qt::Key_Tab);
    QVERIFY(it.window->form().isAncestorOf(QApplication::focusWidget()));

    // The space bar is Play's after a click on a button.
    it.window->setFocus();
    clickOn(log);
    const bool was_on = log->isChecked();
    QTest::keyClick(screen, Qt::Key_Space);
    QTRY_VERIFY(it.run() != nullptr);
    QCOMPARE(log->isChecked(), was_on);
  }

  void invalidValuesForbidPlayAndSayWhy() {
    WindowFixture it;
    it.set("model.headdim", std::int64_t{5});
    QVERIFY(!it.play()->isEnabled());
    QVERIFY(it.play()->toolTip().contains(QStringLiteral("divide")));
    QVERIFY(runSentence(*it.session).contains(QStringLiteral("divide")));
    QTest::keyClick(it.window.get(), Qt::Key_Space);
    QVERIFY(!it.run());
    it.window->action(QStringLiteral("undo"))->trigger();
    QVERIFY(it.play()->isEnabled());
  }

  void hoverLightsTheSameTokenEverywhere() {
    WindowFixture it;
    std::vector<int> heard;
    for (Panel* const panel : it.window->panels().panels()) {
      connect(it.window->panels().panel(QStringLiteral("decay")), &Panel::tokenHovered, panel,
              [&heard](int position) { heard.push_back(position); });
    }
    Q_EMIT it.window->panels().panel(QStringLiteral("decay"))->tokenHovered(17);
    QCOMPARE(heard, std::vector<int>(it.window->panels().panels().size(), 17));
  }

  void theWindowLiesOnItsScreen() {
    const QRect small(0, 0, 1024, 700);
    const QRect fitted = MainWindow::fitted({200, 100, 1440, 900}, small);
    QVERIFY(small.contains(fitted.marginsAdded(QMargins(4, 32, 4, 4))));
    QVERIFY(fitted.width() > 1000 && fitted.height() > 650);
    QCOMPARE(MainWindow::fitted({5000, -300, 1000, 640}, small).topRight(), QPoint(1019, 32));
    QCOMPARE(MainWindow::fitted({50, 60, 900, 500}, small), QRect(50, 60, 900, 500));

    WindowFixture it;
    const QRect screen = it.window->screen()->availableGeometry();
    it.window->setGeometry(screen.width() - 100, screen.height() - 100, screen.width() + 500, screen.height() + 500);
    it.window->save(*openSettings());
    MainWindow again(*it.session);
    QVERIFY(again.width() < screen.width() && again.height() < screen.height());
    again.restore(*openSettings());
    QVERIFY(screen.contains(again.geometry()));
  }

  void aPresetTitleThatIsTooLongEndsInAnEllipsis() {
    WindowFixture it;
    auto* const box = it.child<QComboBox>("presets");
    box->setItemText(0, QStringLiteral("A preset with a title that is much too long for any form"));
    box->setCurrentIndex(0);
    const QString title = box->itemText(0);
    const QImage seen = box->grab().toImage();
    for (qsizetype kept = 1; kept < title.size(); ++kept) {
      box->setItemText(0, title.left(kept) + QChar(0x2026));
      if (box->fontMetrics().horizontalAdvance(box->itemText(0)) > box->width() - 40) break;  // cut off itself
      if (box->grab().toImage() == seen) return;
    }
    QFAIL("no beginning of the title with an ellipsis looks like the box");
  }

  void everythingSurvivesARestart() {
    WindowFixture it(QStringLiteral("--speed 2000"));
    it.set("training.steps", std::int64_t{200});
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->state() == Run::State::finished);
    it.run()->setNote(QStringLiteral("kept"));
    it.set("model.gate", false);
    it.window->setThemeChoice(ThemeChoice::dark);
    it.window->action(QStringLiteral("show-loss"))->setChecked(false);
    Panel* const gap = it.window->panels().panel(QStringLiteral("gap"));
    const bool log = gap->options().value("log", true);
    it.window->action(QStringLiteral("log-axis"))->trigger();
    it.session->setTempo(50);
    it.window->resize(1333, 777);
    it.reopen();
    QCOMPARE(it.session->runs().count(), 1);
    QCOMPARE(it.run()->note(), QStringLiteral("kept"));
    QVERIFY(!it.session->draft().config().boolean("model.gate"));
    QVERIFY(it.window->action(QStringLiteral("theme-dark"))->isChecked());
    QVERIFY(!it.window->panels().panel(QStringLiteral("loss"))->isVisible());
    QCOMPARE(it.window->panels().panel(QStringLiteral("gap"))->options().value("log", true), !log);
    QCOMPARE(it.session->tempo(), 50.0);
    QTRY_COMPARE(it.run()->rows().size(), std::size_t{5});
    QTRY_COMPARE(it.run()->state(), Run::State::finished);
  }

  void aRunThatCameBackIsListenedTo() {
    WindowFixture it;
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    it.reopen();
    it.run()->setName(QStringLiteral("renamed"));
    QCOMPARE(it.window->windowTitle(), QStringLiteral("renamed"));
  }

  void aRowSaysWhereItsRunLies() {
    WindowFixture it;
    it.click(it.play());
    QTRY_VERIFY(it.run() && !it.run()->folder().isEmpty());
    QVERIFY(it.child<QFrame>("run-row")->toolTip().endsWith(it.run()->folder()));
  }

  void aNoteIsWrittenWhereTheRunsWereHidden() {
    WindowFixture it;
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    const auto writesNote = [&it] {
      it.window->action(QStringLiteral("note"))->trigger();
      return it.window->runsView().isVisible() && it.window->focusWidget() == it.child<QLineEdit>("run-note");
    };
    it.window->action(QStringLiteral("show-runs"))->setChecked(false);
    QVERIFY(!it.window->runsView().isVisible());
    QVERIFY(writesNote());
    it.window->setPresentation(true);
    QVERIFY(!it.window->runsView().isVisible());
    QVERIFY(writesNote());
    QVERIFY(!it.window->isPresentation());
  }

  void thePaletteFindsAndRunsCommands() {
    WindowFixture it;
    QTest::keyClick(it.window.get(), Qt::Key_K, Qt::ControlModifier);
    CommandPalette& palette = it.window->commandPalette();
    QVERIFY(palette.isVisible());
    auto* const list = palette.findChild<QTreeWidget*>();
    QVERIFY(list->topLevelItemCount() > 20);
    QTest::keyClicks(palette.findChild<QLineEdit*>(), QStringLiteral("appear dark"));
    QCOMPARE(list->topLevelItemCount(), 1);
    QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Return);
    QVERIFY(!palette.isVisible());
    QVERIFY(it.window->action(QStringLiteral("theme-dark"))->isChecked());
    QTest::keyClick(it.window.get(), Qt::Key_K, Qt::ControlModifier);
    QTest::keyClick(palette.findChild<QLineEdit*>(), Qt::Key_Escape);
    QVERIFY(!palette.isVisible());
  }

  void presentationShowsThePanelsOnly() {
    WindowFixture it;
    const int font = it.window->font().pixelSize();
    QTest::keyClick(it.window.get(), Qt::Key_F11);
    QVERIFY(it.window->isPresentation());
    QVERIFY(!it.window->form().isVisible());
    QVERIFY(!it.window->menuBar()->isVisible());
    QVERIFY(it.window->font().pixelSize() > font);
    QTest::keyClick(it.window.get(), Qt::Key_Space);
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    QTest::keyClick(it.window.get(), Qt::Key_Escape);
    QVERIFY(!it.window->isPresentation());
    QVERIFY(it.window->form().isVisible());
    QVERIFY(it.window->menuBar()->isVisible());
    QCOMPARE(it.window->font().pixelSize(), font);
  }

  void shareStringsGoThroughTheClipboard() {
    WindowFixture it;
    it.set("training.seed", std::int64_t{42});
    it.window->action(QStringLiteral("copy-share"))->trigger();
    const QString text = QApplication::clipboard()->text();
    QVERIFY(text.contains(QStringLiteral("training.seed=42")));
    it.window->action(QStringLiteral("new"))->trigger();
    QCOMPARE(it.session->draft().config().integer("training.seed"), 0);
    it.window->action(QStringLiteral("paste-share"))->trigger();
    QCOMPARE(it.session->draft().config().integer("training.seed"), 42);
    QApplication::clipboard()->setText(QStringLiteral("mambarium1:model.d_stat=3"));
    it.window->action(QStringLiteral("paste-share"))->trigger();
    QCOMPARE(it.notices().size(), std::size_t{1});
    QVERIFY(it.notices()[0]->text().contains(QStringLiteral("model.d_state")));
  }

  void panelsExportFromTheirMenu() {
    WindowFixture it(QStringLiteral("--speed 2000"));
    Panel* const gap = it.window->panels().panel(QStringLiteral("gap"));
    QTest::keyClick(it.window.get(), Qt::Key_E, Qt::ControlModifier);
    QVERIFY2(!it.window->findChild<ExportDialog*>(), "an empty panel has nothing to export");
    it.set("training.steps", std::int64_t{300});
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->state() == Run::State::finished);
    QTRY_VERIFY(gap->hasData() && gap->data().runs[0].rows.size() == 7);
    QMenu* const menu = it.window->panels().makeMenu(gap);
    menu->actions().front()->trigger();
    delete menu;
    auto* const dialog = it.window->findChild<ExportDialog*>();
    QVERIFY(dialog);
    QVERIFY(dialog->path().startsWith(it.run()->folder() + QStringLiteral("/figures/")));
    const QString path = dialog->path();
    dialog->accept();
    QTRY_VERIFY(QFileInfo(path).size() > 1000);
    QVERIFY(QDir(QFileInfo(path).path()).entryList({QStringLiteral("*.json")}).size() == 1);
    QVERIFY(it.sentence().contains(path));
  }

  void aRunExportsFromItsMenu() {
    WindowFixture it(QStringLiteral("--speed 2000"));
    it.set("training.steps", std::int64_t{100});
    for (const std::int64_t seed : {std::int64_t{1}, std::int64_t{2}}) {
      it.set("training.seed", seed);
      it.click(it.play());
      QTRY_VERIFY(it.session->runs().count() == seed && it.run()->state() == Run::State::finished);
    }
    const Panel* const loss = it.window->panels().panel(QStringLiteral("loss"));
    QTRY_VERIFY(loss->data().runs.size() == 2 && loss->data().current == 1);
    Run* const first = it.session->runs().at(0);
    const std::unique_ptr<QMenu> menu(it.window->runsView().makeMenu(first));
    const QList<QAction*> actions = menu->actions();
    for (QAction* const action : actions) {
      if (action->text() == QStringLiteral("Export a figure…")) action->trigger();
    }
    const std::unique_ptr<ExportDialog> dialog(it.window->findChild<ExportDialog*>());
    QVERIFY(dialog);
    QCOMPARE(dialog->figure().data.current, std::size_t{0});
    QVERIFY(dialog->path().startsWith(first->folder()));
  }

  void whatStandsStillIsNotExportedAsOfAStep() {
    WindowFixture it;
    it.set("training.steps", std::int64_t{100'000});
    it.click(it.play());
    Panel* const decay = it.window->panels().panel(QStringLiteral("decay"));
    QTRY_VERIFY(it.run() && !it.run()->checkpoints().empty() && decay->hasData());
    const auto saysAsOf = [&it, decay] {
      it.window->exportFigure(decay);
      const std::unique_ptr<ExportDialog> dialog(it.window->findChild<ExportDialog*>());
      return dialog && !dialog->findChild<QLabel*>(QStringLiteral("as-of"))->isHidden();
    };
    QVERIFY(saysAsOf());
    const std::int64_t checkpoint = it.run()->checkpoints().front();
    it.session->feed().setCheckpoint(checkpoint);
    QTRY_VERIFY(decay->data().inspected && decay->data().inspected->value("step", std::int64_t{-1}) == checkpoint);
    QVERIFY(it.run()->isTraining() && !saysAsOf());
  }

  void undoInAFieldUndoesTheExperiment() {
    WindowFixture it;
    QWidget* const field = it.window->form().field("task.order");
    field->setFocus();
    QTest::keyClick(field, Qt::Key_Up);
    QCOMPARE(it.session->draft().config().integer("task.order"), 2);
    QTest::keyClick(field, Qt::Key_Z, Qt::ControlModifier);
    QCOMPARE(it.session->draft().config().integer("task.order"), 1);
  }

  void everyControlHasAName() {
    WindowFixture it;
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->rows().size() > 2);
    it.window->notices().add({QStringLiteral("A notice"), {}, {}, {{QStringLiteral("Do it"), {}}}, nullptr});
    QStringList nameless;
    const QList<QWidget*> widgets = it.window->findChildren<QWidget*>();
    for (QWidget* const widget : widgets) {
      if (widget->focusPolicy() == Qt::NoFocus || !widget->isVisible()) continue;
      const QAccessibleInterface* const spoken = QAccessible::queryAccessibleInterface(widget);
      if (!spoken || spoken->text(QAccessible::Name).isEmpty()) {
        nameless.append(
            QStringLiteral("%1 %2").arg(QLatin1String(widget->metaObject()->className()), widget->objectName()));
      }
    }
    QVERIFY2(nameless.isEmpty(), qPrintable(nameless.join(QStringLiteral(", "))));
    std::set<QString> shortcuts;
    for (const QAction* const action : it.window->allActions()) {
      QVERIFY(!action->text().isEmpty());
      for (const QKeySequence& keys : action->shortcuts())
        QVERIFY2(shortcuts.insert(keys.toString()).second, qPrintable(keys.toString()));
    }
  }

  void itFitsASmallScreen() {
    WindowFixture it;
    const QSize least = it.window->minimumSizeHint();
    QVERIFY2(least.width() <= 1000 && least.height() <= 640,
             qPrintable(QStringLiteral("%1 x %2").arg(least.width()).arg(least.height())));
  }
};

QTEST_MAIN(WindowTest)
#include "window_test.moc"
