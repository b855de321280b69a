#include "core/analysis/state_read_out.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/analysis/linear_map.h"
#include "core/analysis/probe_sequence.h"
#include "core/analysis/transition_counts.h"
#include "core/contract/text.h"
#include "core/models/model_tensors.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

constexpr std::int64_t fitted_sequences = 64, test_sequences = 64;

// T as far as it is looked at: so that the counts of all sequences stay below 140 MB.
std::int64_t looked_at(const ExperimentConfig& config) {
  const double states = static_cast<double>(config.integer("task.states"));
  const double cells = std::pow(states, static_cast<double>(config.integer("task.order") + 1));
  constexpr double most_cells = 1024, longest = 512, most_counts = 1 << 17;
  if (cells > most_cells)
    throw std::invalid_argument("the task has " + shortest(cells) +
                                " counts of transitions, the state read-out is for " + shortest(most_cells) +
                                " at most");
  return std::min(config.integer("task.length"), static_cast<std::int64_t>(std::min(longest, most_counts / cells)));
}

void require_there(const char* what, std::int64_t wanted, std::int64_t count) {
  if (wanted < 0 || wanted >= count)
    throw std::invalid_argument(std::string(what) + " " + std::to_string(wanted) + " does not exist, the last one is " +
                                std::to_string(count - 1));
}

// The probe first, then those that the map is fitted to, then those it is measured on. [1 + 64 + 64, T]
at::Tensor sequences(const ExperimentConfig& config, std::int64_t probe, std::int64_t length) {
  const ProbeSequence first = probe_sequence(config, probe);
  const SequenceBatch others = beside_the_probes(config, 0, fitted_sequences + test_sequences);
  const at::Tensor tokens = torch::empty({1 + others.batch, length}, torch::kInt64);
  std::copy_n(first.tokens.begin(), length, tokens[0].data_ptr<std::int64_t>());
  for (std::int64_t row = 0; row < others.batch; ++row)
    std::copy_n(others.sequence(row).begin(), length, tokens[row + 1].data_ptr<std::int64_t>());
  return tokens;
}

struct Recording {
  at::Tensor all;     // [B, T, d]: H of all layers
  at::Tensor chosen;  // [T, P, N]: of the first sequence, one layer and head
};

Recording record(SequenceModel& model, const at::Tensor& tokens, std::int64_t layer, std::int64_t head) {
  constexpr std::int64_t most_numbers = 1024;
  const auto state = model.initial_state(tokens.size(0));
  std::vector<at::Tensor> all, chosen;
  for (std::int64_t t = 0; t < tokens.size(1); ++t) {
    model.step(tokens.select(1, t).contiguous(), *state);
    const auto hidden = state->hidden();
    if (hidden.empty()) throw std::invalid_argument("this model has no recurrent state to read counts from");
    require_there("layer", layer, std::ssize(hidden));
    const at::Tensor& of_layer = hidden[static_cast<std::size_t>(layer)];
    require_there("head", head, of_layer.size(1));
    std::vector<at::Tensor> flat;
    for (const at::Tensor& h : hidden) flat.push_back(h.flatten(1));
    all.push_back(torch::cat(flat, 1));
    if (all.back().size(1) > most_numbers)
      throw std::invalid_argument("the recurrent state of this model has " + std::to_string(all.back().size(1)) +
                                  " numbers, the state read-out is for " + std::to_string(most_numbers) + " at most");
    chosen.push_back(of_layer[0][head].clone());
  }
  return {torch::stack(all, 1), torch::stack(chosen)};
}

at::Tensor counts_of(const at::Tensor& tokens, std::int64_t order, std::int64_t states) {
  std::vector<at::Tensor> rows;
  const at::Tensor narrow = tokens.to(torch::kInt32).contiguous();
  const auto length = static_cast<std::size_t>(tokens.size(1));
  for (std::int64_t row = 0; row < tokens.size(0); ++row) {
    const std::span<const std::int32_t> sequence(narrow[row].data_ptr<std::int32_t>(), length);
    rows.push_back(torch::tensor(transition_counts(sequence, order, states)).view({tokens.size(1), -1}));
  }
  return torch::stack(rows);  // [B, T, S^k S]
}

// Every so many positions, where all would take a product of more than a second.
std::int64_t stride_for(const at::Tensor& states) {
  constexpr double most_products = 8e9;
  const auto width = static_cast<double>(states.size(2));
  const double products = static_cast<double>(fitted_sequences * states.size(1)) * width * width;
  return static_cast<std::int64_t>(std::ceil(products / most_products));
}

}  // namespace

StateData inspect_state(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                        std::int64_t step) {
  const torch::NoGradGuard no_grad;
  const std::int64_t order = config.integer("task.order"), states = config.integer("task.states");
  const at::Tensor tokens = sequences(config, request.probe, looked_at(config));
  const Recording recording = record(model, tokens, request.layer, request.head);
  const at::Tensor counts = counts_of(tokens, order, states);
  const at::Tensor token_counts = counts_of(tokens, 0, states);

  const std::int64_t stride = stride_for(recording.all);
  const auto rows = [&](const at::Tensor& table, std::int64_t first, std::int64_t count) {
    return table.narrow(0, first, count).slice(1, 0, table.size(1), stride).flatten(0, 1).to(torch::kFloat64);
  };
  const auto fit = [&](const at::Tensor& from) {
    return LinearMap(rows(from, 1, fitted_sequences), rows(counts, 1, fitted_sequences));
  };
  const auto explained = [&](const LinearMap& map, const at::Tensor& from) {
    constexpr std::int64_t first = 1 + fitted_sequences;
    return r_squared(rows(counts, first, test_sequences), map(rows(from, first, test_sequences)));
  };
  const LinearMap map = fit(recording.all);
  const at::Tensor inputs = tokens[0].to(torch::kInt32).contiguous();
  const auto* first = inputs.data_ptr<std::int32_t>();
  const auto shaped = [&](const at::Tensor& table) { return plain_tensor(table.view({tokens.size(1), -1, states})); };
  return {.step = step,
          .order = order,
          .states = states,
          .layer = request.layer,
          .head = request.head,
          .tokens = {first, first + inputs.numel()},
          .state = plain_tensor(recording.chosen),
          .counts = shaped(counts[0]),
          .read_out = shaped(map(recording.all[0].to(torch::kFloat64))),
          .r_squared = explained(map, recording.all),
          .r_squared_tokens = explained(fit(token_counts), token_counts)};
}

CountsReadOut counts_read_out(SequenceModel& model, const ExperimentConfig& config) {
  try {
    const StateData state = inspect_state(model, config, {.what = "state"}, 0);
    return {state.r_squared, state.r_squared_tokens};
  } catch (const std::invalid_argument&) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan};
  }
}

}  // namespace mambarium
