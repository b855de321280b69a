#include "core/service/help_text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/contract/text.h"

namespace mambarium {

namespace {

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : separator).append(word);
  return text;
}

// What stands before and behind a separator.
struct Halves {
  std::string before, behind;
};
std::optional<Halves> halves(const std::string& text, std::string_view separator) {
  const std::size_t at = text.find(separator);
  if (at == std::string::npos) return std::nullopt;
  return Halves{text.substr(0, at), text.substr(at + separator.size())};
}

// The command that was being read, and what it is called: "mambarium-worker motif census".
struct Reading {
  const CLI::App* command;
  std::string call;
};
Reading being_read(const CLI::App& program) {
  Reading reading{&program, program.get_name()};
  for (auto below = program.get_subcommands(); !below.empty(); below = reading.command->get_subcommands()) {
    reading.command = below.back();
    reading.call += " " + reading.command->get_name();
  }
  return reading;
}

// "--seed": "0" is not a whole number from 1 to 1000.
std::string out_of_range(const std::string& flag, const std::string& value, const std::string& range) {
  const bool is_whole = range.find('.') == std::string::npos;
  std::string ends = range;
  if (const auto both = halves(range, " to "))
    ends = shortest(real_from(both->before).value_or(0)) + " to " + shortest(real_from(both->behind).value_or(0));
  return flag + ": " + in_quotes(value) + " is not a " + (is_whole ? "whole " : "") + "number from " + ends;
}

std::string not_converted(const std::string& flag, const std::string& value) {
  // Of a number that is one all the same, what is asked for is a whole one, or not as large.
  const auto real = real_from(value);
  const char* const wanted = !real                        ? "a number"
                             : std::trunc(*real) != *real ? "a whole number"
                                                          : "a number that fits here";
  return flag + ": " + in_quotes(value) + " is not " + wanted;
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

void accept_positive(CLI::Option* option, double most) {
  option->check(CLI::Validator(
      [most](std::string& text) {
        const auto number = real_from(trimmed(text));
        return number && *number > 0 && *number <= most
                   ? ""
                   : in_quotes(text) + " is not a number above 0 and up to " + shortest(most);
      },
      ""));
}

// CLI11 keeps what it found in its texts alone.
std::string sentence_of(const CLI::ParseError& fault, const CLI::App& program) {
  const std::string text = fault.what();
  const Reading reading = being_read(program);
  const std::string help = "; " + reading.call + " --help shows what it is";
  if (dynamic_cast<const CLI::ConversionError*>(&fault) != nullptr)
    if (const auto what = halves(text, "Could not convert: "))
      if (const auto pair = halves(what->behind, " = ")) return not_converted(pair->before, pair->behind) + help;
  if (dynamic_cast<const CLI::ValidationError*>(&fault) != nullptr)
    if (const auto pair = halves(text, ": Value "))
      if (const auto range = halves(pair->behind, " not in range "))
        return out_of_range(pair->before, range->before, range->behind);
  if (dynamic_cast<const CLI::RequiredError*>(&fault) != nullptr)
    if (const auto what = halves(text, " is required")) {
      const CLI::Option* option = reading.command->get_option_no_throw(what->before);
      const std::string type = option == nullptr ? "" : option->get_type_name();
      return what->before + (type.empty() ? "" : " (" + type + ")") + " is missing" + help;
    }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&fault) != nullptr)
    if (const auto what = halves(text, ": "))
      return what->before + (what->behind.ends_with(" missing") ? ": its value is missing" : ": it can be given once") +
             help;
  return text;
}

CLI::Option* refuse_empty(CLI::Option* option) {
  return option->check(CLI::Validator([](std::string& text) { return text.empty() ? "its text is empty" : ""; }, ""));
}

}  // namespace mambarium
