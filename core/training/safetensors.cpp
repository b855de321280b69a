#include "core/training/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/training/durable_file.h"
#include "core/training/training_error.h"

namespace mambarium {
namespace {

static_assert(std::endian::native == std::endian::little, "safetensors data are little-endian");

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;
constexpr const char* metadata_key = "__metadata__";
constexpr const char* checksum_key = "checksum";

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 14> dtype_sizes{{{"F64", 8},
                                                                                  {"F32", 4},
                                                                                  {"F16", 2},
                                                                                  {"BF16", 2},
                                                                                  {"F8_E4M3", 1},
                                                                                  {"F8_E5M2", 1},
                                                                                  {"I64", 8},
                                                                                  {"I32", 4},
                                                                                  {"I16", 2},
                                                                                  {"I8", 1},
                                                                                  {"U64", 8},
                                                                                  {"U32", 4},
                                                                                  {"U16", 2},
                                                                                  {"U8", 1}}};

std::string checksum_text(std::span<const std::byte> data) {
  constexpr const char* digits = "0123456789abcdef";
  const std::uint64_t value = checksum(data);
  std::string text = "fnv1a64:";
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[(value >> shift) & 15];
  return text;
}

class Reader {
 public:
  Reader(std::span<const std::byte> content, const std::string& path) : content_(content), path_(path) {}

  void read(std::map<std::string, SafetensorsEntry>& tensors, std::map<std::string, std::string>& metadata) {
    const nlohmann::json header = read_header();
    for (const auto& [name, value] : header.items()) {
      if (name == metadata_key) {
        read_metadata(value, metadata);
      } else {
        tensors.emplace(name, read_tensor(name, value));
      }
    }
    check_layout();
    const auto expected = metadata.find(checksum_key);
    if (expected != metadata.end() && expected->second != checksum_text(data_)) {
      fail("the data do not match their checksum: the file is damaged");
    }
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw TrainingError(path_ + ": " + what, "Use another checkpoint, or an intact copy of this file.");
  }
  [[noreturn]] void fail_tensor(const std::string& name, const std::string& what) const {
    fail("tensor \"" + name.substr(0, 200) + "\" " + what);
  }

  nlohmann::json read_header() {
    if (content_.size() < length_bytes) {
      fail("has " + std::to_string(content_.size()) + " bytes, too few for a safetensors file");
    }
    std::uint64_t length = 0;
    std::memcpy(&length, content_.data(), length_bytes);
    const std::uint64_t rest = content_.size() - length_bytes;
    if (length > rest) {
      fail("its header should be " + std::to_string(length) + " bytes long but only " + std::to_string(rest) +
           " follow: it is cut off, or not a safetensors file");
    }
    if (length > longest_header) fail("its header of " + std::to_string(length) + " bytes is longer than 100 MB");
    const auto* begin = reinterpret_cast<const char*>(content_.data() + length_bytes);
    data_ = content_.subspan(length_bytes + static_cast<std::size_t>(length));
    if (length == 0 || *begin != '{') fail("its header is not a JSON object");
    return parse_json(begin, begin + length);
  }

  nlohmann::json parse_json(const char* begin, const char* end) const {
    std::vector<std::set<std::string>> keys;
    std::string repeated;
    const auto watch_keys = [&](int, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
      if (event == nlohmann::json::parse_event_t::object_start) keys.emplace_back();
      if (event == nlohmann::json::parse_event_t::object_end) keys.pop_back();
      if (event == nlohmann::json::parse_event_t::key) {
        const auto& key = parsed.get_ref<const std::string&>();
        if (!keys.back().insert(key).second && repeated.empty()) repeated = key;
      }
      return true;
    };
    try {
      nlohmann::json header = nlohmann::json::parse(begin, end, watch_keys);
      if (!repeated.empty()) fail("its header names \"" + repeated.substr(0, 200) + "\" twice");
      return header;
    } catch (const nlohmann::json::exception&) {
      fail("its header is not valid JSON");
    }
  }

  void read_metadata(const nlohmann::json& value, std::map<std::string, std::string>& metadata) const {
    if (!value.is_object()) fail("its metadata are not a map");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) fail("its metadata entry \"" + key.substr(0, 200) + "\" is not a text");
      metadata.emplace(key, text.get<std::string>());
    }
  }

  SafetensorsEntry read_tensor(const std::string& name, const nlohmann::json& value) {
    if (!value.is_object() || !value.contains("dtype") || !value.contains("shape") || !value.contains("data_offsets")) {
      fail_tensor(name, "lacks dtype, shape or data_offsets");
    }
    SafetensorsEntry entry;
    if (!value["dtype"].is_string()) fail_tensor(name, "has a dtype that is not a text");
    entry.dtype = value["dtype"].get<std::string>();
    const auto known = std::ranges::find(dtype_sizes, entry.dtype, &std::pair<std::string_view, std::uint64_t>::first);
    // Bytes that hold truth values have the size of the bytes they are.
    if (known == dtype_sizes.end() && entry.dtype != "BOOL") {
      fail_tensor(name, "has the unknown dtype \"" + entry.dtype.substr(0, 40) + "\"");
    }
    std::uint64_t bytes = known == dtype_sizes.end() ? 1 : known->second;

    if (!value["shape"].is_array()) fail_tensor(name, "has a shape that is not a list");
    constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    bool empty = false;
    for (const auto& size : value["shape"]) {
      if (!size.is_number_unsigned() || size.get<std::uint64_t>() > largest) {
        fail_tensor(name, "has a shape that is not whole numbers from 0 on");
      }
      const auto extent = size.get<std::uint64_t>();
      entry.shape.push_back(static_cast<std::int64_t>(extent));
      empty = empty || extent == 0;
      if (!empty && __builtin_mul_overflow(bytes, extent, &bytes)) fail_tensor(name, "has a shape that overflows");
    }
    if (empty) bytes = 0;

    const auto& offsets = value["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned()) {
      fail_tensor(name, "has data_offsets that are not two whole numbers");
    }
    const auto begin = offsets[0].get<std::uint64_t>();
    const auto end = offsets[1].get<std::uint64_t>();
    if (begin > end || end > data_.size()) {
      fail_tensor(name, "lies at bytes " + std::to_string(begin) + " to " + std::to_string(end) +
                            " of the data, which are " + std::to_string(data_.size()) +
                            " bytes long: the file is cut off or damaged");
    }
    if (end - begin != bytes) {
      fail_tensor(name,
                  "takes " + std::to_string(end - begin) + " bytes where its shape needs " + std::to_string(bytes));
    }
    entry.data = data_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(bytes));
    pieces_.push_back({begin, end, name});
    return entry;
  }

  void check_layout() {
    std::ranges::sort(pieces_);
    std::uint64_t reached = 0;
    for (const auto& [begin, end, name] : pieces_) {
      if (begin < reached) fail_tensor(name, "overlaps another one");
      if (begin > reached) fail_tensor(name, "follows bytes that belong to no tensor");
      reached = end;
    }
    if (reached != data_.size()) {
      fail("holds " + std::to_string(data_.size() - reached) + " bytes after its last tensor");
    }
  }

  std::span<const std::byte> content_, data_;
  const std::string& path_;
  std::vector<std::tuple<std::uint64_t, std::uint64_t, std::string>> pieces_;
};

}  // namespace

SafetensorsFile SafetensorsFile::read(const std::filesystem::path& path) {
  return parse(read_whole_file(path), path.string());
}

SafetensorsFile SafetensorsFile::parse(std::vector<std::byte> content, const std::string& path_for_messages) {
  SafetensorsFile file;
  file.content_ = std::move(content);
  Reader(file.content_, path_for_messages).read(file.tensors_, file.metadata_);
  return file;
}

std::vector<std::byte> safetensors_bytes(std::span<const TensorToWrite> tensors,
                                         std::map<std::string, std::string> metadata) {
  std::vector<std::byte> data;
  nlohmann::json header = nlohmann::json::object();
  for (const TensorToWrite& tensor : tensors) {
    const std::size_t begin = data.size();
    const auto bytes = std::as_bytes(tensor.data);
    data.insert(data.end(), bytes.begin(), bytes.end());
    header[tensor.name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {begin, data.size()}}};
  }
  metadata[checksum_key] = checksum_text(data);
  header[metadata_key] = metadata;
  std::string text = header.dump();
  text.resize((text.size() + length_bytes - 1) / length_bytes * length_bytes, ' ');
  const std::uint64_t length = text.size();
  std::vector<std::byte> content(length_bytes + text.size());
  std::memcpy(content.data(), &length, length_bytes);
  std::memcpy(content.data() + length_bytes, text.data(), text.size());
  content.insert(content.end(), data.begin(), data.end());
  return content;
}

}  // namespace mambarium
