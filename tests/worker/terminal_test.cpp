#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <QTest>
#include <array>
#include <csignal>

#include "worker_process.h"

using namespace mambarium;

namespace {

// A command on a terminal of 100 columns; `until` is a text at which it is interrupted with Ctrl+C ("" for never).
struct OnTerminal {
  QByteArray output;
  int code = -1;
};

OnTerminal on_terminal(const QStringList& arguments, const QByteArray& until = {}) {
  std::vector<QByteArray> owned = {MAMBARIUM_BIN_DIR "/mambarium-worker"};
  for (const QString& argument : arguments) owned.push_back(argument.toUtf8());
  std::vector<char*> argv;
  for (QByteArray& argument : owned) argv.push_back(argument.data());
  argv.push_back(nullptr);
  winsize size{};
  size.ws_col = 100;
  size.ws_row = 30;
  int terminal = -1;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  OnTerminal result;
  std::array<char, 4096> bytes;
  bool interrupted = until.isEmpty();
  for (ssize_t count = 0; (count = ::read(terminal, bytes.data(), bytes.size())) > 0;) {
    result.output.append(bytes.data(), static_cast<qsizetype>(count));
    if (!interrupted && result.output.contains(until)) {
      const char control_c = 3;
      interrupted = ::write(terminal, &control_c, 1) == 1;
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  if (WIFEXITED(status)) result.code = WEXITSTATUS(status);
  return result;
}

}  // namespace

class TerminalTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void oneLineIsRedrawn() {
    const QTemporaryDir folder;
    OnTerminal train = on_terminal(small_run(folder.path()));
    QCOMPARE(train.code, 0);
    for (const char* part : {"200/200", "gap to add-1", "tokens/s", "left", "Finished after 200 steps"})
      QVERIFY2(train.output.contains(part), train.output.constData());
    QVERIFY(train.output.count('\r') > 10);
    QCOMPARE(train.output.count('\n'), 3);  // the header, the progress line, the last line
    // A terminal ends a line with \r\n; only a bare \r draws the same line again.
    for (const QByteArray& drawn : train.output.replace("\x1b[K", "").replace("\r\n", "\n").split('\r'))
      QVERIFY2(drawn.size() < 100 || drawn.contains('\n'), drawn.constData());
    QVERIFY(train.output.contains(only_run_in(folder.path()).c_str()));
  }

  // The line passes: where the table begins nothing of it is left.
  void evaluateSaysHowFarItIs() {
    const QTemporaryDir folder;
    const QStringList induction = {"--task.kind=induction", "--task.states=8", "--training.steps=2"};
    QCOMPARE(on_terminal(small_run(folder.path(), induction)).code, 0);
    const QString run = QString::fromStdString(only_run_in(folder.path()));
    const OnTerminal lengths = on_terminal({"evaluate", run, "--sequences=40", "--lengths=16,64"});
    QCOMPARE(lengths.code, 0);
    for (const char* part : {"\r40 test sequences of 32 tokens\x1b[K", "\rlength 16 (1 of 2): 0 of 40 sequences\x1b[K",
                             "\rlength 64 (2 of 2): 32 of 40 sequences\x1b[K"})
      QVERIFY2(lengths.output.contains(part), lengths.output.constData());
    const QByteArray left = lengths.output.mid(lengths.output.lastIndexOf('\r' + QByteArray("\x1b[K")) + 4);
    QVERIFY2(left.contains(", step 2") && left.contains("40 test sequences of 32 tokens: loss"), left.constData());
    QVERIFY2(!left.contains("of 40 sequences"), left.constData());
    QVERIFY2(run_worker({"evaluate", run, "--sequences=40", "--lengths=16"}).err.isEmpty(), "no terminal, no line");
  }

  void controlCWritesACheckpointAndSaysHowToGoOn() {
    const QTemporaryDir folder;
    const OnTerminal train = on_terminal(small_run(folder.path(), {"--training.steps=100000000"}), "tokens/s");
    QCOMPARE(train.code, 130);
    QVERIFY2(train.output.contains("train --resume"), train.output.constData());
    const ReadRunFolder read = read_run_folder(only_run_in(folder.path()));
    QVERIFY(read.problems.empty() && read.run.checkpoints.back() == read.run.manifest.step);
  }
};

QTEST_GUILESS_MAIN(TerminalTest)
#include "terminal_test.moc"
