#include "core/analysis/quantisation.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/analysis/comparison.h"
#include "core/analysis/probe_sequence.h"
#include "core/estimators/known_task.h"
#include "core/torch_precompiled.h"
#include "core/training/sequence_tensors.h"

namespace mambarium {

namespace {

constexpr std::int64_t sequences_for_ranges = 64, test_sequences = 64;
constexpr std::int64_t longest = 512, fewest_bits = 2, most_bits = 16, not_rounded = 32;

std::vector<at::Tensor> numbers_of(const ModelState& state) {
  std::vector<at::Tensor> numbers = state.hidden();
  for (at::Tensor& window : state.windows()) numbers.push_back(std::move(window));
  if (numbers.empty()) throw std::invalid_argument("this model has no recurrent state that could be rounded");
  return numbers;
}

// The smallest and largest value of every number of the state.
struct Range {
  at::Tensor least, greatest;  // shaped like the state without its first dimension
};

std::vector<Range> observed_ranges(SequenceModel& model, const at::Tensor& tokens) {
  const auto state = model.initial_state(tokens.size(0));
  std::vector<Range> ranges;
  for (std::int64_t t = 0; t < tokens.size(1); ++t) {
    model.step(tokens.select(1, t).contiguous(), *state);
    const auto numbers = numbers_of(*state);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const Range now{numbers[i].amin(0), numbers[i].amax(0)};
      if (t == 0)
        ranges.push_back(now);
      else
        ranges[i] = {torch::minimum(ranges[i].least, now.least), torch::maximum(ranges[i].greatest, now.greatest)};
    }
  }
  return ranges;
}

// The state of `copies` batches side by side, each to its own 2^p values between least and greatest.
void round(const at::Tensor& numbers, const Range& range, const at::Tensor& steps) {
  const std::int64_t copies = steps.size(0), batch = numbers.size(0) / (copies + 1);
  const at::Tensor rows = numbers.narrow(0, 0, copies * batch).unflatten(0, {copies, batch});
  std::vector<std::int64_t> shape(static_cast<std::size_t>(rows.dim()), 1);
  shape[0] = copies;
  const at::Tensor last = steps.view(shape), width = (range.greatest - range.least) / last;
  const at::Tensor divisor = torch::where(width > 0, width, torch::ones_like(width));
  const at::Tensor level = torch::minimum(((rows - range.least) / divisor).round().clamp_min(0), last);
  rows.copy_(range.least + level * width);
}

// Mean loss of every sequence at every number of bits, and then not rounded: all side by side in one batch. [p, B]
at::Tensor losses(SequenceModel& model, const SequenceTensors& sequences, const std::vector<Range>& ranges) {
  const at::Tensor steps = torch::exp2(torch::arange(fewest_bits, most_bits + 1, torch::kFloat32)) - 1;
  const std::int64_t length = sequences.inputs.size(1), copies = steps.size(0) + 1;
  const at::Tensor inputs = sequences.inputs.repeat({copies, 1}), targets = sequences.targets.repeat({copies, 1});
  const auto state = model.initial_state(inputs.size(0));
  at::Tensor sum = torch::zeros({inputs.size(0)}, torch::kFloat64);
  for (std::int64_t t = 0; t < length; ++t) {
    const at::Tensor log_p = model.step(inputs.select(1, t).contiguous(), *state);
    sum -= log_p.gather(1, targets.select(1, t).unsqueeze(1)).squeeze(1);
    const auto numbers = numbers_of(*state);
    for (std::size_t i = 0; i < numbers.size(); ++i) round(numbers[i], ranges[i], steps);
  }
  return (sum / static_cast<double>(length)).view({copies, -1});
}

}  // namespace

QuantisationData inspect_quantisation(SequenceModel& model, const ExperimentConfig& config, std::int64_t step) {
  const torch::NoGradGuard no_grad;
  const auto task = make_task(config, Split::test);
  const SequenceBatch batch = beside_the_probes(config, 0, sequences_for_ranges + test_sequences);
  const std::int64_t length = std::min(longest, batch.length);
  const auto cut = [&](std::int64_t first, std::int64_t count) {
    const SequenceTensors whole = sequence_tensors(batch, first, count);
    return SequenceTensors{whole.inputs.narrow(1, 0, length), whole.targets.narrow(1, 0, length)};
  };
  const std::vector<Range> ranges = observed_ranges(model, cut(0, sequences_for_ranges).inputs);
  const at::Tensor by_bits = losses(model, cut(sequences_for_ranges, test_sequences), ranges);

  const auto best = task->best_predictor();
  std::vector<double> of_best;
  for (std::int64_t row = 0; row < test_sequences; ++row)
    of_best.push_back(
        mean_loss(*best, batch.sequence(sequences_for_ranges + row).first(static_cast<std::size_t>(length) + 1)));
  const at::Tensor gaps = (by_bits - torch::tensor(of_best, torch::kFloat64)).contiguous();

  QuantisationData data{.step = step};
  for (std::int64_t row = 0; row < gaps.size(0); ++row) {
    const double* first = gaps.data_ptr<double>() + row * test_sequences;
    const Measured gap = measured({first, static_cast<std::size_t>(test_sequences)});
    data.bits.push_back(row + 1 == gaps.size(0) ? not_rounded : fewest_bits + row);
    data.gap.push_back(gap.mean);
    data.standard_error.push_back(gap.standard_error);
  }
  for (const Range& range : ranges) data.state_numbers += range.least.numel();
  return data;
}

}  // namespace mambarium
