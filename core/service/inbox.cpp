#include "core/service/inbox.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace mambarium {

namespace {

constexpr std::size_t most_arrivals = 1024;

Arrival decoded(const nlohmann::json& message) {
  try {
    return decode_request(message);
  } catch (const MessageError& fault) {
    const auto id = message.is_object() ? message.find("id") : message.end();
    const bool has_id = id != message.end() && id->is_number_integer();
    return BadFrame{fault.what(), has_id ? std::optional(id->get<std::int64_t>()) : std::nullopt};
  }
}

}  // namespace

Inbox::Inbox(int descriptor) : descriptor_(descriptor), stop_(::eventfd(0, EFD_CLOEXEC)) {
  if (stop_ < 0) throw std::system_error(errno, std::generic_category(), "reading requests");
  thread_ = std::thread([this] { read_frames(); });
}

Inbox::~Inbox() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  taken_.notify_all();
  const std::uint64_t one = 1;
  if (::write(stop_, &one, sizeof one) == sizeof one) thread_.join();
  ::close(stop_);
}

void Inbox::read_frames() {
  FrameReader reader;
  std::array<std::uint8_t, 1 << 16> bytes;
  std::array<pollfd, 2> waiting = {{{descriptor_, POLLIN, 0}, {stop_, POLLIN, 0}}};
  while (true) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    const ssize_t count = ::read(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) {
      const bool cut = !reader.at_frame_border();
      put(StreamEnd{cut,
                    cut ? "the stream ended in the middle of frame " + std::to_string(reader.frames_read() + 1) : ""});
      return;
    }
    reader.append(std::span(bytes).first(static_cast<std::size_t>(count)));
    if (!queue_frames(reader)) return;
  }
}

// Whether the stream can be followed further.
bool Inbox::queue_frames(FrameReader& reader) {
  while (true) {
    try {
      const auto message = reader.next();
      if (!message) return true;
      put(decoded(*message));
    } catch (const FrameError& fault) {
      if (fault.stream_is_broken()) {
        put(StreamEnd{true, fault.what()});
        return false;
      }
      put(BadFrame{fault.what(), std::nullopt});
    }
  }
}

void Inbox::put(Arrival arrival) {
  std::unique_lock lock(mutex_);
  taken_.wait(lock, [&] { return stopping_ || arrivals_.size() < most_arrivals; });
  arrivals_.push_back(std::move(arrival));
  arrived_.notify_one();
}

void Inbox::interrupt() {
  const std::lock_guard lock(mutex_);
  arrivals_.emplace_front(std::in_place_type<Interrupted>);
  arrived_.notify_one();
}

Arrival Inbox::pop() {
  Arrival arrival = std::move(arrivals_.front());
  arrivals_.pop_front();
  taken_.notify_one();
  return arrival;
}

std::optional<Arrival> Inbox::take() {
  std::unique_lock lock(mutex_);
  if (arrivals_.empty()) return std::nullopt;
  return pop();
}

Arrival Inbox::wait() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [&] { return !arrivals_.empty(); });
  return pop();
}

std::optional<Arrival> Inbox::wait_until(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  if (!arrived_.wait_until(lock, time, [&] { return !arrivals_.empty(); })) return std::nullopt;
  return pop();
}

}  // namespace mambarium
