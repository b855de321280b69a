// The experiment form: real clicks and keys.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QTest>

#include "core/contract/preset.h"
#include "core/contract/resources.h"
#include "ui/form/experiment_form.h"
#include "ui/form/number_box.h"

using namespace mambarium;

class FormTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() {
    form_.reset();
    draft_ = std::make_unique<ExperimentDraft>();
    form_ = std::make_unique<ExperimentForm>(*draft_, load_presets(preset_directory()).presets);
    form_->resize(320, 1400);
    form_->show();
    QVERIFY(QTest::qWaitForWindowExposed(form_.get()));
    QApplication::setActiveWindow(form_.get());
  }

  void everySettingHasAFieldWithANameAndHelp() {
    for (const Property& property : property_table()) {
      QWidget* const field = form_->field(property.key);
      QVERIFY2(field, property.key.data());
      QVERIFY(!field->accessibleName().isEmpty());
      QVERIFY(!field->accessibleDescription().isEmpty());
    }
    QCOMPARE(form_->field("no.such.key"), nullptr);
  }

  void typedNumbersReachTheDraft_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("typed");
    QTest::addColumn<QString>("value");
    QTest::newRow("whole") << "task.order"
                           << "3"
                           << "3";
    QTest::newRow("exponent") << "training.lr"
                              << "2e-4" << QString::fromStdString(value_to_string(PropertyValue(2e-4)));
    QTest::newRow("large") << "training.steps"
                           << "1e4"
                           << "10000";
  }
  void typedNumbersReachTheDraft() {
    QFETCH(QString, key);
    QFETCH(QString, typed);
    QFETCH(QString, value);
    type(key, typed);
    QCOMPARE(valueOf(key), value);
    auto* const box = qobject_cast<NumberBox*>(form_->field(key.toStdString()));
    QCOMPARE(box->text(), typed);  // what a person typed is not rewritten below the cursor
  }

  void badValuesAreSaidInASentenceBelowTheirRow() {
    type(QStringLiteral("task.order"), QStringLiteral("99"));
    QVERIFY(form_->problemText("task.order").contains(QStringLiteral("whole number from 1 to 8")));
    QVERIFY(form_->problemText("task.order").endsWith(QLatin1Char('.')));
    QCOMPARE(draft_->problems().size(), std::size_t{1});
    QCOMPARE(valueOf(QStringLiteral("task.order")), QStringLiteral("1"));
    type(QStringLiteral("task.order"), QStringLiteral("2"));
    QVERIFY(form_->problemText("task.order").isEmpty());
    QVERIFY(draft_->problems().empty());
  }

  void valuesThatDoNotFitTogetherAllShow() {
    type(QStringLiteral("model.headdim"), QStringLiteral("5"));
    type(QStringLiteral("task.order"), QStringLiteral("4"));
    type(QStringLiteral("task.length"), QStringLiteral("3"));
    QVERIFY(form_->problemText("model.headdim").contains(QStringLiteral("divide")));
    QVERIFY(form_->problemText("task.length").contains(QStringLiteral("order")));
    QVERIFY(form_->field("model.headdim")->accessibleDescription().contains(QStringLiteral("divide")));
  }

  void whatDoesNotApplyIsDisabled() {
    QVERIFY(form_->field("model.d_conv")->isEnabled());
    for (const char* const item : {"model.conv.x", "model.conv.B", "model.conv.C"}) {
      auto* const box = form_->findChild<QCheckBox*>(QLatin1String(item));
      QVERIFY(box && box->isChecked());
      clickBox(box);
    }
    QCOMPARE(draft_->config().text("model.conv"), std::string("none"));
    QVERIFY(!form_->field("model.d_conv")->isEnabled());
  }

  void undoAndRedo() {
    auto* const gate = qobject_cast<QCheckBox*>(form_->field("model.gate"));
    clickBox(gate);
    QVERIFY(!draft_->config().boolean("model.gate"));
    type(QStringLiteral("training.steps"), QStringLiteral("1234"));
    QCOMPARE(draft_->history().count(), 2);  // four keys are one step
    draft_->history().undo();
    QCOMPARE(qobject_cast<NumberBox*>(form_->field("training.steps"))->text(), QStringLiteral("2000"));
    QVERIFY(!gate->isChecked());
    draft_->history().undo();
    QVERIFY(gate->isChecked());
    draft_->history().redo();
    QVERIFY(!gate->isChecked());
  }

  void oneClickTakesAWholeSetOutAndBack() {
    auto* const all = form_->findChild<QCheckBox*>(QStringLiteral("model.conv.all"));
    QVERIFY(all && all->checkState() == Qt::Checked);
    clickBox(all);
    QCOMPARE(draft_->config().text("model.conv"), std::string("none"));
    QCOMPARE(all->checkState(), Qt::Unchecked);
    clickBox(all);
    QCOMPARE(draft_->config().text("model.conv"), std::string("x,B,C"));
    clickBox(form_->findChild<QCheckBox*>(QStringLiteral("model.conv.B")));
    QCOMPARE(all->checkState(), Qt::PartiallyChecked);
    clickBox(all);
    QCOMPARE(draft_->config().text("model.conv"), std::string("none"));
    QCOMPARE(draft_->history().count(), 4);
  }

  // What an edit brings about: at once where one click is the whole edit, else when the number is whole.
  void consequencesComeWithWholeEdits() {
    std::vector<std::pair<std::string, Beginning>> happened;
    draft_->setConsequences([&](const Property& property, const ExperimentConfig&, Beginning beginning) {
      return Consequence{
          [&happened, key = std::string(property.key), beginning] { happened.emplace_back(key, beginning); },
          [&happened] { happened.pop_back(); }};
    });
    auto* const gate = qobject_cast<QCheckBox*>(form_->field("model.gate"));
    clickBox(gate);
    clickBox(gate, Qt::ShiftModifier);
    QCOMPARE(happened.size(), std::size_t{2});
    QVERIFY(happened[0].second == Beginning::now && happened[1].second == Beginning::step_0);

    type(QStringLiteral("model.d_conv"), QStringLiteral("16"));
    QCOMPARE(happened.size(), std::size_t{2});
    QTest::keyClick(form_->field("model.d_conv"), Qt::Key_Return);
    QCOMPARE(happened.size(), std::size_t{3});
    QCOMPARE(happened.back().first, std::string("model.d_conv"));
    QTest::keyClick(form_->field("model.d_conv"), Qt::Key_Tab);
    QCOMPARE(happened.size(), std::size_t{3});
    type(QStringLiteral("task.order"), QStringLiteral("2"));
    QTest::keyClick(form_->field("task.order"), Qt::Key_Tab);
    QCOMPARE(happened.size(), std::size_t{4});
    type(QStringLiteral("task.order"), QStringLiteral("3"));
    form_->field("task.order")->clearFocus();  // as a window that goes behind another
    QCOMPARE(happened.size(), std::size_t{4});

    draft_->history().undo();
    QCOMPARE(happened.size(), std::size_t{4});
    draft_->history().undo();
    QCOMPARE(happened.size(), std::size_t{3});
    QCOMPARE(draft_->config().integer("task.order"), 1);
    draft_->history().redo();
    QCOMPARE(happened.size(), std::size_t{4});
  }

  void undoTakesBackARefusedValueToo() {
    type(QStringLiteral("training.steps"), QStringLiteral("300"));
    type(QStringLiteral("training.steps"), QStringLiteral("oops"));
    QVERIFY(!form_->problemText("training.steps").isEmpty());
    draft_->history().undo();
    QVERIFY(form_->problemText("training.steps").isEmpty());
    QCOMPARE(qobject_cast<NumberBox*>(form_->field("training.steps"))->text(), QStringLiteral("2000"));
  }

  void presetsFillTheFormAndLeaveTheMachineAlone() {
    QVERIFY(form_->presets().size() > 2);
    draft_->edit("run.out", std::string("/tmp/somewhere"));
    auto* const box = form_->findChild<QComboBox*>(QStringLiteral("presets"));
    for (int index = 0; index < box->count(); ++index) {
      form_->choosePreset(index);
      QCOMPARE(box->currentIndex(), index);
      QCOMPARE(draft_->config().text("run.out"), std::string("/tmp/somewhere"));
      QVERIFY(draft_->problems().empty());
    }
    form_->choosePreset(0);
    type(QStringLiteral("training.seed"), QStringLiteral("77"));
    QCOMPARE(box->currentIndex(), -1);
    draft_->history().undo();
    QCOMPARE(box->currentIndex(), 0);
  }

  void arrowKeysWalkThroughRoundNumbers() {
    const Property& rate = *find_property("training.lr");
    QCOMPARE(nextRoundNumber(rate, 0.002, true), 0.005);
    QCOMPARE(nextRoundNumber(rate, 0.005, true), 0.01);
    QCOMPARE(nextRoundNumber(rate, 0.002, false), 0.001);
    QCOMPARE(nextRoundNumber(rate, 0.001, false), 0.0005);
    QCOMPARE(nextRoundNumber(rate, 0.0013, true), 0.002);
    const Property& length = *find_property("task.length");
    QCOMPARE(nextRoundNumber(length, 128, true), 256.0);
    QCOMPARE(nextRoundNumber(length, 128, false), 64.0);
    QCOMPARE(nextRoundNumber(length, 2, false), 2.0);
    const Property& steps = *find_property("training.steps");
    QCOMPARE(nextRoundNumber(steps, 2000, true), 3000.0);
    QCOMPARE(nextRoundNumber(steps, 1000, false), 900.0);
    auto* const box = qobject_cast<NumberBox*>(form_->field("task.states"));
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Up);
    QCOMPARE(draft_->config().integer("task.states"), 3);
    QTest::keyClick(box, Qt::Key_Down);
    QTest::keyClick(box, Qt::Key_Down);
    QCOMPARE(draft_->config().integer("task.states"), 2);
  }

  void scrollingDoesNotChangeSettings() {
    auto* const box = qobject_cast<NumberBox*>(form_->field("task.order"));
    form_->setFocus();
    const QPointF middle = box->rect().center();
    QWheelEvent wheel(middle, box->mapToGlobal(middle), {}, QPoint(0, 120), Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(box, &wheel);
    QCOMPARE(draft_->config().integer("task.order"), 1);
  }

  void tabGoesThroughTheFieldsInTheirOrder() {
    QWidget* const first = form_->field("task.order");
    first->setFocus();
    QTRY_VERIFY(first->hasFocus());
    QTest::keyClick(first, Qt::Key_Tab);
    QCOMPARE(QApplication::focusWidget(), form_->field("task.states"));
  }

 private:
  // On the indicator: a box may be wider than what answers to a click.
  static void clickBox(QCheckBox* box, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(box, Qt::LeftButton, modifiers, QPoint(8, box->height() / 2));
  }
  void type(const QString& key, const QString& text) {
    QWidget* const field = form_->field(key.toStdString());
    field->setFocus();
    QTest::keyClick(field, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClicks(field, text);
  }
  QString valueOf(const QString& key) const {
    return QString::fromStdString(value_to_string(draft_->config().value(key.toStdString())));
  }

  std::unique_ptr<ExperimentDraft> draft_;
  std::unique_ptr<ExperimentForm> form_;
};

QTEST_MAIN(FormTest)
#include "form_test.moc"
