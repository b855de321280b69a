#include "core/kernels/whole_model.h"

#include <algorithm>

#include "core/kernels/flush_denormals.h"
#include "core/kernels/parallel.h"
#include "core/kernels/whole_model_group.h"

namespace mambarium::kernels {

struct WholeModelWorkspace::Memory {
  std::vector<float> weights;
  std::vector<Scratch> of_thread;
  std::vector<std::vector<float>> of_group;
};

WholeModelWorkspace::WholeModelWorkspace() : memory_(std::make_unique<Memory>()) {}
WholeModelWorkspace::~WholeModelWorkspace() = default;
WholeModelWorkspace::WholeModelWorkspace(WholeModelWorkspace&&) noexcept = default;
WholeModelWorkspace& WholeModelWorkspace::operator=(WholeModelWorkspace&&) noexcept = default;

// Measured: beyond these the states of a vector of sequences leave the second-level cache, and lanes that have no
// sequence cost as much as the others, which the other engines do not pay; the wider the model, the less these lose.
bool suits_whole_model(const WholeModelShape& shape) {
  constexpr std::int64_t most_states = 8192, widest = 64, narrow = 16;
  const std::int64_t batch = shape.mixer.batch, lanes = whole_model_lanes();
  const std::int64_t computed = (batch + lanes - 1) / lanes * lanes;
  const std::int64_t least = shape.mixer.d_model <= narrow ? computed / 3 : computed * 2 / 3;
  return shape.mixer.inner() * shape.mixer.d_state <= most_states && shape.mixer.d_model <= widest && batch >= least;
}

double whole_model_loss(const WholeModelShape& shape, const WholeModelTensors<const float>& weights,
                        const std::int64_t* tokens, const std::int64_t* targets,
                        const WholeModelTensors<float>* gradients, WholeModelWorkspace& workspace, int threads) {
  auto& memory = workspace.memory();
  const WholeModelLayout layout(shape, weights);
  memory.weights.resize(static_cast<std::size_t>(layout.count));
  pack(shape, layout, weights, memory.weights.data());

  const std::int64_t batch = shape.mixer.batch, length = shape.mixer.length, lanes = whole_model_lanes();
  const std::int64_t groups = (batch + lanes - 1) / lanes;
  const std::int64_t parts = std::clamp<std::int64_t>(threads, 1, groups);
  memory.of_thread.resize(std::max(memory.of_thread.size(), static_cast<std::size_t>(parts)));
  memory.of_group.resize(std::max(memory.of_group.size(), static_cast<std::size_t>(groups)));
  std::vector<double> losses(static_cast<std::size_t>(groups));
  parallel_ranges(parts, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    for (std::int64_t thread = begin; thread < end; ++thread) {
      Scratch& scratch = memory.of_thread[static_cast<std::size_t>(thread)];
      for (std::int64_t index = groups * thread / parts; index < groups * (thread + 1) / parts; ++index) {
        auto& sums = memory.of_group[static_cast<std::size_t>(index)];
        if (gradients != nullptr) sums.assign(static_cast<std::size_t>(layout.count), 0.0f);
        const Scratch::Frame frame(scratch);
        const std::int64_t first = index * lanes * length;
        losses[static_cast<std::size_t>(index)] =
            whole_model_group({.shape = shape,
                               .layout = layout,
                               .weights = memory.weights.data(),
                               .tokens = tokens + first,
                               .targets = targets + first,
                               .sequences = std::min(lanes, batch - index * lanes),
                               .weight_of_target = 1.0f / static_cast<float>(batch * length),
                               .gradients = gradients == nullptr ? nullptr : sums.data()},
                              scratch);
      }
    }
  });

  double loss = 0;
  for (const double of_group : losses) loss += of_group;
  if (gradients != nullptr) {
    auto& sum = memory.of_group[0];
    for (std::size_t index = 1; index < static_cast<std::size_t>(groups); ++index) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += memory.of_group[index][i];
    }
    unpack(shape, layout, sum.data(), *gradients);
  }
  return loss / static_cast<double>(batch * length);
}

}  // namespace mambarium::kernels
