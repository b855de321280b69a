// DecodingTask: the windows of a recording as an experiment has them: cut by time into parts, and on one scale.
//
// Where the windows come from: a day of a SimulatedSession with the run's seed, files of windows, or XDS sessions,
// binned, with their channels by_electrode(); sessions are smoothed before they are cut (task.smoothing).
// chronological_split() makes the parts train, validation and test. Nothing is ever trained on or chosen by the test
// part; the validation part is kept apart from both. scale_muscles() puts muscles on the scale of each day's train
// part, on which they are also scored. Every channel has mean 0 and deviation 1 over the windows of the train part, and
// so has every output: the loss of outputs is in units of that deviation.
//
// The ideal decoder (ideal_decoder.h) answers the test part of a simulated session, from its raw counts.
//
// Immutable: any thread, one SequenceBatch per thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/decoding/ideal_decoder.h"
#include "core/decoding/split.h"
#include "core/decoding/windows.h"
#include "core/random/stream.h"
#include "core/tasks/sequence_batch.h"

namespace mambarium {

// What a model has to be made for.
struct DecodingShape {
  std::int64_t bins = 0, channels = 0;
  std::int64_t answers = 0;  // classes, or outputs
  bool outputs = false;
  bool operator==(const DecodingShape&) const = default;
};
// Of a simulated session from the settings alone; else the files are read, and it throws as DecodingTask.
DecodingShape decoding_shape(const ExperimentConfig& config);

class DecodingTask {
 public:
  // Of a configuration that is_decoder() and that validate() finds nothing wrong with. Throws std::invalid_argument,
  // one sentence that names the file or the setting: what NpzFile, read_xds_session and chronological_split refuse,
  // windows that are not task.window bins long, days that do not fit each other or name their channels otherwise,
  // classes that are not 0, 1, 2 .. without a gap, a train part with one label alone, no outputs where these are asked
  // for.
  explicit DecodingTask(const ExperimentConfig& config);

  const DecodingShape& shape() const { return shape_; }
  double bin_seconds() const { return bin_seconds_; }  // 0: the files do not say
  const std::vector<std::string>& output_names() const { return windows_.output_names; }
  const DecodingWindows& windows() const { return windows_; }  // on their scale; targets as recorded, but for muscles
  const WindowSplit& split() const { return split_; }

  // Window number first+i of the endless sequence that `stream` draws from the train part, all equally likely: a pure
  // function of both. Reuses out's memory.
  void draw(const Stream& stream, std::int64_t first, std::int64_t batch, SequenceBatch& out) const;
  // Windows first .. first+batch-1 of the test part, in the order of time.
  std::int64_t test_windows() const { return static_cast<std::int64_t>(split_.test.size()); }
  void test(std::int64_t first, std::int64_t batch, SequenceBatch& out) const;

  // Outputs [rows, K] in units of their deviation in the train part, and back.
  std::vector<float> on_scale(std::span<const float> outputs) const;
  std::vector<float> as_recorded(std::span<const float> outputs) const;

  // For every window of the test part; empty where no ideal decoder is known.
  const std::vector<IdealAnswer>& ideal() const { return ideal_; }

 private:
  void fill(std::span<const std::int64_t> windows, SequenceBatch& out) const;

  DecodingShape shape_;
  double bin_seconds_ = 0;
  DecodingWindows windows_;
  WindowSplit split_;
  ColumnStatistics of_outputs_;
  std::vector<float> targets_;  // [windows, K] on their scale
  std::vector<IdealAnswer> ideal_;
};

}  // namespace mambarium
