// What every message about bad input must be: one line that says something, and names what it is about.
#pragma once

#include <algorithm>
#include <string_view>

inline bool is_one_sentence(std::string_view message) {
  const bool one_line = std::ranges::none_of(message, [](char character) { return character >= 0 && character < ' '; });
  return one_line && message.size() > 10 && message.size() < 400 && message.find("exception") == std::string_view::npos;
}

inline bool mentions(std::string_view message, std::string_view words) {
  return message.find(words) != std::string_view::npos;
}
