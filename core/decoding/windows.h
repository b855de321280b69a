// DecodingWindows: what a decoder reads: stretches of `bins` bins of all channels, and what to say about each.
//
// A window is a decoder's whole input; its label is the direction of its trial, its targets are the outputs in its last
// bin. Windows stand in the order of time, day after day. A value; any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/decoding/session.h"

namespace mambarium {

struct DecodingWindows {
  std::string source;
  std::int64_t windows = 0, bins = 0, channels = 0;
  std::vector<float> x;                   // [windows, bins, channels]
  std::vector<std::int32_t> label;        // [windows] 0 .. classes-1
  std::int32_t classes = 0;               // direction_count for sessions, the largest label + 1 for files of windows
  std::vector<float> target;              // [windows, output_names.size()]
  std::vector<std::string> output_names;  // none in files of windows
  std::vector<std::int64_t> first_bin;    // [windows] in the recording; rises strictly within a day
  std::vector<std::int64_t> day;          // [windows]
  std::int64_t reach_before = 0, reach_after = 0;  // as DecodingSession's
  std::int64_t muscle_outputs = 0;

  std::span<const float> window(std::int64_t number) const;
};

// The windows of all rewarded trials with a direction, every `stride` bins from the first bin of a trial on; none
// reaches across the end of its trial. Throws std::invalid_argument: bins or stride below 1, or no trial that gives a
// window; then it says how many trials failed for what, each counted for the first thing it lacks.
DecodingWindows windows_of(const DecodingSession& session, std::int64_t bins = 30, std::int64_t stride = 1,
                           std::int64_t day = 0);

// A day's .npz: neural_activity (windows, bins, channels) and classification_label (windows,), whole numbers from 0.
// The file does not say where its windows come from: they are taken as one bin apart. Throws std::invalid_argument, one
// sentence beginning with the path: what NpzFile refuses, arrays of other shapes, numbers that are not finite, labels
// outside 0 .. 63.
DecodingWindows read_windows(const std::filesystem::path& path, std::int64_t day = 0);

// Puts a day's windows behind the others'. Throws std::invalid_argument if bins, channels, outputs, muscles or reach
// differ, or if the day is not later than those before it.
void append(DecodingWindows& windows, const DecodingWindows& later);

// Every channel of every window by itself: minus its mean over the window, divided by its (population) standard
// deviation; a channel that does not change in a window becomes 0. Uses nothing outside the window.
void standardise_each_window(DecodingWindows& windows);

}  // namespace mambarium
