// MatStruct: a variable of MATLAB's class struct in a MAT-file, field by field. Only reads.
//
// Version 5 (MATLAB's -v6 and -v7: mat_v5.cpp, with matio) and version 7.3 (an HDF5 file: mat_v73.cpp), told apart by
// their headers. A field is read when it is asked for, and refused before memory is taken if it claims more numbers
// than its file can hold. The libraries below are not made for several threads: one file at a time in a process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mambarium {

// What a field holds. MATLAB's order: [rows, columns] column by column.
struct MatValue {
  enum class Kind { numbers, text, cells, other };
  Kind kind = Kind::other;  // other: structs, objects, complex or sparse numbers, more than two dimensions
  std::int64_t rows = 0, columns = 0;
  std::vector<double> numbers;  // numbers and text (the characters' codes, UTF-16)
  std::vector<MatValue> cells;  // cells; cells in them are `other`
};

class MatStruct {
 public:
  virtual ~MatStruct() = default;
  // Nothing: there is no such field. Throws std::invalid_argument, "path: variable.field ...", for one that is damaged,
  // cut short or too large.
  virtual std::optional<MatValue> read(const std::string& field) const = 0;
};

// Throws std::invalid_argument, one sentence that begins with the path: no such file, a folder, empty, no MAT-file of
// these versions, cut short, damaged, no such variable, or one that is no single struct.
std::unique_ptr<MatStruct> open_mat_struct(const std::filesystem::path& path, const std::string& variable);

}  // namespace mambarium
