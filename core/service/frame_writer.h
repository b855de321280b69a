// Reports out: every report becomes one frame on a descriptor. One thread at a time.
#pragma once

#include <stdexcept>

#include "core/contract/messages.h"

namespace mambarium {

// Nobody reads any more.
class WindowGone : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class FrameWriter {
 public:
  explicit FrameWriter(int descriptor) : descriptor_(descriptor) {}
  void send(const Report& report);  // throws WindowGone

 private:
  int descriptor_;
};

}  // namespace mambarium
