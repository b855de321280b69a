#include "core/decoding/npy_header.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "core/contract/text.h"

namespace mambarium {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

// The text of the header: a dictionary with texts, True or False, and tuples of whole numbers as values.
class HeaderText {
 public:
  HeaderText(std::string_view text, const std::string& name) : rest_(text), name_(name) {}

  void read(std::string& type, std::optional<bool>& fortran, std::optional<std::vector<std::int64_t>>& shape) {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        type = description();
      } else if (key == "fortran_order") {
        fortran = truth();
      } else if (key == "shape") {
        shape = tuple();
      } else {
        fail();
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_white();
    if (!rest_.empty()) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw std::invalid_argument(name_ + ": its .npy header cannot be understood from " +
                                in_quotes(rest_.substr(0, 30)) + " on; it must hold descr, fortran_order and shape");
  }
  void skip_white() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool accept(char character) {
    skip_white();
    if (rest_.empty() || rest_.front() != character) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char character) {
    if (!accept(character)) fail();
  }
  std::string_view quoted() {
    skip_white();
    if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"')) fail();
    const std::size_t end = rest_.find(rest_.front(), 1);
    if (end == std::string_view::npos) fail();
    const std::string_view inside = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return inside;
  }
  std::string description() {
    skip_white();
    if (rest_.starts_with('['))
      throw std::invalid_argument(name_ +
                                  ": holds records of several fields; only arrays of plain numbers can be read");
    return std::string(quoted());
  }
  bool truth() {
    skip_white();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(word.size());
      return value;
    }
    fail();
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!accept(')')) {
      const std::size_t digits = std::min(rest_.find_first_not_of("0123456789"), rest_.size());
      const auto size = integer_from(rest_.substr(0, digits));
      if (!size) fail();
      sizes.push_back(*size);
      rest_.remove_prefix(digits);
      accept('L');  // written by Python 2
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }

  std::string_view rest_;
  const std::string& name_;
};

void set_type(NpyHeader& header, const std::string& type, const std::string& name) {
  const auto fail = [&](const std::string& what) {
    throw std::invalid_argument(name + ": holds " + what + "; only whole numbers, float32, float64 and bool, " +
                                "least significant byte first, can be read");
  };
  if (type.find('O') != std::string::npos) fail("Python objects");
  if (type.size() != 3) fail("numbers of the type " + in_quotes(type));
  const char order = type[0], kind = type[1];
  header.number_bytes = type[2] - '0';
  const bool has_size =
      header.number_bytes == 1 || header.number_bytes == 2 || header.number_bytes == 4 || header.number_bytes == 8;
  if (order == '>' && header.number_bytes > 1) fail("numbers with the most significant byte first");
  if (!has_size || std::string_view("<|=>").find(order) == std::string_view::npos)
    fail("numbers of the type " + in_quotes(type));
  if (kind == 'b' && header.number_bytes == 1) {
    header.kind = NpyKind::boolean;
  } else if (kind == 'i') {
    header.kind = NpyKind::signed_integer;
  } else if (kind == 'u') {
    header.kind = NpyKind::unsigned_integer;
  } else if (kind == 'f' && header.number_bytes >= 4) {
    header.kind = NpyKind::real;
  } else {
    fail("numbers of the type " + in_quotes(type));
  }
}

}  // namespace

NpyHeader parse_npy_header(std::span<const unsigned char> bytes, std::int64_t total_bytes, const std::string& name) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (!text.starts_with(magic)) throw std::invalid_argument(name + ": is no .npy array");
  const auto cut_short = [&]() -> std::invalid_argument {
    return std::invalid_argument(name + ": ends within its .npy header; the file is cut short");
  };
  if (bytes.size() < 10) throw cut_short();
  const unsigned version = bytes[6];
  if (version < 1 || version > 3)
    throw std::invalid_argument(name + ": is of version " + std::to_string(version) +
                                " of the .npy format; 1, 2 and 3 can be read");
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) throw cut_short();
  std::uint64_t length = bytes[8] | std::uint64_t{bytes[9]} << 8;
  if (version > 1) length |= std::uint64_t{bytes[10]} << 16 | std::uint64_t{bytes[11]} << 24;
  if (length > bytes.size() - begin) throw cut_short();

  NpyHeader header;
  std::string type;
  std::optional<bool> fortran;
  std::optional<std::vector<std::int64_t>> shape;
  HeaderText(text.substr(begin, length), name).read(type, fortran, shape);
  if (type.empty() || !fortran || !shape)
    throw std::invalid_argument(name + ": its .npy header must hold descr, fortran_order and shape");
  set_type(header, type, name);
  header.fortran_order = *fortran;
  header.shape = *shape;
  header.data_offset = static_cast<std::int64_t>(begin + length);
  const bool none = std::ranges::find(header.shape, 0) != header.shape.end();
  const std::int64_t most = (total_bytes - header.data_offset) / header.number_bytes;
  for (const std::int64_t size : header.shape) {
    if (!none && size > most / header.numbers)
      throw std::invalid_argument(name + ": claims more numbers than the " + std::to_string(most) +
                                  " that its file can hold");
    header.numbers = none ? 0 : header.numbers * size;
  }
  if (header.numbers * header.number_bytes != total_bytes - header.data_offset)
    throw std::invalid_argument(name + ": claims " + std::to_string(header.numbers) + " numbers of " +
                                std::to_string(header.number_bytes) + " bytes, but " +
                                std::to_string(total_bytes - header.data_offset) + " bytes follow");
  return header;
}

}  // namespace mambarium
