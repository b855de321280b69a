// One sequence of a scan with one group of heads: what the kernels under scan/ work on. A scan of several groups is
// several of these side by side, since groups share nothing.
#pragma once

#include <cstdint>

#include "core/kernels/rows.h"
#include "core/kernels/selective_scan.h"

namespace mambarium::kernels {

struct SingleScan {
  std::int64_t length = 0, heads = 1, headdim = 0, d_state = 0;
  Strided<const float> x, dt, a, B, C;
  const float* h0 = nullptr;  // [heads, headdim, d_state] or null for zeros
};

struct SingleScanGradients {  // null data: not wanted
  Strided<float> x, dt, a, B, C;
  float* h0 = nullptr;
};

// Heads first .. first + count - 1 alone.
inline SingleScan heads_of(const SingleScan& scan, std::int64_t first, std::int64_t count) {
  SingleScan part = scan;
  part.heads = count;
  part.x = scan.x.columns(first * scan.headdim);
  part.dt = scan.dt.columns(first);
  part.a = scan.a.columns(first);
  if (scan.h0 != nullptr) part.h0 += first * scan.headdim * scan.d_state;
  return part;
}
inline SingleScanGradients heads_of(const SingleScan& scan, const SingleScanGradients& gradients, std::int64_t first) {
  SingleScanGradients part = gradients;
  if (part.x.data != nullptr) part.x.data += first * scan.headdim;
  if (part.dt.data != nullptr) part.dt.data += first;
  if (part.a.data != nullptr) part.a.data += first;
  if (part.h0 != nullptr) part.h0 += first * scan.headdim * scan.d_state;
  return part;
}

// Where group `group` of sequence b lies in every array.
struct GroupOfSequence {
  GroupOfSequence(const ScanShape& shape_, std::int64_t b_, std::int64_t group)
      : shape(shape_), b(b_), head(group * shape.heads / shape.groups), state(group * shape.d_state) {}

  template <class Real>
  Strided<Real> columns(const Rows<Real>& rows, std::int64_t first) const {
    return rows.data == nullptr ? Strided<Real>{} : rows.sequence(b).columns(first);
  }
  template <class Real>
  Strided<Real> channels(const Rows<Real>& rows) const {
    return columns(rows, head * shape.headdim);
  }
  template <class Real>
  Real* states(Real* of_batch) const {
    return of_batch == nullptr ? nullptr : of_batch + (b * shape.heads + head) * shape.headdim * shape.d_state;
  }

  SingleScan scan(const ScanInputs<float>& in) const {
    return {
        shape.length,         shape.heads / shape.groups, shape.headdim,        shape.d_state,        channels(in.x),
        columns(in.dt, head), columns(in.a, head),        columns(in.B, state), columns(in.C, state), states(in.h0)};
  }
  SingleScanGradients gradients(const ScanGradients<float>& out) const {
    return {channels(out.x),       columns(out.dt, head), columns(out.a, head),
            columns(out.B, state), columns(out.C, state), states(out.h0)};
  }

  const ScanShape& shape;
  std::int64_t b, head, state;
};

}  // namespace mambarium::kernels
