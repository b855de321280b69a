#include "core/service/frame_writer.h"

#include <unistd.h>

#include <cerrno>
#include <span>

#include "core/contract/framing.h"

namespace mambarium {

void FrameWriter::send(const Report& report) {
  const std::vector<std::uint8_t> frame = encode_frame(encode_report(report));
  std::span<const std::uint8_t> rest(frame);
  while (!rest.empty()) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw WindowGone("standard output is closed");
    rest = rest.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace mambarium
