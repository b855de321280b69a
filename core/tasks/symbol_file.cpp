#include "core/tasks/symbol_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <stdexcept>
#include <unordered_map>

#include "core/contract/text.h"

namespace mambarium {
namespace {

constexpr std::size_t most_symbols = 64;
constexpr std::uintmax_t most_bytes = std::uintmax_t{64} << 20;

bool is_white(char byte) {
  return std::isspace(static_cast<unsigned char>(byte)) != 0;
}

bool separates(char byte, SymbolForm form) {
  return is_white(byte) || (form == SymbolForm::words && (byte == ',' || byte == ';'));
}

std::size_t end_of_character(std::string_view text, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) ++end;
  return end;
}

std::vector<std::string_view> pieces(std::string_view text, SymbolForm form) {
  std::vector<std::string_view> found;
  for (std::size_t begin = 0; begin < text.size();) {
    if (separates(text[begin], form)) {
      ++begin;
      continue;
    }
    std::size_t end = end_of_character(text, begin);
    while (form == SymbolForm::words && end < text.size() && !separates(text[end], form)) ++end;
    found.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return found;
}

void check_text(std::string_view text, const std::string& name) {
  if (!is_utf8(text))
    throw std::invalid_argument(name + " is not UTF-8 text; a file of symbols is plain text, such as that of a book");
  for (std::size_t byte = 0; byte < text.size(); ++byte) {
    if (std::iscntrl(static_cast<unsigned char>(text[byte])) == 0 || is_white(text[byte])) continue;
    const TextPlace place = place_of(text, byte);
    throw std::invalid_argument(name + ": line " + std::to_string(place.line) + ", column " +
                                std::to_string(place.column) + " is a control character; it must be text");
  }
}

}  // namespace

SymbolFile parse_symbols(std::string_view text, SymbolForm form, const std::string& name) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  check_text(text, name);
  const std::vector<std::string_view> found = pieces(text, form);
  SymbolFile file;
  file.tokens.reserve(found.size());
  std::unordered_map<std::string_view, std::int32_t> numbers;
  std::vector<std::string_view> in_order_of_appearance;
  for (const std::string_view symbol : found) {
    const auto [entry, is_new] = numbers.try_emplace(symbol, static_cast<std::int32_t>(numbers.size()));
    file.tokens.push_back(entry->second);
    if (!is_new) continue;
    in_order_of_appearance.push_back(symbol);
    if (numbers.size() <= most_symbols) continue;
    const TextPlace place = place_of(text, static_cast<std::size_t>(symbol.data() - text.data()));
    throw std::invalid_argument(name + ": " + in_quotes(symbol) + " on line " + std::to_string(place.line) +
                                " is symbol number " + std::to_string(most_symbols + 1) + "; at most " +
                                std::to_string(most_symbols) + " different ones can be read" +
                                (form == SymbolForm::words ? "" : ", as words if they are longer than a character"));
  }
  if (numbers.size() < 2)
    throw std::invalid_argument(name + ": a chain needs at least two different symbols, there " +
                                (found.empty() ? "is none" : "is only " + in_quotes(found.front())));
  file.symbols.assign(in_order_of_appearance.begin(), in_order_of_appearance.end());
  std::ranges::sort(file.symbols);
  std::vector<std::int32_t> sorted(in_order_of_appearance.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto place = std::ranges::lower_bound(file.symbols, in_order_of_appearance[i]);
    sorted[i] = static_cast<std::int32_t>(place - file.symbols.begin());
  }
  for (std::int32_t& token : file.tokens) token = sorted[static_cast<std::size_t>(token)];
  return file;
}

SymbolFile read_symbol_file(const std::filesystem::path& path, SymbolForm form) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream) throw std::invalid_argument(path.string() + ": there is no file of symbols that can be read");
  if (bytes > most_bytes)
    throw std::invalid_argument(path.string() + ": holds " + std::to_string(bytes >> 20) + " MiB, more than " +
                                std::to_string(most_bytes >> 20) + " MiB of symbols cannot be read");
  std::string text(bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_symbols(text, form, path.string());
}

}  // namespace mambarium
