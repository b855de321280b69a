#include "core/kernels/coupled_scan.h"

#include "core/kernels/coupled_scan_layout.h"
#include "core/kernels/coupled_scan_rank.h"
#include "core/kernels/each_sequence.h"
#include "core/kernels/group_sums.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/coupled_scan.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/coupled_chunk-inl.h"
#include "core/kernels/sequence_chunks-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// work(rank, coupled) with both as constants; the rank is 0 where it is none of the usual ones or nothing is coupled.
template <class Work>
HWY_INLINE void WithRank(std::int64_t rank, bool coupled, const Work& work) {
  if (!coupled) {
    return work(std::integral_constant<int, 0>(), std::false_type());
  }
  switch (rank) {
    case 1:
      return work(std::integral_constant<int, 1>(), std::true_type());
    case 2:
      return work(std::integral_constant<int, 2>(), std::true_type());
    case 4:
      return work(std::integral_constant<int, 4>(), std::true_type());
    default:
      return work(std::integral_constant<int, 0>(), std::true_type());
  }
}

// work(rank, form, coupled).
template <class Work>
HWY_INLINE void WithCoupling(const CoupledScanShape& shape, bool coupled, const Work& work) {
  WithRank(shape.rank, coupled, [&](auto rank, auto is_coupled) {
    if (shape.form == CouplingForm::euler) {
      work(rank, std::integral_constant<CouplingForm, CouplingForm::euler>(), is_coupled);
    } else {
      work(rank, std::integral_constant<CouplingForm, CouplingForm::etd>(), is_coupled);
    }
  });
}

// A chunk of channels has all their states.
class Sequence : SequenceChunks<CoupledScanShape, CoupledScanLayout, CoupledScanInputs<float>, CoupledChunk> {
 public:
  Sequence(const CoupledScanShape& shape, const CoupledScanInputs<float>& in, std::int64_t b, Scratch& scratch)
      : SequenceChunks(shape, in, b, scratch), size_(layout_.states * lanes), coupled_(is_coupled(shape, in.P)) {
    chunk_.states = layout_.states;
    chunk_.rank = shape.rank;
    for (float** packed : {&chunk_.latents, &chunk_.into_latents}) {
      *packed = scratch.floats((layout_.chunk + 1) * shape.rank * lanes);
    }
    for (float** packed : {&chunk_.A, &chunk_.rate, &chunk_.inverse}) {
      *packed = scratch.floats(size_);
    }
    for (float** packed : {&chunk_.P, &chunk_.Q}) {
      *packed = scratch.zeros(size_ * shape.rank);
    }
  }

  // checkpoints: [vectors of channels][chunks][states] or null; y.data and z.data may be null.
  void ForwardAll(Rows<float> y, float* h_final, Rows<float> z, float* checkpoints) {
    float* h = scratch_.floats(size_);
    for (std::int64_t c = 0; c < shape_.channels; c += lanes) {
      PackChannels(c);
      PackStates(OfSequence(in_.h0), h);
      for (std::int64_t index = 0; index < layout_.chunks; ++index) {
        SelectChunk(index);
        if (checkpoints != nullptr) {
          std::copy_n(h, size_, checkpoints + Checkpoint(index));
        }
        WithCoupling(shape_, coupled_,
                     [&](auto rank, auto form, auto coupled) { ForwardChunk<rank, form, coupled>(chunk_, h); });
        Unpack(chunk_.y, y);
        if (z.data != nullptr) {
          WriteLatents(z);
        }
      }
      UnpackStates(h, OfSequence(h_final));
    }
  }

  void BackwardAll(const float* checkpoints, Rows<const float> dy, const float* dh_final,
                   const CoupledScanGradients<float>& out, const CoupledScanSums& sums) {
    if (checkpoints == nullptr) {
      float* own = scratch_.floats(layout_.checkpoints());
      ForwardAll({}, nullptr, {}, own);
      checkpoints = own;
    }
    float *g = scratch_.floats(size_), *into_A = scratch_.floats(size_);
    float* states = scratch_.floats((layout_.chunk + 1) * size_);
    float *decays = scratch_.floats(layout_.chunk * size_), *growths = scratch_.floats(layout_.chunk * size_);
    const auto dB = SumsFor(out.B), dC = SumsFor(out.C);
    const auto from_chunk = [&](const Strided<float>& rows) { return Strided<float>{rows.row(begin_), rows.stride}; };
    for (std::int64_t c = 0; c < shape_.channels; c += lanes) {
      PackChannels(c);
      PackStates(OfSequence(dh_final), g);
      const std::int64_t column = shape_.per_channel ? c : 0;
      const Strided<float> dA{sums.first + c, layout_.channels}, dP{sums.P + column, layout_.width},
          dQ{sums.Q + column, layout_.width};
      for (std::int64_t index = layout_.chunks - 1; index >= 0; --index) {
        SelectChunk(index);
        Pack(dy, chunk_.y);
        std::copy_n(checkpoints + Checkpoint(index), size_, states);
        WithCoupling(shape_, coupled_, [&](auto rank, auto form, auto coupled) {
          BackwardChunk<rank, form, coupled>(chunk_, states, decays, growths, g, into_A, dA, from_chunk(dB),
                                             from_chunk(dC), dP, dQ, c == 0);
        });
        Unpack(chunk_.dx, out.x);
        Unpack(chunk_.ddt, out.dt);
      }
      UnpackStates(g, OfSequence(out.h0));
    }
    CopySums(dB, out.B);
    CopySums(dC, out.C);
  }

 private:
  // Selects them and packs what they have for all tokens.
  void PackChannels(std::int64_t c) {
    SelectChannels(c);
    PackStates(in_.A, chunk_.A);
    const bool etd = shape_.form == CouplingForm::etd;
    for (std::int64_t i = 0; i < size_; ++i) {
      chunk_.rate[i] = etd && chunk_.A[i] > least_rate ? least_rate : chunk_.A[i];
      chunk_.inverse[i] = 1 / chunk_.rate[i];
    }
    const float* A = in_.A + c * shape_.d_state;
    chunk_.slow = std::any_of(A, A + count_ * shape_.d_state, [](float rate) { return rate > slowest_rate; });
    if (c == 0 || shape_.per_channel || etd) {
      PackCoupling();
    }
  }
  void PackCoupling() {
    const std::int64_t N = shape_.d_state, rank = shape_.rank;
    for (std::int64_t i = 0; i < lanes; ++i) {
      const bool here = !shape_.per_channel || i < count_;
      const std::int64_t offset = shape_.per_channel ? (channel_ + i) * N * rank : 0;
      for (std::int64_t n = 0; n < N; ++n) {
        for (std::int64_t j = 0; j < rank; ++j) {
          const std::int64_t to = (n * rank + j) * lanes + i;
          chunk_.P[to] = here ? in_.P[offset + n * rank + j] : 0;
          if (shape_.form == CouplingForm::etd) {
            chunk_.P[to] *= chunk_.inverse[n * lanes + i];
          }
          chunk_.Q[to] = here ? in_.Q[offset + j * N + n] : 0;
        }
      }
    }
  }

  void SelectChunk(std::int64_t index) {
    SelectTokens(index);
    chunk_.B = {B_.row(begin_), B_.stride};
    chunk_.C = {C_.row(begin_), C_.stride};
  }
  std::int64_t Checkpoint(std::int64_t index) const {
    return (channel_ * layout_.chunks + index * lanes) * layout_.states;
  }

  void WriteLatents(const Rows<float>& z) const {
    for (std::int64_t t = 0; t < chunk_.length; ++t) {
      const float* from = chunk_.latents + (t + 1) * shape_.rank * lanes;
      float* to = z.row(b_, begin_ + t) + channel_ * shape_.rank;
      for (std::int64_t i = 0; i < count_; ++i) {
        for (std::int64_t j = 0; j < shape_.rank; ++j) {
          to[i * shape_.rank + j] = from[j * lanes + i];
        }
      }
    }
  }

  // [D, N] (null: zeros) to the states of the channels and back (null: nowhere).
  void PackStates(const float* from, float* to) const {
    std::fill_n(to, size_, 0.0f);
    for (std::int64_t i = 0; from != nullptr && i < count_; ++i) {
      for (std::int64_t n = 0; n < shape_.d_state; ++n) {
        to[n * lanes + i] = from[(channel_ + i) * shape_.d_state + n];
      }
    }
  }
  void UnpackStates(const float* from, float* to) const {
    for (std::int64_t i = 0; to != nullptr && i < count_; ++i) {
      for (std::int64_t n = 0; n < shape_.d_state; ++n) {
        to[(channel_ + i) * shape_.d_state + n] = from[n * lanes + i];
      }
    }
  }

  std::int64_t size_;  // of the states of a vector of channels
  bool coupled_;       // false: P is 0
};

void CoupledSequence(const CoupledScanShape& shape, const CoupledScanInputs<float>& in, std::int64_t b, Rows<float> y,
                     float* h_final, Rows<float> z, float* checkpoints, Scratch& scratch) {
  Sequence(shape, in, b, scratch).ForwardAll(y, h_final, z, checkpoints);
}

void CoupledBackwardSequence(const CoupledScanShape& shape, const CoupledScanInputs<float>& in, std::int64_t b,
                             const float* checkpoints, Rows<const float> dy, const float* dh_final,
                             const CoupledScanGradients<float>& gradients, const CoupledScanSums& sums,
                             Scratch& scratch) {
  Sequence(shape, in, b, scratch).BackwardAll(checkpoints, dy, dh_final, gradients, sums);
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(CoupledSequence);
HWY_EXPORT(CoupledBackwardSequence);

namespace {

// sums: [states * rank][width]; to: of P [N, r], of Q [r, N], per channel or for all.
void write_coupling(const CoupledScanShape& shape, const CoupledScanLayout& layout, const float* sums, bool of_Q,
                    float* to) {
  const std::int64_t N = shape.d_state, rank = shape.rank;
  for (std::int64_t n = 0; to != nullptr && n < N; ++n) {
    for (std::int64_t j = 0; j < rank; ++j) {
      const float* row = sums + (n * rank + j) * layout.width;
      const std::int64_t at = of_Q ? j * N + n : n * rank + j;
      if (shape.per_channel) {
        for (std::int64_t c = 0; c < shape.channels; ++c) {
          to[c * N * rank + at] = row[c];
        }
      } else {
        to[at] = 0;
        for (std::int64_t i = 0; i < layout.width; ++i) {
          to[at] += row[i];
        }
      }
    }
  }
}

}  // namespace

std::int64_t coupled_scan_checkpoints(const CoupledScanShape& shape) {
  return diagonal_scan_checkpoints(shape.diagonal());
}

void coupled_scan(const CoupledScanShape& shape, const CoupledScanInputs<float>& inputs, Rows<float> y, float* h_final,
                  Rows<float> z, float* checkpoints, int threads) {
  expect_coupling_rank(shape);
  const std::int64_t of_sequence = CoupledScanLayout(shape).checkpoints();
  each_sequence(shape.batch, threads, [&](std::int64_t b, Scratch& scratch) {
    float* keep = checkpoints != nullptr ? checkpoints + b * of_sequence : nullptr;
    HWY_DYNAMIC_DISPATCH(CoupledSequence)(shape, inputs, b, y, h_final, z, keep, scratch);
  });
}

void coupled_scan_backward(const CoupledScanShape& shape, const CoupledScanInputs<float>& inputs,
                           const float* checkpoints, Rows<const float> dy, const float* dh_final,
                           const CoupledScanGradients<float>& gradients, int threads) {
  expect_coupling_rank(shape);
  const CoupledScanLayout layout(shape);
  const std::int64_t pairs = layout.pairs(shape.rank);
  Scratch shared;
  const auto make = [&](Scratch& scratch) {
    const std::int64_t count = layout.size() + 2 * pairs;
    float* first = scratch.zeros(count);
    return CoupledScanSums{first, first + layout.size(), first + layout.size() + pairs, count};
  };
  const auto sums = sum_over_groups(
      shape.batch, threads, shared, make, [&](std::int64_t b, const CoupledScanSums& group, Scratch& scratch) {
        const float* kept = checkpoints != nullptr ? checkpoints + b * layout.checkpoints() : nullptr;
        HWY_DYNAMIC_DISPATCH(CoupledBackwardSequence)
        (shape, inputs, b, kept, dy, dh_final, gradients, group, scratch);
      });
  write_channels(shape.diagonal(), layout, sums.first, gradients.A);
  write_coupling(shape, layout, sums.P, false, gradients.P);
  write_coupling(shape, layout, sums.Q, true, gradients.Q);
}

}  // namespace mambarium::kernels
#endif
