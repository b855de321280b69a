#include "core/service/help_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/contract/text.h"

namespace mambarium {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

}  // namespace

std::string wrapped(std::string_view text) {
  constexpr std::size_t width = 100 - help_column;
  std::string lines;
  std::size_t length = 0;
  for (std::string_view word : split(text, ' ')) {
    const bool breaks = length > 0 && length + 1 + word.size() > width;
    if (length > 0) lines += breaks ? '\n' : ' ';
    length = breaks ? word.size() : length + (length > 0 ? 1 : 0) + word.size();
    lines.append(word);
  }
  return lines;
}

void accept_only(CLI::Option* option, std::vector<std::string> words) {
  option->type_name(joined(words, "|"));
  option->check(CLI::Validator(
      [words = std::move(words)](std::string& word) {
        return std::ranges::count(words, word) > 0 ? "" : in_quotes(word) + " is not one of " + joined(words, ", ");
      },
      ""));
}

CLI::Option* refuse_empty(CLI::Option* option) {
  return option->check(CLI::Validator([](std::string& text) { return text.empty() ? "its text is empty" : ""; }, ""));
}

}  // namespace mambarium
