#include "core/service/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <chrono>

#include "core/contract/experiment_config.h"
#include "core/service/duration_text.h"

namespace mambarium {

namespace {

std::size_t terminal_width(std::FILE* out) {
  winsize size{};
  constexpr std::size_t usual = 80;
  return ::ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

std::string bar(double fraction, std::size_t width) {
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(width));
  std::string drawn = "[";
  drawn.append(filled, '#').append(width - filled, '.').append("]");
  return drawn;
}

}  // namespace

Progress::Progress(const ExperimentConfig& config, Style style, std::FILE* out)
    : steps_(config.integer("training.steps")),
      tokens_per_step_(config.integer("training.batch") * config.integer("task.length")),
      best_name_(best_predictor_name(config)),
      style_(style),
      out_(out) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', out_);
}

void Progress::started(std::int64_t step) {
  step_ = step;
  speed_.restart(step);
}

void Progress::passed(std::int64_t step, double train_loss) {
  step_ = step;
  train_loss_ = train_loss;
  speed_.passed(step);
  constexpr std::chrono::milliseconds between{100};
  if (style_ == Style::terminal && (speed_.steps_per_second() > 0 || step == steps_) &&
      (Speedometer::Clock::now() - drawn_ >= between || step == steps_))
    redraw();
}

void Progress::evaluated(const MetricsRow& row) {
  last_row_ = row;
  if (style_ == Style::terminal) redraw();
  if (style_ != Style::lines) return;
  const double speed = speed_.steps_per_second();
  std::string line = fmt::format("step {} of {}, test loss {:.4f}, gap to {} {:.5f}, gap to the oracle {:.5f}",
                                 row.step, steps_, row.test_loss, best_name_, row.gap_add_beta, row.gap_oracle);
  if (speed > 0)
    line += fmt::format(", {} tokens/s, {} left", rate_text(speed * static_cast<double>(tokens_per_step_)),
                        clock_text(speed_.seconds_left(steps_)));
  std::fputs((line + "\n").c_str(), out_);
  std::fflush(out_);
}

void Progress::redraw() {
  drawn_ = Speedometer::Clock::now();
  const double fraction = static_cast<double>(step_) / static_cast<double>(steps_);
  const double speed = speed_.steps_per_second();
  std::string facts =
      fmt::format(" {}/{}  loss {:.4f}  gap to {} {:.5f}", step_, steps_,
                  step_ == last_row_.step ? last_row_.test_loss : train_loss_, best_name_, last_row_.gap_add_beta);
  if (speed > 0)
    facts += fmt::format("  {} tokens/s  {} left", rate_text(speed * static_cast<double>(tokens_per_step_)),
                         clock_text(speed_.seconds_left(steps_)));
  const std::size_t width = terminal_width(out_);
  constexpr std::size_t longest_bar = 30, shortest_bar = 5, brackets = 3;
  std::string line = facts;
  if (width > facts.size() + shortest_bar + brackets)
    line = bar(fraction, std::min(longest_bar, width - facts.size() - brackets)) + facts;
  line.resize(std::min(line.size(), width - 1));
  // Back to the start, the new text, and the rest of the old line erased.
  std::fputs(("\r" + line + "\x1b[K").c_str(), out_);
  std::fflush(out_);
  line_open_ = true;
}

}  // namespace mambarium
