// The header of a .npy array, as numpy.lib.format documents it (versions 1, 2 and 3).
//
// "\x93NUMPY", two bytes of version, the length of the text that follows (2 bytes in version 1, else 4, least
// significant first), and that text: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. The numbers follow.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace mambarium {

enum class NpyKind { boolean, signed_integer, unsigned_integer, real };

struct NpyHeader {
  NpyKind kind = NpyKind::real;
  std::int64_t number_bytes = 0;    // 1, 2, 4 or 8; reals 4 or 8
  bool fortran_order = false;       // the first index changes fastest
  std::vector<std::int64_t> shape;  // empty for a single number
  std::int64_t numbers = 1;         // the product of shape
  std::int64_t data_offset = 0;     // bytes of the header, from the start of the array's file
};

// Reads the header at the start of `bytes`, which belong to an array file of total_bytes (>= bytes.size()), and checks
// that exactly the numbers it claims follow: nothing is allocated for a claim that the file cannot keep. `name` is what
// the messages begin with. 64 KiB of `bytes` are enough for any array.
// Throws std::invalid_argument, one sentence: no .npy, cut short, a text that cannot be read, a type that is not one of
// the above (objects, texts, complex or half numbers, most significant byte first), or a size that does not fit.
NpyHeader parse_npy_header(std::span<const unsigned char> bytes, std::int64_t total_bytes, const std::string& name);

}  // namespace mambarium
