// The scan as matrix products over chunks of tokens, forward and backward. Compiled once per SIMD target; include after
// hwy/foreach_target.h.
//
// Every decay is a product of a_t, never a difference of logarithms: between tokens s <= t of a chunk
// A_st = a_{s+1} ... a_t, from its start F_t = a_0 ... a_t, to its end R_s = a_{s+1} ... a_last. With H the state
// before the chunk and W = F_last,
//   y_t  = F_t H C_t + sum_{s <= t} A_st dt_s (B_s . C_t) x_s
//   H'   = W H + sum_s R_s dt_s x_s B_s^T
// and with G = dL/dH' after the chunk, G' before it,
//   G'   = W G + sum_t F_t dy_t C_t^T
//   dx_s = R_s dt_s G B_s + sum_{t >= s} A_st dt_s (B_s . C_t) dy_t
//   dB_s = R_s dt_s G^T x_s + sum_{t >= s} A_st dt_s (x_s . dy_t) C_t        summed over heads
//   dC_t = F_t H^T dy_t + sum_{s <= t} A_st dt_s (x_s . dy_t) B_s            summed over heads
//   ddt_s = R_s e_s + sum_{t >= s} A_st (B_s . C_t) (x_s . dy_t)             e_s = x_s . G B_s
//   da_t = sum_{u >= t} A_tu U_t(u) + R_t E_t
//     U_0(u) = dy_u . H C_u,   U_{t+1}(u) = a_t U_t(u) + dt_t (B_t . C_u) (x_t . dy_u)
//     E_0    = <G, H>,         E_{t+1}    = a_t E_t + dt_t e_t
// where U_t(u) is how the output of token u depends on the state before t, and E_t how the state after the chunk does.
// That is 2 P N multiply-adds a token forward and 5 P N backward (6 with two levels of checkpoints) where one token
// after the other takes 3 P N and 8 to 10 P N; what tokens of a chunk have of each other adds about lanes (P + N).
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

// The decays and step sizes of a head in every chunk; tokens beyond the sequence decay by 1 and step by 0.
class Decays {
 public:
  void Read(const SingleScan& scan, Scratch& scratch) {
    heads_ = scan.heads;
    const std::int64_t chunks = (scan.length + chunk - 1) / chunk;
    data_ = scratch.floats(chunks * heads_ * size);
    float* at = data_;
    for (std::int64_t k = 0; k < chunks; ++k) {
      for (std::int64_t head = 0; head < heads_; ++head, at += size) {
        const std::int64_t begin = k * chunk, tokens = std::min(chunk, scan.length - begin);
        float product = 1;
        for (std::int64_t t = lanes - 1; t >= 0; --t) {
          const float decay = t < tokens ? scan.a.row(begin + t)[head] : 1.0f;
          const float step = t < tokens ? scan.dt.row(begin + t)[head] : 0.0f;
          at[t] = decay;
          at[lanes + t] = step;
          at[2 * lanes + t] = product;
          at[3 * lanes + t] = step * product;
          product *= decay;
        }
      }
    }
  }

  void Select(std::int64_t k, std::int64_t head) {
    a = data_ + (k * heads_ + head) * size;
    dt = a + lanes;
    to_end = dt + lanes;
    written = to_end + lanes;
    whole = a[0] * to_end[0];
  }
  void SelectAll(D d, std::int64_t k, std::int64_t head) {
    Select(k, head);
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

  const float *a = nullptr, *dt = nullptr;
  const float* to_end = nullptr;             // a_{s+1} ... a_last
  const float* written = nullptr;            // dt_s to_end[s]
  float whole = 1;                           // a_0 ... a_last
  alignas(64) float from_start[lanes];       // a_0 ... a_t
  alignas(64) float between[lanes * lanes];  // [s][t] a_{s+1} ... a_t, 0 where t < s

 private:
  static constexpr std::int64_t size = 4 * lanes;
  std::int64_t heads_ = 0;
  float* data_ = nullptr;
};

class ChunkedScan {
 public:
  ChunkedScan(const SingleScan& scan, Scratch& scratch)
      : scan_(scan), scratch_(scratch), frame_(scratch), chunks_((scan.length + chunk - 1) / chunk) {
    decays_.Read(scan, scratch);
  }

  // The state as [d_state][headdim].
  void Forward(Strided<float> y, float* h_final) {
    const D d;
    const std::int64_t states = scan_.d_state, headdim = scan_.headdim;
    Shape(states, headdim);
    float* C_columns = Columns(states);
    const Strided<float> scaled = TokenRows(states);
    float* h = scratch_.zeros(size_);
    ForEachState(scan_.h0, [&](const float& number, std::int64_t head, std::int64_t p, std::int64_t n) {
      h[head * head_size_ + n * stride_ + p] = number;
    });
    for (std::int64_t k = 0; k < chunks_; ++k) {
      const Scratch::Frame frame(scratch_);
      Select(k);
      ahead_.Clear();
      Prepare(y, begin_ + chunk, scan_.heads * headdim);
      Prepare(scan_.C, begin_ + chunk, states);
      Prepare(scan_.B, begin_ + chunk, states);
      Prepare(scan_.x, begin_ + chunk, scan_.heads * headdim);
      ToColumns(d, C_, states, C_columns);
      InnerProducts(d, B_, C_columns, states, read_);
      for (std::int64_t head = 0; head < scan_.heads; ++head) {
        const Scratch::Frame head_frame(scratch_);
        const auto x = Panel(scan_.x.columns(head * headdim), headdim);
        decays_.SelectAll(d, k, head);
        Weigh(d);
        StateRowsOf of = Rows(C_columns, states, h + head * head_size_, decays_.from_start, headdim);
        of.weights = weights_;
        of.rows = x;
        SendTo(y.columns(head * headdim), of);
        StateRows<Adds::earlier, false>(d, of, {}, nullptr, ahead_);
        ScaleRows(d, B_, states, decays_.written, scaled);
        Advance(d, scaled, x, decays_.whole, states, headdim, h + head * head_size_, h + head * head_size_, stride_,
                ahead_);
      }
    }
    ForEachState(h_final, [&](float& number, std::int64_t head, std::int64_t p, std::int64_t n) {
      number = h[head * head_size_ + n * stride_ + p];
    });
  }

  // The states and their gradients as [headdim][d_state]. adds: dB and dC are added to what is there.
  void Backward(Strided<const float> dy, const float* dh_final, const SingleScanGradients& out, bool adds) {
    Shape(scan_.headdim, scan_.d_state);
    adds_ = adds;
    const std::int64_t in_segment = ChunksInSegment(), segments = (chunks_ + in_segment - 1) / in_segment;
    B_columns_ = Columns(scan_.d_state);
    x_columns_ = Columns(scan_.headdim);
    dy_columns_ = Columns(scan_.headdim);
    dx_columns_ = Columns(scan_.headdim);
    scaled_ = TokenRows(scan_.headdim);
    dB_sums_ = TokenRows(scan_.d_state);
    dC_sums_ = TokenRows(scan_.d_state);
    float* g = scratch_.zeros(size_);
    float* states = scratch_.floats(in_segment * size_);
    float* starts = scratch_.floats(segments * size_);
    std::fill_n(starts, size_, 0.0f);
    const auto at = [&](std::int64_t head, std::int64_t p, std::int64_t n) {
      return head * head_size_ + p * stride_ + n;
    };
    ForEachState(dh_final, [&](const float& number, auto... place) { g[at(place...)] = number; });
    ForEachState(scan_.h0, [&](const float& number, auto... place) { starts[at(place...)] = number; });
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
    ForEachState(out.h0, [&](float& number, auto... place) { number = g[at(place...)]; });
  }

  // How many heads Backward() should be given at a time: few enough for little scratch, 4 MiB, yet several, because
  // rows of one head out of many lie a page apart.
  static std::int64_t HeadsAtOnce(const SingleScan& scan) {
    const std::int64_t chunks = (scan.length + chunk - 1) / chunk;
    const std::int64_t kept = std::min(chunks, 2 * RootOf(chunks)) * scan.headdim * WholeVectors(scan.d_state);
    return std::clamp<std::int64_t>(4 * most_kept / kept, 1, scan.heads);
  }

 private:
  static constexpr std::int64_t most_kept = std::int64_t{1} << 18;  // floats: 1 MiB

  static std::int64_t RootOf(std::int64_t chunks) {
    return std::max<std::int64_t>(1, std::lround(std::sqrt(static_cast<double>(chunks))));
  }
  // All states of the sequence's chunks where they are few, else those of about sqrt(chunks) chunks at a time.
  std::int64_t ChunksInSegment() const { return chunks_ * size_ <= most_kept ? chunks_ : RootOf(chunks_); }

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
      decays_.Select(k, head);
      ScaleRows(d, Panel(scan_.x.columns(head * scan_.headdim), scan_.headdim), scan_.headdim, decays_.written,
                scaled_);
      Advance(d, scaled_, B_, decays_.whole, scan_.headdim, scan_.d_state, before + head * head_size_,
              after + head * head_size_, stride_, ahead_);
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
    if (out.x.data != nullptr) Prepare(out.x, begin_ - chunk, scan_.heads * headdim);
    if (out.B.data != nullptr) Prepare(out.B, begin_ - chunk, states);
    if (out.C.data != nullptr) Prepare(out.C, begin_ - chunk, states);
    Prepare(scan_.B, begin_ - chunk, states);
    Prepare(scan_.C, begin_ - chunk, states);
    Prepare(scan_.x, begin_ - chunk, scan_.heads * headdim);
    Prepare(dy_rows, begin_ - chunk, scan_.heads * headdim);
    ToColumns(d, B_, states, B_columns_);
    InnerProducts(d, C_, B_columns_, states, met_);
    ToColumns(d, {met_, lanes}, lanes, read_);
    std::fill_n(exchanged_, lanes * lanes, 0.0f);
    if (adds_) {
      StartFrom(out.B, dB_sums_);
      StartFrom(out.C, dC_sums_);
    }
    for (std::int64_t head = 0; head < scan_.heads; ++head) {
      const Scratch::Frame head_frame(scratch_);
      const auto x = Panel(scan_.x.columns(head * headdim), headdim);
      const auto dy = Panel(dy_rows.columns(head * headdim), headdim);
      const float* state = h + head * head_size_;
      float* gradient = g + head * head_size_;
      decays_.SelectAll(d, k, head);
      ToColumns(d, x, headdim, x_columns_);
      ToColumns(d, dy, headdim, dy_columns_);
      InnerProducts(d, x, dy_columns_, headdim, met_);
      Weigh(d);
      Exchange(d);

      V wrote = hn::Zero(d);
      const V written = hn::Load(d, decays_.written);
      InBlocks<8>(0, headdim, [&](std::int64_t p, auto rows) HWY_ATTR {
        StateColumns<rows()>(d, gradient + p * stride_, stride_, states, B_columns_, written, x_columns_ + p * lanes,
                             dx_columns_ + p * lanes, wrote, ahead_);
      });
      if (out.x.data != nullptr) {
        StoreRows<Adds::later>(d, dx_columns_, weights_, dy, headdim,
                               {out.x.row(begin_) + head * headdim, out.x.stride}, tokens_);
      }

      StateRowsOf into_B = Rows(x_columns_, headdim, gradient, decays_.written, states);
      into_B.first = head == 0 && !adds_;
      into_B.last = head + 1 == scan_.heads;
      into_B.weights = exchanged_;
      StateRowsOf into_C = into_B;
      into_B.sums = dB_sums_;
      into_B.rows = C_;
      SendTo(out.B, into_B);
      StateRows<Adds::later, false>(d, into_B, {}, nullptr, ahead_);
      into_C.left = dy_columns_;
      into_C.state = state;
      into_C.factors = decays_.from_start;
      into_C.sums = dC_sums_;
      into_C.rows = B_;
      SendTo(out.C, into_C);
      StateRows<Adds::earlier, true>(d, into_C, C_, meeting_, ahead_);

      HeadGradients(d, head, InnerProduct(d, state, gradient, headdim, WholeVectors(states), stride_), wrote, out);
      ScaleRows(d, dy, headdim, decays_.from_start, scaled_);
      Advance(d, scaled_, C_, decays_.whole, headdim, states, gradient, gradient, stride_, ahead_);
    }
  }

  // ddt and da of a head; across = <G, H>, wrote = e, and meeting_ sums up to U_0.
  void HeadGradients(D d, std::int64_t head, float across, V wrote, const SingleScanGradients& out) {
    alignas(64) float into_dt[lanes], into_a[lanes], e[lanes], arrived[lanes + 1];
    V sums[lanes];
#pragma GCC unroll 16
    for (int t = 0; t < lanes; ++t) sums[t] = hn::Load(d, meeting_ + t * lanes);
    SumEach(d, sums, into_a);
    V before = hn::Load(d, into_a), after = hn::Mul(hn::Set(d, across), hn::Load(d, decays_.from_start));
    hn::Store(hn::Mul(hn::Load(d, decays_.dt), wrote), d, e);
    V of_dt[lanes];
#pragma GCC unroll 16
    for (int s = 0; s < lanes; ++s) {
      const V decay = hn::Load(d, decays_.between + s * lanes);
      const V both = hn::Mul(hn::Load(d, read_ + s * lanes), hn::Load(d, met_ + s * lanes));
      of_dt[s] = hn::Mul(decay, both);
      sums[s] = hn::Mul(decay, before);
      before = hn::MulAdd(hn::Set(d, decays_.a[s]), before, hn::Mul(hn::Set(d, decays_.dt[s]), both));
      after = hn::MulAdd(decay, hn::Set(d, e[s]), after);
    }
    SumEach(d, of_dt, into_dt);
    SumEach(d, sums, into_a);
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

  // weights_: how much of x_s is in y_t.
  void Weigh(D d) {
    for (std::int64_t s = 0; s < lanes; ++s) {
      const V step = hn::Mul(hn::Set(d, decays_.dt[s]), hn::Load(d, read_ + s * lanes));
      hn::Store(hn::Mul(hn::Load(d, decays_.between + s * lanes), step), d, weights_ + s * lanes);
    }
  }
  // exchanged_ gets the head's share: how much of B_s . C_t is in the loss.
  void Exchange(D d) {
    for (std::int64_t s = 0; s < lanes; ++s) {
      const V step = hn::Mul(hn::Set(d, decays_.dt[s]), hn::Load(d, met_ + s * lanes));
      const V sum = hn::MulAdd(hn::Load(d, decays_.between + s * lanes), step, hn::Load(d, exchanged_ + s * lanes));
      hn::Store(sum, d, exchanged_ + s * lanes);
    }
  }

  // A head's state is `rows` rows of `width` numbers.
  void Shape(std::int64_t rows, std::int64_t width) {
    stride_ = WholeVectors(width);
    if (stride_ % 256 == 0) stride_ += lanes;  // rows 1 KiB apart would share few sets of the cache
    head_size_ = rows * stride_;
    size_ = scan_.heads * head_size_;
  }
  StateRowsOf Rows(const float* left, std::int64_t depth, const float* state, const float* factors,
                   std::int64_t width) const {
    StateRowsOf of;
    of.left = left;
    of.depth = depth;
    of.state = state;
    of.stride = stride_;
    of.factors = factors;
    of.width = width;
    return of;
  }
  void StartFrom(Strided<float> out, Strided<float> sums) const {
    for (std::int64_t t = 0; out.data != nullptr && t < tokens_; ++t) {
      std::copy_n(out.row(begin_ + t), scan_.d_state, sums.row(t));
    }
  }
  void SendTo(Strided<float> out, StateRowsOf& of) const {
    if (out.data == nullptr) return;
    of.out = {out.row(begin_), out.stride};
    of.tokens = tokens_;
  }
  float* Columns(std::int64_t width) {
    return scratch_.floats(WholeVectors(width) * lanes);
  }
  Strided<float> TokenRows(std::int64_t width) {
    return {scratch_.zeros(lanes * WholeVectors(width)), WholeVectors(width)};
  }

  // work(number, head, channel, state) for every number of [heads, headdim, d_state]; none where null.
  template <class Real, class Work>
  void ForEachState(Real* numbers, const Work& work) const {
    if (numbers == nullptr) return;
    for (std::int64_t head = 0; head < scan_.heads; ++head) {
      for (std::int64_t p = 0; p < scan_.headdim; ++p) {
        for (std::int64_t n = 0; n < scan_.d_state; ++n) work(*numbers++, head, p, n);
      }
    }
  }

  const SingleScan& scan_;
  Scratch& scratch_;
  Scratch::Frame frame_;
  std::int64_t chunks_, stride_ = 0, head_size_ = 0, size_ = 0;
  std::int64_t begin_ = 0, tokens_ = 0;
  bool adds_ = false;
  Strided<const float> B_, C_;
  float *B_columns_ = nullptr, *x_columns_ = nullptr, *dy_columns_ = nullptr, *dx_columns_ = nullptr;
  Strided<float> scaled_, dB_sums_, dC_sums_;
  Decays decays_;
  Ahead ahead_;
  alignas(64) float read_[lanes * lanes];       // [s][t] B_s . C_t
  alignas(64) float met_[lanes * lanes];        // [s][t] x_s . dy_t
  alignas(64) float weights_[lanes * lanes];    // [s][t] decay dt_s (B_s . C_t)
  alignas(64) float exchanged_[lanes * lanes];  // [s][t] decay dt_s (x_s . dy_t), summed over heads
  alignas(64) float meeting_[lanes * lanes];    // [t] lanes that sum up to dy_t . H C_t
};

}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // MAMBARIUM_KERNELS_SCAN_CHUNKED_SCAN_INL_H_
