// A batch of sequences as a model takes it. Includes torch: for .cpp files of core only.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/tasks/sequence_batch.h"

namespace mambarium {

struct SequenceTensors {
  // int64 [B, T]: tokens[:, :T] and tokens[:, 1:], -1 where a target does not count. Of windows: float32 [B, T,
  // channels], and their labels, int64 [B], or outputs, float32 [B, K].
  at::Tensor inputs, targets;
};

// Sequences first .. first+count-1 of the batch, copied.
SequenceTensors sequence_tensors(const SequenceBatch& batch, std::int64_t first, std::int64_t count);

}  // namespace mambarium
