#include "core/tasks/switching_task.h"

#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "core/tasks/dirichlet.h"

namespace mambarium {
namespace {

// The kernel of the present stretch, each row drawn when it is first needed.
class StretchKernel {
 public:
  StretchKernel(const MarkovTask& chain, const Stream& stream)
      : chain_(chain),
        stream_(stream),
        cumulative_(static_cast<std::size_t>(chain.states() - 1)),
        thresholds_(static_cast<std::size_t>(chain.contexts()) * cumulative_.size()),
        drawn_for_(static_cast<std::size_t>(chain.contexts())) {}

  void begin_sequence(std::uint64_t n) {
    n_ = n;
    first_row_ = 0;
    ++stretch_;
  }
  void begin_stretch() {
    first_row_ += drawn_for_.size();
    ++stretch_;
  }

  std::int32_t token(std::size_t context, std::uint32_t word) {
    if (drawn_for_[context] != stretch_) draw(context);
    const auto uniform = static_cast<std::int32_t>(word >> 1);
    const std::int32_t* const row = thresholds_.data() + context * cumulative_.size();
    std::int32_t token = 0;
    for (std::size_t s = 0; s < cumulative_.size(); ++s) token += row[s] < uniform ? 1 : 0;
    return token;
  }

  void append_to(std::vector<float>& kernels) {
    const std::size_t states = cumulative_.size() + 1;
    for (std::size_t row = 0; row < drawn_for_.size(); ++row) {
      draw(row);
      kernels.resize(kernels.size() + states);
      write_probabilities(cumulative_, std::span(kernels).last(states));
    }
  }

 private:
  void draw(std::size_t row) {
    draw_cumulative_row(stream_, n_, first_row_ + row, chain_.beta(), cumulative_);
    for (std::size_t s = 0; s < cumulative_.size(); ++s)
      thresholds_[row * cumulative_.size() + s] = static_cast<std::int32_t>(cumulative_[s] - 1);
    drawn_for_[row] = stretch_;
  }

  const MarkovTask& chain_;
  const Stream& stream_;
  std::uint64_t n_ = 0, first_row_ = 0;
  std::uint64_t stretch_ = 0;  // of all that were begun
  std::vector<std::int64_t> cumulative_;
  std::vector<std::int32_t> thresholds_;  // [S^k, S-1]: a token is the number of its row's that lie below the draw
  std::vector<std::uint64_t> drawn_for_;  // [S^k]: the stretch a row belongs to
};

}  // namespace

SwitchingTask::SwitchingTask(std::int64_t order, std::int64_t states, double beta, std::int64_t length, double p_switch)
    : chain_(order, states, beta, length), p_switch_(p_switch) {
  if (!(p_switch > 0 && p_switch <= 0.5))
    throw std::invalid_argument("task.p_switch: " + std::to_string(p_switch) + " is not above 0 and up to 0.5");
}

void SwitchingTask::generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                             SequenceBatch& out) const {
  out.batch = batch;
  out.length = length();
  out.tokens.resize(static_cast<std::size_t>(batch * (length() + 1)));
  out.kernels.clear();
  out.kernel_ends.clear();
  out.scored.clear();

  const auto switch_below = static_cast<std::uint32_t>(std::llround(p_switch_ * 0x1p32));
  const auto states = static_cast<std::uint64_t>(chain_.states());
  const auto contexts = static_cast<std::uint64_t>(chain_.contexts());
  const bool masked = std::has_single_bit(contexts);
  StretchKernel kernel(chain_, stream);
  std::int32_t* token = out.tokens.data();
  for (std::int64_t index = 0; index < batch; ++index) {
    const auto n = static_cast<std::uint64_t>(first + index);
    kernel.begin_sequence(n);
    if (with_kernels) kernel.append_to(out.kernels);
    std::array<std::uint32_t, 4> words{};
    std::uint64_t context = 0;
    std::int64_t seen = 0;  // of the stretch
    for (std::int64_t t = 0; t <= length(); ++t, ++token) {
      const auto half = static_cast<std::size_t>(2 * (t % 2));
      if (half == 0) words = stream.block(static_cast<std::uint64_t>(t / 2), n);
      if (words[half] < switch_below) {
        *token = switch_token();
        kernel.begin_stretch();
        if (with_kernels) kernel.append_to(out.kernels);
        seen = 0;
        continue;
      }
      const std::uint32_t word = words[half + 1];
      *token = seen < chain_.order() ? static_cast<std::int32_t>((word * states) >> 32) : kernel.token(context, word);
      const std::uint64_t longer = context * states + static_cast<std::uint64_t>(*token);
      context = masked ? longer & (contexts - 1) : longer % contexts;
      ++seen;
    }
    if (with_kernels) out.kernel_ends.push_back(out.kernels.size());
  }
}

}  // namespace mambarium
