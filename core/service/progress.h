// What commands say while they work. `train`: one line that is redrawn on a terminal, one line per evaluation
// otherwise. What only measures: a line on a terminal that passes.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "core/contract/experiment_config.h"
#include "core/contract/length_schedule.h"
#include "core/contract/metrics.h"
#include "core/service/speedometer.h"

namespace mambarium {

// "test loss 0.4123, 91.20 % right, gap to ideal decoder 0.05310": the numbers that a row has, no words about others.
std::string standing_text(const ExperimentConfig& config, const MetricsRow& row);

class Progress {
 public:
  enum class Style { terminal, lines, silent };

  Progress(const ExperimentConfig& config, Style style, std::FILE* out);
  ~Progress();  // leaves the terminal at the start of a fresh line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void started(std::int64_t step);
  void passed(std::int64_t step, double train_loss);  // after every step; redraws at most ten times a second
  void evaluated(const MetricsRow& row);

 private:
  void redraw();

  ExperimentConfig config_;
  std::int64_t steps_;
  LengthSchedule lengths_;
  const char* rate_unit_;
  Style style_;
  std::FILE* out_;
  Speedometer speed_;
  Speedometer::Clock::time_point drawn_{};
  std::int64_t step_ = 0;
  double train_loss_ = 0;
  MetricsRow last_row_;
  bool line_open_ = false;
};

// How far something is, on a terminal (isatty); nothing elsewhere, so that what is piped stays clean. Not thread-safe.
class PassingLine {
 public:
  explicit PassingLine(std::FILE* out);
  ~PassingLine();  // leaves nothing of it
  PassingLine(const PassingLine&) = delete;
  PassingLine& operator=(const PassingLine&) = delete;

  void show(const std::string& text);  // in the place of the text before, cut to the terminal's width

 private:
  std::FILE* out_;  // nullptr: no terminal
};

}  // namespace mambarium
