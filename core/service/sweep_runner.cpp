#include "core/service/sweep_runner.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <list>
#include <optional>
#include <thread>

#include "core/contract/run_folder.h"
#include "core/contract/text.h"
#include "core/service/child_process.h"
#include "core/service/command_error.h"
#include "core/sweep/point_file.h"
#include "core/training/durable_file.h"
#include "core/training/training_error.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

struct Job {
  const SweepPoint* point;
  bool measuring;  // and not training
  ChildProcess process;
};

bool is_same_experiment(ExperimentConfig config, const SweepPoint& point) {
  for (const Property& property : property_table())
    if (property.key.starts_with("run.")) config.set(property.key, point.config.value(property.key));
  return config == point.config;
}

// A process that was killed a moment ago may still be ending.
void wait_until_free(const fs::path& run) {
  constexpr std::chrono::milliseconds patience{3000}, pause{20};
  const auto until = std::chrono::steady_clock::now() + patience;
  while (is_held_by_a_process(run) && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(pause);
}

Job measuring_job(const SweepPoint& point, const fs::path& run) {
  return {&point, true, ChildProcess({"evaluate", "--json", run.string()})};
}

// The command that goes on with a point: trains it, from its newest checkpoint if there is one, or measures it.
Job next_job(const SweepFolder& folder, const SweepPoint& point) {
  const fs::path run = folder.run(point);
  const auto train = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"train", "--quiet"});
    return Job{&point, false, ChildProcess(arguments)};
  };
  std::error_code error;
  if (fs::exists(run, error)) {
    wait_until_free(run);
    const ReadRunFolder read = read_run_folder(run);
    if (!read.run.checkpoints.empty()) {
      if (read.problems.empty() && !is_same_experiment(read.run.config, point))
        throw TrainingError(run.string() + " holds another experiment", "Remove it, or choose another --out.");
      if (read.problems.empty() && read.run.manifest.status == "finished") return measuring_job(point, run);
      return train({"--resume", run.string()});
    }
    // It was cut before there was anything to go on from.
    const FolderLock lock(run);
    fs::remove_all(run);
  }
  return train({"--share", share_string(point.config), "--folder", run.string()});
}

std::string reason_of(const ChildProcess& process) {
  constexpr int by_signal = 128;
  if (process.exit_code() > by_signal && process.exit_code() != exit_code::interrupted)
    return std::string("its process was ended by a signal: ") + ::strsignal(process.exit_code() - by_signal);
  constexpr std::string_view owner = "mambarium-worker: ";
  std::string reason;
  for (std::string_view line : split(process.errors(), '\n')) {
    if (line.starts_with(owner)) line.remove_prefix(owner.size());
    if (!line.empty()) reason.append(reason.empty() ? "" : "; ").append(line);
  }
  return reason.empty() ? "its process ended with exit code " + std::to_string(process.exit_code()) : reason;
}

class Runner {
 public:
  Runner(const SweepFolder& folder, const SignalWatcher& signals, const SweepListener& listener)
      : folder_(folder), signals_(signals), listener_(listener) {}

  SweepOutcome run(std::span<const SweepPoint* const> points, std::size_t workers) && {
    std::size_t next = 0;
    while (!signals_.signalled() && (next < points.size() || !jobs_.empty())) {
      while (next < points.size() && jobs_.size() < workers) {
        const SweepPoint& point = *points[next++];
        start(point, [&] { return next_job(folder_, point); });
      }
      wait();
      take_ended();
    }
    if (signals_.signalled()) interrupt(next < points.size());
    return std::move(outcome_);
  }

 private:
  template <class MakeJob>
  void start(const SweepPoint& point, const MakeJob& make_job) {
    try {
      jobs_.push_back(make_job());
    } catch (const TrainingError& fault) {
      fail(point, std::string(fault.what()) + "; " + fault.hint());
    } catch (const std::system_error& fault) {
      fail(point, fault.what());
    }
  }

  void wait() {
    // How soon a signal is seen.
    constexpr int milliseconds = 100;
    std::vector<ChildProcess*> processes;
    for (Job& job : jobs_) processes.push_back(&job.process);
    ChildProcess::wait_for_any(processes, processes.empty() ? 0 : milliseconds);
  }

  void take_ended() {
    std::vector<const SweepPoint*> trained;
    for (auto job = jobs_.begin(); job != jobs_.end();) {
      if (!job->process.ended()) {
        ++job;
        continue;
      }
      if (job->process.exit_code() != exit_code::success)
        fail(*job->point, reason_of(job->process));
      else if (job->measuring)
        measure(*job->point, job->process.output());
      else
        trained.push_back(job->point);
      job = jobs_.erase(job);
    }
    for (const SweepPoint* point : trained) start(*point, [&] { return measuring_job(*point, folder_.run(*point)); });
  }

  void measure(const SweepPoint& point, const std::string& output) {
    const ReadRunFolder read = read_run_folder(folder_.run(point));
    if (!read.problems.empty() || read.run.rows.empty()) {
      fail(point, read.problems.empty() ? "its metrics.csv has no rows" : to_string(read.problems.front()));
      return;
    }
    try {
      folder_.write_point(point, point_file_text(point, nlohmann::json::parse(output), read.run.rows.back(),
                                                 read.run.manifest.warm_up));
    } catch (const nlohmann::json::parse_error&) {
      fail(point, "evaluate did not print JSON");
      return;
    } catch (const std::invalid_argument& fault) {
      fail(point, fault.what());
      return;
    } catch (const TrainingError& fault) {
      fail(point, std::string(fault.what()) + "; " + fault.hint());
      return;
    }
    if (const auto measures = folder_.measures(point)) listener_.measured(point, *measures);
  }

  void fail(const SweepPoint& point, const std::string& reason) {
    // Ctrl+C is no failure of the runs that it ended.
    if (signals_.signalled()) return;
    outcome_.failures.push_back({point.id, reason});
    listener_.failed(outcome_.failures.back());
  }

  void interrupt(bool more_to_do) {
    outcome_.interrupted = more_to_do || !jobs_.empty();
    for (Job& job : jobs_) job.process.interrupt();
    while (!jobs_.empty()) {
      wait();
      std::erase_if(jobs_, [](const Job& job) { return job.process.ended(); });
    }
  }

  const SweepFolder& folder_;
  const SignalWatcher& signals_;
  const SweepListener& listener_;
  std::list<Job> jobs_;
  SweepOutcome outcome_;
};

}  // namespace

SweepOutcome compute_points(const SweepFolder& folder, std::span<const SweepPoint* const> points, std::size_t workers,
                            const SignalWatcher& signals, const SweepListener& listener) {
  return Runner(folder, signals, listener).run(points, workers);
}

}  // namespace mambarium
