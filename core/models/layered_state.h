// LayeredState: the ModelState of a model of equal layers, each of which remembers a few tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/models/sequence_model.h"

namespace mambarium {

inline std::invalid_argument foreign_state(std::int64_t batch) {
  return std::invalid_argument("state: not one that initial_state(" + std::to_string(batch) +
                               ") of this model returned");
}

// Layer: copyable, with tensors(), a range of pointers to all it holds; undefined ones stand for nothing. A recurrent
// layer also has hidden() and windows(), ranges of its tensors for ModelState's functions of these names.
template <class Layer>
struct LayeredState final : ModelState {
  std::int64_t batch = 0;
  std::int64_t tokens = 0;  // that the model has seen
  std::vector<Layer> layers;

  LayeredState(std::int64_t sequences, std::size_t count) : batch(sequences), layers(count) {}

  std::unique_ptr<ModelState> clone() const override {
    auto copy = std::make_unique<LayeredState>(*this);
    for (Layer& layer : copy->layers) {
      for (at::Tensor* tensor : layer.tensors()) {
        if (tensor->defined()) *tensor = tensor->clone();
      }
    }
    return copy;
  }

  std::vector<at::Tensor> hidden() const override {
    std::vector<at::Tensor> all;
    if constexpr (requires(const Layer& layer) { layer.hidden(); }) {
      for (const Layer& layer : layers) append(layer.hidden(), all);
    }
    return all;
  }

  std::vector<at::Tensor> windows() const override {
    std::vector<at::Tensor> all;
    if constexpr (requires(const Layer& layer) { layer.windows(); }) {
      for (const Layer& layer : layers) append(layer.windows(), all);
    }
    return all;
  }

  // The state as what it is; std::invalid_argument when a model with so many layers made no such state for `batch`.
  static LayeredState& of(ModelState& state, std::int64_t batch, std::size_t layers) {
    auto* own = dynamic_cast<LayeredState*>(&state);
    if (own == nullptr || own->layers.size() != layers || own->batch != batch) {
      throw foreign_state(batch);
    }
    return *own;
  }

 private:
  template <class Tensors>
  static void append(const Tensors& tensors, std::vector<at::Tensor>& all) {
    for (const at::Tensor& tensor : tensors) {
      if (tensor.defined() && tensor.numel() > 0) all.push_back(tensor);
    }
  }
};

}  // namespace mambarium
