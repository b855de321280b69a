// A whole model of random weights with its batch, and what core/kernels/whole_model says about it.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/kernels/whole_model.h"
#include "core/kernels/whole_model_layout.h"

namespace mambarium::gpu {

using kernels::MixerTensors;
using kernels::ParameterRole;
using kernels::WholeModelLayout;
using kernels::WholeModelShape;
using kernels::WholeModelTensors;

// Which parts there are.
struct Parts {
  bool norm = true, conv_x = true, conv_B = true, conv_C = true, gate = true, decay = true, skip = true;
  bool gated_mlp = true;
  int blocks = 1;
};

// One block whose parts are there where maybe() says so.
template <class Maybe>
Parts some_parts(Maybe& maybe) {
  return {.norm = maybe(),
          .conv_x = maybe(),
          .conv_B = maybe(),
          .conv_C = maybe(),
          .gate = maybe(),
          .decay = maybe(),
          .skip = maybe(),
          .gated_mlp = maybe()};
}

inline std::string description(const WholeModelShape& s, const Parts& p) {
  std::string text;
  const auto say = [&](const char* name, auto value) { text += std::string(name) + "=" + std::to_string(value) + " "; };
  say("batch", s.mixer.batch), say("T", s.mixer.length), say("d", s.mixer.d_model), say("H", s.mixer.heads);
  say("P", s.mixer.headdim), say("N", s.mixer.d_state), say("w", s.mixer.d_conv), say("hidden", s.hidden);
  say("S", s.states), say("l1", s.l1), say("act", static_cast<int>(s.mixer.activation)), say("norm", p.norm);
  say("conv", p.conv_x * 4 + p.conv_B * 2 + p.conv_C), say("gate", p.gate), say("decay", p.decay);
  say("skip", p.skip), say("gated_mlp", p.gated_mlp), say("blocks", p.blocks);
  return text;
}

class ModelFixture {
 public:
  ModelFixture(const WholeModelShape& shape_, const Parts& parts, std::uint64_t seed)
      : shape(shape_), generator_(seed) {
    const auto& m = shape.mixer;
    const std::int64_t d = m.d_model, inner = m.inner(), N = m.d_state, w = m.d_conv;
    weights.embedding = take(shape.states * d, 1.0f);
    for (int block = 0; block < parts.blocks; ++block) {
      auto& b = weights.blocks.emplace_back();
      auto& x = b.mixer;
      const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        return take(rows * columns, 1.0f / std::sqrt(static_cast<float>(columns)));
      };
      if (parts.norm) x.norm = take(d, 0.3f, 1.0f);
      x.in_x = matrix(inner, d), x.in_B = matrix(N, d), x.in_C = matrix(N, d), x.in_dt = matrix(m.heads, d);
      if (parts.gate) x.in_z = matrix(inner, d);
      if (parts.conv_x) x.conv_x = take(inner * w, 0.5f), x.conv_x_bias = take(inner, 0.5f);
      if (parts.conv_B) x.conv_B = take(N * w, 0.5f), x.conv_B_bias = take(N, 0.5f);
      if (parts.conv_C) x.conv_C = take(N * w, 0.5f), x.conv_C_bias = take(N, 0.5f);
      x.dt_bias = take(m.heads, 0.5f, -1.0f);
      if (parts.decay) x.A_log = take(m.heads, 0.5f, 0.0f);
      if (parts.skip) x.D = take(m.heads, 0.3f, 1.0f);
      if (parts.norm) x.y_norm = take(inner, 0.3f, 1.0f);
      x.out_proj = matrix(d, inner);
      if (shape.hidden == 0) continue;
      if (parts.norm) b.mlp.norm = take(d, 0.3f, 1.0f);
      b.mlp.fc1 = matrix(shape.hidden, d);
      if (parts.gated_mlp) b.mlp.fc1_gate = matrix(shape.hidden, d);
      b.mlp.fc2 = matrix(d, shape.hidden);
    }
    if (parts.norm) weights.read_out.norm = take(d, 0.3f, 1.0f);
    weights.read_out.lm_head = take(shape.states * d, 1.0f / std::sqrt(static_cast<float>(d)));
    for (auto* of : {&tokens, &targets}) {
      for (std::int64_t i = 0; i < m.batch * m.length; ++i) {
        of->push_back(static_cast<std::int64_t>(generator_() % static_cast<std::uint64_t>(shape.states)));
      }
    }
  }

  WholeModelLayout layout() const { return {shape, weights}; }
  std::vector<float> flat_weights() const {
    const auto at = layout();
    std::vector<float> flat(static_cast<std::size_t>(at.count));
    kernels::pack(shape, at, weights, flat.data());
    return flat;
  }

  struct Expected {
    double loss = 0;
    std::vector<float> gradients;  // by the layout; 0 where there is no tensor
  };
  // The weights' own storage receives the gradients, so that every tensor of one is one of the other.
  Expected expected() const {
    ModelFixture sums = *this;
    WholeModelTensors<float> gradients;
    for (auto& of : sums.storage_) std::fill(of.begin(), of.end(), NAN);
    sums.point_at(*this, gradients);
    kernels::WholeModelWorkspace workspace;
    Expected result;
    result.loss = kernels::whole_model_loss(shape, weights, tokens.data(), targets.data(), &gradients, workspace, 1);
    WholeModelTensors<const float> as_weights;
    sums.point_at(*this, as_weights);
    const auto at = layout();
    result.gradients.resize(static_cast<std::size_t>(at.count));
    kernels::pack(shape, at, as_weights, result.gradients.data());
    const auto roles = kernels::parameter_roles(shape, at, weights);
    for (std::size_t i = 0; i < roles.size(); ++i) {
      if (roles[i] == ParameterRole::fixed) result.gradients[i] = 0;
    }
    return result;
  }
  // The same model with every weight moved by up to one unit in the last place.
  ModelFixture rounded(std::uint64_t seed) const {
    ModelFixture moved = *this;
    std::mt19937_64 generator(seed);
    std::uniform_real_distribution<float> ulps(-1.0f, 1.0f);
    for (auto& of : moved.storage_) {
      for (float& number : of) number += number * ulps(generator) * 0x1p-23f;
    }
    moved.weights = {};
    moved.point_at(*this, moved.weights);
    return moved;
  }
  void set(const float* tensor, float value) {
    for (auto& of : storage_) {
      if (of.data() == tensor) std::fill(of.begin(), of.end(), value);
    }
  }

  WholeModelShape shape;
  WholeModelTensors<const float> weights;
  std::vector<std::int64_t> tokens, targets;

 private:
  const float* take(std::int64_t count, float deviation, float mean = 0.0f) {
    std::normal_distribution<float> normal(mean, deviation);
    auto& of = storage_.emplace_back(static_cast<std::size_t>(count));
    for (float& number : of) number = normal(generator_);
    return of.data();
  }

  // Pointers into this storage where `original` has them into its own.
  template <class Real>
  void point_at(const ModelFixture& original, WholeModelTensors<Real>& tensors) {
    const auto mine = [&](const float* theirs) -> Real* {
      for (std::size_t i = 0; i < storage_.size(); ++i) {
        if (theirs != nullptr && original.storage_[i].data() == theirs) return storage_[i].data();
      }
      return nullptr;
    };
    const auto& from = original.weights;
    tensors.embedding = mine(from.embedding);
    for (const auto& block : from.blocks) {
      const auto& m = block.mixer;
      tensors.blocks.push_back(
          {{mine(m.norm), mine(m.in_x), mine(m.in_B), mine(m.in_C), mine(m.in_z), mine(m.in_dt), mine(m.conv_x),
            mine(m.conv_x_bias), mine(m.conv_B), mine(m.conv_B_bias), mine(m.conv_C), mine(m.conv_C_bias),
            mine(m.dt_bias), mine(m.A_log), mine(m.D), mine(m.y_norm), mine(m.out_proj)},
           {mine(block.mlp.norm), mine(block.mlp.fc1), mine(block.mlp.fc1_gate), mine(block.mlp.fc2)}});
    }
    tensors.read_out = {mine(from.read_out.norm), mine(from.read_out.lm_head)};
  }

  std::mt19937_64 generator_;
  std::deque<std::vector<float>> storage_;
};

// Differences of two gradients of a model, by tensor, relative to the largest number of the tensor; or to a thousandth
// of the largest gradient of all, since a norm makes some vanish.
inline std::map<std::string, double> gradient_differences(const ModelFixture& model, const std::vector<float>& found,
                                                          const std::vector<float>& expected) {
  const auto at = model.layout();
  std::vector<std::pair<std::int64_t, std::string>> starts{{at.embedding, "embedding"}, {at.lm_head, "lm_head"}};
  const auto add = [&](std::int64_t first, const std::string& name) {
    if (first != kernels::no_part) starts.emplace_back(first, name + " at " + std::to_string(first));
  };
  add(at.final_norm, "final norm");
  for (const auto& b : at.blocks) {
    add(b.norm, "norm"), add(b.in, "in_proj"), add(b.taps, "taps"), add(b.conv_bias, "conv bias");
    add(b.dt_bias, "dt_bias"), add(b.A_log, "A_log"), add(b.D, "D"), add(b.y_norm, "y norm"), add(b.out, "out_proj");
    add(b.mlp_norm, "mlp norm"), add(b.fc1, "fc1"), add(b.fc2, "fc2");
  }
  std::sort(starts.begin(), starts.end());
  starts.emplace_back(at.count, "end");
  double of_all = 0;
  for (const float number : expected) of_all = std::max(of_all, std::abs(static_cast<double>(number)));
  std::map<std::string, double> result;
  for (std::size_t part = 0; part + 1 < starts.size(); ++part) {
    double off = 0, magnitude = of_all / 1000;
    for (auto i = static_cast<std::size_t>(starts[part].first); i < static_cast<std::size_t>(starts[part + 1].first);
         ++i) {
      magnitude = std::max(magnitude, std::abs(static_cast<double>(expected[i])));
      const double difference = std::abs(static_cast<double>(found[i]) - static_cast<double>(expected[i]));
      off = std::max(off, std::isfinite(difference) ? difference : HUGE_VAL);
    }
    result[starts[part].second] = off / magnitude;
  }
  return result;
}

// Whether found is within 2e-5 of what core/kernels says, by tensor. Some points are worse conditioned than that (sums
// that cancel: D, where a norm follows y = D x times a number): there four times what rounding the weights once
// does to the expected gradient is added, since either side rounds at every step.
inline bool gradients_agree(const ModelFixture& model, const std::vector<float>& found,
                            const std::vector<float>& expected, double& largest, std::string& complaint) {
  constexpr double tolerance = 2e-5;
  std::map<std::string, double> conditioning;
  for (const auto& [name, difference] : gradient_differences(model, found, expected)) {
    if (difference > tolerance && conditioning.empty()) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto moved = gradient_differences(model, model.rounded(seed).expected().gradients, expected);
        for (const auto& [of, by] : moved) conditioning[of] = std::max(conditioning[of], by);
      }
    }
    if (difference > tolerance && !(difference <= tolerance + 4 * conditioning[name])) {
      complaint = name + " is off by " + std::to_string(difference) + ", and rounding moves it by " +
                  std::to_string(conditioning[name]);
      return false;
    }
    if (difference <= tolerance) largest = std::max(largest, difference);
  }
  return true;
}

}  // namespace mambarium::gpu
