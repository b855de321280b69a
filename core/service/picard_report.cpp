#include "core/service/picard_report.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "core/contract/json_fields.h"
#include "core/service/command_error.h"

namespace mambarium {

std::optional<PicardComparison> compare_picard(const LoadedRun& run, std::optional<std::int64_t> passes,
                                               std::int64_t sequences) {
  if (!passes) return std::nullopt;
  constexpr std::int64_t most_passes = 16;
  if (*passes < 1 || *passes > most_passes)
    throw bad_input(fmt::format("--picard: {} is not a number of passes from 1 to {}", *passes, most_passes));
  CoupledModel* const coupled = run.model->coupled();
  if (coupled == nullptr)
    throw bad_input("--picard: the states of this model are not coupled, so that one plain scan is exact");
  const auto picard = std::make_shared<PicardEvaluation>(PicardEvaluation{.passes = *passes});
  try {
    coupled->evaluate_by(picard);
  } catch (const std::invalid_argument& fault) {
    throw bad_input(std::string("--picard: ") + fault.what());
  }
  PicardComparison comparison;
  comparison.picard = evaluate(*run.model, run.config, sequences);
  comparison.passes = *picard;
  coupled->evaluate_by(nullptr);
  comparison.exact = evaluate(*run.model, run.config, sequences);
  return comparison;
}

void add_picard(nlohmann::json& document, const std::optional<PicardComparison>& comparison) {
  if (!comparison) return;
  const auto& [exact, picard, passes] = *comparison;
  document["picard"] = {{"passes", passes.passes},
                        {"loss", number_or_null(picard.model)},
                        {"exact_loss", number_or_null(exact.model)},
                        {"accuracy", number_or_null(picard.accuracy)},
                        {"exact_accuracy", number_or_null(exact.accuracy)},
                        {"r_squared", number_or_null(picard.r_squared)},
                        {"exact_r_squared", number_or_null(exact.r_squared)},
                        {"output_error", number_or_null(passes.output_error)},
                        {"state_error", number_or_null(passes.state_error)}};
}

void print_picard(const std::optional<PicardComparison>& comparison) {
  if (!comparison) return;
  const auto& [exact, picard, passes] = *comparison;
  fmt::print("\nby {} Picard {}, beside the recurrence\n\n", passes.passes, passes.passes == 1 ? "pass" : "passes");
  const auto line = [](const char* name, double found, double expected) {
    if (std::isfinite(expected)) fmt::print("{:<24} {:.7f} (exact {:.7f})\n", name, found, expected);
  };
  line("loss", picard.model, exact.model);
  line("share right", picard.accuracy, exact.accuracy);
  line("R^2", picard.r_squared, exact.r_squared);
  fmt::print("{:<24} {:.2e}\n", "largest output error", passes.output_error);
  fmt::print("{:<24} {:.2e}\n", "largest state error", passes.state_error);
}

}  // namespace mambarium
