// A claim of a paper, as something that measurements decide: a measure, cells of a sweep, and an inequality.
//
// A cell's value is the mean over seeds of the measure, or of its difference to a second cell with the same seed (the
// same test sequences), with a 95 % interval by Student's t; or the median (median.h). A cell holds when the whole
// interval lies where the inequality says and does not hold when none of it does. Otherwise, or when there are less
// than two seeds (six for a median), it is undecided; but a comparison whose interval holds 0 found no difference,
// which is a result. A claim holds when all its cells do and does not when one does not; else it found no difference
// when one of its comparisons found none.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/sweep_result.h"
#include "core/reproduce/paired_test.h"

namespace mambarium {

// Where to look: a sweep of the figure by name ("": its first), and a label on every axis that has several.
struct CellChoice {
  std::string sweep;
  std::map<std::string, std::string> labels;  // axis name -> label
};

struct Inequality {
  enum class Kind { below, above, within, between };  // within: the absolute value is below the bound
  Kind kind = Kind::below;
  double bound = 0;
  double upper = 0;  // of between: bound <= value <= upper
};
std::string to_string(const Inequality& inequality);  // "< 0.004", "> 0.98", "|.| < 0.015", "from 143 to 193"

struct ClaimCell {
  std::string name;  // "k = 1, w = 2"
  CellChoice of;
  bool is_difference = false;
  CellChoice minus;
  std::string paper;  // the paper's value as it stands there, or ""
  std::optional<Inequality> inequality = std::nullopt;
};

enum class OverSeeds { mean, median };

struct Claim {
  std::string text, measure, paper;  // paper: what it says, in numbers where it has some
  Inequality inequality;
  std::vector<ClaimCell> cells;
  OverSeeds over_seeds = OverSeeds::mean;

  // A cell may have an inequality of its own.
  const Inequality& inequality_of(const ClaimCell& cell) const {
    return cell.inequality ? *cell.inequality : inequality;
  }
};

// Throws std::invalid_argument, one sentence.
Claim claim_from_json(const nlohmann::json& document);

enum class Verdict { holds, does_not_hold, no_difference, undecided };
std::string to_string(Verdict verdict);

struct DecidedCell {
  SweepSummary value;
  Verdict verdict = Verdict::undecided;
  std::vector<std::string> points;                // the runs it is made of, the one that is worst for the claim first
  std::optional<PairedTest> test = std::nullopt;  // of a comparison
  // Whether the interval of a comparison holds 0.
  bool found_no_difference() const { return test && value.low <= 0 && value.high >= 0; }
};

struct DecidedClaim {
  Verdict verdict = Verdict::undecided;
  std::vector<DecidedCell> cells;
};

Verdict decide(const SweepSummary& value, const Inequality& inequality);
// `results`: the figure's sweeps by name. A choice that names no cell throws std::invalid_argument, one sentence.
DecidedClaim decide(const Claim& claim, std::span<const SweepResult> results);

}  // namespace mambarium
