#include "core/decoding/npz_file.h"

#include <zip.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "core/contract/text.h"

namespace mambarium {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view suffix = ".npy";
constexpr std::uint64_t most_deflated = 1032;  // bytes that one byte of a deflated stream can become

struct CloseZip {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseEntry {
  void operator()(zip_file_t* entry) const { zip_fclose(entry); }
};
using Archive = std::unique_ptr<zip_t, CloseZip>;
using Entry = std::unique_ptr<zip_file_t, CloseEntry>;

Archive open_archive(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error || !std::filesystem::exists(status)) throw std::invalid_argument(path.string() + ": there is no such file");
  if (std::filesystem::is_directory(status))
    throw std::invalid_argument(path.string() + ": is a folder; it must be a .npz file");
  if (std::filesystem::file_size(path, error) == 0 && !error) throw std::invalid_argument(path.string() + ": is empty");
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive)
    throw std::invalid_argument(path.string() + (code == ZIP_ER_OPEN || code == ZIP_ER_READ
                                                     ? ": cannot be read"
                                                     : ": is no .npz file, or cut short: it has no zip directory"));
  return archive;
}

// The bytes of one entry, read to its end, so that zip's checksum is compared.
std::vector<unsigned char> read_entry(const std::filesystem::path& path, const std::string& name) {
  const std::string where = path.string() + ": " + name;
  const Archive archive = open_archive(path);
  const std::string file = name + std::string(suffix);
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(archive.get(), file.c_str(), 0, &stat) != 0)
    throw std::invalid_argument(path.string() + ": holds no array " + in_quotes(name));
  const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
  if ((stat.valid & needed) != needed) throw std::invalid_argument(where + ": is damaged");
  if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
    throw std::invalid_argument(where + ": is packed by method " + std::to_string(stat.comp_method) +
                                " of zip; stored and deflated arrays can be read");
  const std::uint64_t bytes_on_disk = std::filesystem::file_size(path);
  if (stat.comp_size > bytes_on_disk || stat.size / most_deflated > stat.comp_size)
    throw std::invalid_argument(where + ": claims " + std::to_string(stat.size) + " bytes; the file of " +
                                std::to_string(bytes_on_disk) + " bytes cannot hold them");
  const Entry entry(zip_fopen(archive.get(), file.c_str(), 0));
  if (!entry) throw std::invalid_argument(where + ": cannot be unpacked: " + zip_strerror(archive.get()));

  std::vector<unsigned char> bytes;
  constexpr std::uint64_t piece = std::uint64_t{1} << 22;
  for (;;) {
    const std::size_t before = bytes.size();
    const std::uint64_t next = std::min(piece, stat.size - before);
    bytes.resize(before + next);
    unsigned char end = 0;  // at the end one more byte is asked for: reading past it compares the checksum
    const zip_int64_t got = next == 0 ? zip_fread(entry.get(), &end, 1) : zip_fread(entry.get(), &bytes[before], next);
    if (got < 0 || (got == 0) != (next == 0))
      throw std::invalid_argument(where + ": is damaged or cut short: " +
                                  (got < 0 ? zip_file_strerror(entry.get()) : "its bytes are not as many as it says"));
    if (next == 0) return bytes;
    bytes.resize(before + static_cast<std::uint64_t>(got));
    if (before == 0) parse_npy_header(bytes, static_cast<std::int64_t>(stat.size), where);
  }
}

template <typename Number, typename Stored>
Number converted(Stored value, const std::string& where) {
  if constexpr (std::is_integral_v<Number>) {
    if constexpr (std::is_floating_point_v<Stored>) {
      if (!(std::abs(value) <= Stored{9007199254740992}) || std::trunc(value) != value)
        throw std::invalid_argument(where + ": holds " + shortest(static_cast<double>(value)) +
                                    "; it must hold whole numbers");
    } else if constexpr (std::is_unsigned_v<Stored>) {
      if (value > static_cast<std::uint64_t>(std::numeric_limits<Number>::max()))
        throw std::invalid_argument(where + ": holds " + std::to_string(value) + ", which is too large");
    }
  }
  return static_cast<Number>(value);
}

template <typename Number, typename Stored>
void convert(const NpyHeader& header, const unsigned char* data, const std::string& where, std::vector<Number>& out) {
  const auto stored = [&](std::int64_t i) {
    Stored value;
    std::memcpy(&value, data + i * static_cast<std::int64_t>(sizeof(Stored)), sizeof(Stored));
    return converted<Number, Stored>(value, where);
  };
  out.resize(static_cast<std::size_t>(header.numbers));
  if (!header.fortran_order || header.shape.size() < 2) {
    for (std::int64_t i = 0; i < header.numbers; ++i) out[static_cast<std::size_t>(i)] = stored(i);
    return;
  }
  std::vector<std::int64_t> place(header.shape.size());
  for (std::int64_t i = 0; i < header.numbers; ++i) {
    std::int64_t row_major = 0;
    for (std::size_t axis = 0; axis < place.size(); ++axis) row_major = row_major * header.shape[axis] + place[axis];
    out[static_cast<std::size_t>(row_major)] = stored(i);
    for (std::size_t axis = 0; axis < place.size() && ++place[axis] == header.shape[axis]; ++axis) place[axis] = 0;
  }
}

template <typename Number>
void convert_any(const NpyHeader& header, const unsigned char* data, const std::string& where,
                 std::vector<Number>& out) {
  const bool is_signed = header.kind == NpyKind::signed_integer;
  switch (header.kind) {
    case NpyKind::boolean:
      return convert<Number, std::uint8_t>(header, data, where, out);
    case NpyKind::real:
      return header.number_bytes == 4 ? convert<Number, float>(header, data, where, out)
                                      : convert<Number, double>(header, data, where, out);
    default:
      break;
  }
  switch (header.number_bytes) {
    case 1:
      return is_signed ? convert<Number, std::int8_t>(header, data, where, out)
                       : convert<Number, std::uint8_t>(header, data, where, out);
    case 2:
      return is_signed ? convert<Number, std::int16_t>(header, data, where, out)
                       : convert<Number, std::uint16_t>(header, data, where, out);
    case 4:
      return is_signed ? convert<Number, std::int32_t>(header, data, where, out)
                       : convert<Number, std::uint32_t>(header, data, where, out);
    default:
      return is_signed ? convert<Number, std::int64_t>(header, data, where, out)
                       : convert<Number, std::uint64_t>(header, data, where, out);
  }
}

}  // namespace

NpzFile::NpzFile(const std::filesystem::path& path) : path_(path) {
  const Archive archive = open_archive(path);
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    const char* const entry = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0);
    std::string_view name = entry == nullptr ? "" : entry;
    if (!name.ends_with(suffix)) continue;
    name.remove_suffix(suffix.size());
    names_.emplace_back(name);
  }
}

bool NpzFile::contains(const std::string& name) const {
  return std::ranges::find(names_, name) != names_.end();
}

NpyHeader NpzFile::header(const std::string& name) const {
  const auto bytes = read_entry(path_, name);
  return parse_npy_header(bytes, std::ssize(bytes), path_.string() + ": " + name);
}

template <typename Number>
NpyArray<Number> NpzFile::read(const std::string& name) const {
  const std::string where = path_.string() + ": " + name;
  const auto bytes = read_entry(path_, name);
  const NpyHeader header = parse_npy_header(bytes, std::ssize(bytes), where);
  NpyArray<Number> array{header.shape, {}};
  convert_any(header, bytes.data() + header.data_offset, where, array.values);
  return array;
}

template NpyArray<float> NpzFile::read(const std::string&) const;
template NpyArray<double> NpzFile::read(const std::string&) const;
template NpyArray<std::int64_t> NpzFile::read(const std::string&) const;

}  // namespace mambarium
