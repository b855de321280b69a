#include "core/contract/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace mambarium {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  while (true) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

namespace {

// Length of the well-formed UTF-8 character at the start of `text`, or 0 (Unicode 15, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t index = 1; index < length; ++index)
    if ((byte(index) & 0xC0) != 0x80) return 0;
  if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) > 0x9F)) return 0;
  if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) return 0;
  return length;
}

bool is_control(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string shown = "\"";
  while (!text.empty() && shown.size() < longest) {
    const std::size_t length = utf8_length(text);
    if (length == 0 || is_control(text.front()))
      shown += '?';
    else
      shown += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return shown + (text.empty() ? "\"" : "...\"");
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

bool is_one_line_of_utf8(std::string_view text) {
  return is_utf8(text) && std::ranges::none_of(text, is_control);
}

std::optional<std::int64_t> integer_from(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> real_from(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string shortest(double number) {
  constexpr double exact_below = 1e15;
  const bool whole = number != 0 && std::abs(number) < exact_below && std::trunc(number) == number;
  if (whole) return std::to_string(static_cast<std::int64_t>(number));
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
  return std::string(buffer.data(), end);
}

TextPlace place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte, text.size()));
  const std::size_t last_newline = before.rfind('\n');
  const auto lines = static_cast<std::size_t>(std::ranges::count(before, '\n'));
  return {lines + 1, last_newline == std::string_view::npos ? before.size() + 1 : before.size() - last_newline};
}

}  // namespace mambarium
