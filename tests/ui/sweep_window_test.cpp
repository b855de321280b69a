// Sweeps in the window, with real widgets and the real worker: an ablation from the choice to the figure, stopped, gone
// on with, and closed.

#include <QCheckBox>
#include <QClipboard>
#include <QFileInfo>
#include <QImage>
#include <QLabel>
#include <QSignalSpy>
#include <QSpinBox>
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/contract/run_folder.h"
#include "ui/ablation_dialog.h"
#include "ui/figure/export_dialog.h"
#include "ui/sweep_dialog.h"
#include "ui/window_picture.h"
#include "window_fixture.h"

using namespace mambarium;
namespace fs = std::filesystem;

namespace {

constexpr int patience = 120'000;

// Ids of processes that have `word` in their command line; a zombie has none.
QStringList processesWith(const QString& word) {
  QStringList found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    std::ifstream file(entry.path() / "cmdline", std::ios::binary);
    const std::string line((std::istreambuf_iterator<char>(file)), {});
    if (QString::fromStdString(line).contains(word)) found << QString::fromStdString(entry.path().filename().string());
  }
  return found;
}

std::vector<RunFolder> runsIn(const QString& folder) {
  std::vector<RunFolder> runs;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.toStdString() + "/runs", error))
    runs.push_back(read_run_folder(entry.path()).run);
  return runs;
}

bool hasTrained(const RunFolder& run) {
  return !run.rows.empty() && run.rows.back().step > 0;
}

class SweepWindow {
 public:
  SweepWindow() : it(WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"))) {
    it.set("task.length", std::int64_t{16});
    it.set("model.d_model", std::int64_t{4});
    it.set("model.d_state", std::int64_t{4});
    it.set("training.batch", std::int64_t{8});
    it.set("training.eval_every", std::int64_t{10});
    it.set("training.checkpoint_every", std::int64_t{10});
  }

  // Ticks the gate and the MLP, two seeds, and presses Train.
  SweepDialog* ablate(int steps) {
    it.window->action(QStringLiteral("ablate"))->trigger();
    auto* const dialog = it.window->findChild<AblationDialog*>();
    tick(dialog, "ablate model.gate off");
    tick(dialog, "ablate model.mlp none");
    dialog->findChild<QSpinBox*>(QStringLiteral("ablate-seeds"))->setValue(2);
    dialog->findChild<QSpinBox*>(QStringLiteral("ablate-steps"))->setValue(steps);
    sentence = dialog->findChild<QLabel*>(QStringLiteral("ablate-sentence"))->text();
    it.click(dialog->findChild<QPushButton*>(QStringLiteral("ablate-train")));
    return sweep();
  }

  SweepDialog* sweep() const {
    const auto all = it.window->findChildren<SweepDialog*>();
    return all.isEmpty() ? nullptr : all.last();
  }

  static QPushButton* button(const SweepDialog* dialog, const char* name) {
    return dialog->findChild<QPushButton*>(QLatin1String(name));
  }

  WindowFixture it;
  QString sentence;

 private:
  static void tick(const AblationDialog* dialog, const char* name) {
    dialog->findChild<QCheckBox*>(QLatin1String(name))->click();
  }
};

}  // namespace

class SweepWindowTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void anAblationFillsInAndIsOpened() {
    SweepWindow window;
    const SweepDialog* const sweep = window.ablate(20);
    QVERIFY2(window.sentence.startsWith(QStringLiteral("4 combinations with 2 seeds make 8 models of 20 steps")),
             qPrintable(window.sentence));
    QVERIFY(sweep && sweep->process().isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(sweep->panel().data().sweep, patience);
    QVERIFY(sweep->panel().hasData());
    QVERIFY2(sweep->panel().caption().contains(QStringLiteral("of 8 models are trained")),
             qPrintable(sweep->panel().caption()));
    QTRY_VERIFY_WITH_TIMEOUT(!sweep->process().isRunning(), patience);
    QVERIFY2(sweep->problem().isEmpty(), qPrintable(sweep->problem()));
    QTRY_VERIFY_WITH_TIMEOUT(sweep->standing().isEmpty(), patience);
    QVERIFY(QFileInfo::exists(sweep->folder() + QStringLiteral("/results.json")));

    const PanelTable table = sweep->panel().table();
    QCOMPARE(table.rows.size(), std::size_t{4});
    QCOMPARE(table.columns.mid(0, 2), (QStringList{"model.gate", "model.mlp"}));
    for (const QStringList& row : table.rows) {
      QCOMPARE(row[6], QStringLiteral("2"));
      QVERIFY(row[4].toDouble() < row[2].toDouble() && row[2].toDouble() < row[5].toDouble());
    }
    QCOMPARE(sweep->findChild<QLabel*>(QStringLiteral("sweep-caption"))->text(), sweep->panel().caption());
    QVERIFY(sweep->panel().caption().contains(QStringLiteral("Gate off, MLP none")));

    window.it.click(SweepWindow::button(sweep, "sweep-copy"));
    QVERIFY(QApplication::clipboard()->text().startsWith(QStringLiteral("model.gate,model.mlp,gap_add_beta_mean")));
    sweep->panel().setOptions({{"chart", "curves"}});
    QTRY_VERIFY_WITH_TIMEOUT(sweep->panel().hasData(), patience);
    QCOMPARE(sweep->panel().table().rows.size(), std::size_t{4 * 3});

    window.it.click(sweep->panel().findChild<QWidget*>(QStringLiteral("exportButton")));
    auto* const exported = sweep->findChild<ExportDialog*>();
    QVERIFY(exported && exported->path().startsWith(sweep->folder()));
    exported->accept();
    QVERIFY(QFileInfo::exists(exported->path()));

    const QString file = window.it.machine.path(QStringLiteral("sweep.png"));
    QSignalSpy done(new WindowPicture(*window.sweep(), file), &WindowPicture::done);
    QVERIFY(done.wait(patience));
    QCOMPARE(QImage(file).size(), sweep->size() * sweep->devicePixelRatio());
  }

  void stoppedItGoesOn() {
    SweepWindow window;
    window.it.set("training.checkpoint_every", std::int64_t{100'000});
    SweepDialog* sweep = window.ablate(100'000);
    const QString folder = sweep->folder();
    QTRY_VERIFY_WITH_TIMEOUT(std::ranges::any_of(runsIn(folder), hasTrained), patience);
    window.it.click(SweepWindow::button(sweep, "sweep-stop"));
    QTRY_VERIFY_WITH_TIMEOUT(!sweep->process().isRunning(), patience);
    QVERIFY2(sweep->problem().isEmpty(), qPrintable(sweep->problem()));
    QTRY_VERIFY(processesWith(folder).isEmpty());
    QTRY_VERIFY_WITH_TIMEOUT(sweep->standing().contains(QStringLiteral("of 8 models")), patience);
    QTRY_VERIFY_WITH_TIMEOUT(SweepWindow::button(sweep, "sweep-go-on")->isVisible(), patience);
    for (const RunFolder& run : runsIn(folder))
      QVERIFY2(!hasTrained(run) || (!run.checkpoints.empty() && run.checkpoints.back() >= run.rows.back().step),
               run.path.c_str());

    sweep->close();
    QTRY_VERIFY_WITH_TIMEOUT(!window.sweep(), patience);
    sweep = window.it.window->showSweep(folder, false);
    QVERIFY(!sweep->process().isRunning());
    window.it.click(SweepWindow::button(sweep, "sweep-go-on"));
    QVERIFY(sweep->process().isRunning());
    QTRY_VERIFY_WITH_TIMEOUT(!processesWith(folder).isEmpty(), patience);
    QCOMPARE(window.it.window->showSweep(folder, true), sweep);
    sweep->close();
    QTRY_VERIFY(processesWith(folder).isEmpty());
  }

  void closingTheWindowLeavesNoProcess() {
    QString folder;
    {
      SweepWindow window;
      const SweepDialog* const sweep = window.ablate(100'000);
      folder = sweep->folder();
      QTRY_VERIFY_WITH_TIMEOUT(processesWith(folder).size() > 1, patience);
      window.it.window->close();
      QTRY_VERIFY(processesWith(folder).isEmpty());
    }
    QTRY_VERIFY(processesWith(folder).isEmpty());
  }

  void whatFailsIsSaid() {
    SweepWindow window;
    const QString folder = window.it.machine.path(QStringLiteral("broken"));
    QDir().mkpath(folder);
    std::ofstream(SweepDialog::sweepFileIn(folder).toStdString()) << R"({"name": "x", "grid": {"task.ordr": [1]}})";
    const SweepDialog* const sweep = window.it.window->showSweep(folder, true);
    QTRY_VERIFY_WITH_TIMEOUT(!sweep->problem().isEmpty(), patience);
    QVERIFY2(sweep->problem().contains(QStringLiteral("task.ordr")), qPrintable(sweep->problem()));
    QVERIFY(!sweep->process().isRunning());
    const SweepDialog* const nothing = window.it.window->showSweep(folder + QStringLiteral("/empty"), false);
    QVERIFY2(nothing->problem().contains(QStringLiteral("broken/empty is not the folder of a sweep")),
             qPrintable(nothing->problem()));
  }
};

QTEST_MAIN(SweepWindowTest)
#include "sweep_window_test.moc"
