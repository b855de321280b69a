#include "core/decoding/mat_struct.h"

#include <array>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include "core/decoding/mat_v5.h"
#include "core/decoding/mat_v73.h"

namespace mambarium {
namespace {

enum class MatVersion { v5, v73, none };

MatVersion version_of(const std::filesystem::path& path) {
  constexpr std::size_t header_bytes = 128;
  constexpr std::string_view hdf5 = "\x89HDF\r\n\x1a\n";
  std::ifstream file(path, std::ios::binary);
  std::array<char, 520> bytes{};
  file.read(bytes.data(), bytes.size());
  const std::string_view start(bytes.data(), static_cast<std::size_t>(file.gcount()));
  for (const std::size_t place : {std::size_t{0}, std::size_t{512}})
    if (start.size() >= place && start.substr(place).starts_with(hdf5)) return MatVersion::v73;
  if (start.size() < header_bytes) return MatVersion::none;
  const std::string_view mark = start.substr(124, 4);
  if (mark == std::string_view("\x00\x01IM", 4) || mark == std::string_view("\x01\x00MI", 4)) return MatVersion::v5;
  return MatVersion::none;
}

}  // namespace

std::unique_ptr<MatStruct> open_mat_struct(const std::filesystem::path& path, const std::string& variable) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) throw std::invalid_argument(path.string() + ": there is no such file");
  if (std::filesystem::is_directory(status))
    throw std::invalid_argument(path.string() + ": is a folder; it must be a MAT-file");
  if (std::filesystem::file_size(path, error) == 0 && !error) throw std::invalid_argument(path.string() + ": is empty");
  switch (version_of(path)) {
    case MatVersion::v5:
      return open_mat_v5(path, variable);
    case MatVersion::v73:
      return open_mat_v73(path, variable);
    default:
      throw std::invalid_argument(path.string() + ": is no MAT-file of version 5 or 7.3");
  }
}

}  // namespace mambarium
