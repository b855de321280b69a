// The list of runs by itself: how its runs look, and what the settings file has of them.

#include "ui/session/run_list.h"

#include <QSettings>
#include <QTemporaryDir>
#include <QTest>
#include <set>

using namespace mambarium;

class RunListTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void noTwoRunsLookAlike() {
    RunList runs;
    for (int count = 0; count <= RunList::palette_size; ++count) add(runs);
    runs.remove(runs.at(0));
    add(runs);
    std::set<std::pair<int, int>> looks;
    for (int index = 0; index < runs.count(); ++index)
      looks.emplace(runs.at(index)->paletteIndex(), runs.at(index)->markerIndex());
    QCOMPARE(static_cast<int>(looks.size()), runs.count());
  }

  void aRunInANewFolderComesBackOnce() {
    const QTemporaryDir folder;
    QSettings settings(folder.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat);
    RunList runs;
    Run* const run = add(runs);
    for (const char* const place : {"/runs/first", "/runs/second"}) {
      RunReport report;
      report.folder = place;
      run->fill(report);
      runs.save(settings);
    }
    RunList again;
    again.restore(settings);
    QCOMPARE(again.count(), 1);
    QCOMPARE(again.at(0)->folder(), QStringLiteral("/runs/second"));
  }

 private:
  static Run* add(RunList& runs) {
    return runs.add(std::make_unique<Run>(
        Machine{QStringLiteral("Here"), QStringLiteral("worker"), QStringLiteral("/runs")}, ExperimentConfig()));
  }
};

QTEST_GUILESS_MAIN(RunListTest)
#include "run_list_test.moc"
