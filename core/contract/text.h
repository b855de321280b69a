// Small things done with text all over the contract: taking it apart, reading numbers, quoting what somebody gave us.
// Numbers do not depend on the locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mambarium {

std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);  // "" gives one empty piece

// In quotation marks, with control characters and broken UTF-8 replaced by '?' and a long text cut: fit for a message.
std::string in_quotes(std::string_view text);
bool is_utf8(std::string_view text);
bool is_one_line_of_utf8(std::string_view text);  // and free of control characters

// The whole text as a number, or nothing.
std::optional<std::int64_t> integer_from(std::string_view text);
std::optional<double> real_from(std::string_view text);

// A short text that reads back to the same double; whole numbers below 1e15 have no exponent.
std::string shortest(double number);

// The line and column of a byte of a text, from 1: what parse errors name.
struct TextPlace {
  std::size_t line = 1, column = 1;
};
TextPlace place_of(std::string_view text, std::size_t byte);

}  // namespace mambarium
