// The experiment on the command line: where it starts from, and a flag for every setting, made from the property table.
//
//   --config FILE | --preset ID | --share TEXT      then     --task.order 2 --model.conv none ...
#pragma once

#include <CLI/App.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

class ExperimentFlags {
 public:
  // Adds --config, --preset and --share.
  void add_sources(CLI::App& command);
  // Adds a flag for every setting whose key starts with `prefix` ("" for all), grouped as in the table.
  void add_settings(CLI::App& command, std::string_view prefix = "");

  // The configuration they describe. Throws CommandError (bad input) with every problem at once, a line each.
  ExperimentConfig config() const;
  ExperimentConfig config_over(const ExperimentConfig& base) const;  // the same, from these settings instead

  // A sentence for every setting that was given as a flag, or in a --config file that does not hold them all, and has
  // no effect in the configuration that came of it.
  std::vector<std::string> without_effect_in(const ExperimentConfig& config) const;

  std::vector<std::string> given() const;          // the flags that were used: "--preset", "--task.order"
  std::vector<std::string> given_sources() const;  // of those, the ones of add_sources()

 private:
  ParsedConfig source() const;
  ExperimentConfig with_settings(ParsedConfig parsed) const;

  std::string config_file_, preset_, share_;
  std::map<std::string, std::string, std::less<>> settings_;  // key -> what was typed; only those given are non-empty
  std::vector<CLI::Option*> sources_;
  std::vector<const CLI::Option*> options_;
};

// Reading flags that were not recognised: one sentence with the nearest flag, thrown as CommandError.
[[noreturn]] void refuse_unknown_argument(const std::string& argument, const CLI::App& command);

}  // namespace mambarium
