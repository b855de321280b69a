// Ahead: rows that will be read or written soon, fetched into the second-level cache a line at a time while other work
// goes on. Kernels that step through many tensors at once, or down the columns of one, have more streams than the
// processor foresees by itself; fetching everything at once would hold up all other loads.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"

namespace mambarium::kernels {

class Ahead {
 public:
  void Clear() {
    at_ = end_ = nullptr;
    rows_ = 0;
    added_ = part_ = 0;
  }
  // Rows begin .. end - 1 of `width` numbers; at most 8 of these between two Clear().
  void Add(Strided<const float> rows, std::int64_t begin, std::int64_t end, std::int64_t width) {
    if (begin < end) list_[added_++] = {rows.row(begin), rows.stride, end - begin, width};
  }
  // The next line, if any is left. Cheap enough for the inside of a loop over vectors.
  void Next() {
    if (at_ < end_) {
      __builtin_prefetch(at_, 0, 2);
      at_ += line;
    } else if (rows_ > 0 || part_ < added_) {
      NextRow();
    }
  }

 private:
  static constexpr std::int64_t line = 64 / sizeof(float);
  struct Part {
    const float* row = nullptr;
    std::int64_t stride = 0, rows = 0, width = 0;
  };
  void NextRow() {
    if (rows_ > 0) {
      row_ += list_[part_ - 1].stride;
    } else {
      row_ = list_[part_].row;
      rows_ = list_[part_++].rows;
    }
    --rows_;
    at_ = row_;
    end_ = row_ + list_[part_ - 1].width;
  }

  const float *at_ = nullptr, *end_ = nullptr, *row_ = nullptr;
  std::int64_t rows_ = 0;
  int added_ = 0, part_ = 0;
  Part list_[8];
};

}  // namespace mambarium::kernels
