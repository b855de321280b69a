#include "core/contract/fork.h"

#include <algorithm>
#include <array>

namespace mambarium {

namespace {

constexpr std::array<std::string_view, 4> kept_training = {"training.batch", "training.first_length", "training.seed",
                                                           "training.test_sequences"};

bool has_an_effect(const ExperimentConfig& parent, const ExperimentConfig& child, const Property& property) {
  const bool applies = parent.applies(property.key) || child.applies(property.key);
  return applies && parent.value(property.key) != child.value(property.key);
}

Problem kept(const Property& property, const ExperimentConfig& parent) {
  const bool of_model = property.group == "Model";
  return {std::string(property.key),
          "a fork keeps its parent's " + value_to_string(parent.value(property.key)) + ", because " +
              (of_model ? "this decides which weights there are" : "both are given the same sequences") +
              "; start a new run to change it"};
}

}  // namespace

bool may_change_in_fork(const Property& property) {
  if (property.group == "Task" || property.group == "Model") return false;
  return std::ranges::count(kept_training, property.key) == 0;
}

std::vector<Problem> fork_problems(const ExperimentConfig& parent, const ExperimentConfig& child, std::int64_t step) {
  std::vector<Problem> problems;
  for (const Property& property : property_table())
    if (!may_change_in_fork(property) && has_an_effect(parent, child, property))
      problems.push_back(kept(property, parent));
  const bool grows = parent.applies("training.first_length") && parent.integer("training.first_length") > 0;
  if (const Property& steps = *find_property("training.steps"); grows && has_an_effect(parent, child, steps))
    problems.push_back(kept(steps, parent));
  if (child.integer("training.steps") <= step)
    problems.push_back({"training.steps", "the fork begins at step " + std::to_string(step) + ", so " +
                                              std::to_string(child.integer("training.steps")) +
                                              " steps leave it nothing to train; it must be more"});
  return problems;
}

std::string changes_text(const ExperimentConfig& parent, const ExperimentConfig& child) {
  std::string text;
  for (const Property& property : property_table()) {
    if (property.group == "Run" || !has_an_effect(parent, child, property)) continue;
    const std::string_view name = property.key.substr(property.key.rfind('.') + 1);
    text.append(text.empty() ? "" : ", ").append(name).append(" ").append(value_to_string(child.value(property.key)));
  }
  return text.empty() ? "unchanged" : text;
}

std::string fork_title(const Fork& fork) {
  return fork.changes + ", from step " + std::to_string(fork.step) + " of " + fork.parent_title;
}

}  // namespace mambarium
