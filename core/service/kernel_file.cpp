#include "core/service/kernel_file.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/contract/json_fields.h"
#include "core/contract/text.h"
#include "core/service/command_error.h"

namespace mambarium {

namespace {

std::optional<std::int64_t> order_of(std::size_t rows, std::size_t states) {
  constexpr std::int64_t highest = 8;
  std::size_t contexts = states;
  for (std::int64_t order = 1; order <= highest; ++order, contexts *= states)
    if (contexts == rows) return order;
  return std::nullopt;
}

void append_row(const nlohmann::json& row, std::size_t states, const std::string& where, std::vector<float>& rows) {
  if (!row.is_array() || row.size() != states)
    throw bad_input(where + " is not a list of " + std::to_string(states) + " probabilities as the first row is");
  double sum = 0;
  for (const nlohmann::json& value : row) {
    if (!value.is_number() || !(value.get<double>() >= 0))
      throw bad_input(where + " holds " + shown(value) + " where a probability must be");
    sum += value.get<double>();
    rows.push_back(value.get<float>());
  }
  constexpr double tolerance = 1e-4;
  if (!(std::abs(sum - 1) <= tolerance)) throw bad_input(where + " sums to " + shortest(sum) + ", it must sum to 1");
}

}  // namespace

MarkovKernel read_kernel_file(const std::filesystem::path& path) {
  const JsonFile file = read_json_file(path);
  if (file.problem) throw bad_input(to_string(*file.problem));
  const nlohmann::json& document = file.document;
  const std::string name = path.string();
  if (!document.is_array() || document.empty() || !document.front().is_array())
    throw bad_input(name + ": a kernel is a list of rows such as [[0.9, 0.1], [0.2, 0.8]]");
  const std::size_t states = document.front().size();
  if (states < 2)
    throw bad_input(name + ": row 0 holds " + std::to_string(states) + " probabilities, at least 2 are needed");
  const auto order = order_of(document.size(), states);
  if (!order)
    throw bad_input(name + ": " + std::to_string(document.size()) + " rows of " + std::to_string(states) +
                    " probabilities are no kernel, an order k needs " + std::to_string(states) + "^k rows");
  MarkovKernel kernel{*order, static_cast<std::int64_t>(states), {}};
  for (std::size_t row = 0; row < document.size(); ++row)
    append_row(document[row], states, name + ": row " + std::to_string(row), kernel.rows);
  return kernel;
}

}  // namespace mambarium
