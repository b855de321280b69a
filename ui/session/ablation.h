// An ablation: which parts of an experiment are taken out, and the sweep file that trains every combination.
//
// Parts are the settings of the property table's group "Parts" that have an effect and are no numbers. A part's
// alternatives: the other choices; of a set, what is left without each of its items, and nothing; but none with which
// the model could not be trained (one that starts as a construction needs its parts). Pure functions.
#pragma once

#include <QByteArray>
#include <QString>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

struct AblationPart {
  std::string key;
  PropertyValue present;
  std::vector<PropertyValue> alternatives;
};
std::vector<AblationPart> ablationParts(const ExperimentConfig& config);

struct Ablation {
  ExperimentConfig config;
  std::vector<AblationPart> parts;  // those that are varied, with the alternatives that were chosen
  std::int64_t seeds = 3;           // training.seed and those after it
  std::int64_t steps = 2000;

  std::size_t combinations() const;
  std::size_t models() const { return combinations() * static_cast<std::size_t>(seeds); }
};

inline constexpr std::size_t most_combinations = 64;  // as many tiles as can be told apart

// Why it cannot be trained, in one sentence; "" when it can.
QString obstacle(const Ablation& ablation);

QByteArray sweepFile(const Ablation& ablation);
// "ablation-1f0c3d9a": equal ablations have one folder, so that the same choice goes on where it was left.
QString folderName(const Ablation& ablation);

}  // namespace mambarium
