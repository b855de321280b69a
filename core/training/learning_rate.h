// The learning rate of every step.
//
// onecycle: PyTorch's OneCycleLR with cosine annealing (pct_start 0.02, div_factor 100, final_div_factor 0.05): from
// lr/100 up to lr over the first 2 % of the steps, then down to lr/5. constant: lr throughout.
#pragma once

#include <cstdint>
#include <string_view>

namespace mambarium {

enum class Schedule { one_cycle, constant };
Schedule schedule_from_name(std::string_view name);  // "onecycle" or "constant", else std::invalid_argument

// Of step number 0 .. steps-1, the first being 0.
double learning_rate(Schedule schedule, double highest, std::int64_t step, std::int64_t steps);

}  // namespace mambarium
