// How far an induction head reaches: the share of right answers at lengths it was never trained on (paper 2, section
// 4.1).
//
// Sequences of every length come from stream "extrapolation" of the seed, so every model of a seed answers the same
// ones. They are read in pieces of 512 tokens with the state carried from one to the next (SequenceModel::read), so
// memory does not grow with the length, but for a transformer's keys and values. Right: the answer is the most probable
// token.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/contract/coupling_inspection.h"
#include "core/models/sequence_model.h"

namespace mambarium {

inline constexpr std::int64_t longest_extrapolation = 1 << 20;

// "64,256,1024", ascending and different, each from the task's shortest to longest_extrapolation; else
// std::invalid_argument, one sentence.
std::vector<std::int64_t> lengths_from(const std::string& text);

// Powers of two around the trained length: 64 to 16,384, or to the trained length if that is longer. A model with
// learned positions has none beyond what it was trained on.
std::vector<std::int64_t> usual_lengths(const ExperimentConfig& config);

// Hears of every batch before it is read: at this length so many of the wanted sequences are done.
using LengthListener = std::function<void(std::int64_t length, std::int64_t done, std::int64_t wanted)>;

// tokens: about how many are read at every length, and at least `fewest` sequences of each all the same (0 tokens: just
// these). 95 % intervals of Wilson. Throws std::invalid_argument for a task without an answer.
ExtrapolationData extrapolate(SequenceModel& model, const ExperimentConfig& config,
                              std::span<const std::int64_t> lengths, std::int64_t tokens, std::int64_t fewest,
                              std::int64_t step, const LengthListener& told = {});

}  // namespace mambarium
