// Why a linear MambaZero cannot count at order 2 and above (derived for Mambarium; the paper has Theorem 1, for order
// 1).
//
// Without activations, with a_t = 1 and the L1 read-out, at a present context j the logit of token z is a constant plus
// a sum over all windows g = (x_{s-w+1}, ..., x_s) of the past of phi_z(g) psi_j(g): phi_z is what the window's x adds
// to the logit, psi_j(g) = b(g) . c(j), and by linearity each is a sum of functions of single tokens of g. To be
// add-beta the sum must be, up to a factor, how often (j, z) occurred: the sum over the windows of 1{g = (j, z)}.
//
// Take binary tokens as +-1 and w = k+1. Products of single tokens, the Walsh functions, are an orthogonal basis of the
// functions of g. phi_z psi_j has Walsh degree 2 at most, 1{g = (j, z)} has all degrees up to k+1. A sum over windows
// also does not change, but for the ends of the sequence, when a telescoping term h(first k tokens of g) - h(last k
// tokens of g) is added. The residual is the least squares distance of 1{g = (j, z)} to the functions of degree 2 or
// less and the telescoping ones together, as the sum of squares over all g, which is also what is missing at g = (j, z)
// itself, out of 1. Above 0 there is no exact MambaZero, of any d and N.
#pragma once

#include <cstdint>

namespace mambarium {

// The largest residual over all (j, z): 0 for k = 1, 1/8 for k = 2, 5/16 for k = 3. 1 <= order <= 8, else
// std::invalid_argument.
double no_go_residual(std::int64_t order);

}  // namespace mambarium
