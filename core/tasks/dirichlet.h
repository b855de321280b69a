// Rows of a random Markov kernel, as cumulative probabilities in units of 2^-31.
//
// For one row: c_0 <= c_1 <= ... <= c_{S-2}, each from 0 to 2^31; symbol s has probability (c_s - c_{s-1}) / 2^31 with
// c_{-1} = 0 and c_{S-1} = 2^31. Dirichlet(1) rows are spacings of sorted uniform numbers: whole-number arithmetic
// only, the same on every machine. Other beta uses the C library's log and cos, which may differ in the last bit
// between machines; that is far below 2^-31 and shows only where a value falls on a rounding border.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/random/stream.h"

namespace mambarium {

inline constexpr std::int64_t probability_one = std::int64_t{1} << 31;

// Row `row` of the kernel of sequence n; out has S-1 places.
void draw_cumulative_row(const Stream& stream, std::uint64_t n, std::uint64_t row, double beta,
                         std::span<std::int64_t> out);

// The S probabilities of a row: to float, or exactly.
void write_probabilities(std::span<const std::int64_t> cumulative, std::span<float> out);
void append_probabilities(std::span<const std::int64_t> cumulative, std::vector<double>& out);

}  // namespace mambarium
