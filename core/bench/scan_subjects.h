// The selective scan as subjects of a bench: the kernel's forward pass, its forward and backward, and LibTorch
// operators' forward and backward in chunks of 64 tokens with autograd, on the same numbers.
#pragma once

#include <vector>

#include "core/bench/subject.h"
#include "core/kernels/diagonal_scan.h"
#include "core/kernels/selective_scan.h"

namespace mambarium {

std::vector<Subject> scan_subjects(const kernels::ScanShape& shape, int threads);  // forward, both, operators

// The scan of Mamba-1, forward and backward, the states kept from one to the other.
Subject diagonal_scan_subject(const kernels::DiagonalScanShape& shape, int threads);

}  // namespace mambarium
