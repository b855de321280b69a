#include "core/tasks/file_task.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {
namespace {

std::vector<float> fitted_kernel(const std::vector<std::int32_t>& tokens, const MarkovTask& chain) {
  const auto states = static_cast<std::size_t>(chain.states());
  const auto contexts = static_cast<std::size_t>(chain.contexts());
  std::vector<double> counts(contexts * states);
  std::size_t context = 0;
  for (std::size_t t = 0; t < tokens.size(); ++t) {
    const auto token = static_cast<std::size_t>(tokens[t]);
    if (t >= static_cast<std::size_t>(chain.order())) ++counts[context * states + token];
    context = (context * states + token) % contexts;
  }
  std::vector<float> kernel(counts.size());
  for (std::size_t row = 0; row < counts.size(); row += states) {
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(row);
    const double sum = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(states), 0.0);
    for (std::size_t s = 0; s < states; ++s)
      kernel[row + s] = static_cast<float>(sum > 0 ? counts[row + s] / sum : 1.0 / static_cast<double>(states));
  }
  return kernel;
}

std::string listed(const std::vector<std::string>& symbols) {
  constexpr std::size_t most = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(symbols.size(), most); ++i) list += (i ? " " : "") + in_quotes(symbols[i]);
  return symbols.size() > most ? list + " ..." : list;
}

}  // namespace

FileTask::FileTask(const SymbolFile& file, const std::string& name, const MarkovTask& chain, Split split)
    : chain_(chain) {
  if (static_cast<std::size_t>(chain.states()) != file.symbols.size())
    throw std::invalid_argument("task.states: " + name + " has " + std::to_string(file.symbols.size()) +
                                " different symbols (" + listed(file.symbols) + "), so the states must be " +
                                std::to_string(file.symbols.size()) + ", not " + std::to_string(chain.states()));
  const std::size_t for_training = file.tokens.size() / 5 * 4;
  const auto border = file.tokens.begin() + static_cast<std::ptrdiff_t>(for_training);
  part_ = split == Split::training ? std::vector(file.tokens.begin(), border) : std::vector(border, file.tokens.end());
  if (part_.size() < static_cast<std::size_t>(chain.length() + 1))
    throw std::invalid_argument(
        "task.length: " + name + " has " + std::to_string(file.tokens.size()) + " symbols, and the " +
        (split == Split::training ? "four fifths for training" : "fifth for testing") + " must hold a sequence of " +
        std::to_string(chain.length()) + " and its last target; shorten the sequences or lengthen the file");
  kernel_ = fitted_kernel(file.tokens, chain);
}

void FileTask::generate(const Stream& stream, std::int64_t first, std::int64_t batch, bool with_kernels,
                        SequenceBatch& out) const {
  const std::int64_t tokens = chain_.length() + 1;
  const std::uint64_t places = part_.size() - static_cast<std::size_t>(tokens) + 1;
  out.batch = batch;
  out.length = chain_.length();
  out.tokens.resize(static_cast<std::size_t>(batch * tokens));
  out.kernels.clear();
  out.kernel_ends.clear();
  out.scored.clear();
  for (std::int64_t index = 0; index < batch; ++index) {
    const auto words = stream.block(0, static_cast<std::uint64_t>(first + index));
    const std::uint64_t place = (std::uint64_t{words[0]} << 32 | words[1]) % places;
    std::copy_n(part_.begin() + static_cast<std::ptrdiff_t>(place), tokens, out.tokens.begin() + index * tokens);
    if (with_kernels) out.kernels.insert(out.kernels.end(), kernel_.begin(), kernel_.end());
  }
}

}  // namespace mambarium
