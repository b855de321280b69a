#include "core/tasks/token_sampler.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/tasks/token_sampler.cpp"
#include <hwy/aligned_allocator.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace mambarium::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint32_t>;
using Integers = hn::ScalableTag<std::int32_t>;
using WordVector = hn::Vec<Words>;
using IntegerVector = hn::Vec<Integers>;

struct Product {
  WordVector low, high;
};

HWY_INLINE Product multiply(WordVector a, WordVector b) {
  const Words words;
#if HWY_TARGET == HWY_SCALAR
  const std::uint64_t product = std::uint64_t{hn::GetLane(a)} * hn::GetLane(b);
  return {hn::Set(words, static_cast<std::uint32_t>(product)),
          hn::Set(words, static_cast<std::uint32_t>(product >> 32))};
#else
  const hn::RepartitionToWide<Words> wide;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(words, hn::ShiftRight<32>(hn::BitCast(wide, a))),
                               hn::BitCast(words, hn::ShiftRight<32>(hn::BitCast(wide, b))));
  return {hn::OddEven(hn::BitCast(words, hn::ShiftLeft<32>(odd)), hn::BitCast(words, even)),
          hn::OddEven(hn::BitCast(words, odd), hn::BitCast(words, hn::ShiftRight<32>(even)))};
#endif
}

struct Block {
  WordVector word[4];
};

HWY_INLINE Block philox(Block counter, std::array<std::uint32_t, 2> key) {
  const Words words;
  const auto factor0 = hn::Set(words, 0xD2511F53u);
  const auto factor1 = hn::Set(words, 0xCD9E8D57u);
  for (int round = 0; round < 10; ++round) {
    const Product product0 = multiply(factor0, counter.word[0]);
    const Product product1 = multiply(factor1, counter.word[2]);
    counter = {{hn::Xor(hn::Xor(product1.high, counter.word[1]), hn::Set(words, key[0])), product1.low,
                hn::Xor(hn::Xor(product0.high, counter.word[3]), hn::Set(words, key[1])), product0.low}};
    key = {key[0] + 0x9E3779B9u, key[1] + 0xBB67AE85u};
  }
  return counter;
}

// What all lanes of a group share.
struct Chain {
  IntegerVector states, contexts;
  int context_shift;  // log2(states) where that is whole, else negative
  IntegerVector context_mask;
};

HWY_INLINE IntegerVector next_context(const Chain& chain, IntegerVector context, IntegerVector token,
                                      IntegerVector oldest) {
  if (chain.context_shift >= 0) {
    return hn::And(hn::Add(hn::ShiftLeftSame(context, chain.context_shift), token), chain.context_mask);
  }
  return hn::Sub(hn::Add(hn::Mul(context, chain.states), token), hn::Mul(oldest, chain.contexts));
}

void sample(const TokenJob& job) {
  const Words words;
  const Integers integers;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(words));
  const std::int64_t table = job.contexts << job.search_steps;
  const auto states = static_cast<std::uint32_t>(job.states);
  const Chain chain{hn::Set(integers, static_cast<std::int32_t>(job.states)),
                    hn::Set(integers, static_cast<std::int32_t>(job.contexts)),
                    std::has_single_bit(states) ? std::countr_zero(states) : -1,
                    hn::Set(integers, static_cast<std::int32_t>(job.contexts - 1))};
  const auto columns = hwy::AllocateAligned<std::int32_t>(static_cast<std::size_t>((job.tokens + 4) * lanes));
  HWY_ALIGN std::uint32_t sequence[2][HWY_MAX_BYTES / sizeof(std::uint32_t)];
  HWY_ALIGN std::int32_t table_start[HWY_MAX_BYTES / sizeof(std::int32_t)];

  for (std::int64_t group = 0; group < job.batch; group += lanes) {
    const std::int64_t used = std::min(lanes, job.batch - group);
    for (std::int64_t lane = 0; lane < lanes; ++lane) {
      const std::uint64_t n = job.first + static_cast<std::uint64_t>(group + lane);
      sequence[0][lane] = static_cast<std::uint32_t>(n);
      sequence[1][lane] = static_cast<std::uint32_t>(n >> 32);
      table_start[lane] = static_cast<std::int32_t>(std::min(lane, used - 1) * table);
    }
    const auto sequence_low = hn::Load(words, sequence[0]);
    const auto sequence_high = hn::Load(words, sequence[1]);
    const auto starts = hn::Load(integers, table_start);
    const std::int32_t* const thresholds = job.thresholds + group * table;
    if (job.first_tokens != nullptr) {
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const std::int32_t* const given = job.first_tokens + (group + std::min(lane, used - 1)) * job.order;
        for (std::int64_t t = 0; t < std::min(job.order, job.tokens); ++t)
          columns[static_cast<std::size_t>(t * lanes + lane)] = given[t];
      }
    }

    auto context = hn::Zero(integers);
    for (std::int64_t t = 0; t < job.tokens; t += 4) {
      const auto counter = static_cast<std::uint32_t>(t / 4);
      const Block block = philox({{hn::Set(words, counter), hn::Zero(words), sequence_low, sequence_high}}, job.key);
      for (std::int64_t i = 0; i < 4; ++i) {
        IntegerVector token;
        auto oldest = hn::Zero(integers);
        if (t + i < job.order && job.first_tokens != nullptr) {
          token = hn::Load(integers, columns.get() + (t + i) * lanes);
        } else if (t + i < job.order) {
          token = hn::BitCast(integers, multiply(block.word[i], hn::Set(words, states)).high);
        } else {
          const auto draw = hn::BitCast(integers, hn::ShiftRight<1>(block.word[i]));
          const auto row = hn::Add(starts, hn::ShiftLeftSame(context, job.search_steps));
          token = hn::Zero(integers);
          for (std::int32_t half = 1 << (job.search_steps - 1); half > 0; half /= 2) {
            const auto place = hn::Add(row, hn::Add(token, hn::Set(integers, half - 1)));
            const auto threshold = hn::GatherIndex(integers, thresholds, place);
            token = hn::Add(token, hn::IfThenElseZero(hn::Gt(draw, threshold), hn::Set(integers, half)));
          }
          oldest = hn::Load(integers, columns.get() + (t + i - job.order) * lanes);
        }
        hn::Store(token, integers, columns.get() + (t + i) * lanes);
        if (job.order > 0) context = next_context(chain, context, token, oldest);
      }
    }
    for (std::int64_t lane = 0; lane < used; ++lane) {
      std::int32_t* const out = job.out + (group + lane) * job.tokens;
      for (std::int64_t t = 0; t < job.tokens; ++t) out[t] = columns[static_cast<std::size_t>(t * lanes + lane)];
    }
  }
}

}  // namespace mambarium::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium {
HWY_EXPORT(sample);
void sample_tokens(const TokenJob& job) {
  HWY_DYNAMIC_DISPATCH(sample)(job);
}
}  // namespace mambarium
#endif
