#include "core/service/token_sequences.h"

#include <algorithm>

#include "core/contract/text.h"
#include "core/service/command_error.h"

namespace mambarium {

TokenSequence parse_tokens(std::string_view text, std::int64_t states, const std::string& where) {
  // Blanks separate where there are no commas; between two commas a token is missing.
  std::string spaced(trimmed(text));
  const bool has_commas = spaced.find(',') != std::string::npos;
  if (!has_commas) {
    std::ranges::replace(spaced, '\t', ' ');
    std::ranges::replace(spaced, ' ', ',');
  }
  TokenSequence tokens;
  for (std::string_view piece : split(spaced, ',')) {
    piece = trimmed(piece);
    if (piece.empty() && has_commas)
      throw bad_input(where + ": between two commas of " + in_quotes(text) + " a token is missing");
    if (piece.empty()) continue;
    const auto token = integer_from(piece);
    if (!token || *token < 0 || *token >= states)
      throw bad_input(where + ": " + in_quotes(piece) + " is not a token, tokens are the whole numbers 0 to " +
                      std::to_string(states - 1));
    tokens.push_back(static_cast<std::int32_t>(*token));
  }
  if (tokens.empty()) throw bad_input(where + ": there are no tokens in " + in_quotes(text));
  return tokens;
}

std::vector<TokenSequence> read_token_lines(std::istream& in, std::int64_t states, const std::string& name) {
  std::vector<TokenSequence> sequences;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const std::string_view content = trimmed(line);
    if (content.empty() || content.starts_with('#')) continue;
    sequences.push_back(parse_tokens(content, states, name + ":" + std::to_string(number)));
  }
  if (sequences.empty()) throw bad_input(name + ": it holds no token sequence; write one a line, such as 0,1,1,0");
  return sequences;
}

}  // namespace mambarium
