// NpzFile: the arrays of numpy's .npz, a zip of .npy files, stored or deflated.
//
// Only reads. Sizes are checked against the file before memory is taken, and memory grows with what is really there. A
// value type that keeps the path and the directory; every read opens the file again. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/decoding/npy_header.h"

namespace mambarium {

template <typename Number>
struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<Number> values;  // row-major, whatever the order in the file
};

class NpzFile {
 public:
  // Throws std::invalid_argument, one sentence that begins with the path: no such file, a folder, empty, or no zip.
  explicit NpzFile(const std::filesystem::path& path);

  const std::vector<std::string>& names() const { return names_; }  // without ".npy", in the order of the file
  bool contains(const std::string& name) const;
  NpyHeader header(const std::string& name) const;  // throws as read

  // Number is float, double or std::int64_t. Reals are rounded to float where that is asked for, NaN and infinities
  // stay; to std::int64_t only whole numbers go. Throws std::invalid_argument, "path: array: ...": no such array,
  // what parse_npy_header refuses, damaged or truncated data, numbers that are not whole or too large.
  template <typename Number>
  NpyArray<Number> read(const std::string& name) const;

 private:
  std::filesystem::path path_;
  std::vector<std::string> names_;
};

}  // namespace mambarium
