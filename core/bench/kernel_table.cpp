#include "core/bench/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/bench/grouped_number.h"

namespace mambarium {

namespace {

// Sums over 8,192 tokens in another order, both in float32.
constexpr double largest_difference = 1e-4;

}  // namespace

double KernelSpeed::ratio() const {
  return fused / std::max(torch, torch_two_threads);
}

KernelSpeed time_kernel(const KernelCase& pair, const BenchOptions& options) {
  const double difference = pair.difference();
  if (!(difference <= largest_difference)) {
    throw std::runtime_error(fmt::format("{} ({}): kernel and LibTorch operators differ by {:.1e}, more than {:.1e}",
                                         pair.kernel, pair.shape, difference, largest_difference));
  }
  std::vector<Subject> subjects = {pair.fused, pair.torch, pair.torch};
  subjects[2].threads = 2;
  time_in_turns(subjects, options);
  return {.kernel = pair.kernel,
          .shape = pair.shape,
          .operators = pair.operators,
          .unit = pair.unit,
          .fused = subjects[0].median(),
          .torch = subjects[1].median(),
          .torch_two_threads = subjects[2].median(),
          .flops = pair.flops,
          .bytes = pair.bytes,
          .difference = difference};
}

std::vector<KernelSpeed> time_kernels(const KernelSizes& sizes, const BenchOptions& options) {
  std::vector<KernelSpeed> speeds;
  for (const auto& make : kernel_cases(sizes)) speeds.push_back(time_kernel(make(), options));
  return speeds;
}

nlohmann::json to_json(const std::vector<KernelSpeed>& kernels, double peak) {
  nlohmann::json list = nlohmann::json::array();
  for (const KernelSpeed& row : kernels) {
    list.push_back(
        {{"kernel", row.kernel},
         {"shape", row.shape},
         {"operators", row.operators},
         {"unit", row.unit},
         {"per_second", {{"fused", row.fused}, {"torch", row.torch}, {"torch_two_threads", row.torch_two_threads}}},
         {"ratio", row.ratio()},
         {"flops_per_unit", row.flops},
         {"bytes_per_unit", row.bytes},
         {"bytes_per_second", row.fused * row.bytes},
         {"share_of_peak", row.fused * row.flops / peak},
         {"difference", row.difference}});
  }
  return list;
}

std::string to_markdown(const std::vector<KernelSpeed>& kernels, double peak) {
  std::string text =
      "Other kernels, forward and backward, tokens (scan, convolution) or rows (the others) a second, one thread; "
      "torch: "
      "the better of one and two threads:\n\n"
      "| kernel | shape | fused | torch | operators | ratio | FLOP/unit | bytes/unit | GB/s | of peak |\n"
      "|---|---|---:|---:|---|---:|---:|---:|---:|---:|\n";
  for (const KernelSpeed& row : kernels) {
    text += fmt::format("| {} | {} | {} | {} | {} | {:.1f} | {} | {} | {:.1f} | {:.0f} % |\n", row.kernel, row.shape,
                        grouped(row.fused), grouped(std::max(row.torch, row.torch_two_threads)), row.operators,
                        row.ratio(), grouped(row.flops), grouped(row.bytes), row.fused * row.bytes / 1e9,
                        100 * row.fused * row.flops / peak);
  }
  return text;
}

}  // namespace mambarium
