// Token sequences as people give them: "0,1,1,0", a file with a sequence on every line, standard input.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace mambarium {

using TokenSequence = std::vector<std::int32_t>;

// Tokens are separated by commas or blanks and lie in 0 .. states-1. Throws CommandError (bad input) with one sentence
// that names `where` ("--tokens", "data.txt:3"), the token, and what would be right.
TokenSequence parse_tokens(std::string_view text, std::int64_t states, const std::string& where);

// One sequence a line; empty lines and lines that start with # are passed over.
std::vector<TokenSequence> read_token_lines(std::istream& in, std::int64_t states, const std::string& name);

}  // namespace mambarium
