// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011), one stream per purpose.
//
// A stream is (seed, name): "data", "test", "probe", "parameter layers.0.in_proj.weight". The n-th number of a stream is a
// pure function of (seed, name, n), so nothing depends on thread count, order of use, or what else was drawn: switching
// one part of a model off leaves every other initial weight bit-identical, and a resumed run equals an uninterrupted one.
//
// Stream is a value; it may be copied and used from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mambarium {

class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name);

  // The 128-bit block with this counter.
  std::array<std::uint32_t, 4> block(std::uint64_t counter, std::uint64_t counter_high = 0) const;

  std::array<std::uint32_t, 2> key() const { return key_; }

  // Filled from block `first_block` of sub-stream `sub` on; uniform in [0,1) with 53 bits, normal by Box-Muller.
  void uniform(std::span<double> out, std::uint64_t sub = 0) const;
  void normal(std::span<double> out, std::uint64_t sub = 0) const;

 private:
  std::array<std::uint32_t, 2> key_;
};

}  // namespace mambarium
