// Writes what numpy.savez writes: .npy arrays, not compressed, in a zip. Without Qt: LibTorch may bring another Qt
// along, which must not meet this one's containers.
#pragma once

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

inline void append_number(std::string& bytes, std::uint32_t number, int size) {
  for (int i = 0; i < size; ++i) bytes += static_cast<char>(number >> (8 * i) & 255);
}

inline std::uint32_t crc32_of(const std::string& bytes) {
  std::uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

// type: "<f4" or "<i4", of numbers with four bytes; shape: "(3, 4)" or "(3,)".
template <typename Number>
std::string npy_of(const std::string& type, const std::string& shape, const std::vector<Number>& values) {
  static_assert(sizeof(Number) == 4);
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((header.size() + 10 + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  std::string bytes("\x93NUMPY\x01\x00", 8);
  append_number(bytes, static_cast<std::uint32_t>(header.size()), 2);
  return bytes + header + std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4);
}

inline void write_npz(const std::string& path, const std::vector<std::pair<std::string, std::string>>& arrays) {
  std::string file, directory;
  for (const auto& [name, bytes] : arrays) {
    const std::string member = name + ".npy";
    const auto size = static_cast<std::uint32_t>(bytes.size());
    std::string common;
    append_number(common, 20, 2);          // version needed
    append_number(common, 0, 2);           // flags
    append_number(common, 0, 2);           // stored
    append_number(common, 0x5A210000, 4);  // some day
    append_number(common, crc32_of(bytes), 4);
    append_number(common, size, 4);
    append_number(common, size, 4);
    append_number(common, static_cast<std::uint32_t>(member.size()), 2);
    append_number(common, 0, 2);  // extra
    const auto offset = static_cast<std::uint32_t>(file.size());
    file += "PK\x03\x04" + common + member + bytes;
    directory += "PK\x01\x02";
    append_number(directory, 20, 2);
    directory += common;
    for (const int field : {2, 2, 2, 4}) append_number(directory, 0, field);
    append_number(directory, offset, 4);
    directory += member;
  }
  const auto begin = static_cast<std::uint32_t>(file.size());
  file += directory + "PK\x05\x06";
  append_number(file, 0, 4);
  for (int i = 0; i < 2; ++i) append_number(file, static_cast<std::uint32_t>(arrays.size()), 2);
  append_number(file, static_cast<std::uint32_t>(directory.size()), 4);
  append_number(file, begin, 4);
  append_number(file, 0, 2);
  std::ofstream out(path, std::ios::binary);
  if (!out.write(file.data(), static_cast<std::streamsize>(file.size()))) throw std::runtime_error("cannot write");
}

// A day of windows of `bins` bins and two channels, one bin apart: channel 0 is the label of the window and channel 1
// the number of the bin in it. Labels go round 0 .. classes-1.
inline void write_day(const std::string& path, int windows, int bins, int classes) {
  std::vector<float> activity;
  std::vector<std::int32_t> label;
  for (int w = 0; w < windows; ++w) {
    label.push_back(w % classes);
    for (int bin = 0; bin < bins; ++bin) {
      activity.push_back(static_cast<float>(w % classes));
      activity.push_back(static_cast<float>(bin));
    }
  }
  const std::string days = std::to_string(windows), length = std::to_string(bins);
  write_npz(path, {{"neural_activity", npy_of("<f4", "(" + days + ", " + length + ", 2)", activity)},
                   {"classification_label", npy_of("<i4", "(" + days + ",)", label)}});
}
