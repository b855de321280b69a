// The experiment form: real clicks and keys.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDragEnterEvent>
#include <QFile>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QUrl>

#include "core/contract/preset.h"
#include "core/contract/resources.h"
#include "ui/form/experiment_form.h"
#include "ui/form/number_box.h"
#include "ui/plots/theme.h"
#include "ui/session/machine.h"

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

  void numberBoxesShowTheirWholeNumber_data() {
    QTest::addColumn<QString>("key");
    QTest::addColumn<QString>("text");
    QTest::newRow("100000") << "model.motif_beta"
                            << "100000";
    QTest::newRow("small real") << "training.lr"
                                << "0.00015";
    QTest::newRow("the largest") << "training.steps"
                                 << "100000000";
  }
  void numberBoxesShowTheirWholeNumber() {
    QFETCH(const QString, key);
    QFETCH(const QString, text);
    NumberBox box(*find_property(key.toStdString()));
    box.setStyleSheet(Theme().styleSheet());
    ExperimentConfig config;
    QVERIFY(!config.set_from_string(key.toStdString(), text.toStdString()));
    box.setValue(config.value(key.toStdString()));
    box.resize(box.sizeHint());
    box.show();
    QVERIFY(QTest::qWaitForWindowExposed(&box));
    const auto* const line = box.findChild<QLineEdit*>();
    QCOMPARE(line->text(), text);
    QVERIFY2(line->contentsRect().width() > line->fontMetrics().horizontalAdvance(text),
             qPrintable(QStringLiteral("%1 px").arg(line->contentsRect().width())));
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

  void aFileCanBeChosenInADialog() {
    draft_->edit("task.kind", std::string("file"));
    const QString path = makeFile(QStringLiteral("letters.txt"));
    type(QStringLiteral("task.file"), files_.path() + QStringLiteral("/other.txt"));
    const int before = draft_->history().count();
    QFileDialog* const dialog = openDialog("task.file");
    QVERIFY(dialog && dialog->isVisible());
    QCOMPARE(dialog->directory().canonicalPath(), QDir(files_.path()).canonicalPath());  // where the present file is
    pickInDialog(*dialog, QStringLiteral("letters.txt"));
    QCOMPARE(draft_->config().text("task.file"), path.toStdString());
    QCOMPARE(qobject_cast<QLineEdit*>(form_->field("task.file"))->text(), path);
    QCOMPARE(draft_->history().count(), before + 1);  // a step of its own, apart from what was typed
    draft_->history().undo();
    QVERIFY(draft_->config().text("task.file").ends_with("other.txt"));
    QTRY_VERIFY(!form_->field("task.file")->findChild<QFileDialog*>());
  }

  void anUnusedDialogChangesNothing() {
    draft_->edit("task.kind", std::string("file"));
    const int before = draft_->history().count();
    QFileDialog* const dialog = openDialog("task.file");
    QVERIFY(dialog);
    QTest::keyClick(dialog, Qt::Key_Escape);
    QTRY_VERIFY(!form_->field("task.file")->findChild<QFileDialog*>());
    QCOMPARE(draft_->history().count(), before);
    QCOMPARE(draft_->config().text("task.file"), std::string("symbols.txt"));
  }

  void aFolderForRunsCanBeChosen() {
    QVERIFY(QDir(files_.path()).mkpath(QStringLiteral("here/runs")));
    draft_->edit("run.out", files_.filePath(QStringLiteral("here")).toStdString());
    QFileDialog* const dialog = openDialog("run.out");
    QVERIFY(dialog);
    QCOMPARE(dialog->fileMode(), QFileDialog::Directory);
    pickInDialog(*dialog, QStringLiteral("runs"));
    QCOMPARE(draft_->config().text("run.out"), files_.filePath(QStringLiteral("here/runs")).toStdString());
  }

  void filesCanBeDropped() {
    draft_->edit("task.kind", std::string("decoding"));
    draft_->edit("task.recording", std::string("windows"));
    QWidget* const field = form_->field("task.files");
    const QString second = makeFile(QStringLiteral("day2.npz")), tenth = makeFile(QStringLiteral("day10.npz"));
    QVERIFY(drop(field, {tenth, second}));
    QCOMPARE(draft_->config().text("task.files"), (second + QLatin1Char(';') + tenth).toStdString());
    QVERIFY(!drop(field, {files_.path()}));  // a folder is no recording
    draft_->edit("task.kind", std::string("file"));
    QVERIFY(!drop(form_->field("task.file"), {second, tenth}));  // one file is wanted
    QVERIFY(drop(form_->field("task.file"), {tenth}));
    QCOMPARE(draft_->config().text("task.file"), tenth.toStdString());
    QVERIFY(drop(form_->field("run.out"), {files_.path()}));
    QCOMPARE(draft_->config().text("run.out"), files_.path().toStdString());
  }

  void aMissingFileIsSaidWhereItsComputerIsThisOne() {
    draft_->edit("task.kind", std::string("file"));
    const QString path = files_.filePath(QStringLiteral("later.txt"));
    type(QStringLiteral("task.file"), path);
    QVERIFY(form_->problemText("task.file").isEmpty());  // a worker elsewhere may have it
    form_->setFilesAreHere(true);
    QCOMPARE(form_->problemText("task.file"), QStringLiteral("There is no file %1 on this computer.").arg(path));
    QVERIFY(draft_->problems().empty());  // the worker has the last word
    type(QStringLiteral("task.file"), files_.path());
    QCOMPARE(form_->problemText("task.file"), QStringLiteral("%1 is a folder; a file is wanted.").arg(files_.path()));
    type(QStringLiteral("task.file"), path);
    makeFile(QStringLiteral("later.txt"));
    QEvent back(QEvent::WindowActivate);
    QApplication::sendEvent(form_.get(), &back);
    QVERIFY(form_->problemText("task.file").isEmpty());

    draft_->edit("task.kind", std::string("decoding"));
    draft_->edit("task.recording", std::string("windows"));
    type(QStringLiteral("task.files"), path + QStringLiteral("; ") + files_.filePath(QStringLiteral("no.npz")));
    QCOMPARE(form_->problemText("task.files"),
             QStringLiteral("There is no file %1 on this computer.").arg(files_.filePath(QStringLiteral("no.npz"))));
    QVERIFY(form_->problemText("run.out").isEmpty());  // is made when it is needed
  }

  void onlyItsOwnWorkerIsSurelyHere() {
    const auto on = [](const char* command) { return Machine{QStringLiteral("A"), QLatin1String(command), {}}; };
    QVERIFY(runsHere(thisMachine()));
    QVERIFY(runsHere(on("/opt/mambarium/bin/mambarium-worker serve")));
    QVERIFY(!runsHere(on("ssh gpu-box mambarium-worker")));
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

  QString makeFile(const QString& name) const {
    QFile file(files_.filePath(name));
    return file.open(QIODevice::WriteOnly) ? file.fileName() : QString();
  }
  // By the button beside the field.
  QFileDialog* openDialog(const char* key) const {
    auto* const button = form_->findChild<QPushButton*>(QLatin1String(key) + QStringLiteral(".choose"));
    if (!button || button->accessibleName().isEmpty()) return nullptr;
    QTest::mouseClick(button, Qt::LeftButton);
    return form_->field(key)->findChild<QFileDialog*>();
  }
  static void pickInDialog(QFileDialog& dialog, const QString& name) {
    auto* const edit = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
    QVERIFY(edit);
    edit->setFocus();
    edit->clear();
    QTest::keyClicks(edit, name);
    QTest::keyClick(edit, Qt::Key_Return);
    QVERIFY(!dialog.isVisible());
  }
  static bool drop(QWidget* field, const QStringList& paths) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& path : paths) urls.append(QUrl::fromLocalFile(path));
    data.setUrls(urls);
    const QPoint middle = field->rect().center();
    QDragEnterEvent enter(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    enter.ignore();
    QApplication::sendEvent(field, &enter);
    if (!enter.isAccepted()) return false;
    QDropEvent dropped(middle, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(field, &dropped);
    return dropped.isAccepted();
  }

  QTemporaryDir files_;
  std::unique_ptr<ExperimentDraft> draft_;
  std::unique_ptr<ExperimentForm> form_;
};

QTEST_MAIN(FormTest)
#include "form_test.moc"
