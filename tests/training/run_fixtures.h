// What several training tests share: a small experiment, files as text, and a limit that acts like a full disk.
#pragma once

#include <signal.h>
#include <sys/resource.h>

#include <QString>
#include <functional>
#include <string>

#include "core/training/durable_file.h"
#include "core/training/trainer.h"

namespace mambarium {

inline ExperimentConfig small_experiment() {
  ExperimentConfig config;
  for (const auto& [key, value] : {std::pair{"task.length", 16},
                                   {"model.d_model", 4},
                                   {"model.d_state", 4},
                                   {"training.batch", 4},
                                   {"training.steps", 200},
                                   {"training.eval_every", 50},
                                   {"training.checkpoint_every", 60}}) {
    config.set(key, std::int64_t{value});
  }
  return config;
}

inline std::string text_of(const std::filesystem::path& path) {
  const auto bytes = read_whole_file(path);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// metrics.csv without its column of seconds.
inline std::string metrics_without_seconds(const std::filesystem::path& run) {
  std::string text = text_of(run / "metrics.csv"), kept;
  int column = 0;
  for (const char character : text) {
    if (column != 2) kept += character;
    if (character == ',') ++column;
    if (character == '\n') column = 0;
  }
  return kept;
}

// What the action refuses with, "message | hint", or "".
inline QString refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const TrainingError& error) {
    return QString("%1 | %2").arg(error.what(), QString::fromStdString(error.hint()));
  }
  return "";
}

inline void advance_to(Trainer& trainer, std::int64_t step) {
  while (trainer.step() < step) trainer.advance();
}

// No file of this process may grow beyond so many bytes while it lives: writes stop half way, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace mambarium
