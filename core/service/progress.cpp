#include "core/service/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/contract/experiment_config.h"
#include "core/contract/yardsticks.h"
#include "core/service/duration_text.h"

namespace mambarium {

namespace {

std::size_t terminal_width(std::FILE* out) {
  winsize size{};
  constexpr std::size_t usual = 80;
  return ::ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Back to the start, the new text, and the rest of the old line erased.
void redraw_line(std::FILE* out, std::string line) {
  line.resize(std::min(line.size(), terminal_width(out) - 1));
  std::fputs(("\r" + line + "\x1b[K").c_str(), out);
  std::fflush(out);
}

std::string bar(double fraction, std::size_t width) {
  const auto filled = static_cast<std::size_t>(fraction * static_cast<double>(width));
  std::string drawn = "[";
  drawn.append(filled, '#').append(width - filled, '.').append("]");
  return drawn;
}

std::string quality_text(const MetricsRow& row) {
  if (std::isfinite(row.accuracy)) return fmt::format("{:.2f} % right", 100 * row.accuracy);
  return std::isfinite(row.r_squared) ? fmt::format("R^2 {:.4f}", row.r_squared) : "";
}

std::string gap_text(const ExperimentConfig& config, const MetricsRow& row) {
  if (std::isnan(row.gap_add_beta)) return "";
  return fmt::format("gap to {} {:.5f}", best_predictor_name(config), row.gap_add_beta);
}

}  // namespace

std::string standing_text(const ExperimentConfig& config, const MetricsRow& row) {
  std::string text = fmt::format("test loss {:.4f}", row.test_loss);
  for (const std::string& fact : {quality_text(row), gap_text(config, row)})
    if (!fact.empty()) text += ", " + fact;
  if (!yardsticks(config).oracle.empty()) text += fmt::format(", gap to the oracle {:.5f}", row.gap_oracle);
  return text;
}

Progress::Progress(const ExperimentConfig& config, Style style, std::FILE* out)
    : config_(config),
      steps_(config.integer("training.steps")),
      lengths_(config),
      rate_unit_(is_decoder(config) ? "bins/s" : "tokens/s"),
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
  std::string line = fmt::format("step {} of {}, {}", row.step, steps_, standing_text(config_, row));
  if (speed > 0)
    line += fmt::format(", {} {}, {} left", rate_text(speed * static_cast<double>(lengths_.tokens_in(step_ - 1))),
                        rate_unit_, clock_text(speed_.seconds_left(step_ + lengths_.steps_left_alike(step_))));
  std::fputs((line + "\n").c_str(), out_);
  std::fflush(out_);
}

void Progress::redraw() {
  drawn_ = Speedometer::Clock::now();
  const double fraction = static_cast<double>(step_) / static_cast<double>(steps_);
  const double speed = speed_.steps_per_second();
  std::string facts =
      fmt::format(" {}/{}  loss {:.4f}", step_, steps_, step_ == last_row_.step ? last_row_.test_loss : train_loss_);
  for (const std::string& fact : {quality_text(last_row_), gap_text(config_, last_row_)})
    if (!fact.empty()) facts += "  " + fact;
  if (speed > 0)
    facts += fmt::format("  {} {}  {} left", rate_text(speed * static_cast<double>(lengths_.tokens_in(step_ - 1))),
                         rate_unit_, clock_text(speed_.seconds_left(step_ + lengths_.steps_left_alike(step_))));
  const std::size_t width = terminal_width(out_);
  constexpr std::size_t longest_bar = 30, shortest_bar = 5, brackets = 3;
  std::string line = facts;
  if (width > facts.size() + shortest_bar + brackets)
    line = bar(fraction, std::min(longest_bar, width - facts.size() - brackets)) + facts;
  redraw_line(out_, std::move(line));
  line_open_ = true;
}

PassingLine::PassingLine(std::FILE* out) : out_(::isatty(fileno(out)) != 0 ? out : nullptr) {}

PassingLine::~PassingLine() {
  show("");
}

void PassingLine::show(const std::string& text) {
  if (out_ != nullptr) redraw_line(out_, text);
}

}  // namespace mambarium
