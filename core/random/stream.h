// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011), one stream per purpose.
//
// A stream is (seed, name): "data", "test", "probe", "parameter layers.0.in_proj.weight". The n-th number of a stream
// is a pure function of (seed, name, n), so nothing depends on thread count, order of use, or what else was drawn:
// switching one part of a model off leaves every other initial weight bit-identical, and a resumed run equals an
// uninterrupted one.
//
// The 64-bit key: FNV-1a over the eight bytes of the seed (least significant first) and then the bytes of the name,
// finished by MurmurHash3's 64-bit mixer; key = (low word, high word). It never changes: runs on disk depend on it.
//
// Stream is a value; it may be copied and used from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace mambarium {

// Ten rounds of Philox on one 128-bit counter (word 0 is the least significant).
std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name);

  // The 128-bit block with this counter.
  std::array<std::uint32_t, 4> block(std::uint64_t counter, std::uint64_t counter_high = 0) const;

  std::array<std::uint32_t, 2> key() const { return key_; }

  // Number i of sub-stream `sub` comes from block(i / 2, sub): uniform in [0,1) from the upper 53 bits of that half of
  // the block, normal by Box-Muller from both halves. A longer span begins with the same numbers.
  void uniform(std::span<double> out, std::uint64_t sub = 0) const;
  void normal(std::span<double> out, std::uint64_t sub = 0) const;

 private:
  std::array<std::uint32_t, 2> key_;
};

}  // namespace mambarium
