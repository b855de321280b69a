#include "core/motif/connection_matrix.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <span>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {

namespace {

constexpr std::uintmax_t most_bytes = std::uintmax_t{512} << 20;

struct Row {
  std::size_t line = 0;
  std::vector<std::string_view> cells;
};

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t';
}

std::string_view unquoted(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  return trimmed(cell);
}

// ' ' stands for any white space.
std::vector<std::string_view> cells_of(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= line.size(); ++at) {
    if (at < line.size() && line[at] == '"') quoted = !quoted;
    const bool ends = at == line.size() || (!quoted && (separator == ' ' ? is_blank(line[at]) : line[at] == separator));
    if (!ends) continue;
    if (separator != ' ' || at > begin) cells.push_back(unquoted(line.substr(begin, at - begin)));
    begin = at + 1;
  }
  return cells;
}

char separator_of(std::string_view line) {
  for (const char separator : {';', ','})
    if (line.find(separator) != std::string_view::npos) return separator;
  return ' ';
}

std::optional<double> number_in(std::string_view cell) {
  if (cell.starts_with('+')) cell.remove_prefix(1);
  return real_from(cell);
}

bool is_number(std::string_view cell) {
  return number_in(cell).has_value();
}

std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  char separator = 0;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (trimmed(line).empty() || trimmed(line).starts_with('#')) continue;
    if (separator == 0) separator = separator_of(line);
    rows.push_back({number, cells_of(line, separator)});
  }
  return rows;
}

bool has_row_names(const std::vector<Row>& rows, bool has_header) {
  const auto begin = rows.begin() + (has_header ? 1 : 0);
  const bool empty_corner = has_header && rows.front().cells.front().empty();
  return empty_corner || (begin != rows.end() && std::all_of(begin, rows.end(), [](const Row& row) {
                            return !row.cells.front().empty() && !is_number(row.cells.front());
                          }));
}

std::string count_of(std::size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

double weight_in(const Row& row, std::size_t cell, const std::string& name) {
  const auto number = number_in(row.cells[cell]);
  if (number && std::isfinite(*number)) return *number;
  throw std::invalid_argument(name + ": line " + std::to_string(row.line) + ", column " + std::to_string(cell + 1) +
                              (row.cells[cell].empty() ? " is empty" : " is " + in_quotes(row.cells[cell])) +
                              "; it must be a finite number such as 0 or 0.25");
}

}  // namespace

ConnectionMatrix parse_connection_matrix(std::string_view text, const std::string& name) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  if (!is_utf8(text))
    throw std::invalid_argument(name +
                                " is not UTF-8 text; a connection matrix is text, a line of numbers for each row");
  std::vector<Row> rows = rows_of(text);
  if (rows.empty()) throw std::invalid_argument(name + ": holds no numbers; it must hold a square matrix of them");
  // A first line of one name and then numbers is a row with its name.
  const auto& first = rows.front().cells;
  const auto words = static_cast<std::size_t>(std::ranges::count_if(first, [](auto cell) { return !is_number(cell); }));
  const bool only_first = words == 1 && !is_number(first.front()) && !first.front().empty() && first.size() > 1;
  const bool has_header = words > 1 || (words == 1 && !only_first);
  // Names may be numbers below an empty corner; elsewhere a line of both is a row with a cell that is wrong.
  if (has_header && words < first.size() && !first.front().empty())
    for (std::size_t cell = 0; cell < first.size(); ++cell) weight_in(rows.front(), cell, name);
  const bool named_rows = has_row_names(rows, has_header);
  const std::size_t skipped = named_rows ? 1 : 0;

  ConnectionMatrix matrix;
  const std::size_t count = rows.size() - (has_header ? 1 : 0);
  if (count > most_connection_nodes || count < 3)
    throw std::invalid_argument(name + ": has " + count_of(count, "row") + " of numbers; it must have 3 to " +
                                std::to_string(most_connection_nodes));
  const auto data = std::span(rows).last(count);
  const std::size_t width = data.front().cells.size() - skipped;
  for (const Row& row : data)
    if (row.cells.size() - skipped != width)
      throw std::invalid_argument(name + ": line " + std::to_string(row.line) + " has " +
                                  count_of(row.cells.size() - skipped, "number") + ", and line " +
                                  std::to_string(data.front().line) + " has " + std::to_string(width) +
                                  "; all rows must be as long");
  if (width != count)
    throw std::invalid_argument(name + ": has " + count_of(count, "row") + " of " + count_of(width, "number") +
                                "; a square matrix has as many rows as columns");
  matrix.n = count;
  matrix.weights.reserve(count * count);
  for (const Row& row : data)
    for (std::size_t cell = skipped; cell < row.cells.size(); ++cell)
      matrix.weights.push_back(weight_in(row, cell, name));
  if (named_rows) {
    for (const Row& row : data) matrix.names.emplace_back(row.cells.front());
  } else if (has_header && first.size() == count) {
    matrix.names.assign(first.begin(), first.end());
  }
  if (has_header && first.size() != count && first.size() != count + skipped)
    throw std::invalid_argument(name + ": line " + std::to_string(rows.front().line) + " names " +
                                count_of(first.size(), "column") + ", and there are " + std::to_string(count));
  return matrix;
}

ConnectionMatrix read_connection_matrix(const std::filesystem::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  std::ifstream stream(path, std::ios::binary);
  if (error || !stream)
    throw std::invalid_argument(path.string() + ": there is no file with a matrix that can be read");
  if (bytes > most_bytes)
    throw std::invalid_argument(path.string() + ": holds " + std::to_string(bytes >> 20) + " MiB, more than " +
                                std::to_string(most_bytes >> 20) + " MiB of a matrix cannot be read");
  std::string text(bytes, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_connection_matrix(text, path.string());
}

}  // namespace mambarium
