#include "core/decoding/windows.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/contract/text.h"
#include "core/decoding/npz_file.h"

namespace mambarium {
namespace {

constexpr std::int64_t most_classes = 64;

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(size);
  return text + ")";
}

// Of a session that gives no window: "3 not rewarded (trial_result is not R), 2 without a target direction".
std::string what_trials_lack(const DecodingSession& session, std::int64_t bins) {
  std::int64_t unrewarded = 0, aimless = 0, brief = 0, longest = 0;
  for (const Trial& trial : session.trials) {
    if (!trial.rewarded) {
      ++unrewarded;
    } else if (trial.direction < 0) {
      ++aimless;
    } else {
      ++brief;
      longest = std::max(longest, trial.end - trial.begin);
    }
  }
  std::string text;
  const auto add = [&](std::int64_t trials, const std::string& lack) {
    if (trials > 0) text += (text.empty() ? "" : ", ") + std::to_string(trials) + " " + lack;
  };
  add(session.trials_left_out, "without a start or an end in the recording");
  add(unrewarded, "not rewarded (trial_result is not R)");
  add(aimless, "without a target direction");
  add(brief, "shorter than " + std::to_string(bins) + " bins (the longest has " + std::to_string(longest) + ")");
  return text.empty() ? "there are none" : text;
}

}  // namespace

std::span<const float> DecodingWindows::window(std::int64_t number) const {
  return std::span(x).subspan(index(number * bins * channels), index(bins * channels));
}

DecodingWindows windows_of(const DecodingSession& session, std::int64_t bins, std::int64_t stride, std::int64_t day) {
  check_session(session);
  if (bins < 1 || stride < 1)
    throw std::invalid_argument(session.source + ": windows of " + std::to_string(bins) + " bins every " +
                                std::to_string(stride) + " bins cannot be cut; both must be at least 1");
  DecodingWindows out;
  out.source = session.source;
  out.bins = bins;
  out.channels = session.channels;
  out.classes = static_cast<std::int32_t>(direction_count);
  out.output_names = session.output_names;
  out.reach_before = session.reach_before;
  out.reach_after = session.reach_after;
  out.muscle_outputs = session.muscle_outputs;
  const auto outputs = std::ssize(session.output_names);
  std::int64_t windows = 0;
  for (const Trial& trial : session.trials)
    if (trial.rewarded && trial.direction >= 0 && trial.begin + bins <= trial.end)
      windows += (trial.end - trial.begin - bins) / stride + 1;
  out.x.reserve(index(windows * bins * session.channels));
  for (const Trial& trial : session.trials) {
    if (!trial.rewarded || trial.direction < 0) continue;
    for (std::int64_t first = trial.begin; first + bins <= trial.end; first += stride) {
      const auto from = session.counts.begin() + first * session.channels;
      out.x.insert(out.x.end(), from, from + bins * session.channels);
      const auto last = session.outputs.begin() + (first + bins - 1) * outputs;
      out.target.insert(out.target.end(), last, last + outputs);
      out.label.push_back(trial.direction);
      out.first_bin.push_back(first);
      out.day.push_back(day);
    }
  }
  out.windows = std::ssize(out.label);
  if (out.windows == 0)
    throw std::invalid_argument(
        session.source + ": none of its trials can be used: " + what_trials_lack(session, bins) +
        "; a window needs one that is rewarded, has a target direction and lasts " + std::to_string(bins) + " bins");
  return out;
}

DecodingWindows read_windows(const std::filesystem::path& path, std::int64_t day) {
  const NpzFile file(path);
  auto activity = file.read<float>("neural_activity");
  const auto label = file.read<std::int64_t>("classification_label");
  const std::string name = path.string();
  if (activity.shape.size() != 3 || activity.values.empty())
    throw std::invalid_argument(name + ": neural_activity has the shape " + shape_text(activity.shape) +
                                "; it must be (windows, bins, channels), each at least 1");
  if (label.shape != std::vector{activity.shape[0]})
    throw std::invalid_argument(name + ": classification_label has the shape " + shape_text(label.shape) +
                                "; neural_activity has " + std::to_string(activity.shape[0]) +
                                " windows, so it must be (" + std::to_string(activity.shape[0]) + ")");
  DecodingWindows out;
  out.source = name;
  out.windows = activity.shape[0];
  out.bins = activity.shape[1];
  out.channels = activity.shape[2];
  const auto bad = std::ranges::find_if(activity.values, [](float value) { return !std::isfinite(value); });
  if (bad != activity.values.end())
    throw std::invalid_argument(
        name + ": neural_activity holds " + shortest(static_cast<double>(*bad)) + " in window " +
        std::to_string((bad - activity.values.begin()) / (out.bins * out.channels)) + "; it must hold finite numbers");
  out.x = std::move(activity.values);
  for (std::int64_t w = 0; w < out.windows; ++w) {
    const std::int64_t found = label.values[index(w)];
    if (found < 0 || found >= most_classes)
      throw std::invalid_argument(name + ": classification_label is " + std::to_string(found) + " for window " +
                                  std::to_string(w) + "; it must be from 0 to " + std::to_string(most_classes - 1));
    out.label.push_back(static_cast<std::int32_t>(found));
    out.first_bin.push_back(w);
  }
  out.classes = std::ranges::max(out.label) + 1;
  out.day.assign(index(out.windows), day);
  return out;
}

void append(DecodingWindows& windows, const DecodingWindows& later) {
  if (windows.windows == 0) {
    windows = later;
    return;
  }
  const auto size_of = [](const DecodingWindows& day) {
    return std::to_string(day.bins) + " bins of " + std::to_string(day.channels) + " channels";
  };
  const auto outputs_of = [](const DecodingWindows& day) {
    std::string names;
    for (const std::string& name : day.output_names) names += (names.empty() ? "" : ", ") + name;
    return names.empty() ? "no outputs" : "the outputs " + names;
  };
  const auto refuse = [&](const std::string& its, const std::string& others) {
    throw std::invalid_argument(later.source + ": has " + its + ", and " + windows.source + " " + others +
                                "; all days must have the same");
  };
  if (later.bins != windows.bins || later.channels != windows.channels)
    refuse("windows of " + size_of(later), "of " + size_of(windows));
  if (later.output_names != windows.output_names || later.muscle_outputs != windows.muscle_outputs)
    refuse(outputs_of(later), outputs_of(windows));
  if (later.reach_before != windows.reach_before || later.reach_after != windows.reach_after)
    refuse("another smoothing", "its own");
  if (later.windows > 0 && later.day.front() <= windows.day.back())
    throw std::invalid_argument(later.source + ": is of day " + std::to_string(later.day.front()) +
                                " and comes after day " + std::to_string(windows.day.back()) +
                                "; days must come in their order");
  const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  add(windows.x, later.x);
  add(windows.label, later.label);
  add(windows.target, later.target);
  add(windows.first_bin, later.first_bin);
  add(windows.day, later.day);
  windows.windows += later.windows;
  windows.classes = std::max(windows.classes, later.classes);
}

void standardise_each_window(DecodingWindows& windows) {
  const double bins = static_cast<double>(windows.bins);
  for (std::int64_t w = 0; w < windows.windows; ++w) {
    float* const first = windows.x.data() + w * windows.bins * windows.channels;
    for (std::int64_t c = 0; c < windows.channels; ++c) {
      const auto value = [&](std::int64_t t) -> float& { return first[t * windows.channels + c]; };
      double mean = 0, square = 0;
      for (std::int64_t t = 0; t < windows.bins; ++t) mean += static_cast<double>(value(t)) / bins;
      bool changes = false;
      for (std::int64_t t = 0; t < windows.bins; ++t) {
        const double difference = static_cast<double>(value(t)) - mean;
        square += difference * difference / bins;
        changes = changes || value(t) != value(0);
      }
      const double scale = changes && square > 0 ? 1 / std::sqrt(square) : 0;
      for (std::int64_t t = 0; t < windows.bins; ++t)
        value(t) = static_cast<float>((static_cast<double>(value(t)) - mean) * scale);
    }
  }
}

}  // namespace mambarium
