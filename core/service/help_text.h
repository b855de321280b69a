// Small things that make CLI11's help and messages read like the rest of the program.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace mambarium {

inline constexpr std::size_t help_column = 34;  // where descriptions begin

// Broken into lines that fit beside the column of names on a terminal of 100 characters.
std::string wrapped(std::string_view text);

// The flag takes one of these words: shown as a|b|c; anything else is refused with one sentence.
void accept_only(CLI::Option* option, std::vector<std::string> words);

// The flag takes a number above 0 and up to `most`; anything else is refused with one sentence.
void accept_positive(CLI::Option* option, double most);

// What CLI11 found wrong in the arguments of a program, as a sentence of ours: which flag or argument, and what would
// be right.
std::string sentence_of(const CLI::ParseError& fault, const CLI::App& program);

// A flag with nothing after it ("$RUN" of a variable that is not set) is refused, and not taken for one left out.
CLI::Option* refuse_empty(CLI::Option* option);

}  // namespace mambarium
