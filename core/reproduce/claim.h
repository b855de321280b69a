// A claim of a paper, as something that measurements decide: a measure, cells of a sweep, and an inequality.
//
// A cell's value is the mean over seeds of the measure, or of its difference to a second cell with the same seed (the
// same test sequences), with a 95 % interval by Student's t. A cell holds when the whole interval lies where the
// inequality says, does not hold when none of it does, and is undecided otherwise, or when there are less than two
// seeds. A claim holds when all its cells do, and does not when one does not.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/contract/sweep_result.h"

namespace mambarium {

// Where to look: a sweep of the figure by name ("": its first), and a label on every axis that has several.
struct CellChoice {
  std::string sweep;
  std::map<std::string, std::string> labels;  // axis name -> label
};

struct ClaimCell {
  std::string name;  // "k = 1, w = 2"
  CellChoice of;
  bool is_difference = false;
  CellChoice minus;
  std::string paper;  // the paper's value as it stands there, or ""
};

struct Inequality {
  enum class Kind { below, above, within };  // within: the absolute value is below the bound
  Kind kind = Kind::below;
  double bound = 0;
};
std::string to_string(const Inequality& inequality);  // "< 0.004", "> 0.98", "|.| < 0.015"

struct Claim {
  std::string text, measure, paper;  // paper: what it says, in numbers where it has some
  Inequality inequality;
  std::vector<ClaimCell> cells;
};

// Throws std::invalid_argument, one sentence.
Claim claim_from_json(const nlohmann::json& document);

enum class Verdict { holds, does_not_hold, undecided };
std::string to_string(Verdict verdict);

struct DecidedCell {
  SweepSummary value;
  Verdict verdict = Verdict::undecided;
  std::vector<std::string> points;  // the runs it is made of, the one that is worst for the claim first
};

struct DecidedClaim {
  Verdict verdict = Verdict::undecided;
  std::vector<DecidedCell> cells;
};

Verdict decide(const SweepSummary& value, const Inequality& inequality);
// `results`: the figure's sweeps by name. A choice that names no cell throws std::invalid_argument, one sentence.
DecidedClaim decide(const Claim& claim, std::span<const SweepResult> results);

}  // namespace mambarium
