#include "core/decoding/mat_v5.h"

#include <matio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "core/contract/text.h"

namespace mambarium {
namespace {

constexpr std::int64_t header_bytes = 128;
constexpr std::uint32_t packed_element = 15;  // miCOMPRESSED
constexpr std::int64_t most_deflated = 1032;  // bytes that one byte of a deflated stream can become
constexpr std::int64_t most_numbers = std::int64_t{1} << 30;

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

// Whether `bytes` bytes of the stream unpack to the end of a zlib stream, checksum included.
bool unpacks(std::istream& file, std::int64_t bytes) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return false;
  const std::unique_ptr<z_stream, EndInflate> end(&stream);
  std::array<char, 1 << 14> in;
  std::array<unsigned char, 1 << 16> out;
  int code = Z_OK;
  while (bytes > 0 && code != Z_STREAM_END) {
    const std::int64_t next = std::min<std::int64_t>(bytes, std::ssize(in));
    if (!file.read(in.data(), next)) return false;
    bytes -= next;
    stream.next_in = reinterpret_cast<unsigned char*>(in.data());
    stream.avail_in = static_cast<uInt>(next);
    do {
      stream.next_out = out.data();
      stream.avail_out = static_cast<uInt>(out.size());
      code = inflate(&stream, Z_NO_FLUSH);
      if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) return false;
    } while (stream.avail_out == 0);
  }
  return code == Z_STREAM_END;
}

// matio reads zeros, or nothing, where a file ends too early, so that is found out before it is asked.
void check_elements(const std::filesystem::path& path) {
  const auto end = static_cast<std::int64_t>(std::filesystem::file_size(path));
  std::ifstream file(path, std::ios::binary);
  std::array<char, 4> word;
  file.seekg(126);
  file.read(word.data(), 2);
  const bool swapped = (word[0] == 'M') == (std::endian::native == std::endian::little);
  const auto read_word = [&]() -> std::uint32_t {
    std::array<unsigned char, 4> bytes{};
    file.read(reinterpret_cast<char*>(bytes.data()), 4);
    if (swapped) std::swap(bytes[0], bytes[3]), std::swap(bytes[1], bytes[2]);
    return std::bit_cast<std::uint32_t>(bytes);
  };
  const auto cut_short = [&] {
    throw std::invalid_argument(path.string() + ": ends too early; the file is cut short");
  };
  for (std::int64_t place = header_bytes; place < end;) {
    if (end - place < 8) cut_short();
    file.seekg(place);
    const std::uint32_t type = read_word(), bytes = read_word();
    place += 8;
    if (bytes > end - place) cut_short();
    if (type == packed_element && !unpacks(file, bytes))
      throw std::invalid_argument(path.string() + ": is damaged: a packed variable does not unpack");
    place += bytes;
  }
}

template <typename Number>
std::vector<double> as_numbers(const matvar_t& variable, std::int64_t count) {
  std::vector<double> out(static_cast<std::size_t>(count));
  const auto* from = static_cast<const unsigned char*>(variable.data);
  for (std::size_t i = 0; i < out.size(); ++i) {
    Number value;
    std::memcpy(&value, from + i * sizeof(Number), sizeof(Number));
    out[i] = static_cast<double>(value);
  }
  return out;
}

std::vector<double> numbers_of(const matvar_t& variable, std::int64_t count) {
  switch (variable.class_type) {
    case MAT_C_DOUBLE:
      return as_numbers<double>(variable, count);
    case MAT_C_SINGLE:
      return as_numbers<float>(variable, count);
    case MAT_C_INT8:
      return as_numbers<std::int8_t>(variable, count);
    case MAT_C_UINT8:
      return as_numbers<std::uint8_t>(variable, count);
    case MAT_C_INT16:
      return as_numbers<std::int16_t>(variable, count);
    case MAT_C_UINT16:
      return as_numbers<std::uint16_t>(variable, count);
    case MAT_C_INT32:
      return as_numbers<std::int32_t>(variable, count);
    case MAT_C_UINT32:
      return as_numbers<std::uint32_t>(variable, count);
    case MAT_C_INT64:
      return as_numbers<std::int64_t>(variable, count);
    case MAT_C_UINT64:
      return as_numbers<std::uint64_t>(variable, count);
    default:  // MAT_C_CHAR
      return variable.data_size == 1   ? as_numbers<std::uint8_t>(variable, count)
             : variable.data_size == 2 ? as_numbers<std::uint16_t>(variable, count)
                                       : as_numbers<std::uint32_t>(variable, count);
  }
}

struct CloseMat {
  void operator()(mat_t* file) const { Mat_Close(file); }
};
struct FreeVariable {
  void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};

class MatV5Struct final : public MatStruct {
 public:
  MatV5Struct(const std::filesystem::path& path, const std::string& variable)
      : name_(path.string() + ": " + variable), bytes_(static_cast<std::int64_t>(std::filesystem::file_size(path))) {
    check_elements(path);
    file_.reset(Mat_Open(path.c_str(), MAT_ACC_RDONLY));
    if (!file_) throw std::invalid_argument(path.string() + ": cannot be read as a MAT-file");
    variable_.reset(Mat_VarReadInfo(file_.get(), variable.c_str()));
    if (!variable_) throw std::invalid_argument(path.string() + ": holds no variable " + in_quotes(variable));
    if (variable_->class_type != MAT_C_STRUCT || count(*variable_) != 1)
      throw std::invalid_argument(name_ + " is no single struct");
  }

  std::optional<MatValue> read(const std::string& field) const override {
    matvar_t* const found = Mat_VarGetStructFieldByName(variable_.get(), field.c_str(), 0);
    if (found == nullptr) {
      char* const* names = Mat_VarGetStructFieldnames(variable_.get());
      const unsigned fields = names == nullptr ? 0 : Mat_VarGetNumberOfFields(variable_.get());
      for (unsigned i = 0; i < fields; ++i)
        if (field == names[i]) throw std::invalid_argument(name_ + "." + field + " is damaged");
      return std::nullopt;
    }
    const std::string where = name_ + "." + field;
    if (claims_too_much(*found))
      throw std::invalid_argument(where + " claims more numbers than its file of " + std::to_string(bytes_) +
                                  " bytes can hold");
    if (found->data == nullptr || found->class_type == MAT_C_CELL) {
      if (count(*found) > 0 && Mat_VarReadDataAll(file_.get(), found) != 0)
        throw std::invalid_argument(where + " is damaged or cut short");
    }
    return value_of(*found, where, true);
  }

 private:
  static std::int64_t count(const matvar_t& variable) {
    std::int64_t product = 1;
    for (int d = 0; d < variable.rank; ++d) {
      const std::size_t size = variable.dims[d];
      if (size == 0) return 0;
      if (size > static_cast<std::size_t>(most_numbers / product)) return most_numbers + 1;
      product *= static_cast<std::int64_t>(size);
    }
    return variable.rank > 0 ? product : 0;
  }

  bool claims_too_much(const matvar_t& variable) const {
    const std::int64_t numbers = count(variable);
    if (numbers > most_numbers || numbers / most_deflated > bytes_) return true;
    if (variable.compression == MAT_COMPRESSION_NONE && numbers > bytes_) return true;
    if (variable.class_type != MAT_C_CELL || variable.data == nullptr) return false;
    auto* const* const cells = static_cast<matvar_t* const*>(variable.data);
    for (std::int64_t i = 0; i < numbers; ++i)
      if (cells[i] != nullptr && cells[i]->class_type != MAT_C_CELL && claims_too_much(*cells[i])) return true;
    return false;
  }

  static MatValue value_of(const matvar_t& variable, const std::string& where, bool with_cells) {
    MatValue value;
    const bool flat = [&] {
      for (int d = 2; d < variable.rank; ++d)
        if (variable.dims[d] != 1) return false;
      return variable.rank >= 2;
    }();
    const std::int64_t numbers = count(variable);
    if (!flat || variable.isComplex != 0) return value;
    value.rows = static_cast<std::int64_t>(variable.dims[0]);
    value.columns = static_cast<std::int64_t>(variable.dims[1]);
    const auto damaged = [&] { return std::invalid_argument(where + " is damaged or cut short"); };
    if (variable.class_type == MAT_C_CELL) {
      if (!with_cells) return value;
      value.kind = MatValue::Kind::cells;
      if (numbers > 0 && variable.data == nullptr) throw damaged();
      auto* const* const cells = static_cast<matvar_t* const*>(variable.data);
      for (std::int64_t i = 0; i < numbers; ++i) {
        if (cells[i] == nullptr) throw damaged();
        value.cells.push_back(value_of(*cells[i], where, false));
      }
      return value;
    }
    const bool is_text = variable.class_type == MAT_C_CHAR;
    if (!is_text && (variable.class_type < MAT_C_DOUBLE || variable.class_type > MAT_C_UINT64)) return value;
    value.kind = is_text ? MatValue::Kind::text : MatValue::Kind::numbers;
    if (numbers == 0) return value;
    const std::size_t size =
        is_text ? static_cast<std::size_t>(variable.data_size) : Mat_SizeOfClass(variable.class_type);
    const bool known_size = size == 1 || size == 2 || size == 4 || size == 8;
    if (variable.data == nullptr || !known_size || variable.nbytes < static_cast<std::size_t>(numbers) * size)
      throw damaged();
    value.numbers = numbers_of(variable, numbers);
    return value;
  }

  std::string name_;
  std::int64_t bytes_;
  std::unique_ptr<mat_t, CloseMat> file_;
  std::unique_ptr<matvar_t, FreeVariable> variable_;
};

}  // namespace

std::unique_ptr<MatStruct> open_mat_v5(const std::filesystem::path& path, const std::string& variable) {
  return std::make_unique<MatV5Struct>(path, variable);
}

}  // namespace mambarium
