// What models answer to tasks that are not chains, several beside each other: induction heads and decoding.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "fake_noise.h"
#include "plots_fake_data.h"

namespace mambarium::fake {
namespace {

// Of those titles the first `count`, or the one at `alone` by itself. Each has its answer, the last one as the current.
PanelData answeredRuns(const std::array<const char*, 3>& titles, int count, int alone,
                       const std::function<void(ExperimentConfig&)>& setUp,
                       const std::function<nlohmann::json(int)>& answerOf) {
  PanelData data;
  for (int i = 0; i < count; ++i) {
    const int which = count == 1 ? alone : i;
    data.runs.push_back(run(titles[static_cast<std::size_t>(which)], i, 0.01));
    setUp(data.runs.back().config);
    if (i + 1 == count)
      data.inspected = answerOf(which);
    else
      data.others[data.runs.back().folder] = answerOf(which);
  }
  data.current = data.runs.size() - 1;
  return data;
}

}  // namespace

ExtrapolationData extrapolation(double reach) {
  ExtrapolationData data{.step = 1240, .trained_length = 256, .chance = 1.0 / 63, .points = {}};
  constexpr double z = 1.959964;
  for (std::int64_t length = 64; length <= 4096; length *= 2) {
    const std::int64_t sequences = std::max<std::int64_t>(8192 / length, 8);
    const double share =
        data.chance + (0.995 - data.chance) / (1 + std::pow(static_cast<double>(length) / reach / 4, 2));
    const auto count = static_cast<double>(sequences);
    const std::int64_t right = std::llround(share * count);
    const double p = static_cast<double>(right) / count, scale = 1 / (1 + z * z / count);
    const double middle = scale * (p + z * z / (2 * count));
    const double half = scale * z * std::sqrt(p * (1 - p) / count + z * z / (4 * count * count));
    data.points.push_back({length, sequences, right, std::max(middle - half, 0.0), std::min(middle + half, 1.0)});
  }
  return data;
}

PanelData inductionRuns(int count) {
  const auto setUp = [](ExperimentConfig& config) {
    config.set("task.kind", std::string("induction"));
    config.set("task.states", std::int64_t{64});
    config.set("task.length", std::int64_t{256});
  };
  const auto answerOf = [](int which) -> nlohmann::json {
    return extrapolation(which == 0 ? 300 : which == 1 ? 90 : 700);
  };
  return answeredRuns({"Mamba", "Transformer", "Motif-2"}, count, 2, setUp, answerOf);
}

namespace {

constexpr std::int64_t trials = 12, windows_of_a_trial = 11, bins_of_a_trial = 48, window_bins = 30;

std::vector<std::int64_t> decodedBins() {
  std::vector<std::int64_t> bins;
  for (std::int64_t trial = 0; trial < trials; ++trial)
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window)
      bins.push_back(46000 + trial * bins_of_a_trial + window_bins - 1 + window);
  return bins;
}

std::int64_t directionOf(std::int64_t trial) {
  return (3 * trial + 1) % 8;
}

// The directions beside the true one share what is not right, the next one most of it.
DecodingData::Quality decodedAs(double right, int late) {
  constexpr std::int64_t classes = 8, windows = 300;
  DecodingData::Quality quality;
  quality.confusion = {{classes, classes}, std::vector<float>(classes * classes)};
  std::int64_t hits = 0;
  for (std::int64_t truth = 0; truth < classes; ++truth) {
    const auto cell = [&](std::int64_t answer) -> float& {
      return quality.confusion.data[static_cast<std::size_t>(truth * classes + (answer + classes) % classes)];
    };
    const std::int64_t own = std::llround((right - 0.02 * static_cast<double>(truth)) * windows);
    const std::int64_t next = (windows - own) * 2 / 3, before = (windows - own - next) * 3 / 4;
    cell(truth) = static_cast<float>(own);
    cell(truth + 1) = static_cast<float>(next);
    cell(truth - 1) = static_cast<float>(before);
    cell(truth + 4) = static_cast<float>(windows - own - next - before);
    hits += own;
  }
  quality.accuracy = static_cast<double>(hits) / (classes * windows);
  quality.macro_f1 = quality.accuracy - 0.002;
  quality.loss = 3 * (1 - quality.accuracy);
  quality.trace.shape = {trials * windows_of_a_trial, 1};
  for (std::int64_t trial = 0; trial < trials; ++trial)
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window) {
      const bool too_early = trial % 3 == 0 && window < late;
      quality.trace.data.push_back(static_cast<float>((directionOf(trial) + (too_early ? 1 : 0)) % classes));
    }
  return quality;
}

}  // namespace

DecodingData decodedDirections(double skill) {
  DecodingData data{.step = 1240, .windows = 2400, .uniform_loss = std::log(8.0), .bin_seconds = 0.05};
  data.bins = decodedBins();
  data.truth.shape = {trials * windows_of_a_trial, 1};
  for (std::int64_t trial = 0; trial < trials; ++trial)
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window)
      data.truth.data.push_back(static_cast<float>(directionOf(trial)));
  data.model = decodedAs(0.3 + 0.7 * skill, 6);
  data.ideal = decodedAs(0.995, 2);
  return data;
}

DecodingData decodedOutputs(double skill) {
  DecodingData data{.step = 1240, .outputs = true, .windows = 2400, .uniform_loss = 1, .bin_seconds = 0.05};
  data.output_names = {"curs_p_x", "curs_p_y", "curs_v_x", "curs_v_y"};
  data.bins = decodedBins();
  Noise noise(37);
  for (Tensor* tensor : {&data.truth, &data.model.trace, &data.ideal.trace})
    tensor->shape = {trials * windows_of_a_trial, 4};
  constexpr double pi = 3.14159265358979323846;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    const double angle = static_cast<double>(directionOf(trial)) * pi / 4;
    for (std::int64_t window = 0; window < windows_of_a_trial; ++window) {
      const double tau = std::clamp((static_cast<double>(window) + static_cast<double>(trial % 5) - 2) / 10, 0.0, 1.0);
      const double place = 8 * (10 - 15 * tau + 6 * tau * tau) * tau * tau * tau;
      const double speed = 8 * 30 * tau * tau * (1 - tau) * (1 - tau) / 0.5;
      const double truth[] = {place * std::cos(angle), place * std::sin(angle), speed * std::cos(angle),
                              speed * std::sin(angle)};
      for (int output = 0; output < 4; ++output) {
        const double unit = output < 2 ? 8 : 30;
        data.truth.data.push_back(static_cast<float>(truth[output]));
        data.model.trace.data.push_back(
            static_cast<float>((0.4 + 0.5 * skill) * truth[output] + 0.2 * (1.2 - skill) * unit * noise.centered()));
        data.ideal.trace.data.push_back(static_cast<float>(0.96 * truth[output] + 0.02 * unit * noise.centered()));
      }
    }
  }
  for (int output = 0; output < 4; ++output) {
    data.model.r_squared.push_back(skill - 0.07 * output);
    data.ideal.r_squared.push_back(0.93 - 0.02 * output);
  }
  data.model.r_squared_of_all = skill - 0.11;
  data.ideal.r_squared_of_all = 0.9;
  data.model.loss = 1.11 - skill;
  data.ideal.loss = 0.1;
  return data;
}

PanelData decodingRuns(int count, bool outputs) {
  const auto setUp = [outputs](ExperimentConfig& config) {
    config.set("task.kind", std::string("decoding"));
    config.set("task.answer", std::string(outputs ? "outputs" : "direction"));
  };
  const auto answerOf = [outputs](int which) -> nlohmann::json {
    const double skill = 0.7 + 0.09 * which;
    if (outputs) return decodedOutputs(skill);
    return decodedDirections(skill);
  };
  return answeredRuns({"LSTM", "Mamba", "Motif-2"}, count, 1, setUp, answerOf);
}

}  // namespace mambarium::fake
