#include "core/service/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace mambarium {

namespace {

constexpr int could_not_start = 127;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("starting a process");
    reader = ends[0];
    writer = ends[1];
  }
  ~Pipe() {
    if (reader >= 0) ::close(reader);
    ::close(writer);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int reader = -1, writer = -1;
};

// In the child, between fork and exec: this process may have threads, so only what is safe in a signal handler.
[[noreturn]] void become(const char* program, char* const* arguments, pid_t parent, int output, int errors,
                         const sigset_t& mask) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(could_not_start);
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(errors, STDERR_FILENO);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(program, arguments);
  ::_exit(could_not_start);
}

// Takes what there is; false at the end.
bool take(int descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t got = ::read(descriptor, buffer.data(), buffer.size());
    if (got > 0)
      text.append(buffer.data(), static_cast<std::size_t>(got));
    else if (got == 0 || errno != EINTR)
      return got < 0 && errno == EAGAIN;
  }
}

void close_end(int& descriptor) {
  if (descriptor >= 0) ::close(descriptor);
  descriptor = -1;
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::string& program) {
  std::vector<std::string> words = {program == own_executable ? "mambarium-worker" : program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  Pipe output, errors;
  // A signal that came before exec would be taken by this process's handlers, in the child, and be lost.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ == 0) become(program.c_str(), pointers.data(), parent, output.writer, errors.writer, before);
  const int error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (process_ < 0) throw std::system_error(error, std::generic_category(), "starting a process");
  for (Pipe* pipe : {&output, &errors}) ::fcntl(pipe->reader, F_SETFL, O_NONBLOCK);
  output_end_ = std::exchange(output.reader, -1);
  error_end_ = std::exchange(errors.reader, -1);
}

ChildProcess::~ChildProcess() {
  if (!ended()) {
    ::kill(process_, SIGKILL);
    reap();
  }
  close_end(output_end_);
  close_end(error_end_);
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      output_end_(std::exchange(other.output_end_, -1)),
      error_end_(std::exchange(other.error_end_, -1)),
      exit_code_(other.exit_code_),
      output_(std::move(other.output_)),
      errors_(std::move(other.errors_)) {}

void ChildProcess::wait_for_any(std::span<ChildProcess*> children, int milliseconds) {
  std::vector<pollfd> ends;
  for (const ChildProcess* child : children)
    for (const int end : {child->output_end_, child->error_end_})
      if (end >= 0) ends.push_back({end, POLLIN, 0});
  ::poll(ends.data(), ends.size(), milliseconds);
  for (ChildProcess* child : children) child->take_output();
}

void ChildProcess::take_output() {
  if (output_end_ >= 0 && !take(output_end_, output_)) close_end(output_end_);
  if (error_end_ >= 0 && !take(error_end_, errors_)) close_end(error_end_);
  if (!ended() && output_end_ < 0 && error_end_ < 0) reap();
}

void ChildProcess::interrupt() {
  if (!ended()) ::kill(process_, SIGTERM);
}

void ChildProcess::reap() {
  int status = 0;
  pid_t reaped = -1;
  while ((reaped = ::waitpid(process_, &status, 0)) < 0 && errno == EINTR) continue;
  if (reaped != process_) return;
  constexpr int by_signal = 128;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : by_signal + WTERMSIG(status);
  process_ = -1;
}

}  // namespace mambarium
