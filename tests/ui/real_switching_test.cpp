// A lesson with a real worker, by clicks and keys: a chain that switches teaches a model to forget, and without the
// convolution it is another curve, which goes to paper.
#include <QAbstractButton>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QProcess>
#include <QTemporaryDir>
#include <algorithm>

#include "ui/figure/export_dialog.h"
#include "ui/figure/figure_recipe.h"
#include "ui/form/experiment_form.h"
#include "window_fixture.h"

using namespace mambarium;

namespace {

constexpr int patience = 240'000;

// Down the list of presets with the arrow key, as far as the switching one.
void choose(const WindowFixture& it, const char* id) {
  auto* const box = it.child<QComboBox>("presets");
  const auto& presets = it.window->form().presets();
  const auto wanted = std::ranges::find(presets, id, &Preset::id) - presets.begin();
  box->setFocus();
  for (int presses = 0; box->currentIndex() != wanted && presses < box->count(); ++presses)
    QTest::keyClick(box, Qt::Key_Down);
}

struct MeanDecay {
  double at_switches = 1, elsewhere = 1;
};

MeanDecay meanDecay(const Panel& decay) {
  const PanelTable table = decay.table();
  const auto value = table.columns.indexOf(QStringLiteral("a")),
             marked = table.columns.indexOf(QStringLiteral("is_switch"));
  double sums[2] = {}, counts[2] = {};
  if (value < 0 || marked < 0) return {};
  for (const QStringList& row : table.rows) {
    const int kind = row[marked] == u"1" ? 1 : 0;
    sums[kind] += row[value].toDouble();
    ++counts[kind];
  }
  if (counts[0] == 0 || counts[1] == 0) return {};
  return {sums[1] / counts[1], sums[0] / counts[0]};
}

QByteArray textOf(const QString& pdf) {
  QProcess reader;
  reader.start(QStringLiteral("pdftotext"), {pdf, QStringLiteral("-")});
  reader.waitForFinished();
  return reader.readAllStandardOutput();
}

}  // namespace

class RealSwitchingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aLessonOnForgetting() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    choose(it, "switching");
    QCOMPARE(it.session->draft().config().text("task.kind"), std::string("switching"));
    it.set("task.length", std::int64_t{128});
    it.set("task.p_switch", 0.05);
    it.set("training.batch", std::int64_t{16});
    it.set("training.steps", std::int64_t{1'000'000});
    it.set("training.schedule", std::string("constant"));
    it.click(it.play());

    const Panel* const decay = it.window->panels().panel(QStringLiteral("decay"));
    QTRY_VERIFY_WITH_TIMEOUT(meanDecay(*decay).at_switches < 0.2, patience);
    const MeanDecay learned = meanDecay(*decay);
    QVERIFY2(learned.elsewhere > 0.9, qPrintable(QString::number(learned.elsewhere)));
    QVERIFY2(decay->caption().contains(QStringLiteral("switch token")), qPrintable(decay->caption()));

    Run* const full = it.run();
    auto* const convolution = it.child<QCheckBox>("model.conv.all");
    QTest::mouseClick(convolution, Qt::LeftButton, {}, QPoint(8, convolution->height() / 2));
    Run* const without = it.run();
    QVERIFY(without != full);
    Panel* const gap = it.window->panels().panel(QStringLiteral("gap"));
    const auto points = [&](const Run* run) {
      return std::ranges::count_if(gap->table().rows, [&](const QStringList& row) { return row[0] == run->title(); });
    };
    QTRY_VERIFY_WITH_TIMEOUT(points(without) >= 3 && points(full) >= 3, patience);
    QTRY_VERIFY_WITH_TIMEOUT(without->gap() && full->gap() && *without->gap() > *full->gap() + 0.005, patience);

    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("comparison.pdf"));
    QAbstractButton* button = nullptr;
    for (auto* const candidate : gap->findChildren<QAbstractButton*>())
      if (candidate->accessibleName().startsWith(QStringLiteral("Export"))) button = candidate;
    QVERIFY(button);
    it.click(button);
    auto* const dialog = it.window->findChild<ExportDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    auto* const file = [&]() -> QLineEdit* {
      for (auto* const line : dialog->findChildren<QLineEdit*>())
        if (line->accessibleName() == u"File") return line;
      return nullptr;
    }();
    QVERIFY(file);
    file->setFocus();
    file->selectAll();
    QTest::keyClicks(file, path);
    QTest::keyClick(dialog, Qt::Key_Return);
    QTRY_VERIFY_WITH_TIMEOUT(!dialog->isVisible(), patience);
    QCOMPARE(readRecipe(recipePathFor(path)).data.runs.size(), std::size_t{2});
    const QByteArray text = textOf(path);
    QVERIFY2(text.contains("conv none") && text.contains("Gap"), text.constData());
  }
};

QTEST_MAIN(RealSwitchingTest)
#include "real_switching_test.moc"
