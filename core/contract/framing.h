// Frames of the protocol: a 4-byte little-endian length, then that many bytes of CBOR holding a map with "type".
//
// FrameReader takes bytes as they come, in any pieces. It is not thread-safe; one reader per stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace mambarium {

inline constexpr std::size_t maximum_frame_bytes = 256u << 20;

// What is wrong with the bytes, in one sentence that says which frame and what was expected.
class FrameError : public std::runtime_error {
 public:
  FrameError(const std::string& sentence, bool stream_is_broken)
      : std::runtime_error(sentence), stream_is_broken_(stream_is_broken) {}
  bool stream_is_broken() const { return stream_is_broken_; }  // a bad length: nothing after it can be read

 private:
  bool stream_is_broken_;
};

std::vector<std::uint8_t> encode_frame(const nlohmann::json& message);

class FrameReader {
 public:
  void append(std::span<const std::uint8_t> bytes);

  // The next whole frame, or nothing yet. Throws FrameError for a length of 0 or above maximum_frame_bytes, for bytes
  // that are not CBOR, for CBOR that is not a map with a text "type". After a bad body the reader stands at the next
  // frame and may go on; after a bad length the stream cannot be trusted any more and every further call throws.
  std::optional<nlohmann::json> next();

  std::size_t frames_read() const { return frames_read_; }
  bool at_frame_border() const { return buffer_.size() == position_; }  // false at end of file: a frame was cut off

 private:
  std::vector<std::uint8_t> buffer_;
  std::size_t position_ = 0;
  std::size_t frames_read_ = 0;
  std::string broken_;
};

}  // namespace mambarium
