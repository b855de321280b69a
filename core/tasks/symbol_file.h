// SymbolFile: a person's own chain, read from a text or CSV file of symbols.
//
// characters: every character is a symbol, line ends and other white space apart ("ACGTTA"). words: symbols stand
// between white space, commas and semicolons, row after row ("up,down,down"). Both read UTF-8. Symbols are numbered in
// the order of their bytes, so equal files give equal tokens. A value; reading it may be done from any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mambarium {

enum class SymbolForm { characters, words };

struct SymbolFile {
  std::vector<std::string> symbols;  // what token 0, 1, ... is
  std::vector<std::int32_t> tokens;
};

// Throws std::invalid_argument, one sentence that begins with `name`: not UTF-8, a control character, more than 64
// different symbols, or a single one.
SymbolFile parse_symbols(std::string_view text, SymbolForm form, const std::string& name);
// Also when the file cannot be read, or holds more than 64 MiB.
SymbolFile read_symbol_file(const std::filesystem::path& path, SymbolForm form);

}  // namespace mambarium
