// A further process of this program, with a command of its own, what a sweep computes its points in; or of another.
//
// Ctrl+C on a terminal does not reach it (it has a process group of its own), and it never outlives this process: the
// system kills it when this one ends, however it ends. Start it from a thread that lives as long as the process, since
// that thread's end counts.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

namespace mambarium {

class ChildProcess {
 public:
  static constexpr const char* own_executable = "/proc/self/exe";

  // Runs this executable, or `program`, with these arguments and nothing on standard input. Throws std::system_error.
  explicit ChildProcess(const std::vector<std::string>& arguments, const std::string& program = own_executable);
  ~ChildProcess();  // kills it if it still runs
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;

  // Takes what it has printed, waiting at most so long for one of them to print or end.
  static void wait_for_any(std::span<ChildProcess*> children, int milliseconds);

  void interrupt();  // SIGTERM
  bool ended() const { return process_ < 0; }
  int exit_code() const { return exit_code_; }  // once ended; 128 + the signal's number when one ended it
  const std::string& output() const { return output_; }
  const std::string& errors() const { return errors_; }

 private:
  void take_output();
  void reap();

  pid_t process_ = -1;
  int output_end_ = -1, error_end_ = -1, exit_code_ = -1;
  std::string output_, errors_;
};

}  // namespace mambarium
