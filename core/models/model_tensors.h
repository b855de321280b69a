// What every model checks of the tokens that come in, and how its tensors go out as plain numbers.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/contract/tensor.h"

namespace mambarium {

// A non-empty int64 tensor of so many dimensions that holds tokens 0 .. states-1; else std::invalid_argument, one
// sentence that begins with `what`.
void check_tokens(const at::Tensor& tokens, std::int64_t dimensions, std::int64_t states, const char* what);
// Both [B, T]; targets may be -1 where they do not count, at least one does.
void check_batch(const at::Tensor& tokens, const at::Tensor& targets, std::int64_t states);
bool every_target_counts(const at::Tensor& targets);

// Rows u [B, T, width] and their targets, of which those that count are kept: [1, count, width] and [count].
struct ScoredRows {
  at::Tensor u, targets;
};
ScoredRows scored_rows(const at::Tensor& u, const at::Tensor& targets);

// std::invalid_argument unless the tensor has this type and these sizes and holds a number; `what` begins the sentence.
void check_shape(const at::Tensor& tensor, const char* what, at::ScalarType type,
                 const std::vector<std::int64_t>& sizes);

at::Tensor row_of(std::span<const std::int32_t> tokens);  // int64 [1, T]

// std::invalid_argument unless 0 <= index < count; `what` names what there are so many of.
void check_place(std::int64_t index, std::int64_t count, const char* what);

// As float32; an undefined tensor is one of no numbers.
Tensor plain_tensor(const at::Tensor& tensor);

}  // namespace mambarium
