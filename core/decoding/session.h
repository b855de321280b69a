// DecodingSession: one recording, binned in time: what spiked, what moved, and which trials there were.
//
// Bin b covers [b, b + 1) bin_seconds, counted from the start of the recording. All arrays are row-major with time
// first. A value; reading, rebinning and smoothing make new ones. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mambarium {

inline constexpr std::int64_t direction_count = 8;

struct Trial {
  std::int64_t begin = 0, end = 0;  // bins begin .. end-1
  std::int64_t go = -1;             // the bin of the go cue; -1: there was none
  std::int32_t direction = -1;      // 0 .. 7, the target at direction * 45 degrees; -1: no target
  bool rewarded = false;
};

struct DecodingSession {
  std::string source;  // a file, or what it was simulated from: what error messages begin with
  double bin_seconds = 0;
  std::int64_t bins = 0, channels = 0;
  std::vector<float> counts;  // [bins, channels] spikes in each bin
  std::vector<std::string> channel_names;
  std::vector<float> outputs;  // [bins, output_names.size()] movement, force or muscle activity
  std::vector<std::string> output_names;
  std::vector<Trial> trials;  // in the order of time

  // How far, in bins, a value of `counts` draws on bins before and after its own: 0 unless smoothed.
  std::int64_t reach_before = 0, reach_after = 0;

  std::int64_t trials_left_out = 0;  // of those in the file: without a start, an end or a bin in the recording

  std::int64_t muscle_outputs = 0;  // so many outputs, the first ones, are envelopes of muscles (EMG)
};

// Throws std::invalid_argument, one sentence that begins with session.source: arrays that do not have their sizes,
// numbers that are not finite, negative counts, more muscles than outputs, trials outside the recording or out of
// order.
void check_session(const DecodingSession& session);

// The direction of a target at this angle; -1 for NaN. Throws std::invalid_argument for an angle more than 2 degrees
// away from every multiple of 45 degrees: it is no centre-out target, or was given in radians.
std::int32_t direction_of_target(double degrees);

// Bins of `seconds`, a whole multiple of the session's (std::invalid_argument otherwise): counts are added, outputs
// averaged, bins left over at the end dropped. A trial keeps the bins that lie in it completely. Not after smoothing.
DecodingSession rebin(const DecodingSession& session, double seconds);

// gaussian looks as far into the future as into the past; causal is its half that only looks back, which is all a
// decoder has that runs while the hand moves. Both are cut after 3 standard deviations and sum to 1, at the ends of the
// recording as well. Trials do not stop them. Not for a session that is smoothed already (std::invalid_argument).
enum class Smoothing { none, gaussian, causal };
DecodingSession smooth(const DecodingSession& session, Smoothing smoothing, double deviation_seconds);

}  // namespace mambarium
