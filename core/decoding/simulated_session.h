// SimulatedSession: centre-out reaches to eight targets, and the units of motor cortex that count along; made so that
// the best decoder there can be is known exactly (ideal_decoder.h).
//
// A trial has trial_bins bins, the first of which is the go cue; pause_bins bins of rest follow each. Its direction d
// (target at 45 d degrees), its reaction time (10, 14, .. 30 bins) and its duration (8, 12 or 16 bins) are uniform and
// independent. The cursor goes reach_centimetres along a minimum-jerk path, s(tau) = 10 tau^3 - 15 tau^4 + 6 tau^5 with
// tau the share of the duration at the middle of the bin, and stays; between trials it is put back, and a movement that
// the trial does not last for is cut off. A trial is
// rewarded with probability rewarded_share, whatever else; in the others nothing moves.
//
// Unit c counts, independently in every bin, Poisson(lambda) spikes,
//
//   tuned:  log lambda = log b_c + g (m_c cos(45 d - p_c) + u_c),   g = 0.6 ds/dtau 12 / (1.875 duration) + 0.4 s
//   noisy:  log lambda = log b_c + 0.7 z - 0.245, z standard normal in every bin: it knows nothing of the reach
//
// (angles in degrees) with g the drive of the movement: speed, and the place that is held; 0 at rest. Over days p_c and
// log b_c walk at random by drift_degrees and drift_rate, in every unit for itself; day 0 is where they start.
//
// Windows of 30 bins can lie where the hand has hardly begun to move, so with the default settings the ideal decoder is
// right for 94 % of them (measured with seeds 1 to 3: 93.9 to 95.0 %), and guessing for 12.5 %.
//
// Everything is a pure function of (settings, day), from the streams "decoding units", "decoding drift", "decoding
// trials", "decoding noise" and "decoding spikes" of the seed. Immutable; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "core/decoding/session.h"

namespace mambarium {

struct SimulatedSettings {
  std::uint64_t seed = 1;
  std::int64_t channels = 96;
  std::int64_t trials = 1200;  // in a day
  std::int64_t trial_bins = 40, pause_bins = 8;
  double bin_seconds = 0.05;
  double tuned_share = 0.7;  // of the units, each by its own draw
  double rate_hertz = 12;    // median of b_c / bin_seconds; log b_c has the standard deviation 0.5; b_c at most 10
  double modulation = 1.5;   // m_c is exponentially distributed with this mean, but at most 2
  double rewarded_share = 0.95;
  double drift_degrees = 12, drift_rate = 0.1;  // a day, standard deviations
  double reach_centimetres = 8;
};

struct SimulatedUnit {
  bool tuned = false;
  double baseline = 0;            // b_c, spikes per bin
  double modulation = 0;          // m_c; 0 for noisy units
  double preferred = 0;           // p_c, radians
  double untuned_modulation = 0;  // u_c, normal with the standard deviation 0.25, but at most 0.5
};

// One way to move, bin by bin of a trial.
struct ReachProfile {
  std::int64_t reaction = 0, duration = 0;  // bins
  std::vector<double> drive;                // g
  std::vector<double> distance;             // centimetres from the centre
  std::vector<double> speed;                // centimetres a second
};

struct SimulatedDay {
  DecodingSession session;            // outputs: curs_p_x, curs_p_y, curs_v_x, curs_v_y
  std::vector<SimulatedUnit> units;   // as they are on this day
  std::vector<std::int64_t> profile;  // of each trial, a number in SimulatedSession::profiles(); -1: none moved
};

class SimulatedSession {
 public:
  // Throws std::invalid_argument naming the setting that is out of range.
  explicit SimulatedSession(const SimulatedSettings& settings = {});

  const SimulatedSettings& settings() const { return settings_; }
  const std::vector<ReachProfile>& profiles() const { return profiles_; }  // all equally likely

  std::vector<SimulatedUnit> units(std::int64_t day) const;  // day from 0
  SimulatedDay day(std::int64_t day) const;                  // one to two seconds for the default settings

 private:
  SimulatedSettings settings_;
  std::vector<ReachProfile> profiles_;
};

// lambda of a tuned unit; b_c for a noisy one, whose mean rate that is.
double expected_count(const SimulatedUnit& unit, std::int32_t direction, double drive);

}  // namespace mambarium
