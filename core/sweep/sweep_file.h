// A sweep's file: one experiment, what varies in it, and the seeds. docs/sweeps.md describes it for people.
//
//   {"name": "order-window", "title": "Order and window",
//    "base": {"task": {"length": 128}},                            as in experiment.json, only what differs
//    "grid": {"task.order": [1, 2], "model.d_conv": [2, 3]},       each key an axis
//    "linked": [{"model.d_model": [2, 4], "model.d_state": [2, 4]}],   each group an axis along which its keys vary
//    "cases": [{"label": "no gate", "settings": {"model": {"gate": false}}}],   one more axis, of named changes
//    "seeds": [0, 1, 2]}
//
// Axes stand in one order whatever the file's: grid keys in the order of the property table, then linked groups, then
// cases. Points are all combinations, the last axis fastest, then the seed. Reading never stops at the first fault.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/sweep_result.h"

namespace mambarium {

using SweepSettings = std::vector<std::pair<std::string, PropertyValue>>;

struct Sweep {
  std::string name, title;
  ExperimentConfig base;
  std::vector<SweepAxis> axes;
  std::vector<std::vector<SweepSettings>> settings;  // by axis and position: what is set there
  std::vector<std::int64_t> seeds;
  std::vector<std::string> keys;  // all that vary, but the seed, in the order of the property table
};

// One experiment of a sweep.
struct SweepPoint {
  // A name people can read and 16 hexadecimal digits: a hash of the whole configuration but for run.*, so that equal
  // ids are equal experiments, whatever file they stand in. Fit for a file name.
  std::string id;
  std::vector<std::size_t> position;  // along each axis
  std::int64_t seed = 0;
  ExperimentConfig config;
};

struct ParsedSweep {
  Sweep sweep;
  std::vector<SweepPoint> points;  // in order; empty when there are problems
  std::vector<Problem> problems;   // "s.json: grid.task.ordr: there is no such setting; did you mean task.order?"
};
ParsedSweep sweep_from_json(const nlohmann::json& document, const std::string& path_for_messages);
ParsedSweep sweep_from_file(const std::string& path);

}  // namespace mambarium
