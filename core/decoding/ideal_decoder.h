// The best decoder of a simulated session (simulated_session.h): Bayes' rule with the true rates.
//
// It sees what a model sees, the raw counts of one window of `bins` bins, and nothing else: neither where in its trial
// the window lies, nor when and how fast the hand moves. These are summed out, with the frequencies they have among the
// windows that windows_of() cuts with the same `stride`: every place in a trial, reaction and duration equally often.
//
//   p(d | n) ~ sum over place o, profile r of  exp( sum_t g_r(o+t) A_t(d) - sum_t L(d, g_r(o+t)) ),
//   A_t(d) = sum_c n_tc (m_c cos(45 d - p_c) + u_c),   L(d, g) = sum_c lambda_c(d, g),   c over the tuned units
//
// What the noisy units counted, log b_c and n! do not depend on d, o or r, and cancel. So no function of a window is
// right more often than the most probable direction, and none has a smaller mean square error than outputs, the mean of
// the outputs in the window's last bin given the window: these bound every model on windows of this kind.
//
// Throughput: about 5 000 windows of 30 bins and 96 channels a second. Immutable; any thread.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/decoding/simulated_session.h"

namespace mambarium {

struct IdealAnswer {
  std::array<double, direction_count> posterior{};  // sums to 1
  std::array<double, 4> outputs{};                  // E[curs_p_x, curs_p_y, curs_v_x, curs_v_y | window]
  std::int32_t direction() const;                   // the most probable; the first of equals
};

class IdealDecoder {
 public:
  // For windows of this day of the session. Throws std::invalid_argument: windows longer than a trial, stride below 1.
  IdealDecoder(const SimulatedSession& session, std::int64_t day, std::int64_t bins = 30, std::int64_t stride = 1);

  // window: [bins, channels] counts, not smoothed or scaled (std::invalid_argument for another size).
  IdealAnswer answer(std::span<const float> window) const;

 private:
  std::int64_t bins_, channels_;
  std::array<double, direction_count> cosine_{}, sine_{};
  std::vector<double> weight_;  // [channels, 8]: m_c cos(45 d - p_c) + u_c; 0 for noisy units
  struct Hypothesis {
    std::vector<double> drive;                     // [bins]
    std::array<double, direction_count> expected;  // sum_t L(d, drive_t)
    double distance, speed;                        // in the last bin
  };
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace mambarium
