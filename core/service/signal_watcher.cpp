#include "core/service/signal_watcher.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <system_error>

#include "core/service/command_error.h"

namespace mambarium {

namespace {

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  // A terminal that closes is a Ctrl+C, unless nohup asked for something else.
  struct sigaction hangup {};
  if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN) sigaddset(&signals, SIGHUP);
  return signals;
}

}  // namespace

void SignalWatcher::block() {
  const sigset_t signals = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

SignalWatcher::SignalWatcher(std::function<void()> on_signal) : on_signal_(std::move(on_signal)) {
  block();
  const sigset_t signals = watched_signals();
  signals_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  stop_ = ::eventfd(0, EFD_CLOEXEC);
  if (signals_ < 0 || stop_ < 0) throw std::system_error(errno, std::generic_category(), "watching signals");
  thread_ = std::thread([this] { watch(); });
}

SignalWatcher::~SignalWatcher() {
  const std::uint64_t one = 1;
  if (::write(stop_, &one, sizeof one) == sizeof one) thread_.join();
  ::close(signals_);
  ::close(stop_);
}

void SignalWatcher::watch() {
  std::array<pollfd, 2> waiting = {{{signals_, POLLIN, 0}, {stop_, POLLIN, 0}}};
  while (true) {
    if (::poll(waiting.data(), waiting.size(), -1) < 0) continue;
    if (waiting[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) != sizeof info) continue;
    if (signalled_.exchange(true)) ::_exit(exit_code::interrupted);
    if (on_signal_) on_signal_();
  }
}

}  // namespace mambarium
