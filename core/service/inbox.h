// The requests that come in while the main thread computes: a thread reads frames from a descriptor and queues them.
//
// The queue is bounded: a window that floods the worker is slowed down, not collected in memory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <variant>

#include "core/contract/framing.h"
#include "core/contract/messages.h"

namespace mambarium {

struct BadFrame {
  std::string sentence;
  std::optional<std::int64_t> id;  // of the request that it was meant to be, where it could be read
};
// Nothing more will come. Broken: the bytes cannot be followed any further, and `sentence` says why.
struct StreamEnd {
  bool broken = false;
  std::string sentence;
};
struct Interrupted {};  // Ctrl+C or SIGTERM

using Arrival = std::variant<Request, BadFrame, StreamEnd, Interrupted>;

class Inbox {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Inbox(int descriptor);
  ~Inbox();  // does not wait for a read that never returns
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  std::optional<Arrival> take();  // what is there, or nothing
  Arrival wait();                 // waits for the next
  std::optional<Arrival> wait_until(Clock::time_point time);

  void interrupt();  // from any thread: puts Interrupted before everything else

 private:
  void read_frames();
  bool queue_frames(FrameReader& reader);
  void put(Arrival arrival);
  Arrival pop();  // with mutex_ held

  int descriptor_, stop_ = -1;
  std::mutex mutex_;
  std::condition_variable arrived_, taken_;
  std::deque<Arrival> arrivals_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace mambarium
