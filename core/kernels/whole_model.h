// Loss and gradients of a whole narrow Mamba-2 in one call: embedding, every block (core/kernels/mixer.h and mlp.h say
// what is computed), final norm, read-out and cross entropy, forward and backward.
//
// As many sequences as a vector has lanes are computed at once, each in a lane of its own (core/kernels/lanes/), a few
// tokens at a time so that what lies between two stages stays in cache. The backward pass keeps the rows between
// blocks, the scan's state at the start of every piece and as much else as a cache holds, and computes the rest again.
// What the first block does before its scan depends on the last w tokens alone: where they have no more values than a
// vector has lanes, it is computed once for each of these (lanes/context_front-inl.h). What pays is a batch that fills
// the lanes and states that fit the cache: suits_whole_model().
//
// Weights and gradients are as LibTorch holds them (mixer.h); a null pointer stands for a part that is off, and has to
// be null in both. Results do not depend on the number of threads: gradients are summed by groups of lanes, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/kernels/cross_entropy.h"
#include "core/kernels/mixer.h"
#include "core/kernels/mlp.h"

namespace mambarium::kernels {

struct WholeModelShape {
  MixerShape mixer;  // of every block; `batch` and `length` are those of the model
  Activation mlp_activation = Activation::silu;
  std::int64_t hidden = 0;  // of the MLPs; 0: there are none
  std::int64_t states = 2;  // S
  bool l1 = false;
};

template <class Real>
struct WholeModelTensors {
  Real* embedding = nullptr;  // [S][d_model]
  struct Block {
    MixerTensors<Real> mixer;
    MlpTensors<Real> mlp;
  };
  std::vector<Block> blocks;
  ReadOutTensors<Real> read_out;
};

// Memory and packed weights that are kept from call to call. For one thread at a time.
class WholeModelWorkspace {
 public:
  WholeModelWorkspace();
  ~WholeModelWorkspace();
  WholeModelWorkspace(WholeModelWorkspace&&) noexcept;
  WholeModelWorkspace& operator=(WholeModelWorkspace&&) noexcept;

  struct Memory;
  Memory& memory() { return *memory_; }

 private:
  std::unique_ptr<Memory> memory_;
};

bool suits_whole_model(const WholeModelShape& shape);

// tokens and targets [batch][length], each below S. Returns the mean of -log p(target); with `gradients` also its
// gradient, written to every pointer there is.
double whole_model_loss(const WholeModelShape& shape, const WholeModelTensors<const float>& weights,
                        const std::int64_t* tokens, const std::int64_t* targets,
                        const WholeModelTensors<float>* gradients, WholeModelWorkspace& workspace, int threads);

}  // namespace mambarium::kernels
