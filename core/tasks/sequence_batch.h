// SequenceBatch: what a task draws, and what was drawn from. A value.
//
// Of a decoding task there are windows of channels in the place of tokens: `tokens` is empty, `features` are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mambarium {

struct SequenceBatch {
  std::int64_t batch = 0, length = 0;  // length T: inputs per sequence
  std::vector<std::int32_t> tokens;    // [batch, T+1]: inputs are [:, :T], targets [:, 1:]
  std::vector<std::int64_t> scored;    // [batch]: after which input the one target that counts comes; empty: all do
  std::int64_t channels = 0;           // of the windows
  std::vector<float> features;         // [batch, T, channels]
  std::vector<std::int64_t> labels;    // [batch]: the class of each window, where classes are decoded
  std::vector<float> outputs;          // [batch, K]: its outputs, where these are
  // Only when asked for. Kernels are S^k rows of S probabilities, one after the other: the one of sequence 0 (or, where
  // the chain switches, those of its stretches in order), then sequence 1 ...
  std::vector<float> kernels;
  std::vector<std::size_t> kernel_ends;  // [batch]: where each sequence's end; empty: all have one
  std::span<const std::int32_t> sequence(std::int64_t index) const;  // T+1 tokens
  std::span<const float> kernel(std::int64_t index) const;           // all of the sequence; empty without kernels
};

}  // namespace mambarium
