#include "ui/session/ablation.h"

#include <QCryptographicHash>
#include <QObject>
#include <QStringList>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/contract/text.h"
#include "ui/plots/number_text.h"
#include "ui/session/problem_text.h"

namespace mambarium {
namespace {

using nlohmann::json;

// What is left of "x,B,C" without each of them, and "none"; all of it where there was nothing.
std::vector<PropertyValue> smallerSets(const Property& property, const std::string& present) {
  const auto joined = [](const std::vector<std::string_view>& items) {
    std::string text;
    for (const std::string_view item : items) text.append(text.empty() ? "" : ",").append(item);
    return text;
  };
  if (present == "none") return {joined(property.choices)};
  const std::vector<std::string_view> items = split(present, ',');
  std::vector<PropertyValue> sets;
  for (std::size_t without = 0; items.size() > 1 && without < items.size(); ++without) {
    std::vector<std::string_view> rest = items;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(without));
    sets.emplace_back(joined(rest));
  }
  sets.emplace_back(std::string("none"));
  return sets;
}

std::vector<PropertyValue> alternativesOf(const Property& property, const ExperimentConfig& config) {
  switch (property.type) {
    case PropertyType::boolean:
      return {!config.boolean(property.key)};
    case PropertyType::choice_set:
      return smallerSets(property, config.text(property.key));
    case PropertyType::choice: {
      std::vector<PropertyValue> others;
      for (const std::string_view choice : property.choices)
        if (choice != config.text(property.key)) others.emplace_back(std::string(choice));
      return others;
    }
    case PropertyType::integer:
    case PropertyType::real:
    case PropertyType::text:
      break;
  }
  return {};
}

// As the sweep trains it: its file leaves the group Run out.
bool canTrain(ExperimentConfig config, const std::string& key, const PropertyValue& value) {
  config.set("run.device", find_property("run.device")->default_value);
  config.set(key, value);
  return config.validate().empty();
}

// As experiment.json has it.
json jsonOf(const std::string& key, const PropertyValue& value) {
  ExperimentConfig scratch;
  scratch.set(key, value);
  std::string pointer = "/" + key;
  std::ranges::replace(pointer, '.', '/');
  return to_json(scratch).at(json::json_pointer(pointer));
}

}  // namespace

std::vector<AblationPart> ablationParts(const ExperimentConfig& config) {
  std::vector<AblationPart> parts;
  for (const Property& property : property_table()) {
    if (property.group != "Parts" || !config.applies(property.key)) continue;
    AblationPart part{std::string(property.key), config.value(property.key), alternativesOf(property, config)};
    std::erase_if(part.alternatives, [&](const PropertyValue& value) { return !canTrain(config, part.key, value); });
    if (!part.alternatives.empty()) parts.push_back(std::move(part));
  }
  return parts;
}

std::size_t Ablation::combinations() const {
  std::size_t count = 1;
  for (const AblationPart& part : parts) count *= 1 + part.alternatives.size();
  return count;
}

QString obstacle(const Ablation& ablation) {
  if (const auto problems = ablation.config.validate(); !problems.empty()) return toSentence(problems.front());
  if (ablation.parts.empty())
    return ablationParts(ablation.config).empty()
               ? QObject::tr("This model has no part that could be taken out or replaced.")
               : QObject::tr("Choose at least one part to take out.");
  if (ablation.combinations() > most_combinations)
    return QObject::tr("That makes %1 combinations, and the picture holds %2 at most: take out fewer parts at once.")
        .arg(stepText(static_cast<std::int64_t>(ablation.combinations())))
        .arg(most_combinations);
  return {};
}

QByteArray sweepFile(const Ablation& ablation) {
  json base = to_json(ablation.config);
  base.erase("run");
  base["training"].erase("seed");
  base["training"]["steps"] = ablation.steps;
  json grid = json::object(), seeds = json::array();
  QStringList labels;
  for (const AblationPart& part : ablation.parts) {
    json& values = grid[part.key] = json::array({jsonOf(part.key, part.present)});
    for (const PropertyValue& value : part.alternatives) values.push_back(jsonOf(part.key, value));
    labels << fromView(find_property(part.key)->label);
  }
  const auto last_seed = static_cast<std::int64_t>(find_property("training.seed")->maximum);
  const std::int64_t first = std::min(ablation.config.integer("training.seed"), last_seed - ablation.seeds + 1);
  for (std::int64_t seed = 0; seed < ablation.seeds; ++seed) seeds.push_back(first + seed);
  const json document = {{"name", "ablation"},
                         {"title", QObject::tr("Without %1").arg(labels.join(QStringLiteral(", "))).toStdString()},
                         {"base", std::move(base)},
                         {"grid", std::move(grid)},
                         {"seeds", std::move(seeds)}};
  return QByteArray::fromStdString(document.dump(2)) + '\n';
}

QString folderName(const Ablation& ablation) {
  constexpr qsizetype digits = 8;
  const QByteArray hash = QCryptographicHash::hash(sweepFile(ablation), QCryptographicHash::Sha1).toHex();
  return QStringLiteral("ablation-") + QString::fromLatin1(hash.left(digits));
}

}  // namespace mambarium
