// ConnectionMatrix: a square matrix of weights between named nodes, read from a text file: one row a line.
//
// Numbers stand between semicolons, else commas, else white space, whichever the first line has. Lines that are empty
// or begin with # are left out; cells may stand in double quotes. A first line with a cell that is no number holds the
// names of the columns, and a first column in which no cell is a number, or whose name is empty, the names of the rows.
//
// A value; reading it may be done from any thread.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mambarium {

inline constexpr std::size_t most_connection_nodes = 4096;

struct ConnectionMatrix {
  std::size_t n = 0;
  std::vector<double> weights;     // n x n, row-major
  std::vector<std::string> names;  // n, or none
};

// Throws std::invalid_argument, one sentence that begins with `name`: not UTF-8, a cell that is no finite number, rows
// of different lengths, not square, fewer than 3 or more than 4096 nodes.
ConnectionMatrix parse_connection_matrix(std::string_view text, const std::string& name);
// Also when the file cannot be read, or holds more than 512 MiB.
ConnectionMatrix read_connection_matrix(const std::filesystem::path& path);

}  // namespace mambarium
