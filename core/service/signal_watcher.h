// Ctrl+C, SIGTERM, a closing terminal and a reader that is gone (train | head) as an event: between two steps a command
// asks, or is told, instead of being torn out of one.
//
// While a watcher lives, SIGINT, SIGTERM, SIGHUP and SIGPIPE do not end the process; a second SIGINT or SIGTERM does,
// at once, with exit code 130: the way out when a step hangs. One watcher at a time.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

namespace mambarium {

class SignalWatcher {
 public:
  // on_signal is called once, from the watcher's own thread.
  explicit SignalWatcher(std::function<void()> on_signal = {});
  ~SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;

  bool signalled() const { return signalled_; }

 private:
  void watch();

  std::function<void()> on_signal_;
  std::atomic<bool> signalled_ = false, stopping_ = false;
  int wake_ = -1;
  std::thread thread_;
};

}  // namespace mambarium
