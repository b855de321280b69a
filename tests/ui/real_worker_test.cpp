// The window on the real worker: it learns, it can be killed, it stops when asked.
#include <QElapsedTimer>
#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <random>

#include "core/contract/run_folder.h"
#include "ui/form/experiment_form.h"
#include "ui/selftest_dialog.h"
#include "ui/window_picture.h"
#include "window_fixture.h"

using namespace mambarium;

namespace {

constexpr int patience = 120'000;

std::vector<std::int64_t> stepsOf(const std::vector<MetricsRow>& rows) {
  std::vector<std::int64_t> steps;
  for (const MetricsRow& row : rows) steps.push_back(row.step);
  return steps;
}

}  // namespace

class RealWorkerTest : public QObject {
  Q_OBJECT

 private:
  // Each is maximised: what cannot be seen asks for nothing.
  static void theOtherPanelsAreOneClickAway(const WindowFixture& it) {
    PanelArea& panels = it.window->panels();
    Panel* const theory = panels.panel(QStringLiteral("theory"));
    for (Panel* const panel : {panels.panel(QStringLiteral("state")), panels.panel(QStringLiteral("inner-products"))}) {
      panels.maximise(panel);
      QTRY_VERIFY_WITH_TIMEOUT(panel->hasData(), patience);
      QVERIFY2(panel->caption().startsWith(QStringLiteral("Step 200")), qPrintable(panel->caption()));
      QVERIFY(!panel->table().rows.empty());
    }
    panels.maximise(theory);
    QTRY_VERIFY_WITH_TIMEOUT(theory->hasData(), patience);
    QVERIFY2(theory->caption().contains(QStringLiteral("at least 12.9 bits")), qPrintable(theory->caption()));
    for (const char* const view : {"quantisation", "construction"}) {
      theory->setOptions({{"view", view}});
      QTRY_VERIFY_WITH_TIMEOUT(theory->hasData(), patience);
      QVERIFY(theory->table().rows.size() >= 4);
    }
    QVERIFY2(theory->caption().contains(QStringLiteral("below the promised 0.01")), qPrintable(theory->caption()));
    panels.maximise(nullptr);
    Panel* const filters = panels.panel(QStringLiteral("filters"));
    filters->setOptions({{"view", "training"}});
    QTRY_COMPARE_WITH_TIMEOUT(filters->data().earlier.size(), it.run()->checkpoints().size(), patience);
    filters->setOptions({{"view", "map"}});
    QVERIFY(it.notices().empty());
  }

 private Q_SLOTS:
  void aPictureIsTakenAtTheStepAskedFor() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    it.makeSmall(100'000);
    const QTemporaryDir folder;
    const QString file = folder.filePath(QStringLiteral("window.png"));
    auto* const picture = new WindowPicture(*it.window, *it.session, file, 60);
    QSignalSpy done(picture, &WindowPicture::done);
    QVERIFY(done.wait(patience));
    QCOMPARE(done.at(0).at(0).toString(), QString());
    QVERIFY(it.run()->step() >= 60);
    QCOMPARE(QImage(file).size(), it.window->size() * it.window->devicePixelRatio());

    auto* const nowhere = new WindowPicture(*it.window, *it.session, folder.filePath(QStringLiteral("no/w.png")), 60);
    QSignalSpy failed(nowhere, &WindowPicture::done);
    QVERIFY(failed.wait(patience));
    QVERIFY(failed.at(0).at(0).toString().contains(QStringLiteral("no/w.png")));
  }

  void itLearnsAndEveryPanelSeesIt() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    it.makeSmall(200);
    it.click(it.play());
    QTRY_VERIFY_WITH_TIMEOUT(it.run() && it.run()->state() == Run::State::finished, patience);
    QVERIFY(it.notices().empty());
    const MetricsRow& first = it.run()->rows().front();
    const MetricsRow& last = it.run()->rows().back();
    QCOMPARE(last.step, 200);
    QCOMPARE(it.run()->rows().size(), std::size_t{9});
    const double uniform_gap = std::log(2.0) - last.add_beta_loss;
    QVERIFY2(last.gap_add_beta < 0.5 * uniform_gap, qPrintable(QString::number(last.gap_add_beta)));
    QVERIFY(last.test_loss < first.test_loss);
    QCOMPARE(it.run()->checkpoints().back(), 200);

    for (const char* const id : {"decay", "prediction", "filters"}) {
      const Panel* const panel = it.window->panels().panel(QLatin1String(id));
      QTRY_VERIFY2_WITH_TIMEOUT(panel->data().inspected && panel->data().inspected->value("step", -1) == 200, id,
                                patience);
      QVERIFY(panel->hasData());
      QVERIFY(!panel->table().rows.empty());
    }
    theOtherPanelsAreOneClickAway(it);
    const Panel* const filters = it.window->panels().panel(QStringLiteral("filters"));
    const PanelTable at_the_end = filters->table();
    it.session->feed().setCheckpoint(50);
    QTRY_VERIFY_WITH_TIMEOUT(filters->data().inspected->value("step", -1) == 50, patience);
    QVERIFY(filters->table().rows != at_the_end.rows);

    const ReadRunFolder on_disk = read_run_folder(it.run()->folder().toStdString());
    QVERIFY(on_disk.problems.empty());
    QCOMPARE(stepsOf(on_disk.run.rows), stepsOf(it.run()->rows()));
  }

  void theSwitchingPresetShowsWhereItForgets() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    const auto& presets = it.window->form().presets();
    const auto preset = std::ranges::find(presets, "switching", &Preset::id);
    QVERIFY(preset != presets.end());
    it.window->form().choosePreset(static_cast<int>(preset - presets.begin()));
    QCOMPARE(it.session->draft().config().text("task.kind"), std::string("switching"));
    it.set("training.batch", std::int64_t{16});
    it.set("training.steps", std::int64_t{300});
    it.click(it.play());
    QTRY_VERIFY_WITH_TIMEOUT(it.run() && it.run()->state() == Run::State::finished, patience);
    QVERIFY(it.notices().empty());
    const MetricsRow& last = it.run()->rows().back();
    // Tokens guessed uniformly, switches at their rate.
    const double p = 0.01, blind = -p * std::log(p) - (1 - p) * std::log((1 - p) / 2);
    QVERIFY2(last.test_loss < blind, qPrintable(QString::number(last.test_loss)));
    QVERIFY(last.oracle_loss < last.add_beta_loss && last.add_beta_loss < last.test_loss);

    const Panel* const decay = it.window->panels().panel(QStringLiteral("decay"));
    const Panel* const prediction = it.window->panels().panel(QStringLiteral("prediction"));
    for (const Panel* const panel : {decay, prediction})
      QTRY_VERIFY_WITH_TIMEOUT(panel->data().inspected && panel->data().inspected->value("step", -1) == 300, patience);
    const PanelTable table = decay->table();
    QCOMPARE(table.rows.size(), std::size_t{512});
    QCOMPARE(table.columns[5], QStringLiteral("is_switch"));
    const auto switches = std::ranges::count_if(table.rows, [](const QStringList& row) { return row[5] == u"1"; });
    QVERIFY(switches > 0);
    for (const QStringList& row : table.rows) QCOMPARE(row[5] == u"1", row[3] == u"2");
    QVERIFY2(decay->caption().contains(QStringLiteral("on average at")), qPrintable(decay->caption()));
    QVERIFY2(prediction->caption().contains(QStringLiteral("Bayes")), qPrintable(prediction->caption()));
  }

  void theHelpMenuChecksTheKernels() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    it.window->action(QStringLiteral("selftest"))->trigger();
    auto* const dialog = it.window->findChild<SelftestDialog*>();
    QVERIFY(dialog && dialog->isVisible());
    QTRY_VERIFY_WITH_TIMEOUT(!dialog->isRunning() && !dialog->table().isEmpty(), patience);
    QTRY_VERIFY2_WITH_TIMEOUT(dialog->verdict().startsWith(QStringLiteral("Every kernel agrees")),
                              qPrintable(dialog->verdict()), patience);
    QVERIFY(dialog->table().contains(QStringLiteral("gradients of the convolution")));
    dialog->close();
  }

  void tenKillsLoseNoEvaluation() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    it.makeSmall(100'000);
    it.click(it.play());
    std::mt19937 random(7);
    std::vector<std::int64_t> seen;
    for (int kill = 0; kill < 10; ++kill) {
      const std::int64_t from = it.run() ? it.run()->step() : 0;
      QTRY_VERIFY_WITH_TIMEOUT(it.run() && it.run()->isTraining() && it.run()->step() > from, patience);
      QTest::qWait(static_cast<int>(random() % 700));
      seen = stepsOf(it.run()->rows());
      QVERIFY(signalWorker(*it.run(), SIGKILL));
      QTRY_COMPARE_WITH_TIMEOUT(it.run()->state(), Run::State::died, patience);

      const ReadRunFolder on_disk = read_run_folder(it.run()->folder().toStdString());
      QVERIFY2(on_disk.problems.empty(), to_string(on_disk.problems).c_str());
      const std::vector<std::int64_t> kept = stepsOf(on_disk.run.rows);
      QVERIFY2(kept.size() >= seen.size() && std::equal(seen.begin(), seen.end(), kept.begin()),
               "an evaluation that the window had shown is not on disk");
      QPushButton* const go_on = it.noticeButton(QStringLiteral("Continue from the last checkpoint"));
      QVERIFY2(go_on, "the window does not offer to continue");
      it.click(go_on);
    }
    QTRY_VERIFY_WITH_TIMEOUT(it.run()->isTraining() && it.run()->rows().back().step >= seen.back() + 25, patience);
    const std::vector<std::int64_t> steps = stepsOf(it.run()->rows());
    for (std::size_t index = 0; index < steps.size(); ++index)
      QCOMPARE(steps[index], static_cast<std::int64_t>(index) * 25);
    QCOMPARE(it.session->runs().count(), 1);
  }

  void stopIsQuick() {
    WindowFixture it = WindowFixture::onCommand(QStringLiteral(MAMBARIUM_BIN_DIR "/mambarium-worker"));
    it.set("training.steps", std::int64_t{100'000});
    it.click(it.play());
    QTRY_VERIFY_WITH_TIMEOUT(it.run() && it.run()->step() > 20, patience);
    qint64 longest = 0;
    for (int stop = 0; stop < 5; ++stop) {
      QElapsedTimer clock;
      clock.start();
      it.click(it.play());
      while (it.run()->isTraining() && clock.elapsed() < patience) QTest::qWait(1);
      longest = std::max(longest, clock.elapsed());
      QCOMPARE(it.run()->state(), Run::State::paused);
      const std::int64_t stood = it.run()->step();
      it.click(it.play());
      QTRY_VERIFY_WITH_TIMEOUT(it.run()->step() > stood + 3, patience);
    }
    qInfo("longest of five stops: %lld ms", static_cast<long long>(longest));
    it.close();
  }
};

QTEST_MAIN(RealWorkerTest)
#include "real_worker_test.moc"
