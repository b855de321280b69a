#include "core/training/durable_file.h"

#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>

#include "tests/training/run_fixtures.h"

using namespace mambarium;

class DurableFileTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::filesystem::path at(const char* name) const {
    return std::filesystem::path(folder_.path().toStdString()) / name;
  }

 private Q_SLOTS:
  void writesAndReplaces() {
    write_whole_file(at("a.json"), "one");
    QCOMPARE(text_of(at("a.json")), std::string("one"));
    write_whole_file(at("a.json"), "another");
    QCOMPARE(text_of(at("a.json")), std::string("another"));
    QVERIFY(!std::filesystem::exists(at("a.json.tmp")));
  }

  void aFullDiskLeavesTheOldFile() {
    write_whole_file(at("b.json"), "old");
    const std::string large(100000, 'x');
    QString said;
    {
      const FileSizeLimit limit(5000);
      said = refusal([&] { write_whole_file(at("b.json"), large); });
    }
    QVERIFY2(said.contains("b.json") && said.contains("Free some space"), qPrintable(said));
    QCOMPARE(text_of(at("b.json")), std::string("old"));
    QVERIFY(!std::filesystem::exists(at("b.json.tmp")));
  }

  void aFullDeviceIsNamed() {
    const QString said = refusal([] { AppendedFile("/dev/full", 0).append("1,2\n"); });
    QVERIFY2(said.contains("/dev/full: No space left on device | Free some space"), qPrintable(said));
  }

  void appendsWholePiecesOrNone() {
    AppendedFile file(at("metrics.csv"), 0);
    file.append("step\n");
    file.append("1\n");
    QString said;
    {
      const FileSizeLimit limit(10);
      said = refusal([&] { file.append("1234567890\n"); });
    }
    QVERIFY2(said.contains("metrics.csv"), qPrintable(said));
    QCOMPARE(text_of(at("metrics.csv")), std::string("step\n1\n"));
    file.append("2\n");
    QCOMPARE(text_of(at("metrics.csv")), std::string("step\n1\n2\n"));
  }

  void cutsAnIncompleteTail() {
    write_whole_file(at("rows.csv"), "1,2\n3,4\n5,");
    AppendedFile(at("rows.csv"), 8).append("5,6\n");
    QCOMPARE(text_of(at("rows.csv")), std::string("1,2\n3,4\n5,6\n"));
  }

  void missingAndForbiddenPlacesAreNamed() {
    QVERIFY(refusal([&] { read_whole_file(at("none")); }).contains("none: No such file"));
    QVERIFY(refusal([&] { write_whole_file(at("no/where"), "x"); }).contains("no/where: No such file"));
    QVERIFY(refusal([&] { read_whole_file(folder_.path().toStdString()); }).contains("is not a file"));
  }

  void oneLockAtATime() {
    const std::filesystem::path folder = folder_.path().toStdString();
    {
      const FolderLock lock(folder);
      const QString said = refusal([&] { FolderLock second(folder); });
      const QString process = QString("in use by another run (process %1)").arg(::getpid());
      QVERIFY2(said.contains(process), qPrintable(said));
    }
    const FolderLock again(folder);
  }

  // A process that is killed holds nothing any more.
  void aDeadProcessLetsGo() {
    const std::filesystem::path folder = folder_.path().toStdString();
    int ready[2];
    QCOMPARE(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      const FolderLock lock(folder);
      (void)!::write(ready[1], "x", 1);
      for (;;) ::pause();
    }
    char byte = 0;
    QCOMPARE(::read(ready[0], &byte, 1), 1);
    QVERIFY(refusal([&] { FolderLock second(folder); }).contains(QString::number(child)));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const FolderLock now(folder);
    ::close(ready[0]);
    ::close(ready[1]);
  }
};

QTEST_APPLESS_MAIN(DurableFileTest)
#include "durable_file_test.moc"
