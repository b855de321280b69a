// One sequence through a whole model, forward and backward: the loss of its tokens and the gradient of every weight.
// The same numbers as core/kernels/whole_model.h. A GPU gives every sequence a block of threads.
//
// Pieces of plan.piece rows: the rows between blocks and what a mixer carries into a piece are kept for the backward
// pass in `memory`, which a sequence has to itself; all else lives in `scratch`, a piece long, and is computed again.
#pragma once

#include "gpu/stages/embedding.h"
#include "gpu/stages/mixer.h"
#include "gpu/stages/mlp.h"
#include "gpu/stages/read_out.h"
#include "gpu/stages/team.h"

namespace mambarium::gpu {

struct SequenceTask {
  const float* weights = nullptr;  // by the layout
  const std::int64_t *tokens = nullptr, *targets = nullptr;
  float weight_of_target = 0;  // of one -log p in the loss
  double* loss = nullptr;      // written: the sum of -log p(target)
  float* gradients = nullptr;  // by the layout, written; null: only the loss is wanted
};

class SequencePass {
 public:
  // scratch: plan.scratch floats at an address that a double may have. memory: memory_size() floats. Either null: only
  // the sizes can be asked for.
  MAMBARIUM_HOST_DEVICE SequencePass(const ModelPlan& plan, float* scratch, float* memory, bool wanted)
      : SequencePass(plan, Carve(scratch), Carve(memory), wanted) {}

  MAMBARIUM_HOST_DEVICE std::int64_t scratch_size() const { return scratch_size_; }
  MAMBARIUM_HOST_DEVICE std::int64_t memory_size() const { return memory_size_; }

  template <class Team>
  MAMBARIUM_HOST_DEVICE void run(const Team& team, const SequenceTask& task) const {
    if (wanted_) {
      team.each(static_cast<int>(plan_.count), [&](int i) { task.gradients[i] = 0.0f; });
    }
    embed(team, plan_.length, plan_.d_model, task.tokens, task.weights + plan_.embedding, input(0, 0));
    for (int block = 0; block < plan_.blocks; ++block) forward(team, task, block);
    ordered_sum(
        team, plan_.length, [&](int t) { return -log_p_[t]; }, strands_);
    team.each(1, [&](int) { *task.loss = strands_[0]; });
    if (!wanted_) return;
    for (int block = plan_.blocks - 1; block >= 0; --block) backward(team, task, block);
    embed_backward(team, plan_.length, plan_.states, plan_.d_model, task.tokens, du_, task.gradients + plan_.embedding);
  }

 private:
  MAMBARIUM_HOST_DEVICE SequencePass(const ModelPlan& plan, Carve scratch, Carve memory, bool wanted)
      : plan_(plan),
        wanted_(wanted),
        strands_(reinterpret_cast<double*>(scratch.floats(2 * sum_strands))),
        mixer_(plan, scratch),
        mlp_(plan, scratch),
        norm_(scratch, plan.piece, plan.d_model),
        normed_(scratch.rows(plan.piece, plan.d_model)),
        logits_(scratch.rows(plan.piece, plan.states)),
        mixed_(scratch.rows(plan.piece, plan.d_model)),
        last_(scratch.rows(plan.piece, plan.d_model)),
        u_(memory.rows((wanted ? plan.blocks : 1) * plan.length, plan.d_model)),
        du_(memory.rows(wanted ? plan.length : 0, plan.d_model)),
        log_p_(memory.floats(plan.length)),
        saved_(
            memory.floats(wanted ? static_cast<std::int64_t>(plan.blocks) * plan.pieces() * mixer_.carry_size() : 0)),
        scratch_size_(scratch.used()),
        memory_size_(memory.used()) {}

  // The rows that a block takes; without gradients every block's output replaces its input.
  MAMBARIUM_HOST_DEVICE NumbersOut input(int block, int piece) const {
    return u_.from_row((wanted_ ? block : 0) * plan_.length + piece * plan_.piece);
  }
  MAMBARIUM_HOST_DEVICE float* saved(int block, int piece) const {
    return saved_ + (static_cast<std::int64_t>(block) * plan_.pieces() + piece) * mixer_.carry_size();
  }

  // What follows the mixer of the last block depends on its own row alone, so that its gradients are taken here.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void forward(const Team& team, const SequenceTask& task, int block) const {
    const BlockLayout& at = plan_.block[block];
    const bool is_last = block == plan_.blocks - 1;
    mixer_.begin(team);
    for (int piece = 0; piece < plan_.pieces(); ++piece) {
      const int rows = plan_.rows_of(piece);
      if (wanted_) mixer_.save(team, saved(block, piece));
      const NumbersOut out = is_last ? last_ : input(block + 1, piece);
      mixer_.forward(team, rows, at, task.weights, input(block, piece), mlp_.any() ? mixed_ : out);
      if (mlp_.any()) mlp_.forward(team, rows, at, task.weights, mixed_, out);
      if (!is_last) continue;
      const NumbersOut du = wanted_ ? du_.from_row(piece * plan_.piece) : NumbersOut();
      loss(team, task, piece * plan_.piece, rows, du);
      if (mlp_.any() && wanted_) mlp_.backward(team, rows, at, task.weights, task.gradients, mixed_, du, du);
    }
  }

  template <class Team>
  MAMBARIUM_HOST_DEVICE void backward(const Team& team, const SequenceTask& task, int block) const {
    const BlockLayout& at = plan_.block[block];
    const bool with_mlp = mlp_.any() && block < plan_.blocks - 1;
    mixer_.begin_backward(team);
    for (int piece = plan_.pieces() - 1; piece >= 0; --piece) {
      const int rows = plan_.rows_of(piece);
      const NumbersOut u = input(block, piece), du = du_.from_row(piece * plan_.piece);
      mixer_.restore(team, saved(block, piece));
      mixer_.forward(team, rows, at, task.weights, u, with_mlp ? mixed_ : NumbersOut());
      if (with_mlp) {
        mlp_.forward(team, rows, at, task.weights, mixed_, last_);
        mlp_.backward(team, rows, at, task.weights, task.gradients, mixed_, du, du);
      }
      mixer_.backward(team, rows, at, task.weights, task.gradients, u, du, du);
    }
  }

  // Final norm, read-out and cross entropy of last_; with gradients also du.
  template <class Team>
  MAMBARIUM_HOST_DEVICE void loss(const Team& team, const SequenceTask& task, int first, int rows,
                                  NumbersOut du) const {
    const int d_model = plan_.d_model, states = plan_.states;
    const bool has_norm = plan_.final_norm != no_part;
    const float* gain = task.weights + (has_norm ? plan_.final_norm : 0);
    if (has_norm) layer_norm(team, rows, d_model, gain, last_, norm_, normed_);
    const Numbers in = has_norm ? normed_ : last_;
    const float* head = task.weights + plan_.lm_head;
    linear(team, rows, d_model, states, {head, d_model}, in, Numbers(), logits_);
    read_out(team, rows, states, plan_.l1, task.targets + first, task.weight_of_target, logits_, log_p_ + first);
    if (!wanted_) return;
    linear_gradient(team, rows, d_model, states, in, logits_, task.gradients + plan_.lm_head);
    linear(team, rows, states, d_model, {head, 1, d_model}, logits_, Numbers(), du);
    if (has_norm) {
      layer_norm_backward(team, rows, d_model, gain, norm_, du, Numbers(), du, task.gradients + plan_.final_norm);
    }
  }

  const ModelPlan& plan_;
  bool wanted_;
  double* strands_;
  Mixer mixer_;
  Mlp mlp_;
  NormRows norm_;
  NumbersOut normed_, logits_, mixed_, last_, u_, du_;
  float *log_p_, *saved_;
  std::int64_t scratch_size_, memory_size_;
};

}  // namespace mambarium::gpu
