#include "core/service/signal_watcher.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <system_error>

#include "core/service/command_error.h"

namespace mambarium {

namespace {

constexpr std::array<int, 4> watched = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

// A signal handler can reach nothing but statics. Blocking the signals and reading them from a descriptor would need
// none, but OpenBLAS starts threads before main() that do not have them blocked, and dies there of the first one.
std::atomic<int> wake_descriptor = -1;
std::atomic<bool> came_before = false, wished_before = false;

extern "C" void wake(int number) {
  // A closing terminal sends its signal more than once, and a reader that is gone makes every write one: only what a
  // person sends is a second wish to stop.
  const bool is_a_wish = number == SIGINT || number == SIGTERM;
  came_before = true;
  if (is_a_wish && wished_before.exchange(true)) ::_exit(exit_code::interrupted);
  const int saved = errno;
  const std::uint64_t one = 1;
  (void)!::write(wake_descriptor, &one, sizeof one);
  errno = saved;
}

// A terminal that closes is a Ctrl+C, unless nohup asked for something else.
bool is_left_ignored(int number) {
  struct sigaction present {};
  return number == SIGHUP && ::sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
}

void set_handlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  for (const int number : watched)
    if (!is_left_ignored(number)) ::sigaction(number, &action, nullptr);
}

}  // namespace

SignalWatcher::SignalWatcher(std::function<void()> on_signal) : on_signal_(std::move(on_signal)) {
  wake_ = ::eventfd(0, EFD_CLOEXEC);
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "watching signals");
  came_before = wished_before = false;
  wake_descriptor = wake_;
  thread_ = std::thread([this] { watch(); });
  set_handlers(wake);
}

SignalWatcher::~SignalWatcher() {
  set_handlers(SIG_DFL);
  stopping_ = true;
  const std::uint64_t one = 1;
  if (::write(wake_, &one, sizeof one) == sizeof one) thread_.join();
  wake_descriptor = -1;
  ::close(wake_);
}

void SignalWatcher::watch() {
  while (!stopping_) {
    std::uint64_t count = 0;
    if (::read(wake_, &count, sizeof count) != sizeof count || !came_before || signalled_.exchange(true)) continue;
    if (on_signal_) on_signal_();
  }
}

}  // namespace mambarium
