#include <sys/mount.h>
#include <sys/resource.h>

#include <QTemporaryDir>
#include <QTest>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "../contract/sentence.h"
#include "core/contract/run_folder.h"
#include "worker_process.h"

using namespace mambarium;
namespace fs = std::filesystem;

namespace {

// A disk that fills up: a small tmpfs where this user may mount one, else a limit on the size of files.
class SmallDisk {
 public:
  SmallDisk() : mounted_(::mount("tmpfs", path().toUtf8().constData(), "tmpfs", 0, "size=200k") == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(path().toUtf8().constData(), MNT_DETACH);
  }

  QString path() const { return folder_.path(); }
  const char* kind() const { return mounted_ ? "a tmpfs of 200 KiB" : "files of 20 KiB at most"; }

  ChildSetup limits() const {
    if (mounted_ || enlarged_) return {};
    return [] {
      const rlimit limit{20 << 10, 20 << 10};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      std::signal(SIGXFSZ, SIG_IGN);
    };
  }

  void enlarge() {
    enlarged_ = true;
    if (mounted_) ::mount("tmpfs", path().toUtf8().constData(), "tmpfs", MS_REMOUNT, "size=10m");
  }

 private:
  QTemporaryDir folder_;
  bool mounted_, enlarged_ = false;
};

}  // namespace

class FullDiskTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void trainingStopsWithOneSentenceAndGoesOnWhenThereIsRoom() {
    SmallDisk disk;
    qInfo("%s", disk.kind());
    const Finished full = run_worker(small_run(disk.path(), often()), {}, disk.limits());
    QCOMPARE(full.code, 1);
    const auto complaints = full.complaints();
    QVERIFY2(complaints.size() == 3, full.err.constData());  // what is wrong, what helps, where the run is
    for (const std::string& complaint : complaints) QVERIFY2(is_one_sentence(complaint), complaint.c_str());
    const std::string folder = only_run_in(disk.path());
    const ReadRunFolder read = read_run_folder(folder);
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
    QVERIFY(!read.run.rows.empty());
    disk.enlarge();
    const Finished resumed = run_worker({"train", "--quiet", "--resume", QString::fromStdString(folder)});
    QVERIFY2(resumed.code == 0, resumed.err.constData());
    const QTemporaryDir roomy;
    QCOMPARE(run_worker(small_run(roomy.path(), often())).code, 0);
    QCOMPARE(metrics_without_seconds(folder), metrics_without_seconds(only_run_in(roomy.path())));
    QVERIFY(content(checkpoint_path(folder, 200)) == content(checkpoint_path(only_run_in(roomy.path()), 200)));
  }

  void aServingWorkerSaysItAndLivesOn() {
    SmallDisk disk;
    Conversation worker(disk.limits());
    worker.greet();
    nlohmann::json config = small_config(disk.path());
    config["training"].update({{"checkpoint_every", 5}, {"eval_every", 1}});
    worker.send(OpenConfig{config});
    worker.send(StartRequest{});
    const auto error = worker.next_of<ErrorReport>();
    QVERIFY2(error && error->fatal && is_one_sentence(error->message) && is_one_sentence(error->hint),
             error ? error->message.c_str() : worker.log().constData());
    const auto state = worker.next_of<StateReport>();
    QVERIFY(state && state->state == RunState::failed);
    worker.send(InspectMessage{1, {"decay", 0, std::nullopt}});
    QVERIFY(worker.next_of<InspectedReport>());
    worker.send(CloseRequest{});
    QCOMPARE(worker.finish(), 0);
    const ReadRunFolder read = read_run_folder(only_run_in(disk.path()));
    QVERIFY2(read.problems.empty(), to_string(read.problems).c_str());
  }

 private:
  // A metrics.csv beyond the limit of a file, and checkpoints beyond that of the disk.
  static QStringList often() { return {"--training.checkpoint_every=5", "--training.eval_every=1"}; }
};

QTEST_GUILESS_MAIN(FullDiskTest)
#include "full_disk_test.moc"
