// The selective scan as subjects of a bench: the kernel's forward pass, its forward and backward, and LibTorch
// operators' forward and backward in chunks of 64 tokens with autograd, on the same numbers.
#pragma once

#include <vector>

#include "core/bench/subject.h"
#include "core/kernels/selective_scan.h"

namespace mambarium {

std::vector<Subject> scan_subjects(const kernels::ScanShape& shape, int threads);  // forward, both, operators

}  // namespace mambarium
