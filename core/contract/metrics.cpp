#include "core/contract/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/contract/json_fields.h"
#include "core/contract/text.h"

namespace mambarium {

using nlohmann::json;

namespace {

// The columns in their order; the two first are whole numbers.
constexpr std::array<std::pair<const char*, std::int64_t MetricsRow::*>, 2> counts = {
    {{"step", &MetricsRow::step}, {"tokens", &MetricsRow::tokens}}};
constexpr std::array<std::pair<const char*, double MetricsRow::*>, 8> numbers = {
    {{"seconds", &MetricsRow::seconds},
     {"train_loss", &MetricsRow::train_loss},
     {"test_loss", &MetricsRow::test_loss},
     {"add_beta_loss", &MetricsRow::add_beta_loss},
     {"oracle_loss", &MetricsRow::oracle_loss},
     {"gap_add_beta", &MetricsRow::gap_add_beta},
     {"gap_oracle", &MetricsRow::gap_oracle},
     {"learning_rate", &MetricsRow::learning_rate}}};

struct FurtherColumn {
  const char* name;
  double MetricsRow::*number;
  bool MetricsForm::*wanted;
};
constexpr std::array<FurtherColumn, 4> further = {
    {{"accuracy", &MetricsRow::accuracy, &MetricsForm::accuracy},
     {"r_squared", &MetricsRow::r_squared, &MetricsForm::r_squared},
     {"motif_loss", &MetricsRow::motif_loss, &MetricsForm::motif},
     {"motif_r_squared", &MetricsRow::motif_r_squared, &MetricsForm::motif}}};

constexpr std::array<MetricsForm, 6> all_forms = {{{},
                                                   {.accuracy = true},
                                                   {.r_squared = true},
                                                   {.motif = true},
                                                   {.accuracy = true, .motif = true},
                                                   {.r_squared = true, .motif = true}}};

std::vector<std::pair<const char*, double MetricsRow::*>> numbers_of(MetricsForm form) {
  std::vector<std::pair<const char*, double MetricsRow::*>> all(numbers.begin(), numbers.end());
  for (const FurtherColumn& column : further)
    if (form.*column.wanted) all.emplace_back(column.name, column.number);
  return all;
}

// What is wrong with the line, or "" when `row` holds it.
std::string read_line(std::string_view line, MetricsForm form, MetricsRow& row) {
  const auto fields = split(line, ',');
  const auto expected = numbers_of(form);
  if (fields.size() != counts.size() + expected.size())
    return std::to_string(fields.size()) + " fields where " + std::to_string(counts.size() + expected.size()) +
           " are expected";
  std::size_t column = 0;
  for (const auto& [name, member] : counts) {
    const auto value = integer_from(fields[column++]);
    if (!value || *value < 0)
      return std::string(name) + " is " + in_quotes(fields[column - 1]) + ", it must be a whole number";
    row.*member = *value;
  }
  for (const auto& [name, member] : expected) {
    const std::string_view field = fields[column++];
    const auto value = field.empty() ? std::numeric_limits<double>::quiet_NaN() : real_from(field);
    if (!value) return std::string(name) + " is " + in_quotes(field) + ", it must be a number or empty";
    row.*member = *value;
  }
  return "";
}

}  // namespace

MetricsForm metrics_form(const ExperimentConfig& config) {
  const bool is_regression = decodes_outputs(config);
  return {.accuracy = scores_one_token(config) || (is_decoder(config) && !is_regression),
          .r_squared = is_regression,
          .motif = config.applies("model.motif_weight")};
}

std::string metrics_header(MetricsForm form) {
  std::string line;
  for (const auto& [name, member] : counts) line.append(name).append(",");
  for (const auto& [name, member] : numbers_of(form)) line.append(name).append(",");
  line.pop_back();
  return line;
}

std::string to_csv_line(const MetricsRow& row, MetricsForm form) {
  std::string line;
  for (const auto& [name, member] : counts) line += std::to_string(row.*member) + ",";
  for (const auto& [name, member] : numbers_of(form))
    line += (std::isnan(row.*member) ? "" : shortest(row.*member)) + ",";
  line.pop_back();
  return line;
}

ParsedMetrics metrics_from_csv(std::string_view text, const std::string& path_for_messages) {
  ParsedMetrics parsed;
  MetricsForm form;
  std::size_t line_number = 0;
  const auto problem = [&](std::string message) {
    parsed.problems.push_back({path_for_messages + ":" + std::to_string(line_number), std::move(message)});
  };
  while (true) {
    const std::size_t end = text.find('\n', parsed.complete_bytes);
    if (end == std::string_view::npos) break;
    std::string_view line = text.substr(parsed.complete_bytes, end - parsed.complete_bytes);
    if (line.ends_with('\r')) line.remove_suffix(1);
    parsed.complete_bytes = end + 1;
    if (++line_number == 1) {
      const auto found = std::ranges::find(all_forms, line, [](MetricsForm each) { return metrics_header(each); });
      if (found == all_forms.end()) {
        problem("the first line is " + in_quotes(line) + ", it must be the header " + metrics_header());
        return parsed;
      }
      form = *found;
      continue;
    }
    MetricsRow row;
    if (const std::string fault = read_line(line, form, row); !fault.empty())
      problem(fault);
    else if (!parsed.rows.empty() && row.step <= parsed.rows.back().step)
      problem("step " + std::to_string(row.step) + " does not come after step " +
              std::to_string(parsed.rows.back().step));
    else
      parsed.rows.push_back(row);
  }
  return parsed;
}

void to_json(json& document, const MetricsRow& row) {
  document = json::object();
  for (const auto& [name, member] : counts) document[name] = row.*member;
  for (const auto& [name, member] : numbers) document[name] = number_or_null(row.*member);
  for (const FurtherColumn& column : further)
    if (!std::isnan(row.*column.number)) document[column.name] = row.*column.number;
}

void from_json(const json& document, MetricsRow& row) {
  const JsonFields fields(document, "metrics row");
  for (const auto& [name, member] : counts) row.*member = fields.count(name);
  for (const auto& [name, member] : numbers) row.*member = fields.number(name);
  for (const FurtherColumn& column : further)
    row.*column.number =
        fields.has(column.name) ? fields.number(column.name) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace mambarium
