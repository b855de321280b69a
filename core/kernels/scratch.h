// Scratch: short-lived arrays of floats from blocks that are kept for the next sequence. One per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

class Scratch {
 public:
  // Aligned to 64 bytes, uninitialised, valid until the frame that was open (or reset) ends.
  float* floats(std::int64_t count);
  float* zeros(std::int64_t count);
  // [length, width] with rows on 64-byte borders.
  Strided<float> rows(std::int64_t length, std::int64_t width);

  // What was taken while a Frame lives is given back at its end.
  class Frame {
   public:
    explicit Frame(Scratch& scratch) : scratch_(scratch), block_(scratch.block_), used_(scratch.used_) {}
    ~Frame() {
      scratch_.block_ = block_;
      scratch_.used_ = used_;
    }
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

   private:
    Scratch& scratch_;
    std::size_t block_, used_;
  };

 private:
  struct Release {
    void operator()(float* data) const;
  };
  struct Block {
    std::unique_ptr<float[], Release> data;
    std::size_t size = 0;
  };
  std::vector<Block> blocks_;
  std::size_t block_ = 0, used_ = 0;
};

}  // namespace mambarium::kernels
