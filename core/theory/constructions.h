// Constructions: weights, written down instead of trained, with which a one-layer MambaZero is an estimator. Models
// like any other: Mamba2 with its parameters set, which can be run, probed and trained further.
//
//   theorem1      order 1, any S: add-beta exactly (paper 1, Theorem 1). d = 2S, N = S, w = 2.
//   theorem4      order 1, S = 2, d = N = 2, w = 2: add-beta within KL epsilon, for any beta > 0 and 1e-12 <= epsilon <
//   1
//                 (paper 1, Theorem 4; the explicit solution with a1 = g1 = c = 1 is ours).
//   higher_order  add-beta of order k, exactly, with ReLU after the convolution: S = 2 and any k (N = 2^k), or any S
//                 and k = 2 (N = S^2); w = k + 1, d = 2S. Not in the paper.
//   switching     order 1 over S ordinary states and a switch token (the last one): the Bayes predictor of the
//   switching
//                 process (make_switching_bayes), but for counting D0 = 1e-8 too little. d = 2S + 1, N = S, w = 2. Not
//                 in the paper.
//
// All have e = 1, one layer, no gate, norm, MLP or skip, and the L1 read-out, whose floor of 1e-5 a large factor on
// lm_head makes vanish: probabilities are those of the estimator to about 1e-14 in float64 on the torch engine, to
// about 1e-6 in float32 on either.
#pragma once

#include <memory>

#include "core/contract/model_start.h"
#include "core/estimators/estimators.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// Throw std::invalid_argument, one sentence naming the value and what would be right.
std::unique_ptr<SequenceModel> make_construction(const ConstructionSettings& settings, Engine engine,
                                                 Precision precision);
// Its weights, written into a model that start_problem() finds nothing wrong with.
void write_construction(const ConstructionSettings& settings, SequenceModel& model);
// The estimator it is, or for theorem4 comes close to.
std::unique_ptr<Estimator> estimator_of(const ConstructionSettings& settings);

}  // namespace mambarium
