#include "core/kernels/softmax_cross_entropy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/kernels/flush_denormals.h"
#include "core/kernels/matrix_product.h"
#include "core/kernels/parallel.h"
#include "core/kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/softmax_cross_entropy.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// Looked at twice while they are in the cache: for the largest, then for the sum.
constexpr std::int64_t block_vectors = 32;

struct Normaliser {
  float largest = 0;
  double sum = 0;  // of exp(logit - largest)
};

// Every lane keeps the largest and the sum of its own columns; they are brought together at the end of the row.
Normaliser NormaliserOf(const float* row, std::int64_t vocabulary) {
  const D d;
  const V lowest = hn::Set(d, std::numeric_limits<float>::lowest());
  V largest = lowest, sum = hn::Zero(d);
  for (std::int64_t begin = 0; begin < vocabulary; begin += block_vectors * lanes) {
    const std::int64_t count = std::min(block_vectors * lanes, vocabulary - begin);
    V higher = largest;
    ForEachVector(count, [&](std::int64_t i, std::int64_t some) HWY_ATTR {
      const V logit = LoadUpTo(d, row + begin + i, some);
      const auto real = hn::FirstN(d, static_cast<std::size_t>(some));
      higher = hn::Max(some == lanes ? logit : hn::IfThenElse(real, logit, lowest), higher);
    });
    V more = hn::Zero(d);
    ForEachVector(count, [&](std::int64_t i, std::int64_t some) HWY_ATTR {
      const V e = ExpOfNegative(d, hn::Sub(LoadUpTo(d, row + begin + i, some), higher));
      const auto real = hn::FirstN(d, static_cast<std::size_t>(some));
      more = hn::Add(more, some == lanes ? e : hn::IfThenElseZero(real, e));
    });
    sum = hn::MulAdd(sum, ExpOfNegative(d, hn::Sub(largest, higher)), more);
    largest = higher;
  }
  alignas(64) float of_lane[lanes], sum_of_lane[lanes];
  hn::Store(largest, d, of_lane);
  hn::Store(sum, d, sum_of_lane);
  Normaliser result{*std::max_element(of_lane, of_lane + lanes), 0};
  for (std::int64_t lane = 0; lane < lanes; ++lane) {
    const double shift = static_cast<double>(of_lane[lane]) - static_cast<double>(result.largest);
    result.sum += std::exp(shift) * static_cast<double>(sum_of_lane[lane]);
  }
  return result;
}

// -log p_target, or 0 where the row does not count. gradient (null: not wanted) is `scale` times its gradient.
double RowLoss(const SoftmaxShape& shape, const float* row, std::int64_t target, float scale, float* gradient) {
  const D d;
  if (target == ignored_target) {
    if (gradient != nullptr) {
      std::fill_n(gradient, shape.width, 0.0f);
    }
    return 0;
  }
  const Normaliser n = NormaliserOf(row, shape.vocabulary);
  const double loss = std::log(n.sum) + (static_cast<double>(n.largest) - static_cast<double>(row[target]));
  if (gradient != nullptr) {
    const V largest = hn::Set(d, n.largest), factor = hn::Set(d, scale / static_cast<float>(n.sum));
    ForEachVector(shape.vocabulary, [&](std::int64_t v, std::int64_t count) HWY_ATTR {
      const V p = hn::Mul(ExpOfNegative(d, hn::Sub(LoadUpTo(d, row + v, count), largest)), factor);
      StoreUpTo(p, d, gradient + v, count);
    });
    gradient[target] -= scale;
    std::fill(gradient + shape.vocabulary, gradient + shape.width, 0.0f);
  }
  return loss;
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(RowLoss);

namespace {

constexpr std::int64_t block_rows = 64, block_columns = 256;

std::int64_t rows_that_count(std::int64_t rows, std::int64_t vocabulary, const std::int64_t* targets) {
  std::int64_t count = 0;
  for (std::int64_t t = 0; t < rows; ++t) {
    if (targets[t] < ignored_target || targets[t] >= vocabulary) {
      throw std::out_of_range("row " + std::to_string(t) + ": target " + std::to_string(targets[t]) +
                              " is outside -1 .. " + std::to_string(vocabulary - 1));
    }
    count += targets[t] != ignored_target;
  }
  return count;
}

// The sum of the losses; `losses` has room for one a row.
double sum_of_losses(const SoftmaxShape& shape, Strided<const float> logits, const std::int64_t* targets, float scale,
                     Strided<float> gradient, std::vector<double>& losses, int threads) {
  parallel_ranges(shape.rows, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    for (std::int64_t t = begin; t < end; ++t) {
      float* to = gradient.data != nullptr ? gradient.row(t) : nullptr;
      losses[static_cast<std::size_t>(t)] = HWY_DYNAMIC_DISPATCH(RowLoss)(shape, logits.row(t), targets[t], scale, to);
    }
  });
  double sum = 0;
  for (std::int64_t t = 0; t < shape.rows; ++t) {
    sum += losses[static_cast<std::size_t>(t)];
  }
  return sum;
}

// work(first column, how many, scratch) for every block of the head's rows.
template <class Work>
void for_each_block(std::int64_t width, int threads, const Work& work) {
  parallel_ranges((width + block_columns - 1) / block_columns, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t block = begin; block < end; ++block) {
      const Scratch::Frame frame(scratch);
      work(block * block_columns, std::min(block_columns, width - block * block_columns), scratch);
    }
  });
}

// Rows that may be read, or written, up to a multiple of 16 numbers.
Strided<float> padded(std::int64_t rows, std::int64_t width, const float* from, Scratch& scratch) {
  const auto to = scratch.rows(rows, width);
  for (std::int64_t i = 0; i < rows; ++i) {
    std::copy_n(from + i * width, width, to.row(i));
  }
  return to;
}

}  // namespace

double softmax_cross_entropy(const SoftmaxShape& shape, Strided<const float> logits, const std::int64_t* targets,
                             Strided<float> gradient, int threads) {
  const std::int64_t count = rows_that_count(shape.rows, shape.vocabulary, targets);
  const double weight = count > 0 ? 1 / static_cast<double>(count) : 0;
  std::vector<double> losses(static_cast<std::size_t>(shape.rows));
  return weight * sum_of_losses(shape, logits, targets, static_cast<float>(weight), gradient, losses, threads);
}

double head_cross_entropy(const HeadShape& shape, Strided<const float> hidden, const float* head,
                          const std::int64_t* targets, Strided<float> dhidden, float* dhead, int threads) {
  const std::int64_t count = rows_that_count(shape.rows, shape.vocabulary, targets), d_model = shape.d_model;
  const double weight = count > 0 ? 1 / static_cast<double>(count) : 0;
  if (dhead != nullptr && dhidden.data != nullptr) {
    std::fill_n(dhead, shape.width * d_model, 0.0f);
  }
  Scratch scratch;
  const auto logits = scratch.rows(std::min(block_rows, shape.rows), shape.vocabulary);
  std::vector<double> losses(static_cast<std::size_t>(block_rows));
  double loss = 0;
  for (std::int64_t first = 0; first < shape.rows; first += block_rows) {
    const std::int64_t rows = std::min(block_rows, shape.rows - first);
    const Strided<const float> in{hidden.row(first), hidden.stride};
    for_each_block(shape.vocabulary, threads, [&](std::int64_t v, std::int64_t columns, Scratch& own) {
      const auto turned = own.rows(d_model, columns);
      transpose(columns, d_model, {head + v * d_model, d_model}, turned);
      product(rows, d_model, columns, in, turned, logits.columns(v), false);
    });
    const SoftmaxShape block{.rows = rows, .vocabulary = shape.vocabulary, .width = shape.vocabulary};
    const auto gradient = dhidden.data != nullptr ? logits : Strided<float>{};
    loss += sum_of_losses(block, logits, targets + first, static_cast<float>(weight), gradient, losses, threads);
    if (dhidden.data == nullptr) {
      continue;
    }
    if (dhead != nullptr) {
      for_each_block(shape.vocabulary, threads, [&](std::int64_t v, std::int64_t columns, Scratch& own) {
        const auto sums = padded(columns, d_model, dhead + v * d_model, own);
        add_outer_products(rows, columns, d_model, logits.columns(v), in, sums);
        for (std::int64_t i = 0; i < columns; ++i) {
          std::copy_n(sums.row(i), d_model, dhead + (v + i) * d_model);
        }
      });
    }
    parallel_ranges(rows, threads, [&](std::int64_t begin, std::int64_t end) {
      const FlushDenormals flush;
      Scratch own;
      const auto part = own.rows(end - begin, d_model);
      for (std::int64_t v = 0; v < shape.vocabulary; v += block_columns) {
        const Scratch::Frame frame(own);
        const std::int64_t columns = std::min(block_columns, shape.vocabulary - v);
        const auto rows_of_head = padded(columns, d_model, head + v * d_model, own);
        product(end - begin, columns, d_model, {logits.row(begin) + v, logits.stride}, rows_of_head, part, false);
        for (std::int64_t t = begin; t < end; ++t) {
          float* to = dhidden.row(first + t);
          for (std::int64_t k = 0; k < d_model; ++k) {
            to[k] = part.row(t - begin)[k] + (v == 0 ? 0.0f : to[k]);
          }
        }
      }
    });
  }
  return weight * loss;
}

}  // namespace mambarium::kernels
#endif
