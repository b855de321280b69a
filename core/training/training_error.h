// TrainingError: a run that cannot go on, in one sentence, with a second one that says what would help.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace mambarium {

// A loss or gradient that is not finite (step, parameter, hint), a disk that is full, a broken file, a folder in use.
class TrainingError : public std::runtime_error {
 public:
  TrainingError(const std::string& message, std::string hint) : std::runtime_error(message), hint_(std::move(hint)) {}
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

}  // namespace mambarium
