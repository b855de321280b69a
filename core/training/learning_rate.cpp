#include "core/training/learning_rate.h"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>

namespace mambarium {
namespace {

constexpr double warm_up_share = 0.02;
constexpr double initial_divisor = 100;
constexpr double final_divisor = 0.05;  // of the initial rate

double cosine(double from, double to, double share) {
  return to + (from - to) / 2 * (1 + std::cos(std::numbers::pi * share));
}

}  // namespace

Schedule schedule_from_name(std::string_view name) {
  if (name == "onecycle") return Schedule::one_cycle;
  if (name == "constant") return Schedule::constant;
  throw std::invalid_argument("training.schedule: \"" + std::string(name) + "\" is neither onecycle nor constant");
}

double learning_rate(Schedule schedule, double highest, std::int64_t step, std::int64_t steps) {
  if (schedule == Schedule::constant) return highest;
  const double initial = highest / initial_divisor;
  const double last = static_cast<double>(steps - 1);
  const double warm_up_end = warm_up_share * static_cast<double>(steps) - 1;
  const double now = static_cast<double>(step);
  if (now <= warm_up_end) return warm_up_end > 0 ? cosine(initial, highest, now / warm_up_end) : initial;
  return cosine(highest, initial / final_divisor, (now - warm_up_end) / (last - warm_up_end));
}

}  // namespace mambarium
