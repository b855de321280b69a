// The safetensors file format, reading and writing, without torch.
//
// A file: 8 bytes, little-endian: n; n bytes of JSON; the data. The JSON maps every tensor's name to {"dtype", "shape",
// "data_offsets": [begin, end]} (bytes of the data, row-major, little-endian), and "__metadata__" to a map of texts.
// source: https://huggingface.co/docs/safetensors (format). Files are taken as hostile: a length beyond the file, names
// that come twice, shapes that overflow, offsets that overlap or leave holes, are refused with one sentence each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace mambarium {

struct SafetensorsEntry {
  std::string dtype;                // "F32"
  std::vector<std::int64_t> shape;  // empty: a scalar
  std::span<const std::byte> data;  // exactly product(shape) numbers; points into the SafetensorsFile
};

class SafetensorsFile {
 public:
  // Throws TrainingError "<path>: <what is wrong>". Where the metadata hold the checksum that safetensors_bytes writes,
  // the data are checked against it.
  static SafetensorsFile read(const std::filesystem::path& path);
  static SafetensorsFile parse(std::vector<std::byte> content, const std::string& path_for_messages);

  const std::map<std::string, SafetensorsEntry>& tensors() const { return tensors_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

 private:
  std::vector<std::byte> content_;
  std::map<std::string, SafetensorsEntry> tensors_;
  std::map<std::string, std::string> metadata_;
};

struct TensorToWrite {
  std::string name;
  std::vector<std::int64_t> shape;
  std::span<const float> data;  // product(shape) numbers
};

// A whole file, tensors in the order given; equal input gives equal bytes. Adds "checksum" to the metadata.
std::vector<std::byte> safetensors_bytes(std::span<const TensorToWrite> tensors,
                                         std::map<std::string, std::string> metadata);

}  // namespace mambarium
