// The selective scan of a batch, forward and backward, cut into blocks of work that know nothing of each other: a few
// channels of one head of one sequence each. A GPU gives every block a block of threads.
//
// What several blocks add to is written by each into a part of its own and summed afterwards in order (part_sums.h), so
// that no result depends on which block comes first. The backward pass keeps nothing but the inputs: a block first runs
// forward to keep H at the start of every piece, then goes backwards over pieces.
#pragma once

#include "core/kernels/selective_scan.h"
#include "gpu/stages/part_sums.h"
#include "gpu/stages/selective_scan.h"

namespace mambarium::gpu {

using BatchIn = kernels::Rows<const float>;
using BatchOut = kernels::Rows<float>;

template <class Real>
MAMBARIUM_HOST_DEVICE Panel<Real> sequence(const kernels::Rows<Real>& of, int b) {
  return {of.data + b * of.sequence_stride, of.row_stride};
}

// Mamba-2: dt and a [batch, T, H]. Mamba-1: one head of all channels, dt [batch, T, channels], A [channels][d_state].
struct ScanJob {
  int batch = 0, length = 0, heads = 1, headdim = 0, d_state = 0;
  int tile = 1;   // channels of a block; the last of a head may have fewer
  int piece = 1;  // rows that are taken at a time
  BatchIn x, dt, a, B, C;
  const float *A = nullptr, *h0 = nullptr;  // h0 [batch, H, P, N]; null: zeros

  MAMBARIUM_HOST_DEVICE int tiles() const { return (headdim + tile - 1) / tile; }
  MAMBARIUM_HOST_DEVICE int parts() const { return heads * tiles(); }  // of a sequence
  MAMBARIUM_HOST_DEVICE int blocks() const { return batch * parts(); }
  MAMBARIUM_HOST_DEVICE int pieces() const { return (length + piece - 1) / piece; }
  MAMBARIUM_HOST_DEVICE int rows_of(int index) const { return index + 1 < pieces() ? piece : length - index * piece; }
};

struct ScanBackwardJob {
  BatchIn dy;
  const float* dh_final = nullptr;  // null: zeros
  BatchOut dx, ddt;                 // ddt: Mamba-1 alone
  float* dh0 = nullptr;             // null: not wanted
  // Parts: [block][T][N], [block][T] (Mamba-2), [batch][channels][N] (Mamba-1); H at the start of every piece
  // [block][piece][tile * N].
  float *dB = nullptr, *dC = nullptr, *ddt_parts = nullptr, *da_parts = nullptr, *dA = nullptr, *starts = nullptr;
};

// Floats of scratch memory of a block.
MAMBARIUM_HOST_DEVICE inline std::int64_t scan_scratch(int tile, int d_state, int piece, bool backward) {
  const std::int64_t states = static_cast<std::int64_t>(tile) * d_state;
  return backward ? states * (2 * piece + 3) + 2 * piece * tile : states * (piece + 2);
}

// Which channels a block has.
class ScanBlock {
 public:
  MAMBARIUM_HOST_DEVICE ScanBlock(const ScanJob& job, int block) : job_(job), index(block) {
    const int part = block % job.parts();
    b = block / job.parts();
    head = part / job.tiles();
    const int first_of_head = part % job.tiles() * job.tile;
    first = head * job.headdim + first_of_head;
    channels = job.headdim - first_of_head < job.tile ? job.headdim - first_of_head : job.tile;
  }
  MAMBARIUM_HOST_DEVICE int states() const { return channels * job_.d_state; }
  // Of the block's states among those of the batch.
  MAMBARIUM_HOST_DEVICE std::int64_t offset() const {
    return (static_cast<std::int64_t>(b) * job_.heads * job_.headdim + first) * job_.d_state;
  }
  MAMBARIUM_HOST_DEVICE void decay(int row, HeadDecay& out) const {
    out = {channels, sequence(job_.dt, b).from_row(row).from_column(head),
           sequence(job_.a, b).from_row(row).from_column(head)};
  }
  MAMBARIUM_HOST_DEVICE void decay(int row, StateDecay& out) const {
    out = {job_.d_state, sequence(job_.dt, b).from_row(row).from_column(first),
           job_.A + static_cast<std::int64_t>(first) * job_.d_state};
  }
  template <class Decay>
  MAMBARIUM_HOST_DEVICE ScanPiece<Decay> piece(int at) const {
    const int row = at * job_.piece;
    ScanPiece<Decay> result{job_.rows_of(at),
                            channels,
                            job_.d_state,
                            sequence(job_.x, b).from_row(row).from_column(first),
                            sequence(job_.B, b).from_row(row),
                            sequence(job_.C, b).from_row(row),
                            {}};
    decay(row, result.decay);
    return result;
  }

 private:
  const ScanJob& job_;

 public:
  int index, b, head, first, channels;
};

template <class Decay, class Team>
MAMBARIUM_HOST_DEVICE void scan_block(const Team& team, const ScanJob& job, int index, const BatchOut& y,
                                      float* h_final, float* scratch) {
  const ScanBlock block(job, index);
  Carve carve(scratch);
  float* const h = carve.floats(block.states());
  float* const states = carve.floats(static_cast<std::int64_t>(job.piece + 1) * block.states());
  const std::int64_t offset = block.offset();
  team.each(block.states(), [&](int i) { h[i] = job.h0 == nullptr ? 0.0f : job.h0[offset + i]; });
  for (int piece = 0; piece < job.pieces(); ++piece) {
    selective_scan(team, block.piece<Decay>(piece), h, states,
                   sequence(y, block.b).from_row(piece * job.piece).from_column(block.first));
  }
  if (h_final != nullptr) team.each(block.states(), [&](int i) { h_final[offset + i] = h[i]; });
}

template <class Team>
MAMBARIUM_HOST_DEVICE void backward_piece(const Team& team, const ScanJob& job, const ScanBackwardJob& out,
                                          const ScanBlock& block, const ScanPiece<HeadDecay>& in, int row,
                                          const float* states, Numbers dy, float* g, float* adjoints, float* of_channel,
                                          ScanPieceGradients gradients) {
  const std::int64_t at = static_cast<std::int64_t>(block.index) * job.length + row;
  gradients.dt = {out.ddt_parts + at, 1};
  gradients.a = {out.da_parts + at, 1};
  selective_scan_backward(team, in, states, dy, g, adjoints, of_channel, gradients);
}
template <class Team>
MAMBARIUM_HOST_DEVICE void backward_piece(const Team& team, const ScanJob&, const ScanBackwardJob& out,
                                          const ScanBlock& block, const ScanPiece<StateDecay>& in, int row,
                                          const float* states, Numbers dy, float* g, float* adjoints, float*,
                                          ScanPieceGradients gradients) {
  gradients.dt = sequence(out.ddt, block.b).from_row(row).from_column(block.first);
  selective_scan_backward(team, in, states, dy, g, adjoints, out.dA + block.offset(), gradients);
}

template <class Decay, class Team>
MAMBARIUM_HOST_DEVICE void scan_backward_block(const Team& team, const ScanJob& job, const ScanBackwardJob& out,
                                               int index, float* scratch) {
  const ScanBlock block(job, index);
  const int size = block.states();
  Carve carve(scratch);
  float *const h = carve.floats(size), *const g = carve.floats(size);
  float* const states = carve.floats(static_cast<std::int64_t>(job.piece + 1) * size);
  float* const adjoints = carve.floats(static_cast<std::int64_t>(job.piece) * size);
  float* const of_channel = carve.floats(static_cast<std::int64_t>(job.piece) * block.channels * 2);
  const std::int64_t offset = block.offset();
  const auto start_of = [&](int piece) {
    return out.starts + (static_cast<std::int64_t>(index) * job.pieces() + piece) * job.tile * job.d_state;
  };

  team.each(size, [&](int i) {
    h[i] = job.h0 == nullptr ? 0.0f : job.h0[offset + i];
    g[i] = out.dh_final == nullptr ? 0.0f : out.dh_final[offset + i];
    if (out.dA != nullptr) out.dA[offset + i] = 0.0f;
  });
  for (int piece = 0; piece < job.pieces(); ++piece) {
    float* const start = start_of(piece);
    team.each(size, [&](int i) { start[i] = h[i]; });
    if (piece + 1 < job.pieces()) scan_states(team, block.piece<Decay>(piece), h, nullptr);
  }
  for (int piece = job.pieces() - 1; piece >= 0; --piece) {
    const int row = piece * job.piece;
    const ScanPiece<Decay> in = block.piece<Decay>(piece);
    const float* const start = start_of(piece);
    team.each(size, [&](int i) { h[i] = start[i]; });
    scan_states(team, in, h, states);
    const std::int64_t part = (static_cast<std::int64_t>(index) * job.length + row) * job.d_state;
    ScanPieceGradients gradients;
    gradients.x = sequence(out.dx, block.b).from_row(row).from_column(block.first);
    gradients.B = {out.dB + part, job.d_state};
    gradients.C = {out.dC + part, job.d_state};
    backward_piece(team, job, out, block, in, row, states,
                   sequence(out.dy, block.b).from_row(row).from_column(block.first), g, adjoints, of_channel,
                   gradients);
  }
  if (out.dh0 != nullptr) team.each(size, [&](int i) { out.dh0[offset + i] = g[i]; });
}

}  // namespace mambarium::gpu
