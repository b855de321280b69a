#include "core/reproduce/claim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/contract/json_fields.h"
#include "core/contract/text.h"
#include "core/reproduce/median.h"

namespace mambarium {

namespace {

using Kind = Inequality::Kind;

CellChoice choice_from(const nlohmann::json& document, const std::string& owner) {
  const JsonFields fields(document, owner);
  CellChoice choice;
  if (fields.has("sweep")) choice.sweep = fields.text("sweep");
  for (const auto& [key, value] : document.items()) {
    if (key == "sweep") continue;
    if (!value.is_string())
      throw std::invalid_argument(owner + ": " + in_quotes(key) + " is " + shown(value) +
                                  ", it must be the label of a position");
    choice.labels[key] = value.get<std::string>();
  }
  return choice;
}

Inequality between_from(const JsonFields& fields) {
  const nlohmann::json& ends = fields.array("between");
  const bool fits = ends.size() == 2 && ends[0].is_number() && ends[1].is_number() && ends[0] <= ends[1];
  if (!fits) throw std::invalid_argument("claim: \"between\" must be two numbers, the smaller one first");
  return {Kind::between, ends[0].get<double>(), ends[1].get<double>()};
}

std::optional<Inequality> inequality_from(const JsonFields& fields) {
  const std::pair<const char*, Kind> kinds[] = {
      {"below", Kind::below}, {"above", Kind::above}, {"within", Kind::within}};
  std::vector<Inequality> found;
  for (const auto& [name, kind] : kinds)
    if (fields.has(name)) found.push_back({kind, fields.number(name)});
  if (fields.has("between")) found.push_back(between_from(fields));
  if (found.size() > 1)
    throw std::invalid_argument("claim: it must have one of \"below\", \"above\", \"within\" and \"between\"");
  return found.empty() ? std::nullopt : std::optional(found.front());
}

ClaimCell cell_from(const nlohmann::json& document) {
  const JsonFields fields(document, "claim's cell");
  ClaimCell cell{fields.text("name"), choice_from(fields.object("of"), "claim's cell"), fields.has("minus"), {}, ""};
  if (cell.is_difference) cell.minus = choice_from(fields.object("minus"), "claim's cell");
  if (fields.has("paper")) cell.paper = fields.text("paper");
  cell.inequality = inequality_from(fields);
  return cell;
}

OverSeeds over_seeds_from(const JsonFields& fields) {
  if (!fields.has("over_seeds")) return OverSeeds::mean;
  const std::string name = fields.text("over_seeds");
  if (name != "mean" && name != "median")
    throw std::invalid_argument("claim: \"over_seeds\" is " + in_quotes(name) + ", it must be mean or median");
  return name == "median" ? OverSeeds::median : OverSeeds::mean;
}

const SweepResult& sweep_of(const CellChoice& choice, std::span<const SweepResult> results) {
  if (choice.sweep.empty() && !results.empty()) return results.front();
  const auto found = std::ranges::find(results, choice.sweep, &SweepResult::name);
  if (found == results.end()) throw std::invalid_argument("claim: there is no sweep " + in_quotes(choice.sweep));
  return *found;
}

std::vector<std::size_t> position_of(const CellChoice& choice, const SweepResult& result) {
  std::vector<std::size_t> position;
  for (const SweepAxis& axis : result.axes) {
    const auto label = choice.labels.find(axis.name);
    if (label == choice.labels.end()) {
      if (axis.labels.size() > 1)
        throw std::invalid_argument("claim: where on the axis " + in_quotes(axis.name) + " is missing");
      position.push_back(0);
      continue;
    }
    const auto found = std::ranges::find(axis.labels, label->second);
    if (found == axis.labels.end())
      throw std::invalid_argument("claim: the axis " + in_quotes(axis.name) + " has no position " +
                                  in_quotes(label->second));
    position.push_back(static_cast<std::size_t>(found - axis.labels.begin()));
  }
  for (const auto& [name, label] : choice.labels)
    if (std::ranges::count(result.axes, name, &SweepAxis::name) == 0)
      throw std::invalid_argument("claim: there is no axis " + in_quotes(name));
  return position;
}

std::vector<const SweepRow*> rows_of(const CellChoice& choice, std::span<const SweepResult> results) {
  const SweepResult& result = sweep_of(choice, results);
  const auto position = position_of(choice, result);
  std::vector<const SweepRow*> rows;
  for (const SweepRow& row : result.rows)
    if (row.position == position) rows.push_back(&row);
  return rows;
}

double how_bad(double value, const Inequality& inequality) {
  if (std::isnan(value)) return -std::numeric_limits<double>::infinity();
  switch (inequality.kind) {
    case Kind::above:
      return -value;
    case Kind::below:
      return value;
    case Kind::within:
      return std::abs(value);
    case Kind::between:
      break;
  }
  return std::max(inequality.bound - value, value - inequality.upper);
}

DecidedCell decided(const ClaimCell& cell, const Claim& claim, std::span<const SweepResult> results) {
  const Inequality& inequality = claim.inequality_of(cell);
  std::vector<std::pair<double, std::string>> values;
  const auto rows = rows_of(cell.of, results);
  const std::size_t measure = sweep_of(cell.of, results).measure(claim.measure);
  const auto others = cell.is_difference ? rows_of(cell.minus, results) : std::vector<const SweepRow*>();
  for (const SweepRow* row : rows) {
    double value = row->values[measure];
    if (cell.is_difference) {
      const auto other = std::ranges::find(others, row->seed, &SweepRow::seed);
      if (other == others.end()) continue;
      value -= (*other)->values[sweep_of(cell.minus, results).measure(claim.measure)];
    }
    values.emplace_back(value, row->point);
  }
  std::ranges::stable_sort(values, std::ranges::greater(),
                           [&](const auto& value) { return how_bad(value.first, inequality); });
  std::vector<double> numbers;
  DecidedCell result;
  for (auto& [number, point] : values) {
    numbers.push_back(number);
    result.points.push_back(std::move(point));
  }
  result.value = claim.over_seeds == OverSeeds::median ? median_summary(numbers) : summarised(numbers);
  result.verdict = decide(result.value, inequality);
  if (cell.is_difference) result.test = paired_test(numbers);
  // An interval that ends at 0 refutes "above 0", yet all it says is that there may be no difference.
  const bool asks_for_any = inequality.bound == 0 && (inequality.kind == Kind::above || inequality.kind == Kind::below);
  const bool is_open = result.verdict == Verdict::undecided || asks_for_any;
  if (is_open && result.found_no_difference()) result.verdict = Verdict::no_difference;
  return result;
}

}  // namespace

std::string to_string(const Inequality& inequality) {
  if (inequality.kind == Kind::between)
    return inequality.bound == inequality.upper
               ? "= " + shortest(inequality.bound)
               : fmt::format("from {} to {}", shortest(inequality.bound), shortest(inequality.upper));
  const char* const form = inequality.kind == Kind::above   ? "> {}"
                           : inequality.kind == Kind::below ? "< {}"
                                                            : "|·| < {}";
  return fmt::format(fmt::runtime(form), shortest(inequality.bound));
}

std::string to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return "holds";
    case Verdict::does_not_hold:
      return "does not hold";
    case Verdict::no_difference:
      return "no difference found";
    case Verdict::undecided:
      break;
  }
  return "not decidable";
}

Claim claim_from_json(const nlohmann::json& document) {
  const JsonFields fields(document, "claim");
  Claim claim{fields.text("claim"), fields.text("measure"), fields.text("paper"), {}, {}, over_seeds_from(fields)};
  const std::optional<Inequality> of_all = inequality_from(fields);
  if (std::ranges::count(sweep_measures(), claim.measure, &SweepMeasure::name) == 0)
    throw std::invalid_argument("claim: there is no measure " + in_quotes(claim.measure));
  for (const nlohmann::json& cell : fields.array("cells")) claim.cells.push_back(cell_from(cell));
  if (claim.cells.empty()) throw std::invalid_argument("claim: \"cells\" is empty, it must name what decides it");
  if (of_all) claim.inequality = *of_all;
  if (!of_all && !std::ranges::all_of(claim.cells, [](const ClaimCell& cell) { return cell.inequality.has_value(); }))
    throw std::invalid_argument(
        "claim: it, or each of its cells, must have one of \"below\", \"above\", \"within\" and \"between\"");
  return claim;
}

Verdict decide(const SweepSummary& value, const Inequality& inequality) {
  const double bound = inequality.bound;
  if (std::isnan(value.low) || std::isnan(value.high)) return Verdict::undecided;
  const auto decided = [](bool inside, bool outside) {
    return inside ? Verdict::holds : outside ? Verdict::does_not_hold : Verdict::undecided;
  };
  if (inequality.kind == Kind::above) return decided(value.low > bound, value.high <= bound);
  if (inequality.kind == Kind::below) return decided(value.high < bound, value.low >= bound);
  if (inequality.kind == Kind::between)
    return decided(value.low >= bound && value.high <= inequality.upper,
                   value.low > inequality.upper || value.high < bound);
  return decided(value.low > -bound && value.high < bound, value.low >= bound || value.high <= -bound);
}

DecidedClaim decide(const Claim& claim, std::span<const SweepResult> results) {
  DecidedClaim result;
  for (const ClaimCell& cell : claim.cells) result.cells.push_back(decided(cell, claim, results));
  const auto any = [&](Verdict verdict) {
    return std::ranges::count(result.cells, verdict, &DecidedCell::verdict) > 0;
  };
  result.verdict = Verdict::holds;
  for (const Verdict verdict : {Verdict::undecided, Verdict::no_difference, Verdict::does_not_hold})
    if (any(verdict)) result.verdict = verdict;
  return result;
}

}  // namespace mambarium
