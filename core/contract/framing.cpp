#include "core/contract/framing.h"

#include "core/contract/text.h"

namespace mambarium {

using nlohmann::json;

namespace {

constexpr std::size_t length_bytes = 4;

// nlohmann's CBOR reader recurses: a frame of a million opening brackets would overflow the stack. This pass over the
// same bytes builds nothing; it stops at a depth that no message needs, and at text that is not UTF-8.
class Inspector : public json::json_sax_t {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t& text) override { return utf8(text); }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return deeper(); }
  bool key(string_t& text) override { return utf8(text); }
  bool end_object() override { return shallower(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_array() override { return shallower(); }
  bool parse_error(std::size_t position, const std::string&, const json::exception&) override {
    fault_ = "it stops being CBOR at byte " + std::to_string(position);
    return false;
  }
  const std::string& fault() const { return fault_; }

 private:
  bool deeper() {
    constexpr int deepest = 32;
    if (++depth_ <= deepest) return true;
    fault_ = "it nests deeper than " + std::to_string(deepest) + " levels";
    return false;
  }
  bool shallower() {
    --depth_;
    return true;
  }
  bool utf8(const std::string& text) {
    if (is_utf8(text)) return true;
    fault_ = "it holds text that is not UTF-8";
    return false;
  }

  int depth_ = 0;
  std::string fault_;
};

std::string fault_of(const json& message) {
  if (!message.is_object()) return "it is not a map";
  const auto type = message.find("type");
  if (type == message.end()) return "its map has no \"type\"";
  if (!type->is_string()) return "its \"type\" is not text";
  return "";
}

}  // namespace

std::vector<std::uint8_t> encode_frame(const json& message) {
  std::vector<std::uint8_t> frame(length_bytes);
  json::to_cbor(message, frame);
  const std::size_t length = frame.size() - length_bytes;
  for (std::size_t byte = 0; byte < length_bytes; ++byte) frame[byte] = static_cast<std::uint8_t>(length >> (8 * byte));
  return frame;
}

void FrameReader::append(std::span<const std::uint8_t> bytes) {
  buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(position_));
  position_ = 0;
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

std::optional<json> FrameReader::next() {
  if (!broken_.empty()) throw FrameError(broken_, true);
  if (buffer_.size() - position_ < length_bytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t byte = 0; byte < length_bytes; ++byte)
    length |= std::size_t{buffer_[position_ + byte]} << (8 * byte);
  const std::string name = "frame " + std::to_string(frames_read_ + 1);
  if (length == 0 || length > maximum_frame_bytes) {
    broken_ = name + " claims a length of " + std::to_string(length) + " bytes, a frame has from 1 to " +
              std::to_string(maximum_frame_bytes) + ": the stream cannot be followed any further";
    throw FrameError(broken_, true);
  }
  if (buffer_.size() - position_ - length_bytes < length) return std::nullopt;
  const std::uint8_t* body = buffer_.data() + position_ + length_bytes;
  position_ += length_bytes + length;
  ++frames_read_;
  Inspector inspector;
  std::string fault;
  if (!json::sax_parse(body, body + length, &inspector, json::input_format_t::cbor)) {
    fault = inspector.fault();
  } else {
    json message = json::from_cbor(body, body + length);
    fault = fault_of(message);
    if (fault.empty()) return message;
  }
  throw FrameError(name + " is not a message, a map in CBOR with a text \"type\": " + fault, false);
}

}  // namespace mambarium
