// What a model of any kind answers: predictions, decay, filters, states and what they count, and the theory's.
#include <algorithm>
#include <cmath>

#include "fake_noise.h"
#include "plots_fake_data.h"

namespace mambarium::fake {

PredictionData prediction(std::int64_t length, std::int64_t states) {
  PredictionData data;
  data.step = 1240;
  Noise noise(3);
  const auto count = static_cast<std::size_t>(states);
  std::vector<std::vector<double>> kernel(count, std::vector<double>(count)), counts = kernel;
  for (auto& row : kernel) {
    double sum = 0;
    for (double& p : row) sum += p = -std::log(noise.uniform() + 1e-9);
    for (double& p : row) p /= sum;
  }
  for (Tensor* tensor : {&data.model, &data.add_beta, &data.oracle}) tensor->shape = {length, states};
  std::size_t token = 0;
  for (std::int64_t t = 0; t < length; ++t) {
    data.tokens.push_back(static_cast<std::int32_t>(token));
    double total = static_cast<double>(states), model_total = 0;
    for (const double c : counts[token]) total += c;
    std::vector<double> model(count);
    for (std::size_t s = 0; s < count; ++s) {
      const double estimate = (counts[token][s] + 1) / total;
      model[s] = std::max(1e-3, estimate + 0.03 * noise.centered());
      model_total += model[s];
      data.add_beta.data.push_back(static_cast<float>(estimate));
      data.oracle.data.push_back(static_cast<float>(kernel[token][s]));
    }
    for (const double p : model) data.model.data.push_back(static_cast<float>(p / model_total));
    double u = noise.uniform();
    std::size_t next = 0;
    while (next + 1 < count && u > kernel[token][next]) u -= kernel[token][next++];
    counts[token][next] += 1;
    token = next;
  }
  data.last_target = static_cast<std::int32_t>(token);
  return data;
}

DecayData decay(std::int64_t length, std::int64_t layers, std::int64_t heads) {
  DecayData data;
  data.step = 1240;
  data.tokens = prediction(length, 2).tokens;
  data.decay.shape = {layers, heads, length};
  Noise noise(11);
  for (std::int64_t line = 0; line < layers * heads; ++line)
    for (std::int64_t t = 0; t < length; ++t) {
      const double base = data.tokens[static_cast<std::size_t>(t)] == 0 ? 0.0022 : 0.0041;
      const double forgotten = base * std::pow(4.0, static_cast<double>(line)) * std::exp(0.4 * noise.centered());
      data.decay.data.push_back(static_cast<float>(1 - std::min(forgotten, 0.95)));
    }
  return data;
}

FilterData filters(std::int64_t layers, std::int64_t window) {
  FilterData data;
  data.step = 1240;
  Noise noise(5);
  const auto fill = [&](std::vector<std::int64_t> shape) {
    Tensor tensor{std::move(shape), {}};
    std::int64_t size = 1;
    for (const std::int64_t extent : tensor.shape) size *= extent;
    for (std::int64_t i = 0; i < size; ++i) tensor.data.push_back(static_cast<float>(0.9 * noise.centered()));
    return tensor;
  };
  for (std::int64_t layer = 0; layer < layers; ++layer)
    data.layers.push_back({{"x", fill({16, window}), fill({16})},
                           {"B", fill({8, window}), fill({8})},
                           {"C", fill({8, window}), fill({8})}});
  return data;
}

StateData state(std::int64_t length, std::int64_t states, std::int64_t order) {
  StateData data;
  data.step = 1240;
  data.order = order;
  data.states = states;
  data.tokens = prediction(length, states).tokens;
  std::int64_t contexts = 1;
  for (std::int64_t k = 0; k < order; ++k) contexts *= states;
  data.state.shape = {length, states, contexts};
  data.counts.shape = data.read_out.shape = {length, contexts, states};
  data.r_squared = 0.987;
  data.r_squared_tokens = 0.612;
  Noise noise(17);
  std::vector<float> counts(static_cast<std::size_t>(contexts * states));
  for (std::int64_t t = 0; t < length; ++t) {
    if (t >= order) {
      std::int64_t context = 0;
      for (std::int64_t k = order; k > 0; --k)
        context = context * states + data.tokens[static_cast<std::size_t>(t - k)];
      ++counts[static_cast<std::size_t>(context * states + data.tokens[static_cast<std::size_t>(t)])];
    }
    for (const float count : counts) {
      data.counts.data.push_back(count);
      data.read_out.data.push_back(count + static_cast<float>(0.6 * noise.centered()));
    }
    for (std::int64_t channel = 0; channel < states; ++channel)
      for (std::int64_t context = 0; context < contexts; ++context)
        data.state.data.push_back((channel % 2 ? -0.1F : 0.1F) *
                                  counts[static_cast<std::size_t>(context * states + channel)]);
  }
  return data;
}

InnerProductData innerProducts(std::int64_t states, std::int64_t window) {
  InnerProductData data;
  data.step = 1240;
  data.window = window;
  data.windows = {""};
  for (std::int64_t place = 0; place < window; ++place) {
    std::vector<std::string> longer;
    for (const std::string& head : data.windows)
      for (std::int64_t token = 0; token < states; ++token) longer.push_back(head + std::to_string(token));
    data.windows = std::move(longer);
  }
  const auto count = static_cast<std::int64_t>(data.windows.size());
  data.products.shape = {count, count};
  Noise noise(23);
  for (const std::string& stored : data.windows)
    for (const std::string& asking : data.windows) {
      const bool same = window >= 2 && stored[stored.size() - 2] == asking.back();
      data.products.data.push_back(static_cast<float>((same ? 0.83 : 0) + 0.05 * noise.centered()));
    }
  return data;
}

QuantisationData quantisation() {
  QuantisationData data;
  data.step = 1240;
  data.state_numbers = 160;
  Noise noise(29);
  for (std::int64_t bits = 2; bits <= 16; ++bits) {
    data.bits.push_back(bits);
    data.gap.push_back(bits == 13 ? -0.0001 : 0.0007 + 0.4 * std::pow(0.3, static_cast<double>(bits - 2)));
    data.standard_error.push_back(0.0002 + 0.00005 * noise.uniform());
  }
  data.bits.push_back(32);
  data.gap.push_back(0.0007);
  data.standard_error.push_back(0.0002);
  return data;
}

TheoremData theorem(double epsilon, double beta) {
  TheoremData data;
  data.epsilon = epsilon;
  data.beta = beta;
  data.every_short = {256, 8, 0.0004 * epsilon, 0.0011 * epsilon};
  data.random_long = {64, 128, 0.0001 * epsilon, 0.0009 * epsilon};
  data.embedding = {{2, 2}, {8.95F, 10.05F, 10.05F, 8.95F}};
  data.conv_x = {{2}, {-0.0995F, 1}};
  data.conv_B = {{2}, {10.05F, 1}};
  return data;
}

}  // namespace mambarium::fake
