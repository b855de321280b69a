// The low-rank coupling of Motif-Mamba, M = k P Q, by which the n numbers of a state act on each other:
// dh/dt = -A h + M h + B x, discretised as h_t = exp(dt A) o h_{t-1} + dt M h_{t-1} + ... ("euler").
//
// Values and pure functions, callable from any thread. They throw std::invalid_argument, one sentence, when sizes do
// not fit each other.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

namespace mambarium {

struct Coupling {
  std::size_t n = 0, rank = 0;
  std::vector<double> p;  // n x rank, row-major
  std::vector<double> q;  // rank x n, row-major
  double k = 1e-4;
};

struct CouplingGradient {
  std::vector<double> p, q;
  double k = 0;
};

// The n x n matrix k P Q.
std::vector<double> coupling_matrix(const Coupling& coupling);

// Chain rule: dP = k dM Q^T, dQ = k P^T dM, dk = <dM, P Q>, from dL/dM, n x n.
CouplingGradient coupling_gradient(const Coupling& coupling, std::span<const double> matrix_gradient);

// The largest singular value of k P Q, from the rank x rank Gram matrices; relative error about 1e-14.
double spectral_norm(const Coupling& coupling);

// Fills the span with standard normal numbers of the stream of that name: "P" or "Q". Stream::normal of
// core/random/stream.h, say.
using NormalNumbers = std::function<void(std::string_view name, std::span<double> out)>;

// Scales k so that the norm is `most`, where it is more than that by over a millionth: scaled twice is scaled once, k
// rounded to float32 or not.
void hold_norm(Coupling& coupling, double most);

// P and Q of independent N(0, deviation^2) entries.
Coupling draw_coupling(std::size_t n, std::size_t rank, const NormalNumbers& normal, double k = 1e-4,
                       double deviation = 0.01);

// Whether a step of length dt can make a state grow. a_i > 0 are the decays, A = -a.
struct CouplingStability {
  double norm = 0;         // of M, in the 2-norm
  double euler_limit = 0;  // (1 - exp(-dt min a)) / dt: up to it no euler step lengthens a state, ||step||_2 <= 1
  double etd_margin = 0;   // min over rows of a_i - sum_j |M_ij|: above 0, exponential time differencing contracts in
                           // the largest entry, whatever dt is. Both are sufficient, not necessary.
  bool euler_is_safe() const { return norm <= euler_limit; }
  bool etd_is_safe() const { return etd_margin > 0; }
};

// decays: n numbers above 0; dt > 0. The smaller dt, the nearer euler_limit comes to min a.
CouplingStability coupling_stability(const Coupling& coupling, std::span<const double> decays, double dt);

}  // namespace mambarium
