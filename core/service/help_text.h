// Small things that make CLI11's help and messages read like the rest of the program.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mambarium {

inline constexpr std::size_t help_column = 34;  // where descriptions begin

// Broken into lines that fit beside the column of names on a terminal of 100 characters.
std::string wrapped(std::string_view text);

// The flag takes one of these words: shown as a|b|c; anything else is refused with one sentence.
void accept_only(CLI::Option* option, std::vector<std::string> words);

// A flag with nothing after it ("$RUN" of a variable that is not set) is refused, and not taken for one left out.
CLI::Option* refuse_empty(CLI::Option* option);

}  // namespace mambarium
