// The kernels that are checked by themselves and not in a whole model, each against its own float64 reference. They
// compute with the vector instructions that are in use; `instructions` is what those are called.
#pragma once

#include <string>
#include <vector>

#include "core/selftest/selftest.h"

namespace mambarium {

std::vector<SelftestCheck> check_diagonal_scan(const std::string& instructions);
std::vector<SelftestCheck> check_coupled_scan(const std::string& instructions);
std::vector<SelftestCheck> check_softmax_cross_entropy(const std::string& instructions);
std::vector<SelftestCheck> check_rms_norm(const std::string& instructions);

}  // namespace mambarium
