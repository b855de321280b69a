// Convolutions of random inputs and what core/kernels/causal_convolution says, for the tests of gpu/.
#pragma once

#include <string>

#include "core/kernels/causal_convolution.h"
#include "gpu/convolution_plan.h"
#include "tests/gpu/numbers.h"

namespace mambarium::gpu {

struct ConvolutionCase {
  ConvolutionCase(std::int64_t batch_, const kernels::ConvolutionShape& shape_, Activation activation_,
                  std::int64_t gap, std::uint64_t seed)
      : batch(batch_),
        shape(shape_),
        activation(activation_),
        in(batch, shape.length, shape.channels, gap),
        taps(1, shape.channels, shape.window),
        bias(1, 1, shape.channels),
        dout(in),
        out(in),
        din(in),
        dtaps(taps),
        dbias(bias) {
    std::mt19937_64 generator(seed);
    std::normal_distribution<float> normal;
    for (auto* of : {&in, &taps, &bias, &dout}) of->fill([&] { return normal(generator); });
  }

  // In the order out, din, dtaps, dbias.
  std::vector<std::vector<double>> expected() const {
    const std::int64_t window = shape.window, channels = shape.channels;
    auto by_tap = [&](auto&& number) {  // core/kernels has [w][channels]
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t i = 0; i < window; ++i) number(c * window + i, i * channels + c);
      }
    };
    std::vector<float> theirs(static_cast<std::size_t>(window * channels)), into(theirs.size());
    std::vector<float> into_bias(static_cast<std::size_t>(channels)), mine(into.size());
    by_tap([&](auto here, auto there) {
      theirs[static_cast<std::size_t>(there)] = taps.numbers[static_cast<std::size_t>(here)];
    });
    Table<float> y(batch, shape.length, channels), slope = y, dx = y;
    for (std::int64_t b = 0; b < batch; ++b) {
      kernels::causal_convolution(shape, in.rows().sequence(b), theirs.data(), bias.numbers.data(), activation,
                                  y.rows().sequence(b), slope.rows().sequence(b));
      kernels::causal_convolution_backward(shape, in.rows().sequence(b), theirs.data(), slope.rows().sequence(b),
                                           dout.rows().sequence(b), dx.rows().sequence(b), into.data(),
                                           into_bias.data());
    }
    by_tap(
        [&](auto here, auto there) { mine[static_cast<std::size_t>(here)] = into[static_cast<std::size_t>(there)]; });
    return {y.values(), dx.values(), as_doubles(mine), as_doubles(into_bias)};
  }
  bool agrees(double& largest, std::string& complaint) const {
    const auto theirs = expected();
    const std::pair<const char*, const Table<float>*> ours[] = {
        {"out", &out}, {"din", &din}, {"dtaps", &dtaps}, {"dbias", &dbias}};
    for (std::size_t i = 0; i < 4; ++i) {
      const double off = relative_difference(ours[i].second->values(), theirs[i]);
      largest = std::max(largest, off);
      if (off <= 2e-5 && ours[i].second->gaps_untouched()) continue;
      complaint = std::string(ours[i].first) + " is off by " + std::to_string(off) + " at T " +
                  std::to_string(shape.length) + ", " + std::to_string(shape.channels) + " channels, window " +
                  std::to_string(shape.window);
      return false;
    }
    return true;
  }

  std::int64_t batch;
  kernels::ConvolutionShape shape;
  Activation activation;
  Table<float> in, taps, bias, dout, out, din, dtaps, dbias;
};

}  // namespace mambarium::gpu
