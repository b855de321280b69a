#include "core/motif/soft_census.h"

#include <stdexcept>
#include <string>

#include "core/contract/text.h"
#include "core/motif/adjacency.h"
#include "core/motif/square_product.h"

namespace mambarium {

namespace {

// matrix += factor * other
void add(std::vector<double>& matrix, double factor, std::span<const double> other) {
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] += factor * other[i];
}

}  // namespace

SoftCensus::SoftCensus(std::span<const double> adjacency, std::size_t n)
    : n_(n), soft_(adjacency.begin(), adjacency.end()) {
  check_square(adjacency.size(), n, "the adjacency");
  for (std::size_t i = 0; i < n; ++i) soft_[i * n + i] = 0;
  for (const double edge : soft_)
    if (!(edge >= 0 && edge <= 1))
      throw std::invalid_argument("an edge has the probability " + shortest(edge) + "; it must lie between 0 and 1");
  none_.resize(n * n);
  single_.resize(n * n);
  both_.resize(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const double there = soft_[i * n + j], back = soft_[j * n + i];
      none_[i * n + j] = (1 - there) * (1 - back);
      single_[i * n + j] = there * (1 - back);
      both_[i * n + j] = there * back;
    }
  const std::vector<double> reversed = square_transpose(single_, n);
  fn_ = square_product(single_, none_, n);
  nf_ = square_transpose(square_product(reversed, none_, n), n);  // F^T is often sparse, N hardly ever
  fft_ = square_product(single_, reversed, n);
  ftf_ = square_product(reversed, single_, n);
  ff_ = square_product(single_, single_, n);
  bb_ = square_product(both_, both_, n);
  motifs_ = {inner_product(single_, fn_) / 2,  inner_product(none_, fft_) / 2, inner_product(reversed, fn_),
             inner_product(single_, fft_),     inner_product(both_, fn_),      inner_product(both_, nf_),
             inner_product(both_, fft_) / 2,   inner_product(both_, ftf_) / 2, inner_product(none_, bb_) / 2,
             inner_product(reversed, ff_) / 3, inner_product(both_, ff_),      inner_product(single_, bb_),
             inner_product(both_, bb_) / 6};
}

std::array<double, triad_count> SoftCensus::counts() const {
  const std::vector<double> nn = square_product(none_, none_, n_);
  std::array<double, triad_count> all{};
  for (std::size_t i = 0; i < motif_count; ++i) all[i] = motifs_[i];
  all[motif_count] = inner_product(none_, nn) / 6;
  all[motif_count + 1] = inner_product(single_, nn);
  all[motif_count + 2] = inner_product(both_, nn) / 2;
  return all;
}

std::vector<double> SoftCensus::gradient(std::span<const double, motif_count> weights) const {
  const auto w = [&](int motif) {
    return weights[static_cast<std::size_t>(motif - 1)] / triads()[static_cast<std::size_t>(motif - 1)].automorphisms;
  };
  const std::size_t n = n_;
  const std::vector<double> bn = square_product(both_, none_, n), bf = square_product(both_, single_, n),
                            fb = square_product(single_, both_, n), fn_t = square_transpose(fn_, n),
                            nf_t = square_transpose(nf_, n), ff_t = square_transpose(ff_, n),
                            bn_t = square_transpose(bn, n), bf_t = square_transpose(bf, n),
                            fb_t = square_transpose(fb, n);
  std::vector<double> to_none(n * n), to_single(n * n), to_both(n * n);
  // A count c <A, X Y> passes c X Y to A, c A Y^T to X and c X^T A to Y; N and B are symmetric.
  add(to_none, w(1), ftf_);
  add(to_none, w(2), fft_);
  add(to_none, w(3), ff_t);
  add(to_none, w(5), bf_t);
  add(to_none, w(6), fb_t);
  add(to_none, w(9), bb_);

  add(to_single, 2 * w(1), fn_);
  add(to_single, 2 * w(2), nf_);
  add(to_single, w(3), fn_t);
  add(to_single, w(3), nf_t);
  add(to_single, w(4), fft_);
  add(to_single, w(4), ftf_);
  add(to_single, w(4), ff_);
  add(to_single, w(5), bn);
  add(to_single, w(6), bn_t);
  add(to_single, 2 * w(7), bf);
  add(to_single, 2 * w(8), fb);
  add(to_single, 3 * w(10), ff_t);
  add(to_single, w(11), fb_t);
  add(to_single, w(11), bf_t);
  add(to_single, w(12), bb_);

  add(to_both, w(5), fn_);
  add(to_both, w(6), nf_);
  add(to_both, w(7), fft_);
  add(to_both, w(8), ftf_);
  add(to_both, w(9), bn);
  add(to_both, w(9), bn_t);
  add(to_both, w(11), ff_);
  add(to_both, w(12), fb);
  add(to_both, w(12), bf);
  add(to_both, 3 * w(13), bb_);

  std::vector<double> to_soft(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      if (i == j) continue;
      const std::size_t there = i * n + j, back = j * n + i;
      to_soft[there] = (1 - soft_[back]) * (to_single[there] - to_none[there] - to_none[back]) +
                       soft_[back] * (to_both[there] + to_both[back] - to_single[back]);
    }
  return to_soft;
}

}  // namespace mambarium
