// The export dialog, worked by keys and clicks as a person would.

#include "ui/figure/export_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "plots_fake_data.h"
#include "ui/figure/figure_recipe.h"
#include "ui/session/application_settings.h"

using namespace mambarium;

class ExportDialogTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init();
  void savesAFigureAndItsRecipe();
  void presetFillsTheNumbersAndNumbersNameThePreset();
  void formatAndFileNameFollowEachOther();
  void remembersTheLastChoice();
  void offersTheRunsFolderUntilAnotherIsChosen();
  void aFigureWithoutTheCurrentRunIsReadBack();
  void replacesOnlyAfterSayingSo();
  void aFailureIsSaidAndTheDialogStays();
  void previewFollowsTheChoice();
  void everyControlHasANameAndIsReachedByTab();
  void saysAtWhichStepARunInTrainingIsShown();
  void looksLikeThis_data();
  void looksLikeThis();

 private:
  template <typename Widget>
  static Widget* named(const QDialog& dialog, const char* name) {
    for (Widget* widget : dialog.findChildren<Widget*>())
      if (widget->accessibleName() == QLatin1String(name)) return widget;
    return nullptr;
  }
  std::unique_ptr<Panel> panel_;
  std::unique_ptr<QTemporaryDir> directory_;
  std::unique_ptr<ExportDialog> open();
  QString folder() const { return directory_->filePath(QStringLiteral("figures")); }
};

void ExportDialogTest::init() {
  directory_ = std::make_unique<QTemporaryDir>();
  qputenv("MAMBARIUM_SETTINGS", directory_->filePath(QStringLiteral("settings.ini")).toLocal8Bit());
  panel_.reset(makePanel(QStringLiteral("gap"), nullptr));
  panel_->show(fake::threeRuns());
}

std::unique_ptr<ExportDialog> ExportDialogTest::open() {
  auto dialog = std::make_unique<ExportDialog>(*panel_, folder());
  dialog->open();
  if (!QTest::qWaitForWindowExposed(dialog.get())) return nullptr;
  return dialog;
}

void ExportDialogTest::savesAFigureAndItsRecipe() {
  const auto dialog = open();
  QVERIFY(dialog);
  QSignalSpy saved(dialog.get(), &ExportDialog::saved);
  const QString path = dialog->path();
  QCOMPARE(QFileInfo(path).fileName(), QStringLiteral("gap.pdf"));
  QTest::keyClick(dialog.get(), Qt::Key_Return);
  QCOMPARE(saved.size(), 1);
  QVERIFY(!dialog->isVisible());
  QFile pdf(path);
  QVERIFY(pdf.open(QIODevice::ReadOnly));
  QVERIFY(pdf.read(5) == "%PDF-");
  const Figure again = readRecipe(recipePathFor(path));
  QCOMPARE(again.data.runs.size(), std::size_t{3});
  QCOMPARE(again.style.width_mm, 85.0);
}

void ExportDialogTest::presetFillsTheNumbersAndNumbersNameThePreset() {
  const auto dialog = open();
  auto* preset = named<QComboBox>(*dialog, "Size preset");
  auto* width = named<QDoubleSpinBox>(*dialog, "Width");
  preset->setFocus();
  QTest::keyClick(preset, Qt::Key_Down);
  QCOMPARE(width->value(), 174.0);
  QCOMPARE(dialog->figure().style.height_mm, 80.0);
  width->setFocus();
  QTest::keyClick(width, Qt::Key_Up);
  QCOMPARE(width->value(), 175.0);
  QCOMPARE(preset->currentText(), QStringLiteral("Other"));
  QTest::keyClick(width, Qt::Key_Down);
  QCOMPARE(preset->currentIndex(), 1);
}

void ExportDialogTest::formatAndFileNameFollowEachOther() {
  const auto dialog = open();
  auto* format = named<QComboBox>(*dialog, "Format");
  auto* path = named<QLineEdit>(*dialog, "File");
  auto* dpi = named<QDoubleSpinBox>(*dialog, "Resolution");
  QVERIFY(!dpi->isEnabled());
  format->setCurrentIndex(2);
  QVERIFY(path->text().endsWith(QStringLiteral("gap.png")));
  QVERIFY(dpi->isEnabled());
  path->setText(folder() + QStringLiteral("/mine.csv"));
  QCOMPARE(format->currentText(), QStringLiteral("CSV"));
  QVERIFY(!named<QDoubleSpinBox>(*dialog, "Width")->isEnabled());
  QTest::keyClick(dialog.get(), Qt::Key_Return);
  QFile csv(folder() + QStringLiteral("/mine.csv"));
  QVERIFY(csv.open(QIODevice::ReadOnly));
  QVERIFY(csv.readLine().startsWith("run,step,gap_add_beta"));
  QVERIFY(!QFile::exists(recipePathFor(csv.fileName())));
}

void ExportDialogTest::remembersTheLastChoice() {
  {
    const auto dialog = open();
    named<QComboBox>(*dialog, "Format")->setCurrentIndex(1);
    named<QDoubleSpinBox>(*dialog, "Width")->setValue(100);
    named<QComboBox>(*dialog, "Ground")->setCurrentIndex(1);
    QTest::keyClick(dialog.get(), Qt::Key_Return);
    QVERIFY(QFile::exists(folder() + QStringLiteral("/gap.svg")));
  }
  const auto dialog = open();
  QCOMPARE(named<QComboBox>(*dialog, "Format")->currentText(), QStringLiteral("SVG"));
  QCOMPARE(dialog->figure().style.width_mm, 100.0);
  QVERIFY(dialog->figure().style.dark);
  QCOMPARE(QFileInfo(dialog->path()).fileName(), QStringLiteral("gap-2.svg"));
}

void ExportDialogTest::offersTheRunsFolderUntilAnotherIsChosen() {
  const auto saveAs = [this](const QString& path) {
    const auto dialog = open();
    QVERIFY(dialog);
    if (!path.isEmpty()) named<QLineEdit>(*dialog, "File")->setText(path);
    dialog->accept();
    QVERIFY(!dialog->isVisible());
  };
  const QString of_another_run = directory_->filePath(QStringLiteral("another/figures"));
  const auto offered = [&] { return QFileInfo(ExportDialog(*panel_, of_another_run).path()).path(); };
  saveAs({});
  QCOMPARE(offered(), of_another_run);
  saveAs(directory_->filePath(QStringLiteral("chosen/gap.pdf")));
  QCOMPARE(offered(), directory_->filePath(QStringLiteral("chosen")));
  saveAs(folder() + QStringLiteral("/again.pdf"));
  QCOMPARE(offered(), of_another_run);
}

void ExportDialogTest::aFigureWithoutTheCurrentRunIsReadBack() {
  PanelData data = fake::threeRuns();
  data.current = data.runs.size();
  panel_->show(data);
  const auto dialog = open();
  QVERIFY(dialog);
  const QString path = dialog->path();
  dialog->accept();
  const Figure again = readRecipe(recipePathFor(path));
  QCOMPARE(again.data.runs.size(), std::size_t{3});
  QCOMPARE(again.data.current, again.data.runs.size());
}

void ExportDialogTest::replacesOnlyAfterSayingSo() {
  QVERIFY(QDir().mkpath(folder()));
  QFile old(folder() + QStringLiteral("/old.pdf"));
  QVERIFY(old.open(QIODevice::WriteOnly));
  old.close();
  const auto dialog = open();
  auto* path = named<QLineEdit>(*dialog, "File");
  const auto buttonTexts = [&] {
    QStringList texts;
    for (const QPushButton* button : dialog->findChildren<QPushButton*>()) texts << button->text();
    return texts;
  };
  QVERIFY(buttonTexts().contains(QStringLiteral("Save")));
  for (const char* const ending : {".pdf", ""}) {
    path->setText(folder() + QStringLiteral("/new") + QLatin1String(ending));
    QVERIFY(buttonTexts().contains(QStringLiteral("Save")));
    path->setText(folder() + QStringLiteral("/old") + QLatin1String(ending));
    QVERIFY2(buttonTexts().contains(QStringLiteral("Replace")), ending);
  }
}

void ExportDialogTest::aFailureIsSaidAndTheDialogStays() {
  const auto dialog = open();
  QVERIFY(QDir().mkpath(folder() + QStringLiteral("/taken.pdf")));
  named<QLineEdit>(*dialog, "File")->setText(folder() + QStringLiteral("/taken.pdf"));
  QTest::keyClick(dialog.get(), Qt::Key_Return);
  QVERIFY(dialog->isVisible());
  const auto* problem = dialog->findChild<QLabel*>(QStringLiteral("problem"));
  QVERIFY(problem->isVisible());
  QVERIFY2(problem->text().contains(QStringLiteral("taken.pdf")), qPrintable(problem->text()));
}

void ExportDialogTest::previewFollowsTheChoice() {
  const auto dialog = open();
  const auto* preview = dialog->findChild<QLabel*>(QStringLiteral("preview"));
  const QImage light = preview->pixmap(Qt::ReturnByValue).toImage();
  QVERIFY(!light.isNull());
  QVERIFY(std::abs(light.width() / double(light.height()) - 85.0 / 60.0) < 0.01);
  named<QComboBox>(*dialog, "Ground")->setCurrentIndex(1);
  QTRY_VERIFY(preview->pixmap(Qt::ReturnByValue).toImage() != light);
  QCOMPARE(preview->pixmap(Qt::ReturnByValue).toImage().pixelColor(2, 2), Theme::screen(Appearance::dark).panel());
  named<QDoubleSpinBox>(*dialog, "Height")->setValue(85);
  QTRY_COMPARE(preview->pixmap(Qt::ReturnByValue).toImage().width(),
               preview->pixmap(Qt::ReturnByValue).toImage().height());
}

void ExportDialogTest::everyControlHasANameAndIsReachedByTab() {
  const auto dialog = open();
  QSet<QWidget*> reached;
  for (int i = 0; i < 40; ++i) {
    QTest::keyClick(dialog->focusWidget() ? dialog->focusWidget() : dialog.get(), Qt::Key_Tab);
    if (QWidget* now = dialog->focusWidget()) reached.insert(now);
  }
  for (const char* name : {"Format", "Size preset", "Ground"})
    QVERIFY2(reached.contains(named<QComboBox>(*dialog, name)), name);
  for (const char* name : {"Width", "Height", "Font size"})
    QVERIFY2(reached.contains(named<QDoubleSpinBox>(*dialog, name)), name);
  for (const char* name : {"Title above the plot", "File"})
    QVERIFY2(reached.contains(named<QLineEdit>(*dialog, name)), name);
  for (const QCheckBox* box : dialog->findChildren<QCheckBox*>()) QVERIFY(!box->text().isEmpty());
}

void ExportDialogTest::saysAtWhichStepARunInTrainingIsShown() {
  const auto dialog = open();
  const auto* as_of = dialog->findChild<QLabel*>(QStringLiteral("as-of"));
  QVERIFY(as_of && !as_of->isVisible());
  dialog->setAsOf(1240);
  QVERIFY(as_of->isVisible());
  QVERIFY2(as_of->text().contains(QStringLiteral("As of step 1,240")), qPrintable(as_of->text()));
}

void ExportDialogTest::looksLikeThis_data() {
  QTest::addColumn<bool>("dark");
  QTest::newRow("light") << false;
  QTest::newRow("dark") << true;
}

void ExportDialogTest::looksLikeThis() {
  QFETCH(bool, dark);
  Theme::screen(dark ? Appearance::dark : Appearance::light).applyTo(*qApp);
  const auto dialog = open();
  named<QLineEdit>(*dialog, "Title above the plot")->setText(QStringLiteral("Learning an order-1 chain"));
  QTest::qWait(150);
  const QImage image = dialog->grab().toImage();
  QDir().mkpath(QStringLiteral(MAMBARIUM_PICTURES_DIR));
  QVERIFY(image.save(
      QStringLiteral("%1/export-%2-%3.png")
          .arg(QStringLiteral(MAMBARIUM_PICTURES_DIR), dark ? QStringLiteral("dark") : QStringLiteral("light"))
          .arg(qApp->devicePixelRatio() * 100)));
}

QTEST_MAIN(ExportDialogTest)
#include "export_dialog_test.moc"
