// A motif profile drawn by hand in the form: real presses, sweeps, keys and menus, and what they make of the setting.
#include "ui/form/motif_profile_editor.h"

#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMouseEvent>
#include <QPushButton>
#include <QTest>
#include <QWheelEvent>
#include <cmath>

#include "core/contract/motif_shares.h"
#include "core/motif/motif_target.h"
#include "ui/form/experiment_form.h"
#include "ui/form/motif_profile_chart.h"
#include "ui/plots/theme.h"

using namespace mambarium;

class MotifProfileEditorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { Theme::screen(Appearance::light).applyTo(*qApp); }
  void init();
  void itIsThereWhereAProfileIsAskedFor();
  void aPressSetsABar();
  void aSweepDrawsAProfileAsOneStep();
  void everySweepIsAStepOfItsOwn();
  void aMotionStaysWithinTheBars();
  void escapeTakesAMotionBack();
  void aPressOnANameOnlyChooses();
  void keysChooseAndChange();
  void stepsOfOneBarAreOneChange();
  void digitsOpenTheExactNumber();
  void theWheelNeedsTheFocus();
  void theTextDrawsTheBars();
  void whatCannotBeReadStaysUntilItsBarIsDrawn();
  void theSumIsShownAndJudged();
  void oneCanBeginWithAProfile_data();
  void oneCanBeginWithAProfile();
  void barsCanBeBroughtToTheSumOne();
  void switchedOffItTakesNothing();

 private:
  static constexpr std::string_view key = "model.motif_profile";
  static constexpr auto default_text = "0,0.25,0,0,0,0,0,0,0,0,0,0,0";
  // A pixel of the bars, and the rounding to a hundredth of their height.
  double pixel() const { return chart_->top() * 0.02; }

  QString draftText() const { return QString::fromStdString(draft_->config().text(key)); }
  std::vector<double> bars() const {
    std::vector<double> shares;
    for (std::size_t triad = 0; triad < motif_count; ++triad) shares.push_back(chart_->share(triad).value_or(NAN));
    return shares;
  }
  // Chart, text field and setting say the same, and the setting reads it as the chart draws it.
  bool agree() const {
    if (chart_->profile() != draftText() || text_->text() != draftText()) return false;
    QStringList shares = draftText().split(QLatin1Char(','));
    for (std::size_t triad = 0; triad < motif_count; ++triad) {
      if (shares.takeFirst().toDouble() != chart_->share(triad)) return false;
    }
    return shares.isEmpty();
  }
  void mouse(QEvent::Type type, const QPointF& at) const {
    const bool is_move = type == QEvent::MouseMove, is_release = type == QEvent::MouseButtonRelease;
    QMouseEvent event(type, at, chart_->mapToGlobal(at), is_move ? Qt::NoButton : Qt::LeftButton,
                      is_release ? Qt::NoButton : Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(chart_, &event);
  }
  void press(std::size_t triad, double share) const {
    QTest::mousePress(chart_, Qt::LeftButton, {}, chart_->pointOf(triad, share).toPoint());
  }
  void moveTo(const QPointF& at) const { mouse(QEvent::MouseMove, at); }
  void release() const { mouse(QEvent::MouseButtonRelease, chart_->pointOf(0, 0)); }
  void sweep(std::size_t from, double share, std::size_t to, double other) const {
    press(from, share);
    moveTo(chart_->pointOf(to, other));
    release();
  }
  void keys(std::initializer_list<Qt::Key> pressed) const {
    chart_->setFocus();
    for (const Qt::Key each : pressed) QTest::keyClick(chart_, each);
  }
  void type(const QString& typed) const {
    text_->setFocus();
    QTest::keyClick(text_, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(text_, typed);
  }
  QAction* menuAction(const QString& beginning) const {
    for (QMenu* const menu : {editor_->beginButton()->menu(), editor_->beginButton()->menu()->findChild<QMenu*>()}) {
      for (QAction* const action : menu->actions()) {
        if (action->text().startsWith(beginning)) return action;
      }
    }
    return nullptr;
  }
  int steps() const { return draft_->history().count() - steps_before_; }

  std::unique_ptr<ExperimentDraft> draft_;
  std::unique_ptr<ExperimentForm> form_;
  MotifProfileEditor* editor_ = nullptr;
  MotifProfileChart* chart_ = nullptr;
  QLineEdit* text_ = nullptr;
  int steps_before_ = 0;
};

void MotifProfileEditorTest::init() {
  form_.reset();
  draft_ = std::make_unique<ExperimentDraft>();
  form_ = std::make_unique<ExperimentForm>(*draft_, std::vector<Preset>{});
  editor_ = form_->findChild<MotifProfileEditor*>();
  QVERIFY(editor_);
  chart_ = editor_->chart();
  text_ = qobject_cast<QLineEdit*>(form_->field(key));
  QVERIFY(text_);
  draft_->edit("model.coupling", std::string("etd"));
  draft_->edit("model.motif", std::string("profile"));
  steps_before_ = draft_->history().count();
  form_->resize(340, 2400);
  form_->show();
  QVERIFY(QTest::qWaitForWindowExposed(form_.get()));
  QApplication::setActiveWindow(form_.get());
}

void MotifProfileEditorTest::itIsThereWhereAProfileIsAskedFor() {
  QVERIFY(chart_->isVisible() && text_->isVisible());
  for (const QWidget* const control :
       std::initializer_list<QWidget*>{chart_, text_, editor_->beginButton(), chart_->exactField()}) {
    QVERIFY(!control->accessibleName().isEmpty());
  }
  QVERIFY(chart_->accessibleDescription().contains(QStringLiteral("Motif-1 (021D)")));
  QVERIFY(chart_->focusPolicy() & Qt::TabFocus);
  draft_->edit("model.motif", std::string("021U"));
  QVERIFY(!chart_->isVisible() && !text_->isVisible());
}

void MotifProfileEditorTest::aPressSetsABar() {
  QCOMPARE(chart_->profile(), QString::fromLatin1(default_text));
  QCOMPARE(chart_->top(), 0.5);
  press(3, 0.15);
  QVERIFY(agree());  // while the button is held, too
  release();
  QVERIFY(agree());
  std::vector<double> expected(motif_count, 0.0);
  expected[1] = 0.25;
  QVERIFY(std::abs(bars()[3] - 0.15) <= pixel());
  expected[3] = bars()[3];
  QCOMPARE(bars(), expected);
  QCOMPARE(chart_->chosen(), std::size_t{3});
  QVERIFY(chart_->hasFocus());
  QCOMPARE(steps(), 1);
  QVERIFY(draft_->problems().empty());
}

void MotifProfileEditorTest::aSweepDrawsAProfileAsOneStep() {
  press(0, 0.1);
  moveTo(chart_->pointOf(2, 0.02));
  moveTo(chart_->pointOf(6, 0.1));  // over three bars in one motion
  release();
  const std::vector<double> drawn = bars();
  const std::vector<double> expected = {0.1, 0.06, 0.02, 0.04, 0.06, 0.08, 0.1, 0, 0, 0, 0, 0, 0};
  for (std::size_t triad = 0; triad < motif_count; ++triad)
    QVERIFY2(std::abs(drawn[triad] - expected[triad]) <= 0.01, qPrintable(QString::number(triad)));
  QVERIFY(agree());
  QCOMPARE(steps(), 1);
  const QString text = draftText();
  draft_->history().undo();
  QCOMPARE(draftText(), QString::fromLatin1(default_text));
  QVERIFY(agree());
  draft_->history().redo();
  QCOMPARE(draftText(), text);
  QVERIFY(agree());
}

void MotifProfileEditorTest::everySweepIsAStepOfItsOwn() {
  sweep(0, 0.1, 2, 0.1);
  sweep(4, 0.1, 6, 0.1);
  QCOMPARE(steps(), 2);
  type(QStringLiteral("0.5,0,0,0,0,0,0,0,0,0,0,0,0"));
  QCOMPARE(steps(), 3);
  sweep(11, 0.1, 12, 0.2);
  QCOMPARE(steps(), 4);
  draft_->history().undo();
  QCOMPARE(draftText(), QStringLiteral("0.5,0,0,0,0,0,0,0,0,0,0,0,0"));
  keys({Qt::Key_Up});  // does not join the step that undo has come back to
  QCOMPARE(steps(), 4);
  draft_->history().undo();
  QCOMPARE(draftText(), QStringLiteral("0.5,0,0,0,0,0,0,0,0,0,0,0,0"));
  draft_->history().undo();
  draft_->history().undo();
  QCOMPARE(chart_->share(5), 0.0);
  QVERIFY(agree());
}

void MotifProfileEditorTest::aMotionStaysWithinTheBars() {
  press(2, 0.2);
  moveTo(QPointF(chart_->pointOf(2, 0).x(), -500));
  QCOMPARE(chart_->share(2), chart_->top());
  moveTo(QPointF(5000, 5000));
  QCOMPARE(chart_->share(12), 0.0);
  moveTo(QPointF(-5000, -500));
  QCOMPARE(chart_->share(0), chart_->top());
  release();
  QCOMPARE(chart_->top(), 1.0);   // so that the next motion can go on
  moveTo(chart_->pointOf(7, 1));  // the button is up
  QVERIFY(chart_->share(7) < 1.0);
  QVERIFY(agree());
  QCOMPARE(steps(), 1);
}

void MotifProfileEditorTest::escapeTakesAMotionBack() {
  press(5, 0.3);
  moveTo(chart_->pointOf(9, 0.3));
  QVERIFY(draftText() != QString::fromLatin1(default_text));
  QTest::keyClick(chart_, Qt::Key_Escape);
  moveTo(chart_->pointOf(11, 0.3));
  release();
  QCOMPARE(draftText(), QString::fromLatin1(default_text));
  QVERIFY(agree());
  QCOMPARE(steps(), 0);
}

void MotifProfileEditorTest::aPressOnANameOnlyChooses() {
  const QPoint name(chart_->pointOf(8, 0).toPoint().x(), chart_->height() - 8);
  QTest::mouseClick(chart_, Qt::LeftButton, {}, name);
  QCOMPARE(chart_->chosen(), std::size_t{8});
  QVERIFY(chart_->accessibleDescription().contains(QStringLiteral("Motif-9 (201), two pairs: a↔b, a↔c: 0.")));
  QCOMPARE(steps(), 0);
}

void MotifProfileEditorTest::keysChooseAndChange() {
  keys({Qt::Key_End});
  QCOMPARE(chart_->chosen(), std::size_t{12});
  keys({Qt::Key_Right, Qt::Key_Left});
  QCOMPARE(chart_->chosen(), std::size_t{11});
  keys({Qt::Key_Up, Qt::Key_PageUp});
  QCOMPARE(chart_->share(11), 0.11);
  keys({Qt::Key_Down, Qt::Key_Down, Qt::Key_Down});
  QCOMPARE(chart_->share(11), 0.08);
  keys({Qt::Key_PageDown});
  QCOMPARE(chart_->share(11), 0.0);  // not below
  QVERIFY(agree());
  keys({Qt::Key_Home, Qt::Key_Left, Qt::Key_Right});
  QCOMPARE(chart_->chosen(), std::size_t{1});
  keys({Qt::Key_Delete});
  QCOMPARE(chart_->share(1), 0.0);
  QVERIFY(agree());
  for (int page = 0; page < 12; ++page) keys({Qt::Key_PageUp});
  QCOMPARE(chart_->share(1), 1.0);  // not above
  QVERIFY(agree());
}

void MotifProfileEditorTest::stepsOfOneBarAreOneChange() {
  keys({Qt::Key_Up, Qt::Key_Up, Qt::Key_PageUp});
  QCOMPARE(steps(), 1);
  keys({Qt::Key_Right, Qt::Key_Down});
  QCOMPARE(steps(), 2);
  keys({Qt::Key_Delete});
  QCOMPARE(steps(), 3);
  draft_->history().undo();
  QCOMPARE(chart_->share(1), 0.24);
  draft_->history().undo();
  draft_->history().undo();
  QCOMPARE(draftText(), QString::fromLatin1(default_text));
}

void MotifProfileEditorTest::digitsOpenTheExactNumber() {
  QLineEdit* const exact = chart_->exactField();
  keys({Qt::Key_Home});
  QTest::keyClick(chart_, '0');
  QVERIFY(exact->isVisible() && exact->hasFocus());
  QCOMPARE(exact->accessibleName(), QStringLiteral("Share of Motif-1 (021D)"));
  QTest::keyClicks(exact, QStringLiteral(".123456789"));
  QCOMPARE(draftText(), QString::fromLatin1(default_text));
  QTest::keyClick(exact, Qt::Key_Return);
  QVERIFY(!exact->isVisible() && chart_->hasFocus());
  QCOMPARE(chart_->share(0), 0.123456789);  // not rounded
  QVERIFY(agree());
  QCOMPARE(steps(), 1);

  keys({Qt::Key_Return});
  QCOMPARE(exact->selectedText(), QStringLiteral("0.123456789"));
  QTest::keyClicks(exact, QStringLiteral("0.5"));
  QTest::keyClick(exact, Qt::Key_Escape);
  QVERIFY(!exact->isVisible() && chart_->hasFocus());
  QCOMPARE(chart_->share(0), 0.123456789);

  keys({Qt::Key_End, Qt::Key_5});
  QTest::keyClick(exact, Qt::Key_Tab);
  QCOMPARE(form_->problemText(key), QStringLiteral("The share of Motif-13 is \"5\", it must be a number from 0 to 1."));
  QVERIFY(!chart_->isAllowed() && agree());
  keys({Qt::Key_Delete, Qt::Key_Comma});
  QTest::keyClicks(exact, QStringLiteral("25"));
  QTest::keyClick(exact, Qt::Key_Return);
  QCOMPARE(chart_->share(12), 0.25);
  QVERIFY(form_->problemText(key).isEmpty());
}

void MotifProfileEditorTest::theWheelNeedsTheFocus() {
  const auto turn = [this](int by) {
    const QPointF at = chart_->pointOf(4, 0.1);
    QWheelEvent wheel(at, chart_->mapToGlobal(at), {}, QPoint(0, by), Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase,
                      false);
    QApplication::sendEvent(chart_, &wheel);
  };
  text_->setFocus();
  turn(120);
  QCOMPARE(steps(), 0);
  keys({Qt::Key_Home});
  turn(240);
  QCOMPARE(chart_->share(0), 0.02);
  for (int part = 0; part < 4; ++part) turn(-30);  // of a finer wheel
  QCOMPARE(chart_->share(0), 0.01);
  QVERIFY(agree());
  QCOMPARE(steps(), 1);
}

void MotifProfileEditorTest::theTextDrawsTheBars() {
  type(QStringLiteral("0.1, 0.2,0,0,0, 0.05,0,0,0,0,0,0,3e-1"));
  QCOMPARE(bars(), (std::vector<double>{0.1, 0.2, 0, 0, 0, 0.05, 0, 0, 0, 0, 0, 0, 0.3}));
  QVERIFY(form_->problemText(key).isEmpty());
  draft_->editText(key, QStringLiteral("0,0,0,0,0,0,0,0,0,0.7,0,0,0"));  // from anywhere else
  QCOMPARE(chart_->share(9), 0.7);
  QVERIFY(agree());
}

void MotifProfileEditorTest::whatCannotBeReadStaysUntilItsBarIsDrawn() {
  type(QStringLiteral("much,0.2"));
  QVERIFY(!chart_->share(0) && chart_->share(1) == 0.2 && !chart_->share(2));
  QVERIFY(form_->problemText(key).contains(QStringLiteral("13")));
  keys({Qt::Key_Home, Qt::Key_Right, Qt::Key_Up});
  QCOMPARE(draftText(), QStringLiteral("much,0.21,0,0,0,0,0,0,0,0,0,0,0"));
  QVERIFY(form_->problemText(key).contains(QStringLiteral("\"much\"")));
  press(0, 0.1);
  release();
  QVERIFY(form_->problemText(key).isEmpty() && agree());
}

void MotifProfileEditorTest::theSumIsShownAndJudged() {
  const auto* const sum = editor_->findChild<QLabel*>(QStringLiteral("profile-sum"));
  QCOMPARE(sum->text(), QStringLiteral("Sum 0.25, at most 1"));
  type(QStringLiteral("0.6,0.5,0,0,0,0,0,0,0,0,0,0,0"));
  QCOMPARE(sum->text(), QStringLiteral("Sum 1.1, at most 1"));
  QVERIFY(!chart_->isAllowed());
  QVERIFY(form_->problemText(key).contains(QStringLiteral("add up to 1.1")));
  QCOMPARE(form_->problemText(key).count(QLatin1Char('\n')), 0);
  QVERIFY(!draft_->problems().empty());
  keys({Qt::Key_Home, Qt::Key_PageDown});
  QCOMPARE(sum->text(), QStringLiteral("Sum 1, at most 1"));
  QVERIFY(chart_->isAllowed() && draft_->problems().empty());
}

void MotifProfileEditorTest::oneCanBeginWithAProfile_data() {
  QTest::addColumn<QString>("action");
  QTest::addColumn<QString>("target");
  QTest::newRow("FRP") << QStringLiteral("FRP") << QStringLiteral("FRP");
  QTest::newRow("MOP") << QStringLiteral("MOP") << QStringLiteral("MOP");
  QTest::newRow("AVE") << QStringLiteral("AVE") << QStringLiteral("AVE");
  for (std::size_t triad = 0; triad < motif_count; ++triad) {
    const QString title = QString::fromStdString(triad_title(triad));
    QTest::newRow(qPrintable(title)) << title << QString::number(triad + 1);
  }
  QTest::newRow("zeros") << QStringLiteral("Zeros") << QString();
}

void MotifProfileEditorTest::oneCanBeginWithAProfile() {
  QFETCH(QString, action);
  QFETCH(QString, target);
  type(QStringLiteral("0,0,0,0,0.3,0,0,0,0,0,0,0,0.1"));
  const QString before = draftText();
  QAction* const begin = menuAction(action);
  QVERIFY(begin);
  begin->trigger();
  const auto expected = target.isEmpty() ? MotifTarget{} : motif_target(target.toStdString());
  QCOMPARE(bars(), (std::vector<double>(expected.fractions.begin(), expected.fractions.end())));
  QVERIFY(agree());
  QCOMPARE(form_->problemText(key).isEmpty(), !target.isEmpty());
  QCOMPARE(steps(), 2);
  draft_->history().undo();
  QCOMPARE(draftText(), before);
}

void MotifProfileEditorTest::barsCanBeBroughtToTheSumOne() {
  QAction* const to_one = menuAction(QStringLiteral("These bars"));
  QVERIFY(to_one && to_one->isEnabled());
  type(QStringLiteral("0.6,0.9,0,0,0,0,0,0,0,0,0,0,0.3"));
  to_one->trigger();
  const double tolerance = 1e-5;  // shares are written with six decimals, rounded down
  QVERIFY(chart_->sum() <= 1 && chart_->sum() > 1 - tolerance);
  QVERIFY(std::abs(bars()[0] - 1.0 / 3) < tolerance && std::abs(bars()[1] - 0.5) < tolerance);
  QVERIFY(agree() && draft_->problems().empty());
  menuAction(QStringLiteral("Zeros"))->trigger();
  QVERIFY(!to_one->isEnabled());
}

void MotifProfileEditorTest::switchedOffItTakesNothing() {
  editor_->setEnabled(false);
  press(3, 0.2);
  release();
  QTest::keyClick(chart_, Qt::Key_Up);
  QCOMPARE(steps(), 0);
}

QTEST_MAIN(MotifProfileEditorTest)
#include "motif_profile_editor_test.moc"
