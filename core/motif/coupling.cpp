#include "core/motif/coupling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/contract/text.h"

namespace mambarium {

namespace {

void check(const Coupling& c) {
  if (c.n == 0 || c.rank == 0 || c.p.size() != c.n * c.rank || c.q.size() != c.n * c.rank)
    throw std::invalid_argument("a coupling of " + std::to_string(c.n) + " nodes and rank " + std::to_string(c.rank) +
                                " has " + std::to_string(c.p.size()) + " numbers in P and " +
                                std::to_string(c.q.size()) + " in Q; both must have n x rank, above 0");
}

struct Eigen {
  std::vector<double> values;
  std::vector<double> vectors;  // in columns
};

// Cyclic Jacobi rotations of a symmetric size x size matrix.
Eigen symmetric_eigen(std::vector<double> a, std::size_t size) {
  Eigen eigen{std::vector<double>(size), std::vector<double>(size * size)};
  for (std::size_t i = 0; i < size; ++i) eigen.vectors[i * size + i] = 1;
  constexpr int most_sweeps = 60;
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    bool rotated = false;
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = i + 1; j < size; ++j) {
        const double off = a[i * size + j], ii = a[i * size + i], jj = a[j * size + j];
        if (std::abs(off) <= std::numeric_limits<double>::epsilon() / 4 * std::sqrt(std::abs(ii) * std::abs(jj)))
          continue;
        rotated = true;
        const double ratio = (jj - ii) / (2 * off);
        const double t = (ratio < 0 ? -1 : 1) / (std::abs(ratio) + std::hypot(1.0, ratio));
        const double cosine = 1 / std::hypot(1.0, t), sine = t * cosine;
        const auto rotate = [&](double& x, double& y) {
          const double before = x;
          x = cosine * before - sine * y;
          y = sine * before + cosine * y;
        };
        for (std::size_t k = 0; k < size; ++k) rotate(a[k * size + i], a[k * size + j]);
        for (std::size_t k = 0; k < size; ++k) rotate(a[i * size + k], a[j * size + k]);
        for (std::size_t k = 0; k < size; ++k) rotate(eigen.vectors[k * size + i], eigen.vectors[k * size + j]);
      }
    if (!rotated) break;
  }
  for (std::size_t i = 0; i < size; ++i) eigen.values[i] = a[i * size + i];
  return eigen;
}

// left (rows x inner) times right (inner x columns), either one transposed by its strides.
struct View {
  std::span<const double> numbers;
  std::size_t down, across;
  double operator()(std::size_t i, std::size_t j) const { return numbers[i * down + j * across]; }
};

std::vector<double> product(View left, View right, std::size_t rows, std::size_t inner, std::size_t columns) {
  std::vector<double> out(rows * columns);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t j = 0; j < columns; ++j) out[i * columns + j] += left(i, k) * right(k, j);
  return out;
}

double largest(std::span<const double> numbers) {
  double most = 0;
  for (const double number : numbers) most = std::max(most, std::abs(number));
  return most;
}

}  // namespace

std::vector<double> coupling_matrix(const Coupling& c) {
  check(c);
  std::vector<double> m = product({c.p, c.rank, 1}, {c.q, c.n, 1}, c.n, c.rank, c.n);
  for (double& entry : m) entry *= c.k;
  return m;
}

CouplingGradient coupling_gradient(const Coupling& c, std::span<const double> dm) {
  check(c);
  if (dm.size() != c.n * c.n)
    throw std::invalid_argument("the gradient to a coupling matrix of " + std::to_string(c.n) + " nodes has " +
                                std::to_string(dm.size()) + " numbers; it must have n x n");
  CouplingGradient gradient{product({dm, c.n, 1}, {c.q, 1, c.n}, c.n, c.n, c.rank),
                            product({c.p, 1, c.rank}, {dm, c.n, 1}, c.rank, c.n, c.n), 0};
  for (std::size_t i = 0; i < c.p.size(); ++i) gradient.k += gradient.p[i] * c.p[i];
  for (double& entry : gradient.p) entry *= c.k;
  for (double& entry : gradient.q) entry *= c.k;
  return gradient;
}

double spectral_norm(const Coupling& c) {
  check(c);
  // Scaled to entries of at most 1, so that squares neither overflow nor vanish.
  const double p_scale = largest(c.p), q_scale = largest(c.q);
  if (!std::isfinite(p_scale) || !std::isfinite(q_scale)) return std::numeric_limits<double>::infinity();
  if (p_scale == 0 || q_scale == 0) return 0;
  std::vector<double> p(c.p), q(c.q);
  for (double& entry : p) entry /= p_scale;
  for (double& entry : q) entry /= q_scale;
  const std::size_t r = c.rank;
  const Eigen left = symmetric_eigen(product({p, 1, r}, {p, r, 1}, r, c.n, r), r);
  // P = W diag(sqrt(values)) vectors^T with orthonormal W, so M has the singular values of the r x n matrix that
  // follows.
  std::vector<double> reduced = product({left.vectors, 1, r}, {q, c.n, 1}, r, r, c.n);
  for (std::size_t i = 0; i < r; ++i)
    for (std::size_t j = 0; j < c.n; ++j) reduced[i * c.n + j] *= std::sqrt(std::max(0.0, left.values[i]));
  const Eigen both = symmetric_eigen(product({reduced, c.n, 1}, {reduced, 1, c.n}, r, c.n, r), r);
  const double square = *std::ranges::max_element(both.values);
  return std::abs(c.k) * p_scale * q_scale * std::sqrt(std::max(0.0, square));
}

void hold_norm(Coupling& c, double most) {
  constexpr double slack = 1e-6;
  const double norm = spectral_norm(c);
  if (std::isfinite(norm) && norm > (1 + slack) * most) c.k *= most / norm;
}

Coupling draw_coupling(std::size_t n, std::size_t rank, const NormalNumbers& normal, double k, double deviation) {
  if (n == 0 || rank == 0 || rank > n)
    throw std::invalid_argument("a coupling of " + std::to_string(n) + " nodes cannot have rank " +
                                std::to_string(rank) + "; it must be 1 to the number of nodes");
  if (!std::isfinite(k)) throw std::invalid_argument("k is " + shortest(k) + "; it must be a finite number");
  if (!(deviation >= 0) || !std::isfinite(deviation))
    throw std::invalid_argument("the deviation of P and Q is " + shortest(deviation) + "; it must be 0 or above");
  Coupling coupling{n, rank, std::vector<double>(n * rank), std::vector<double>(n * rank), k};
  normal("P", coupling.p);
  normal("Q", coupling.q);
  for (double& entry : coupling.p) entry *= deviation;
  for (double& entry : coupling.q) entry *= deviation;
  return coupling;
}

CouplingStability coupling_stability(const Coupling& c, std::span<const double> decays, double dt) {
  const std::vector<double> m = coupling_matrix(c);
  if (decays.size() != c.n || std::ranges::any_of(decays, [](double a) { return !(a > 0); }))
    throw std::invalid_argument("a coupling of " + std::to_string(c.n) + " nodes needs as many decays, all above 0");
  if (!(dt > 0)) throw std::invalid_argument("dt is " + shortest(dt) + "; it must be above 0");
  CouplingStability stability;
  stability.norm = spectral_norm(c);
  stability.euler_limit = -std::expm1(-dt * *std::ranges::min_element(decays)) / dt;
  stability.etd_margin = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < c.n; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < c.n; ++j) row += std::abs(m[i * c.n + j]);
    stability.etd_margin = std::min(stability.etd_margin, decays[i] - row);
  }
  return stability;
}

}  // namespace mambarium
