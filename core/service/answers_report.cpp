#include "core/service/answers_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/analysis/extrapolation.h"
#include "core/contract/yardsticks.h"
#include "core/service/command_error.h"
#include "core/service/coupling_report.h"
#include "core/service/mean_alone.h"
#include "core/service/progress.h"
#include "core/training/trainer.h"

namespace mambarium {

namespace {

std::vector<std::int64_t> chosen_lengths(const LoadedRun& run, const AnswersOptions& options) {
  if (!options.lengths) return usual_lengths(run.config);
  try {
    std::vector<std::int64_t> lengths = lengths_from(*options.lengths);
    const std::int64_t trained = run.config.integer("task.length");
    const bool bounded = run.config.applies("model.positions") && run.config.text("model.positions") == "learned";
    if (bounded && lengths.back() > trained)
      throw std::invalid_argument(
          fmt::format("lengths: this transformer has learned positions for {} tokens and none "
                      "for {}; train one with model.positions sinusoidal",
                      trained, lengths.back()));
    return lengths;
  } catch (const std::invalid_argument& fault) {
    throw bad_input(std::string("--") + fault.what());
  }
}

void print_text(const LoadedRun& run, const Evaluation& test, const ExtrapolationData& data) {
  fmt::print("{}, step {}\n", run_title(run.config), run.step);
  fmt::print("{} test sequences of {} tokens: loss {:.5f} {}, {:.2f} % right\n\n", test.sequences, data.trained_length,
             test.model, loss_unit(run.config), 100 * test.accuracy);
  fmt::print("{:>8} {:>10} {:>10} {:>19}\n", "length", "sequences", "right", "95 % interval");
  for (const ExtrapolationData::Point& point : data.points)
    fmt::print("{:>8} {:>10} {:>8.2f} % {:>8.2f} to {:.2f} %{}\n", point.length, point.sequences,
               100 * point.accuracy(), 100 * point.low, 100 * point.high,
               point.length == data.trained_length ? "  as trained" : "");
  fmt::print("\nchance {:.2f} %\n", 100 * data.chance);
  print_coupling(run);
}

// Share of right answers with its binomial standard error.
nlohmann::json share(double right, std::int64_t sequences) {
  const auto n = static_cast<double>(sequences);
  return {{"mean", right}, {"standard_error", std::sqrt(right * (1 - right) / n)}};
}

nlohmann::json to_json(const LoadedRun& run, const Evaluation& test, const ExtrapolationData& data) {
  const Yardsticks names = yardsticks(run.config);
  nlohmann::json document = {{"checkpoint", run.checkpoint.string()},
                             {"step", run.step},
                             {"parameter_count", run.model->parameter_count()},
                             {"sequences", test.sequences},
                             {"unit", loss_unit(run.config)},
                             {"model", mean_alone(test.model)},
                             {names.best, mean_alone(test.add_beta)},
                             {names.same, mean_alone(test.uniform)},
                             {"gap_" + names.best, mean_alone(test.model - test.add_beta)},
                             {"accuracy", share(test.accuracy, test.sequences)},
                             {"extrapolation", data}};
  for (const ExtrapolationData::Point& point : data.points)
    for (const std::int64_t times : {4, 16, 64})
      if (point.length == times * data.trained_length)
        document[fmt::format("accuracy_x{}", times)] = share(point.accuracy(), point.sequences);
  add_coupling(document, run);
  return document;
}

struct Answers {
  Evaluation test;
  ExtrapolationData by_length;
};

Answers measure(const LoadedRun& run, const AnswersOptions& options, const std::vector<std::int64_t>& lengths) {
  constexpr std::int64_t usual_tokens = 1 << 17, fewest_sequences = 32;
  PassingLine line(stderr);
  line.show(fmt::format("{} test sequences of {} tokens", options.sequences, run.config.integer("task.length")));
  const Evaluation test = evaluate(*run.model, run.config, options.sequences);
  const auto told = [&](std::int64_t length, std::int64_t done, std::int64_t wanted) {
    const auto place = std::ranges::find(lengths, length) - lengths.begin();
    line.show(fmt::format("length {} ({} of {}): {} of {} sequences", length, place + 1, lengths.size(), done, wanted));
  };
  return {test, extrapolate(*run.model, run.config, lengths, options.at_each_length ? 0 : usual_tokens,
                            options.at_each_length.value_or(fewest_sequences), run.step, told)};
}

}  // namespace

int report_answers(const LoadedRun& run, const AnswersOptions& options) {
  const std::vector<std::int64_t> lengths = chosen_lengths(run, options);
  const auto [test, data] = measure(run, options, lengths);
  if (options.as_json) {
    nlohmann::json document = to_json(run, test, data);
    add_picard(document, options.picard);
    fmt::print("{}\n", document.dump(2));
  } else {
    print_text(run, test, data);
    print_picard(options.picard);
  }
  return exit_code::success;
}

}  // namespace mambarium
