// LengthSchedule: how long the training sequences of every step are.
//
// With training.first_length 0, and of a decoder always, as long as the task's. Else the sequences begin with
// first_length tokens and double until they are as long as the task's, and every length is given as many tokens as
// every other, which is twice as many steps as the next. Some tasks are hardly learned from long sequences alone: of an
// induction head's 256 tokens one says what the answer is, while of 8 tokens it is soon found out which. Test sequences
// always have the task's length. A value.
#pragma once

#include <cstdint>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

class LengthSchedule {
 public:
  // From a configuration that validate() finds nothing wrong with.
  explicit LengthSchedule(const ExperimentConfig& config);

  // Tokens a sequence, in step number 0 .. steps-1, the first being 0.
  std::int64_t at(std::int64_t step) const;
  // Tokens of all sequences of this step, and of all steps before it.
  std::int64_t tokens_in(std::int64_t step) const { return batch_ * at(step); }
  std::int64_t tokens_before(std::int64_t step) const;
  // How many steps like the one before this what is left of the run comes to.
  std::int64_t steps_left_alike(std::int64_t step) const;

 private:
  struct Part {
    std::int64_t length, first_step;
  };
  std::vector<Part> parts_;  // in the order of their steps
  std::int64_t steps_, batch_;
};

}  // namespace mambarium
