#include "core/sweep/sweep_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "core/contract/text.h"
#include "core/training/durable_file.h"

namespace mambarium {

namespace {

std::uint64_t hash_of(const ExperimentConfig& config) {
  nlohmann::json document = to_json(config);
  document.erase("run");
  const std::string text = document.dump();
  return checksum(std::as_bytes(std::span(text)));
}

std::string fit_for_a_file_name(std::string_view text) {
  std::string fit;
  for (const char character : text) {
    const bool plain = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                       (character >= '0' && character <= '9') || character == '.' || character == '_';
    if (plain)
      fit += character;
    else if (!fit.ends_with('-'))
      fit += '-';
  }
  return fit;
}

// "d_conv" of "model.d_conv", or the whole key where another one ends alike.
std::string short_name(const std::string& key, const std::vector<std::string>& keys) {
  const auto leaf = [](const std::string& path) { return path.substr(path.rfind('.') + 1); };
  const auto alike = std::ranges::count_if(keys, [&](const std::string& other) { return leaf(other) == leaf(key); });
  return alike > 1 ? key : leaf(key);
}

std::string id_of(const Sweep& sweep, const SweepPoint& point) {
  constexpr std::size_t longest_name = 80;
  std::string name;
  for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis) {
    const SweepAxis& shown = sweep.axes[axis];
    const std::string label = fit_for_a_file_name(shown.labels[point.position[axis]]);
    const bool is_case = shown.name == "case";
    name += (is_case ? label : short_name(shown.keys.front(), sweep.keys) + "-" + label) + "_";
  }
  name.resize(std::min(name.size(), longest_name));
  return fmt::format("{}seed-{}_{:016x}", name, point.seed, hash_of(point.config));
}

}  // namespace

std::size_t count_points(const Sweep& sweep) {
  std::size_t count = sweep.seeds.size();
  for (const SweepAxis& axis : sweep.axes) {
    if (axis.labels.size() > most_sweep_points || count > most_sweep_points) return most_sweep_points + 1;
    count *= axis.labels.size();
  }
  return count;
}

std::vector<SweepPoint> sweep_points(const Sweep& sweep) {
  std::vector<SweepPoint> points;
  for (std::size_t index = 0; index < count_points(sweep); ++index) {
    SweepPoint point;
    point.config = sweep.base;
    point.position.resize(sweep.axes.size());
    point.seed = sweep.seeds[index % sweep.seeds.size()];
    std::size_t rest = index / sweep.seeds.size();
    for (std::size_t axis = sweep.axes.size(); axis-- > 0;) {
      const std::size_t length = sweep.axes[axis].labels.size();
      point.position[axis] = rest % length;
      rest /= length;
    }
    for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis)
      for (const auto& [key, value] : sweep.settings[axis][point.position[axis]]) point.config.set(key, value);
    point.config.set("training.seed", point.seed);
    point.id = id_of(sweep, point);
    points.push_back(std::move(point));
  }
  return points;
}

std::string place_in_words(const Sweep& sweep, const SweepPoint& point) {
  std::string words;
  for (std::size_t axis = 0; axis < sweep.axes.size(); ++axis)
    words += sweep.axes[axis].name + " " + sweep.axes[axis].labels[point.position[axis]] + ", ";
  return words + "seed " + std::to_string(point.seed);
}

}  // namespace mambarium
