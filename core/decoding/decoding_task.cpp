#include "core/decoding/decoding_task.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <system_error>

#include "core/contract/text.h"
#include "core/decoding/electrode_array.h"
#include "core/decoding/muscle_scale.h"
#include "core/decoding/simulated_session.h"
#include "core/decoding/xds_session.h"

namespace mambarium {
namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

SimulatedSettings simulated_settings(const ExperimentConfig& config) {
  SimulatedSettings settings;
  settings.seed = static_cast<std::uint64_t>(config.integer("training.seed"));
  settings.channels = config.integer("task.channels");
  settings.trials = config.integer("task.trials");
  settings.tuned_share = config.real("task.tuned");
  settings.rate_hertz = config.real("task.rate");
  settings.modulation = config.real("task.modulation");
  return settings;
}

DecodingSession smoothed(const DecodingSession& session, const ExperimentConfig& config) {
  const std::string& kind = config.text("task.smoothing");
  if (kind == "none") return session;
  return smooth(session, kind == "causal" ? Smoothing::causal : Smoothing::gaussian,
                config.real("task.smoothing_width"));
}

std::vector<std::string> files_of(const ExperimentConfig& config) {
  std::vector<std::string> files;
  for (const std::string_view piece : split(config.text("task.files"), ';'))
    if (const std::string_view path = trimmed(piece); !path.empty()) files.emplace_back(path);
  if (files.empty()) throw std::invalid_argument("task.files: names no file; it must be a path, or several with ;");
  return files;
}

struct Recording {
  DecodingWindows windows;
  double bin_seconds = 0;
};

// Channels of other days stand for the same only where they have the same names. Those that are named by their
// electrode may be missing on a day, or be sorted units of it.
void check_channels(const DecodingSession& session, const std::vector<std::string>& first_day,
                    const std::string& first_source) {
  if (session.channels != std::ssize(first_day)) return;  // append() says so
  for (std::size_t c = 0; c < first_day.size(); ++c) {
    const std::string& name = session.channel_names[c];
    if (name == first_day[c]) continue;
    const auto electrode = electrode_of(name);
    if (session.channels == electrode_count && electrode && electrode == electrode_of(first_day[c])) continue;
    throw std::invalid_argument(
        session.source + ": its channel " + std::to_string(c + 1) + " is " + in_quotes(name) + ", and that of " +
        first_source + " is " + in_quotes(first_day[c]) +
        "; all days must have the same channels, or name one for each electrode (elec1 to elec" +
        std::to_string(electrode_count) + ")");
  }
}

void check_classes(const DecodingWindows& windows) {
  for (std::int32_t label = 0; label < windows.classes; ++label)
    if (std::ranges::find(windows.label, label) == windows.label.end())
      throw std::invalid_argument(windows.source + ": classification_label goes up to " +
                                  std::to_string(windows.classes - 1) + " and is never " + std::to_string(label) +
                                  "; classes must be numbered from 0 without a gap");
}

// A decoder that learns from one label alone gives it to everything, and seems to be always right.
void check_labels_to_learn(const DecodingWindows& windows, const WindowSplit& split) {
  const auto label_of = [&](std::int64_t window) { return windows.label[index(window)]; };
  const std::int32_t first = label_of(split.train.front());
  if (!std::ranges::all_of(split.train, [&](std::int64_t window) { return label_of(window) == first; })) return;
  throw std::invalid_argument(windows.source + ": all " + std::to_string(split.train.size()) +
                              " windows of the training part have the label " + std::to_string(first) +
                              "; there must be at least two labels to learn to tell apart");
}

// A relative path begins where this program was started, which need not be where the run was.
void check_is_there(const std::filesystem::path& file) {
  std::error_code error;
  if (file.is_absolute() || std::filesystem::exists(file, error)) return;
  throw std::invalid_argument(file.string() + ": there is no such file in " +
                              std::filesystem::current_path(error).string() +
                              "; give task.files the whole path, or start where it is");
}

Recording recorded(const ExperimentConfig& config) {
  const bool is_xds = config.text("task.recording") == "xds";
  const std::int64_t bins = config.integer("task.window");
  Recording recording;
  std::vector<std::string> channel_names;
  for (const std::string& file : files_of(config)) {
    check_is_there(file);
    const std::int64_t day = recording.windows.windows == 0 ? 0 : recording.windows.day.back() + 1;
    DecodingWindows windows;
    if (is_xds) {
      const DecodingSession session = by_electrode(rebin(read_xds_session(file), config.real("task.bin")));
      recording.bin_seconds = session.bin_seconds;
      if (day == 0) channel_names = session.channel_names;
      check_channels(session, channel_names, recording.windows.source);
      windows = windows_of(smoothed(session, config), bins, 1, day);
    } else {
      windows = read_windows(file, day);
    }
    if (windows.bins != bins)
      throw std::invalid_argument(file + ": its windows have " + std::to_string(windows.bins) +
                                  " bins (the second axis of neural_activity), and task.window is " +
                                  std::to_string(bins) + "; set it to " + std::to_string(windows.bins));
    if (day == 0)
      recording.windows = std::move(windows);
    else
      append(recording.windows, windows);
  }
  if (!is_xds) check_classes(recording.windows);
  if (decodes_outputs(config) && recording.windows.output_names.empty())
    throw std::invalid_argument(recording.windows.source +
                                ": holds neither movement, force nor muscles, so there are no outputs; choose "
                                "task.answer direction");
  return recording;
}

DecodingShape shape_of(const DecodingWindows& windows, bool outputs) {
  return {windows.bins, windows.channels,
          outputs ? static_cast<std::int64_t>(windows.output_names.size()) : windows.classes, outputs};
}

}  // namespace

DecodingShape decoding_shape(const ExperimentConfig& config) {
  const bool outputs = decodes_outputs(config);
  if (config.text("task.recording") != "simulated") return shape_of(recorded(config).windows, outputs);
  constexpr std::int64_t simulated_outputs = 4;
  return {config.integer("task.window"), config.integer("task.channels"), outputs ? simulated_outputs : direction_count,
          outputs};
}

DecodingTask::DecodingTask(const ExperimentConfig& config) {
  const std::int64_t bins = config.integer("task.window");
  if (config.text("task.recording") == "simulated") {
    const SimulatedSession simulated(simulated_settings(config));
    const std::int64_t day = config.integer("task.day");
    const DecodingSession session = simulated.day(day).session;
    bin_seconds_ = session.bin_seconds;
    windows_ = config.text("task.smoothing") == "none" ? windows_of(session, bins)
                                                       : windows_of(smoothed(session, config), bins);
    split_ = chronological_split(windows_);
    const IdealDecoder ideal(simulated, day, bins);
    for (const std::int64_t window : split_.test) {
      const std::size_t first = index(windows_.first_bin[index(window)] * session.channels);
      ideal_.push_back(ideal.answer(std::span(session.counts).subspan(first, index(bins * session.channels))));
    }
  } else {
    Recording recording = recorded(config);
    bin_seconds_ = recording.bin_seconds;
    windows_ = std::move(recording.windows);
    split_ = chronological_split(windows_);
    if (!decodes_outputs(config)) check_labels_to_learn(windows_, split_);
    scale_muscles(windows_, split_);
  }
  shape_ = shape_of(windows_, decodes_outputs(config));
  standardise(windows_.x, column_statistics(windows_.x, windows_.bins, windows_.channels, split_.train));
  if (const auto outputs = static_cast<std::int64_t>(windows_.output_names.size()); outputs > 0) {
    of_outputs_ = column_statistics(windows_.target, 1, outputs, split_.train);
    targets_ = on_scale(windows_.target);
  }
}

void DecodingTask::draw(const Stream& stream, std::int64_t first, std::int64_t batch, SequenceBatch& out) const {
  std::vector<std::int64_t> drawn(index(batch));
  for (std::int64_t i = 0; i < batch; ++i) {
    const auto words = stream.block(static_cast<std::uint64_t>(first + i));
    const std::uint64_t number = (std::uint64_t{words[0]} * split_.train.size()) >> 32;
    drawn[index(i)] = split_.train[number];
  }
  fill(drawn, out);
}

void DecodingTask::test(std::int64_t first, std::int64_t batch, SequenceBatch& out) const {
  fill(std::span(split_.test).subspan(index(first), index(batch)), out);
}

void DecodingTask::fill(std::span<const std::int64_t> windows, SequenceBatch& out) const {
  out.batch = std::ssize(windows);
  out.length = shape_.bins;
  out.channels = shape_.channels;
  out.tokens.clear();
  out.scored.clear();
  out.kernels.clear();
  out.kernel_ends.clear();
  out.features.clear();
  out.labels.clear();
  out.outputs.clear();
  const std::size_t columns = windows_.output_names.size();
  for (const std::int64_t number : windows) {
    const auto window = windows_.window(number);
    out.features.insert(out.features.end(), window.begin(), window.end());
    if (shape_.outputs) {
      const auto row = std::span(targets_).subspan(index(number) * columns, columns);
      out.outputs.insert(out.outputs.end(), row.begin(), row.end());
    } else {
      out.labels.push_back(windows_.label[index(number)]);
    }
  }
}

std::vector<float> DecodingTask::on_scale(std::span<const float> outputs) const {
  std::vector<float> scaled(outputs.begin(), outputs.end());
  standardise(scaled, of_outputs_);
  return scaled;
}

std::vector<float> DecodingTask::as_recorded(std::span<const float> outputs) const {
  std::vector<float> raw;
  const std::size_t columns = of_outputs_.mean.size();
  for (std::size_t i = 0; i < outputs.size(); ++i)
    raw.push_back(static_cast<float>(static_cast<double>(outputs[i]) * of_outputs_.scale[i % columns] +
                                     of_outputs_.mean[i % columns]));
  return raw;
}

}  // namespace mambarium
