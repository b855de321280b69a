// How a command ends: its exit code, and the sentences it leaves on standard error.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

#include "core/contract/experiment_config.h"

namespace mambarium {

namespace exit_code {
inline constexpr int success = 0;
inline constexpr int failure = 1;        // the input was good, the work could not be done
inline constexpr int bad_input = 2;      // flags, configurations, files
inline constexpr int interrupted = 130;  // Ctrl+C or SIGTERM, after a checkpoint
}  // namespace exit_code

// Thrown by commands; the program prints what() line by line and exits with code().
class CommandError : public std::runtime_error {
 public:
  CommandError(int code, const std::string& sentences) : std::runtime_error(sentences), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

inline CommandError bad_input(const std::string& sentence) {
  return {exit_code::bad_input, sentence};
}
inline CommandError bad_input(std::span<const Problem> problems) {
  std::string lines = to_string(problems);
  if (lines.ends_with('\n')) lines.pop_back();
  return {exit_code::bad_input, lines};
}

}  // namespace mambarium
