#include "core/analysis/extrapolation.h"

#include <algorithm>
#include <stdexcept>

#include "core/contract/text.h"
#include "core/contract/wilson_interval.h"
#include "core/random/stream.h"
#include "core/tasks/induction_task.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

constexpr std::int64_t tokens_of_a_piece = 512, tokens_at_once = 1 << 16, most_at_once = 32;

// Log-probabilities [batch, V] after each sequence's scored input. Nothing is read beyond the last of them.
at::Tensor answers(SequenceModel& model, const SequenceBatch& batch) {
  const auto tokens = torch::tensor(batch.tokens, torch::kInt64).view({batch.batch, batch.length + 1});
  const std::int64_t last = *std::ranges::max_element(batch.scored);
  const auto state = model.initial_state(batch.batch);
  at::Tensor rows;
  for (std::int64_t first = 0; first <= last; first += tokens_of_a_piece) {
    const std::int64_t length = std::min(tokens_of_a_piece, last + 1 - first);
    const auto read = model.read(tokens.narrow(1, first, length).contiguous(), *state);
    if (!rows.defined()) rows = torch::empty({batch.batch, read.size(2)}, read.options());
    for (std::int64_t index = 0; index < batch.batch; ++index) {
      const std::int64_t place = batch.scored[static_cast<std::size_t>(index)] - first;
      if (place >= 0 && place < length) rows[index].copy_(read[index][place]);
    }
  }
  return rows;
}

std::int64_t count_right(const at::Tensor& rows, const SequenceBatch& batch) {
  std::int64_t right = 0;
  const auto guesses = rows.argmax(-1);
  for (std::int64_t index = 0; index < batch.batch; ++index) {
    const auto answer =
        batch.sequence(index)[static_cast<std::size_t>(batch.scored[static_cast<std::size_t>(index)] + 1)];
    right += guesses[index].item<std::int64_t>() == answer ? 1 : 0;
  }
  return right;
}

void add_interval(ExtrapolationData::Point& point) {
  const ShareInterval interval = wilson_interval(point.accuracy(), static_cast<double>(point.sequences));
  point.low = interval.low;
  point.high = interval.high;
}

}  // namespace

std::vector<std::int64_t> lengths_from(const std::string& text) {
  std::vector<std::int64_t> lengths;
  for (const std::string_view piece : split(text, ',')) {
    const auto length = integer_from(trimmed(piece));
    if (!length || *length < InductionTask::shortest || *length > longest_extrapolation)
      throw std::invalid_argument("lengths: " + in_quotes(trimmed(piece)) + " is not a whole number from " +
                                  std::to_string(InductionTask::shortest) + " to " +
                                  std::to_string(longest_extrapolation));
    if (!lengths.empty() && *length <= lengths.back())
      throw std::invalid_argument("lengths: " + std::to_string(*length) + " comes after " +
                                  std::to_string(lengths.back()) + ", they must ascend");
    lengths.push_back(*length);
  }
  return lengths;
}

std::vector<std::int64_t> usual_lengths(const ExperimentConfig& config) {
  constexpr std::int64_t first = 64, last = 16384;
  const std::int64_t trained = config.integer("task.length");
  const bool bounded = config.applies("model.positions") && config.text("model.positions") == "learned";
  std::vector<std::int64_t> lengths;
  for (std::int64_t length = first; length <= (bounded ? trained : std::max(last, trained)); length *= 2)
    lengths.push_back(length);
  if (lengths.empty()) lengths.push_back(trained);
  return lengths;
}

ExtrapolationData extrapolate(SequenceModel& model, const ExperimentConfig& config,
                              std::span<const std::int64_t> lengths, std::int64_t tokens, std::int64_t fewest,
                              std::int64_t step, const LengthListener& told) {
  if (!scores_one_token(config))
    throw std::invalid_argument("only an induction head has an answer that is right or wrong at any length");
  const torch::NoGradGuard no_gradients;
  const std::int64_t vocabulary = config.integer("task.states");
  ExtrapolationData data{.step = step,
                         .trained_length = config.integer("task.length"),
                         .chance = 1.0 / static_cast<double>(vocabulary - 1),
                         .points = {}};
  const Stream stream(static_cast<std::uint64_t>(config.integer("training.seed")), "extrapolation");
  for (const std::int64_t length : lengths) {
    const InductionTask task(vocabulary, length);
    ExtrapolationData::Point point{.length = length};
    const std::int64_t wanted = std::max(fewest, tokens / length);
    // A transformer's weights of attention grow with the length.
    const std::int64_t at_once = std::min(wanted, std::clamp<std::int64_t>(tokens_at_once / length, 1, most_at_once));
    SequenceBatch batch;
    while (point.sequences < wanted) {
      if (told) told(length, point.sequences, wanted);
      task.generate(stream, point.sequences, std::min(at_once, wanted - point.sequences), batch);
      point.right += count_right(answers(model, batch), batch);
      point.sequences += batch.batch;
    }
    add_interval(point);
    data.points.push_back(point);
  }
  return data;
}

}  // namespace mambarium
