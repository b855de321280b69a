#include "core/tasks/markov_task.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/tasks/dirichlet.h"
#include "core/tasks/token_sampler.h"

namespace mambarium {
namespace {

constexpr std::int64_t thresholds_at_once = 1 << 22;

}  // namespace

MarkovTask::MarkovTask(std::int64_t order, std::int64_t states, double beta, std::int64_t length)
    : order_(order), states_(states), beta_(beta), length_(length) {
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
}

void MarkovTask::generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                          SequenceBatch& out) const {
  out.batch = batch;
  out.length = length_;
  out.tokens.resize(static_cast<std::size_t>(batch * (length_ + 1)));
  out.kernel_ends.clear();
  out.kernels.resize(with_kernels ? static_cast<std::size_t>(batch * contexts_ * states_) : 0);

  const int search_steps = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(states_ - 1)));
  const std::int64_t width = std::int64_t{1} << search_steps;
  const std::int64_t chunk = std::clamp<std::int64_t>(thresholds_at_once / (contexts_ * width), 4, 1024);
  std::vector<std::int32_t> thresholds(static_cast<std::size_t>(std::min(chunk, batch) * contexts_ * width),
                                       std::numeric_limits<std::int32_t>::max());
  std::vector<std::int64_t> cumulative(static_cast<std::size_t>(states_ - 1));
  float* probability = out.kernels.data();
  for (std::int64_t start = 0; start < batch; start += chunk) {
    const std::int64_t count = std::min(chunk, batch - start);
    for (std::int64_t row = 0; row < count * contexts_; ++row) {
      const auto n = static_cast<std::uint64_t>(first + start + row / contexts_);
      draw_cumulative_row(stream, n, static_cast<std::uint64_t>(row % contexts_), beta_, cumulative);
      std::int32_t* const threshold = thresholds.data() + row * width;
      for (std::size_t s = 0; s < cumulative.size(); ++s) threshold[s] = static_cast<std::int32_t>(cumulative[s] - 1);
      if (!with_kernels) continue;
      write_probabilities(cumulative, {probability, static_cast<std::size_t>(states_)});
      probability += states_;
    }
    sample_tokens({stream.key(), static_cast<std::uint64_t>(first + start), count, order_, states_, contexts_,
                   length_ + 1, thresholds.data(), search_steps, out.tokens.data() + start * (length_ + 1)});
  }
}

}  // namespace mambarium
