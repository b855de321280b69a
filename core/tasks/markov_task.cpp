#include "core/tasks/markov_task.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/contract/experiment_config.h"
#include "core/tasks/dirichlet.h"
#include "core/tasks/stationary.h"
#include "core/tasks/token_sampler.h"

namespace mambarium {
namespace {

constexpr std::int64_t thresholds_at_once = 1 << 22;

using Kernels = MarkovVariant::Kernels;
using Start = MarkovVariant::Start;

void append_stationary_context(std::span<const double> kernel, std::int64_t states, std::int64_t order,
                               std::uint32_t word, std::vector<std::int32_t>& tokens) {
  const std::vector<double> distribution = stationary_distribution(kernel, states);
  const double uniform = (word + 0.5) * 0x1p-32;
  std::size_t context = 0;
  for (double below = distribution[0]; below < uniform && context + 1 < distribution.size();)
    below += distribution[++context];
  tokens.resize(tokens.size() + static_cast<std::size_t>(order));
  auto rest = static_cast<std::int64_t>(context);
  for (auto token = tokens.rbegin(); token != tokens.rbegin() + order; ++token, rest /= states)
    *token = static_cast<std::int32_t>(rest % states);
}

}  // namespace

MarkovTask::MarkovTask(std::int64_t order, std::int64_t states, double beta, std::int64_t length, MarkovVariant variant)
    : order_(order),
      states_(states),
      beta_(beta),
      length_(length),
      variant_(variant),
      kernel_stream_(variant.kernel_seed, "kernel") {
  if (order < 0) throw std::invalid_argument("task.order: " + std::to_string(order) + " is below 0");
  if (states < 2) throw std::invalid_argument("task.states: " + std::to_string(states) + " is below 2");
  if (length < 1) throw std::invalid_argument("task.length: " + std::to_string(length) + " is below 1");
  if (!std::isfinite(beta) || beta <= 0) {
    throw std::invalid_argument("task.beta: " + std::to_string(beta) + " is not a finite number above 0");
  }
  for (std::int64_t i = 0; i < order && contexts_ <= maximum_kernel_entries; ++i) contexts_ *= states;
  if (contexts_ > maximum_kernel_entries / states) {
    throw std::invalid_argument("task.order " + std::to_string(order) + " with task.states " + std::to_string(states) +
                                ": a kernel of states^(order+1) entries has more than " +
                                std::to_string(maximum_kernel_entries) + "; lower one of them");
  }
  const bool halved = variant.kernels == Kernels::low || variant.kernels == Kernels::high;
  if (halved && states != 2)
    throw std::invalid_argument("task.kernels: halves of kernels are defined for 2 states, not for " +
                                std::to_string(states));
  if (variant.start == Start::stationary && contexts_ > most_stationary_contexts)
    throw std::invalid_argument("task.start: a stationary start is computed for at most " +
                                std::to_string(most_stationary_contexts) + " contexts, not for " +
                                std::to_string(contexts_));
}

void MarkovTask::draw_row(const Stream& stream, std::uint64_t n, std::uint64_t row,
                          std::span<std::int64_t> cumulative) const {
  if (variant_.kernels == Kernels::fixed) return draw_cumulative_row(kernel_stream_, 0, row, beta_, cumulative);
  draw_cumulative_row(stream, n, row, beta_, cumulative);
  if (variant_.kernels == Kernels::high) cumulative[0] /= 2;
  if (variant_.kernels == Kernels::low) cumulative[0] = (probability_one + cumulative[0]) / 2;
}

void MarkovTask::generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                          SequenceBatch& out) const {
  out.batch = batch;
  out.length = length_;
  out.tokens.resize(static_cast<std::size_t>(batch * (length_ + 1)));
  out.kernel_ends.clear();
  out.scored.clear();
  out.kernels.resize(with_kernels ? static_cast<std::size_t>(batch * contexts_ * states_) : 0);

  const int search_steps = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(states_ - 1)));
  const std::int64_t width = std::int64_t{1} << search_steps;
  const std::int64_t chunk = std::clamp<std::int64_t>(thresholds_at_once / (contexts_ * width), 4, 1024);
  std::vector<std::int32_t> thresholds(static_cast<std::size_t>(std::min(chunk, batch) * contexts_ * width),
                                       std::numeric_limits<std::int32_t>::max());
  std::vector<std::int64_t> cumulative(static_cast<std::size_t>(states_ - 1));
  const bool stationary = variant_.start == Start::stationary && order_ > 0;
  std::vector<double> kernel;
  std::vector<std::int32_t> first_tokens;
  float* probability = out.kernels.data();
  for (std::int64_t start = 0; start < batch; start += chunk) {
    const std::int64_t count = std::min(chunk, batch - start);
    first_tokens.clear();
    for (std::int64_t row = 0; row < count * contexts_; ++row) {
      const auto n = static_cast<std::uint64_t>(first + start + row / contexts_);
      draw_row(stream, n, static_cast<std::uint64_t>(row % contexts_), cumulative);
      if (stationary) {
        if (row % contexts_ == 0) kernel.clear();
        append_probabilities(cumulative, kernel);
        if ((row + 1) % contexts_ == 0)
          append_stationary_context(kernel, states_, order_, stream.block(0, n)[0], first_tokens);
      }
      std::int32_t* const threshold = thresholds.data() + row * width;
      for (std::size_t s = 0; s < cumulative.size(); ++s) threshold[s] = static_cast<std::int32_t>(cumulative[s] - 1);
      if (!with_kernels) continue;
      write_probabilities(cumulative, {probability, static_cast<std::size_t>(states_)});
      probability += states_;
    }
    sample_tokens({stream.key(), static_cast<std::uint64_t>(first + start), count, order_, states_, contexts_,
                   length_ + 1, thresholds.data(), search_steps, stationary ? first_tokens.data() : nullptr,
                   out.tokens.data() + start * (length_ + 1)});
  }
}

}  // namespace mambarium
