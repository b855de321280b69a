// Causal attention on plain LibTorch operators: any dtype, autograd by LibTorch.
//
// n = sequences x heads, T tokens, P = width of a head. Query t is of token M+t and sees keys 0 .. M+t, where M tokens
// came before these T.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/models/operators.h"

namespace mambarium::operators {

// y_t = sum_j w_tj v_j / sum_j w_tj, w_tj = exp(q_t . k_j / sqrt(P)), over j <= M+t. q [n, T, P]; keys and values [n,
// M+T, P], the first M of them from before; y [n, T, P]. Memory: n T (M+T) numbers, kept for the backward pass.
at::Tensor softmax_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values);

// The same with w_tj = f(q_t) . f(k_j), f = elu + 1 for every number: the state sum_j (v_j, 1) f(k_j)^T, [n, 1, P+1,
// P], holds all that is needed of the past, as a selective scan's with a_t = dt_t = 1. q, k, v [n, T, P]; `past`: that
// state, undefined for none. Memory: n T 64 numbers.
ScanResult linear_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& past = {});

}  // namespace mambarium::operators
