#include "core/random/stream.h"

#include <cmath>
#include <numbers>

namespace mambarium {
namespace {

std::uint64_t hash_seed_and_name(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto add = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x00000100000001b3u; };
  for (int shift = 0; shift < 64; shift += 8) add(static_cast<std::uint8_t>(seed >> shift));
  for (const char character : name) add(static_cast<std::uint8_t>(character));
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53u;
  return hash ^ (hash >> 33);
}

double unit_interval(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>(((std::uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = std::uint64_t{0xD2511F53u} * counter[0];
    const std::uint64_t product1 = std::uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

Stream::Stream(std::uint64_t seed, std::string_view name) {
  const std::uint64_t hash = hash_seed_and_name(seed, name);
  key_ = {static_cast<std::uint32_t>(hash), static_cast<std::uint32_t>(hash >> 32)};
}

std::array<std::uint32_t, 4> Stream::block(std::uint64_t counter, std::uint64_t counter_high) const {
  return philox4x32_10({static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32),
                        static_cast<std::uint32_t>(counter_high), static_cast<std::uint32_t>(counter_high >> 32)},
                       key_);
}

void Stream::uniform(std::span<double> out, std::uint64_t sub) const {
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const auto words = block(i / 2, sub);
    out[i] = unit_interval(words[0], words[1]);
    if (i + 1 < out.size()) out[i + 1] = unit_interval(words[2], words[3]);
  }
}

void Stream::normal(std::span<double> out, std::uint64_t sub) const {
  for (std::size_t i = 0; i < out.size(); i += 2) {
    const auto words = block(i / 2, sub);
    const double radius = std::sqrt(-2.0 * std::log(1.0 - unit_interval(words[0], words[1])));
    const double angle = 2.0 * std::numbers::pi * unit_interval(words[2], words[3]);
    out[i] = radius * std::cos(angle);
    if (i + 1 < out.size()) out[i + 1] = radius * std::sin(angle);
  }
}

}  // namespace mambarium
