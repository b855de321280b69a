// Fork: a run that begins with the weights and moments another run had at one of its steps, and some settings changed.
//
// Parent and fork are a paired comparison: the same sequences at the same steps, evaluated on the same test set. So
// what may change are the parts of the model, how it is trained, and where it is computed; what the sequences are
// (group Task, batch, seed, test set) and the sizes that nearly all weights have (group Model) may not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

// Where a fork comes from, as its manifest says it.
struct Fork {
  std::string parent;        // the parent's folder, its last component
  std::string parent_title;  // "mamba2 . order 1 . w=2 . seed 0": of the parent's configuration
  std::int64_t step = 0;     // of the parent's checkpoint
  std::string changes;       // "conv none, gate off"
  bool operator==(const Fork&) const = default;
};

bool may_change_in_fork(const Property& property);

// What stands against forking a run with `parent`'s settings at `step` into one with `child`'s, a sentence each; empty
// when it can be done. `child` itself is valid.
std::vector<Problem> fork_problems(const ExperimentConfig& parent, const ExperimentConfig& child, std::int64_t step);

// The settings that have another effect in `child`, without those of the group Run: "conv none, d_conv 4", or
// "unchanged".
std::string changes_text(const ExperimentConfig& parent, const ExperimentConfig& child);

std::string fork_title(const Fork& fork);  // "conv none, from step 640 of mamba2 . order 1 . w=2 . seed 0"

}  // namespace mambarium
