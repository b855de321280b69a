// What the window says when something goes wrong or takes long, and what it offers then.
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QScopeGuard>
#include <QTemporaryDir>
#include <algorithm>

#include "window_fixture.h"

using namespace mambarium;

class WindowNoticesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aPresetFileThatCannotBeUsedIsSaid() {
    const QTemporaryDir resources;
    QVERIFY(QDir(resources.path()).mkdir(QStringLiteral("presets")));
    const auto write = [&](const char* name, const QByteArray& text) {
      QFile file(resources.filePath(QStringLiteral("presets/") + QLatin1String(name)));
      QVERIFY(file.open(QIODevice::WriteOnly));
      file.write(text);
    };
    write("good.json", R"({"id": "good", "title": "Good", "description": "", "experiment": {}})");
    write("bad.json", R"({"id": "bad", "title": "Bad", "description": "", "experiment": {"task": {"order": -1}}})");
    qputenv("MAMBARIUM_RESOURCES", resources.path().toUtf8());
    const auto unset = qScopeGuard([] { qunsetenv("MAMBARIUM_RESOURCES"); });
    WindowFixture it;
    const auto bars = it.notices();
    QCOMPARE(bars.size(), std::size_t{1});
    QVERIFY(bars[0]->isVisible());
    const QString said = bars[0]->findChild<QLabel*>()->text();
    QVERIFY2(said.contains(QStringLiteral("bad.json")) && said.contains(QStringLiteral("order")), qPrintable(said));
  }

  void aCrashShowsABarAndGoesOn() {
    WindowFixture it(QStringLiteral("--crash-at 230 --words out-of-memory-said-the-worker"));
    it.click(it.play());
    QTRY_COMPARE(it.notices().size(), std::size_t{1});
    const NoticeBar* const bar = it.notices()[0];
    QVERIFY(bar->isVisible());
    QVERIFY(bar->notice().details.contains(QStringLiteral("out-of-memory-said-the-worker")));
    QVERIFY(it.play()->isEnabled());
    QPushButton* const go_on = it.noticeButton(QStringLiteral("Continue from the last checkpoint"));
    QVERIFY(go_on);
    it.click(go_on);
    QTRY_VERIFY(it.run()->step() > 260);
    QVERIFY(it.notices().empty());
    QCOMPARE(it.run()->rows()[4].step, 200);
  }

  void garbageGetsAClearSentence() {
    WindowFixture it(QStringLiteral("--garbage-on start"));
    it.click(it.play());
    QTRY_COMPARE(it.notices().size(), std::size_t{1});
    QVERIFY(it.notices()[0]->text().contains(QStringLiteral("could not be read")));
    it.click(it.noticeButton(QStringLiteral("Close")));
    QVERIFY(it.notices().empty());
  }

  void errorReportsShowMessageAndHint() {
    WindowFixture it(QStringLiteral("--fail-at 30"));
    it.click(it.play());
    QTRY_COMPARE(it.notices().size(), std::size_t{1});
    QCOMPARE(it.notices()[0]->text(), QStringLiteral("The loss is not finite at step 30. Lower the learning rate."));
  }

  void aMissingWorkerIsSaidAtTheStart() {
    WindowFixture it;
    it.close();
    {
      const auto settings = openSettings();
      saveMachines(*settings, {{{QStringLiteral("gpu-box"), QStringLiteral("/nowhere/mambarium-worker"), {}}}, 0});
    }
    it.open();
    QTRY_COMPARE(it.notices().size(), std::size_t{1});
    QVERIFY(it.notices()[0]->text().contains(QStringLiteral("/nowhere/mambarium-worker")));
    it.click(it.noticeButton(QStringLiteral("Settings…")));
    QTRY_VERIFY(it.child<QDialog>("settings"));
    auto* const command = it.child<QLineEdit>("worker-command");
    QCOMPARE(command->text(), QStringLiteral("/nowhere/mambarium-worker"));
    command->setText(it.machine.machine().command);
    it.click(it.child<QPushButton>("check-worker"));
    QTRY_VERIFY(it.child<QLabel>("verdict")->text().contains(QStringLiteral("test-host")));
    it.child<QDialog>("settings")->accept();
    it.set("run.out", it.machine.path(QStringLiteral("runs")).toStdString());
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
  }

  void aSilentWorkerIsSaidUntilItSpeaksAgain() {
    WindowFixture it;
    it.set("training.steps", std::int64_t{1'000'000});
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    QVERIFY(signalWorker(*it.run(), SIGSTOP));
    const auto said = [&] { return it.sentence(); };
    QTRY_VERIFY2_WITH_TIMEOUT(said().startsWith(QStringLiteral("No word from the worker for ")) &&
                                  said().contains(QStringLiteral(" s: a step may be long")),
                              qPrintable(said()), 60'000);
    it.click(it.play());
    QTRY_VERIFY2(said().contains(QStringLiteral("asked to pause")), qPrintable(said()));
    QVERIFY(signalWorker(*it.run(), SIGCONT));
    QTRY_VERIFY2(said().startsWith(QStringLiteral("Paused at step")), qPrintable(said()));
  }

  void whatTheWorkerPreparesIsSaid() {
    const QTemporaryDir folder;
    QFile unready(folder.filePath(QStringLiteral("unready")));
    QVERIFY(unready.open(QIODevice::WriteOnly));
    WindowFixture it(QStringLiteral("--prepare ") + unready.fileName());
    it.click(it.play());
    QTRY_VERIFY2(it.sentence().startsWith(QStringLiteral("Reading the recording…")), qPrintable(it.sentence()));
    QTRY_VERIFY2_WITH_TIMEOUT(it.sentence().startsWith(QStringLiteral("Reading the recording… (")),
                              qPrintable(it.sentence()), 60'000);
    QVERIFY(it.notices().empty());
    QVERIFY(unready.remove());
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    QTRY_VERIFY2(it.sentence().startsWith(QStringLiteral("Step ")), qPrintable(it.sentence()));
  }

  void everyFolderThatCannotBeOpenedIsNamed() {
    WindowFixture it;
    const QStringList folders = {QStringLiteral("/nope-1"), QStringLiteral("/nope-2"), QStringLiteral("/nope-3"),
                                 QStringLiteral("/nope-4")};
    for (const QString& folder : folders) it.session->openFolder(it.session->machines().selected(), folder);
    const auto are_all_named = [&] {
      if (it.notices().size() != 1) return false;
      const QString said = it.notices()[0]->text();
      return std::ranges::all_of(folders, [&](const QString& folder) { return said.contains(folder); });
    };
    QTRY_VERIFY(are_all_named());
  }

  void aRunInUseElsewhereSaysSo() {
    WindowFixture it(QStringLiteral("--hang-on nothing"));
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->step() > 5);
    it.close();
    {
      const auto settings = openSettings();
      const QString command = it.machine.machine(QStringLiteral("--in-use /")).command;
      settings->setValue(QStringLiteral("runs/1/machine"), QStringList{QString(), command, QString()});
    }
    it.open();
    QTRY_COMPARE(it.child<QLabel>("run-state")->text(), QStringLiteral("In use elsewhere"));
    QVERIFY2(it.sentence().startsWith(QStringLiteral("In use elsewhere")), qPrintable(it.sentence()));
    QVERIFY(it.play()->isEnabled());
  }

  void whatIsBeingLoadedIsNotCalledEmpty() {
    const QTemporaryDir folder;
    QFile unread(folder.filePath(QStringLiteral("unread")));
    WindowFixture it(QStringLiteral("--speed 2000 --slow-read ") + unread.fileName());
    it.set("training.steps", std::int64_t{200});
    it.click(it.play());
    QTRY_VERIFY(it.run() && it.run()->state() == Run::State::finished);
    QVERIFY(unread.open(QIODevice::WriteOnly));
    it.reopen();
    const Panel* const gap = it.window->panels().panel(QStringLiteral("gap"));
    QTRY_COMPARE(gap->caption(), QStringLiteral("Loading…"));
    QTRY_COMPARE(it.sentence(), QStringLiteral("Loading…"));
    QVERIFY(unread.remove());
    QTRY_VERIFY(gap->hasData());
    QTRY_VERIFY(it.sentence().startsWith(QStringLiteral("Finished")));
    it.session->removeRun(it.run());
    QTRY_VERIFY(gap->caption().contains(QStringLiteral("Press Play")));
  }
};

QTEST_MAIN(WindowNoticesTest)
#include "window_notices_test.moc"
