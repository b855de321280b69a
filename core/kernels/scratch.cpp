#include "core/kernels/scratch.h"

#include <algorithm>
#include <new>

namespace mambarium::kernels {

namespace {

constexpr std::align_val_t alignment{64};
constexpr std::size_t border = 16;  // floats in 64 bytes
constexpr std::size_t smallest_block = 1u << 18;

}  // namespace

void Scratch::Release::operator()(float* data) const {
  ::operator delete[](data, alignment);
}

float* Scratch::floats(std::int64_t count) {
  const std::size_t wanted = (static_cast<std::size_t>(count) + border - 1) / border * border;
  while (block_ < blocks_.size() && used_ + wanted > blocks_[block_].size) {
    ++block_;
    used_ = 0;
  }
  if (block_ == blocks_.size()) {
    const std::size_t size = std::max(wanted, smallest_block);
    auto* data = static_cast<float*>(::operator new[](size * sizeof(float), alignment));
    blocks_.push_back({std::unique_ptr<float[], Release>(data), size});
    used_ = 0;
  }
  float* taken = blocks_[block_].data.get() + used_;
  used_ += wanted;
  return taken;
}

float* Scratch::zeros(std::int64_t count) {
  float* taken = floats(count);
  std::fill_n(taken, count, 0.0f);
  return taken;
}

Strided<float> Scratch::rows(std::int64_t length, std::int64_t width) {
  const std::int64_t stride = (width + 15) / 16 * 16;
  return {floats(length * stride), stride};
}

}  // namespace mambarium::kernels
