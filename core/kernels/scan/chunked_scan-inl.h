// The scan as matrix products over chunks of tokens, forward and backward (paper 1, section 6, with every decay a
// product of a_t and never a difference of logarithms). Compiled once per SIMD target; include after
// hwy/foreach_target.h.
//
// With H the state before a chunk and D_ts = a_{s+1} ... a_t, the decay from token s to token t >= s of it:
//   y_t = D_t H C_t + sum_{s <= t} D_ts dt_s (C_t . B_s) x_s          D_t = a_0 ... a_t
//   H'  = D H + sum_s D_s dt_s x_s B_s^T                             D_s = a_{s+1} ... a_last, D = D_last
// and with G = dL/dH' after the chunk, S_st = B_s . C_t, X_st = x_s . dy_t:
//   G'   = D G + sum_t D_t dy_t C_t^T
//   dx_s = dt_s (D_s G B_s + sum_{t >= s} D_ts S_st dy_t)
//   dB_s = dt_s (D_s G^T x_s + sum_{t >= s} D_ts X_st C_t)           summed over heads
//   dC_t = D_t H^T dy_t + sum_{s <= t} D_ts dt_s X_st B_s            summed over heads
//   ddt_s = D_s e_s + sum_{t >= s} D_ts S_st X_st                    e_s = x_s . G B_s
//   da_t = sum_{u >= t} D_ut U_t(u) + D_t E_t                        f_u = dy_u . H C_u
//     U_0(u) = f_u,     U_{t+1}(u) = a_t U_t(u) + dt_t S_tu X_tu
//     E_0    = <G, H>,  E_{t+1}    = a_t E_t + dt_t e_t
// where U_t(u) is what token u's gradient says of the state before t, and E_t what the gradient after the chunk does.
// That is 2 P N multiply-adds a token forward and 5 P N backward (6 with two levels of checkpoints) where one token
// after the other takes 3 P N and 8 to 10 P N; what tokens of a chunk tell each other adds about lanes (P + N).
#if defined(MAMBARIUM_KERNELS_SCAN_CHUNKED_SCAN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MAMBARIUM_KERNELS_SCAN_CHUNKED_SCAN_INL_H_
#undef MAMBARIUM_KERNELS_SCAN_CHUNKED_SCAN_INL_H_
#else
#define MAMBARIUM_KERNELS_SCAN_CHUNKED_SCAN_INL_H_
#endif

#include <cmath>

#include "core/kernels/scan/chunk_products-inl.h"
#include "core/kernels/scan/single_scan.h"
#include "core/kernels/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {

// What one head's decays and step sizes make of a chunk; tokens beyond the sequence decay by 1 and step by 0.
struct ChunkDecays {
  alignas(64) float a[lanes], dt[lanes];
  alignas(64) float from_start[lanes];       // a_0 ... a_t
  alignas(64) float to_end[lanes];           // a_{s+1} ... a_last
  alignas(64) float written[lanes];          // dt_s to_end[s]
  alignas(64) float between[lanes * lanes];  // [s][t] a_{s+1} ... a_t, 0 where t < s
  float whole = 1;                           // a_0 ... a_last

  void ReadToEnd(const SingleScan& scan, std::int64_t head, std::int64_t begin, std::int64_t tokens) {
    for (std::int64_t t = 0; t < lanes; ++t) {
      a[t] = t < tokens ? scan.a.row(begin + t)[head] : 1.0f;
      dt[t] = t < tokens ? scan.dt.row(begin + t)[head] : 0.0f;
    }
    whole = 1;
    for (std::int64_t t = lanes - 1; t >= 0; --t) {
      to_end[t] = whole;
      written[t] = dt[t] * whole;
      whole *= a[t];
    }
  }

  void Read(D d, const SingleScan& scan, std::int64_t head, std::int64_t begin, std::int64_t tokens) {
    ReadToEnd(scan, head, begin, tokens);
    const V token = hn::Iota(d, 0.0f), one = hn::Set(d, 1.0f);
    V row = hn::Zero(d);
    for (std::int64_t s = lanes - 1; s >= 0; --s) {
      const V here = hn::Set(d, static_cast<float>(s));
      const V next = s + 1 < lanes ? hn::Mul(hn::Set(d, a[s + 1]), row) : row;
      row = hn::IfThenElseZero(hn::Ge(token, here), hn::IfThenElse(hn::Eq(token, here), one, next));
      hn::Store(row, d, between + s * lanes);
    }
    hn::Store(hn::Mul(hn::Set(d, a[0]), row), d, from_start);
  }
};

class ChunkedScan {
 public:
  ChunkedScan(const SingleScan& scan, Scratch& scratch)
      : scan_(scan), scratch_(scratch), frame_(scratch), chunks_((scan.length + chunk - 1) / chunk) {
    // Rows a multiple of 1 KiB apart would share few sets of the cache.
    stride_ = WholeVectors(scan.d_state);
    if (stride_ % 256 == 0) stride_ += lanes;
    head_size_ = scan.headdim * stride_;
    size_ = scan.heads * head_size_;
    padded_headdim_ = WholeVectors(scan.headdim);
    for (float** columns : {&B_columns_, &C_columns_, &dB_columns_, &dC_columns_}) {
      *columns = scratch.floats(WholeVectors(scan.d_state) * lanes);
    }
    for (float** columns : {&x_columns_, &dy_columns_, &head_columns_}) {
      *columns = scratch.floats(padded_headdim_ * lanes);
    }
    scaled_ = {scratch.floats(lanes * padded_headdim_), padded_headdim_};
  }

  void Forward(Strided<float> y, float* h_final) {
    const D d;
    float* h = scratch_.floats(size_);
    ReadState(scan_.h0, h);
    for (std::int64_t k = 0; k < chunks_; ++k) {
      const Scratch::Frame frame(scratch_);
      Select(k);
      ahead_.Clear();
      ahead_.Add(y, begin_, begin_ + tokens_, scan_.heads * scan_.headdim);
      Prepare(scan_.C, begin_ + chunk, scan_.d_state);
      Prepare(scan_.B, begin_ + chunk, scan_.d_state);
      Prepare(scan_.x, begin_ + chunk, scan_.heads * scan_.headdim);
      ToColumns(d, C_, scan_.d_state, C_columns_);
      InnerProducts(d, B_, C_columns_, scan_.d_state, read_, ahead_);
      for (std::int64_t head = 0; head < scan_.heads; ++head) {
        const Scratch::Frame head_frame(scratch_);
        const auto x = Panel(scan_.x.columns(head * scan_.headdim), scan_.headdim);
        decays_.Read(d, scan_, head, begin_, tokens_);
        Weigh(d);
        float* state = h + head * head_size_;
        const V since = hn::Load(d, decays_.from_start);
        InBlocks<read_rows>(0, scan_.headdim, [&](std::int64_t p, auto rows) HWY_ATTR {
          ReadStates<rows()>(d, state + p * stride_, stride_, scan_.d_state, C_columns_, since,
                             head_columns_ + p * lanes, ahead_);
        });
        StoreRows<Adds::earlier>(d, head_columns_, weights_, x, scan_.headdim,
                                 {y.row(begin_) + head * scan_.headdim, y.stride}, tokens_);
        Write(d, x, state, state);
      }
    }
    WriteState(h, h_final);
  }

  void Backward(Strided<const float> dy, const float* dh_final, const SingleScanGradients& out) {
    const std::int64_t in_segment = ChunksInSegment(), segments = (chunks_ + in_segment - 1) / in_segment;
    float* g = scratch_.floats(size_);
    float* states = scratch_.floats(in_segment * size_);
    float* starts = scratch_.floats(segments * size_);
    ReadState(dh_final, g);
    ReadState(scan_.h0, starts);
    for (std::int64_t k = 0; k < (segments - 1) * in_segment; ++k) {
      float* start = starts + k / in_segment * size_;
      AdvanceStates(k, k % in_segment == 0 ? start : start + size_, start + size_);
    }
    for (std::int64_t segment = segments - 1; segment >= 0; --segment) {
      const std::int64_t first = segment * in_segment, end = std::min(first + in_segment, chunks_);
      std::copy_n(starts + segment * size_, size_, states);
      for (std::int64_t k = first; k + 1 < end; ++k) {
        float* before = states + (k - first) * size_;
        AdvanceStates(k, before, before + size_);
      }
      for (std::int64_t k = end - 1; k >= first; --k) BackwardChunk(k, states + (k - first) * size_, dy, g, out);
    }
    WriteState(g, out.h0);
  }

 private:
  // All states of the sequence's chunks where they are few, else those of about sqrt(chunks) chunks at a time.
  std::int64_t ChunksInSegment() const {
    constexpr std::int64_t most = std::int64_t{1} << 18;  // floats: 1 MiB
    if (chunks_ * size_ <= most) return chunks_;
    return std::max<std::int64_t>(1, std::lround(std::sqrt(static_cast<double>(chunks_))));
  }

  // The states from before chunk k to after it.
  void AdvanceStates(std::int64_t k, const float* before, float* after) {
    const D d;
    const Scratch::Frame frame(scratch_);
    Select(k);
    ahead_.Clear();
    Prepare(scan_.B, begin_ + chunk, scan_.d_state);
    Prepare(scan_.x, begin_ + chunk, scan_.heads * scan_.headdim);
    for (std::int64_t head = 0; head < scan_.heads; ++head) {
      const Scratch::Frame head_frame(scratch_);
      decays_.ReadToEnd(scan_, head, begin_, tokens_);
      const auto x = Panel(scan_.x.columns(head * scan_.headdim), scan_.headdim);
      Write(d, x, before + head * head_size_, after + head * head_size_);
    }
  }

  // g goes from after the chunk to before it; h are the states before it.
  void BackwardChunk(std::int64_t k, const float* h, Strided<const float> dy_rows, float* g,
                     const SingleScanGradients& out) {
    const D d;
    const Scratch::Frame frame(scratch_);
    const std::int64_t states = scan_.d_state, headdim = scan_.headdim;
    Select(k);
    ahead_.Clear();
    if (out.x.data != nullptr) Prepare(out.x, begin_, scan_.heads * headdim);
    if (out.B.data != nullptr) Prepare(out.B, begin_, states);
    if (out.C.data != nullptr) Prepare(out.C, begin_, states);
    Prepare(scan_.B, begin_ - chunk, states);
    Prepare(scan_.C, begin_ - chunk, states);
    Prepare(scan_.x, begin_ - chunk, scan_.heads * headdim);
    Prepare(dy_rows, begin_ - chunk, scan_.heads * headdim);
    ToColumns(d, B_, states, B_columns_);
    ToColumns(d, C_, states, C_columns_);
    InnerProducts(d, B_, C_columns_, states, read_, ahead_);
    std::fill_n(dB_columns_, states * lanes, 0.0f);
    std::fill_n(dC_columns_, states * lanes, 0.0f);
    std::fill_n(exchanged_, lanes * lanes, 0.0f);
    for (std::int64_t head = 0; head < scan_.heads; ++head) {
      const Scratch::Frame head_frame(scratch_);
      const auto x = Panel(scan_.x.columns(head * headdim), headdim),
                 dy = Panel(dy_rows.columns(head * headdim), headdim);
      decays_.Read(d, scan_, head, begin_, tokens_);
      Weigh(d);
      ToColumns(d, x, headdim, x_columns_);
      ToColumns(d, dy, headdim, dy_columns_);
      InnerProducts(d, x, dy_columns_, headdim, met_, ahead_);
      const float* state = h + head * head_size_;
      float* gradient = g + head * head_size_;
      const float across = InnerProduct(d, state, gradient, head_size_);
      const V written = hn::Load(d, decays_.written), since = hn::Load(d, decays_.from_start);
      V wrote = hn::Zero(d), was_read = hn::Zero(d);
      InBlocks<gradient_rows>(0, headdim, [&](std::int64_t p, auto rows) HWY_ATTR {
        WriteGradients<rows()>(d, gradient + p * stride_, stride_, states, x_columns_ + p * lanes, B_columns_, written,
                               head_columns_ + p * lanes, dB_columns_, wrote, ahead_);
        ReadGradients<rows()>(d, state + p * stride_, stride_, states, dy_columns_ + p * lanes, C_columns_, since,
                              dC_columns_, was_read, ahead_);
      });
      if (out.x.data != nullptr) {
        StoreRows<Adds::later>(d, head_columns_, weights_, dy, headdim,
                               {out.x.row(begin_) + head * headdim, out.x.stride}, tokens_);
      }
      ScaleRows(d, dy, headdim, decays_.from_start, scaled_);
      Advance(d, scaled_, C_, decays_.whole, headdim, states, gradient, gradient, stride_, ahead_);
      HeadGradients(d, head, across, wrote, was_read, out);
    }
    if (out.B.data != nullptr) {
      StoreRows<Adds::later>(d, dB_columns_, exchanged_, C_, states, {out.B.row(begin_), out.B.stride}, tokens_);
    }
    if (out.C.data != nullptr) {
      StoreRows<Adds::earlier>(d, dC_columns_, exchanged_, B_, states, {out.C.row(begin_), out.C.stride}, tokens_);
    }
  }

  // ddt and da of a head, and its share of exchanged_. across = <G, H>, wrote = e, was_read = f.
  void HeadGradients(D d, std::int64_t head, float across, V wrote, V was_read, const SingleScanGradients& out) {
    alignas(64) float into_dt[lanes], into_a[lanes], e[lanes], arrived[lanes + 1];
    V of_dt[lanes], of_a[lanes];
    V before = was_read, after = hn::Mul(hn::Set(d, across), hn::Load(d, decays_.from_start));
    hn::Store(hn::Mul(hn::Load(d, decays_.dt), wrote), d, e);
#pragma GCC unroll 16
    for (int s = 0; s < lanes; ++s) {
      const V decay = hn::Load(d, decays_.between + s * lanes), step = hn::Set(d, decays_.dt[s]);
      const V read = hn::Load(d, read_ + s * lanes), met = hn::Load(d, met_ + s * lanes);
      const V both = hn::Mul(read, met), decayed = hn::Mul(decay, met);
      const V exchanged = hn::MulAdd(step, decayed, hn::Load(d, exchanged_ + s * lanes));
      hn::Store(exchanged, d, exchanged_ + s * lanes);
      of_dt[s] = hn::Mul(decayed, read);
      of_a[s] = hn::Mul(decay, before);
      before = hn::MulAdd(hn::Set(d, decays_.a[s]), before, hn::Mul(step, both));
      after = hn::MulAdd(decay, hn::Set(d, e[s]), after);
    }
    SumEach(d, of_dt, into_dt);
    SumEach(d, of_a, into_a);
    arrived[0] = across;
    hn::StoreU(after, d, arrived + 1);
    const V to_end = hn::Load(d, decays_.to_end);
    hn::Store(hn::MulAdd(to_end, wrote, hn::Load(d, into_dt)), d, into_dt);
    hn::Store(hn::MulAdd(to_end, hn::LoadU(d, arrived), hn::Load(d, into_a)), d, into_a);
    for (std::int64_t t = 0; t < tokens_; ++t) {
      if (out.dt.data != nullptr) out.dt.row(begin_ + t)[head] = into_dt[t];
      if (out.a.data != nullptr) out.a.row(begin_ + t)[head] = into_a[t];
    }
  }

  void Prepare(Strided<const float> rows, std::int64_t begin, std::int64_t width) {
    ahead_.Add(rows, std::max<std::int64_t>(begin, 0), std::min(begin + chunk, scan_.length), width);
  }

  // The rows of chunk k.
  void Select(std::int64_t k) {
    begin_ = k * chunk;
    tokens_ = std::min(chunk, scan_.length - begin_);
    B_ = Panel(scan_.B, scan_.d_state);
    C_ = Panel(scan_.C, scan_.d_state);
  }

  // The chunk's rows of a view where they can be read whole, else a copy with zeros around.
  Strided<const float> Panel(Strided<const float> rows, std::int64_t width) {
    const Strided<const float> here = {rows.row(begin_), rows.stride};
    if (tokens_ == chunk && width % lanes == 0) {
      return here;
    }
    const std::int64_t padded = WholeVectors(width);
    const Strided<float> copy = {scratch_.floats(lanes * padded), padded};
    for (std::int64_t t = 0; t < lanes; ++t) {
      const std::int64_t count = t < tokens_ ? width : 0;
      std::copy_n(here.row(t), count, copy.row(t));
      std::fill(copy.row(t) + count, copy.row(t) + padded, 0.0f);
    }
    return copy;
  }

  // weights_[s][t]: how much of x_s is in y_t.
  void Weigh(D d) {
    for (std::int64_t s = 0; s < lanes; ++s) {
      const V step = hn::Mul(hn::Set(d, decays_.dt[s]), hn::Load(d, read_ + s * lanes));
      hn::Store(hn::Mul(hn::Load(d, decays_.between + s * lanes), step), d, weights_ + s * lanes);
    }
  }

  // The state of a head from before the chunk to after it.
  void Write(D d, Strided<const float> x, const float* before, float* after) {
    ScaleRows(d, x, scan_.headdim, decays_.written, scaled_);
    Advance(d, scaled_, B_, decays_.whole, scan_.headdim, scan_.d_state, before, after, stride_, ahead_);
  }

  // [heads, headdim, d_state] to rows of stride_ numbers and back; null reads as zeros and is not written.
  void ReadState(const float* from, float* to) const {
    std::fill_n(to, size_, 0.0f);
    for (std::int64_t row = 0; from != nullptr && row < scan_.heads * scan_.headdim; ++row) {
      std::copy_n(from + row * scan_.d_state, scan_.d_state, to + row * stride_);
    }
  }
  void WriteState(const float* from, float* to) const {
    for (std::int64_t row = 0; to != nullptr && row < scan_.heads * scan_.headdim; ++row) {
      std::copy_n(from + row * stride_, scan_.d_state, to + row * scan_.d_state);
    }
  }

  const SingleScan& scan_;
  Scratch& scratch_;
  Scratch::Frame frame_;
  std::int64_t chunks_, stride_ = 0, head_size_ = 0, size_ = 0, padded_headdim_ = 0;
  std::int64_t begin_ = 0, tokens_ = 0;
  Strided<const float> B_, C_;
  float *B_columns_ = nullptr, *C_columns_ = nullptr, *dB_columns_ = nullptr, *dC_columns_ = nullptr;
  float *x_columns_ = nullptr, *dy_columns_ = nullptr, *head_columns_ = nullptr;
  Strided<float> scaled_;
  ChunkDecays decays_;
  Ahead ahead_;
  alignas(64) float read_[lanes * lanes];     // [s][t] B_s . C_t
  alignas(64) float weights_[lanes * lanes];  // [s][t]
  alignas(64) float met_[lanes * lanes];      // [s][t] x_s . dy_t
  alignas(64) float exchanged_[lanes * lanes];
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_SCAN_CHUNKED_SCAN_INL_H_
