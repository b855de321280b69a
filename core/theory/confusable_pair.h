// Why one layer needs its convolution (paper 1, appendix C.1): two sequences of a chain of order 1 that a model of
// window w = 1 with a_t = 1 cannot tell apart, whatever its weights.
//
//   0 1 0 1 0 1  and  0 0 0 1 1 1
//
// Without a convolution token t writes (dt_t x_t) b_t^T, a function of the token alone, and with a_t = 1 the state is
// the sum of what was written: both have three 0s and three 1s, so both end in the same state, and both end with a 1.
// But 1 was followed by 0 twice in the first and by 1 twice in the second: add-1 says P(1) = 1/4 and 3/4.
#pragma once

#include <array>
#include <cstdint>

#include "core/models/sequence_model.h"

namespace mambarium {

struct ConfusableSequence {
  std::array<std::int32_t, 6> tokens;
  double add_one;  // P(next = 1) by the add-1 estimator of order 1
};
inline constexpr std::array<ConfusableSequence, 2> confusable_pair{
    {{{0, 1, 0, 1, 0, 1}, 1.0 / 4}, {{0, 0, 0, 1, 1, 1}, 3.0 / 4}}};

// What a model makes of the two.
struct Confusion {
  double state_distance = 0;        // the largest difference of a number of the recurrent state, H and windows
  double largest_number = 0;        // the largest absolute value of such a number, to compare with
  std::array<double, 2> predicted;  // P(next = 1) by the model
};

// Throws std::invalid_argument for a model that does not read two tokens or has no recurrent state.
Confusion confusion(SequenceModel& model);

}  // namespace mambarium
