#include "core/flow/eigenvalues.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/flow/dense_matrix.h"

namespace mambarium {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

// H = I - scale u u^T with H x along the first axis.
template <std::size_t Size>
struct Reflection {
  std::array<double, Size> u{};
  double scale = 0;

  explicit Reflection(const std::array<double, Size>& x) : u(x) {
    double squares = 0;
    for (const double value : x) squares += value * value;
    if (squares == 0) return;
    u[0] += std::copysign(std::sqrt(squares), x[0]);
    double length = 0;
    for (const double value : u) length += value * value;
    scale = 2 / length;
  }
};

class QrIteration {
 public:
  QrIteration(std::span<const double> matrix, std::int64_t size) : size_(size), h_(matrix.begin(), matrix.end()) {
    balance();
    to_hessenberg();
    for (const double entry : h_) size_of_all_ = std::hypot(size_of_all_, entry);
  }

  std::vector<std::complex<double>> run() {
    std::vector<std::complex<double>> found;
    std::int64_t end = size_;  // rows and columns before `end` are not finished
    int iterations = 0;
    while (end > 0) {
      const std::int64_t start = start_of_block(end);
      if (start == end - 1) {
        found.emplace_back(at(end - 1, end - 1));
        end -= 1;
        iterations = 0;
      } else if (start == end - 2) {
        add_pair(end - 2, found);
        end -= 2;
        iterations = 0;
      } else {
        constexpr int give_up = 300;
        if (++iterations > give_up) throw std::runtime_error("eigenvalues: the QR iteration did not converge");
        francis_step(start, end, iterations % 10 == 0);
      }
    }
    return found;
  }

 private:
  double& at(std::int64_t row, std::int64_t column) { return h_[row * size_ + column]; }

  // Rows and columns of like size, by powers of two: exact, and the eigenvalues stay.
  void balance() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::int64_t i = 0; i < size_; ++i) {
        double row = 0, column = 0;
        for (std::int64_t j = 0; j < size_; ++j)
          if (j != i) {
            row += std::abs(at(i, j));
            column += std::abs(at(j, i));
          }
        if (row == 0 || column == 0) continue;
        const double factor = std::exp2(std::round(0.5 * std::log2(row / column)));
        if (!(row / factor + column * factor < 0.95 * (row + column))) continue;
        changed = true;
        for (std::int64_t j = 0; j < size_; ++j) {
          at(i, j) /= factor;
          at(j, i) *= factor;
        }
      }
    }
  }

  void to_hessenberg() {
    std::vector<double> u(size_);
    for (std::int64_t k = 0; k + 2 < size_; ++k) {
      double squares = 0;
      for (std::int64_t row = k + 1; row < size_; ++row) {
        u[row] = at(row, k);
        squares += u[row] * u[row];
      }
      if (squares == u[k + 1] * u[k + 1]) continue;
      u[k + 1] += std::copysign(std::sqrt(squares), u[k + 1]);
      double length = 0;
      for (std::int64_t row = k + 1; row < size_; ++row) length += u[row] * u[row];
      for (std::int64_t column = k; column < size_; ++column) {
        double dot = 0;
        for (std::int64_t row = k + 1; row < size_; ++row) dot += u[row] * at(row, column);
        for (std::int64_t row = k + 1; row < size_; ++row) at(row, column) -= 2 / length * dot * u[row];
      }
      for (std::int64_t row = 0; row < size_; ++row) {
        double dot = 0;
        for (std::int64_t column = k + 1; column < size_; ++column) dot += at(row, column) * u[column];
        for (std::int64_t column = k + 1; column < size_; ++column) at(row, column) -= 2 / length * dot * u[column];
      }
      for (std::int64_t row = k + 2; row < size_; ++row) at(row, k) = 0;
    }
  }

  // Where the last block of rows before `end` without a zero on its subdiagonal begins. Zero is measured by the whole
  // matrix: of many equal eigenvalues the rounding can stay above what the two neighbours on the diagonal would allow.
  std::int64_t start_of_block(std::int64_t end) {
    for (std::int64_t row = end - 1; row > 0; --row)
      if (std::abs(at(row, row - 1)) <= epsilon * size_of_all_) {
        at(row, row - 1) = 0;
        return row;
      }
    return 0;
  }

  void add_pair(std::int64_t first, std::vector<std::complex<double>>& found) {
    const double a = at(first, first), b = at(first, first + 1), c = at(first + 1, first), d = at(first + 1, first + 1);
    const double half = (a - d) / 2, middle = d + half, discriminant = half * half + b * c;
    if (discriminant < 0) {
      const double imaginary = std::sqrt(-discriminant);
      found.emplace_back(middle, imaginary);
      found.emplace_back(middle, -imaginary);
      return;
    }
    // The one that is far from d first: subtracting close numbers would lose the other.
    const double far = half + std::copysign(std::sqrt(discriminant), half);
    found.emplace_back(d + far);
    found.emplace_back(far == 0 ? d : d - b * c / far);
  }

  template <std::size_t Size>
  void reflect(const Reflection<Size>& reflection, std::int64_t first, std::int64_t start, std::int64_t end) {
    for (std::int64_t column = std::max(start, first - 1); column < end; ++column) {
      double dot = 0;
      for (std::size_t i = 0; i < Size; ++i) dot += reflection.u[i] * at(first + std::int64_t(i), column);
      for (std::size_t i = 0; i < Size; ++i)
        at(first + std::int64_t(i), column) -= reflection.scale * dot * reflection.u[i];
    }
    for (std::int64_t row = start; row < std::min(first + std::int64_t(Size) + 1, end); ++row) {
      double dot = 0;
      for (std::size_t i = 0; i < Size; ++i) dot += at(row, first + std::int64_t(i)) * reflection.u[i];
      for (std::size_t i = 0; i < Size; ++i)
        at(row, first + std::int64_t(i)) -= reflection.scale * dot * reflection.u[i];
    }
  }

  void francis_step(std::int64_t start, std::int64_t end, bool exceptional) {
    double last = at(end - 1, end - 1), before = at(end - 2, end - 2);
    double product = at(end - 2, end - 1) * at(end - 1, end - 2);
    if (exceptional) {  // shifts that no symmetry of the matrix can make useless
      const double size = std::abs(at(end - 1, end - 2)) + std::abs(at(end - 2, end - 3));
      last = before = last + 0.75 * size;
      product = -0.4375 * size * size;
    }
    // The first column of (H - shift)(H - other shift), divided by its subdiagonal entry, in differences from the first
    // diagonal entry: written with the sum and product of the shifts it drowns in rounding where they are close to it.
    const double top = at(start, start), down = at(start + 1, start);
    double x = ((last - top) * (before - top) - product) / down + at(start, start + 1);
    double y = (at(start + 1, start + 1) - top) - (last - top) - (before - top);
    double z = at(start + 2, start + 1);
    for (std::int64_t k = start; k + 2 < end; ++k) {
      reflect(Reflection<3>({x, y, z}), k, start, end);
      if (k > start) at(k + 1, k - 1) = at(k + 2, k - 1) = 0;
      x = at(k + 1, k);
      y = at(k + 2, k);
      if (k + 3 < end) z = at(k + 3, k);
    }
    reflect(Reflection<2>({x, y}), end - 2, start, end);
    at(end - 1, end - 3) = 0;
  }

  std::int64_t size_;
  std::vector<double> h_;
  double size_of_all_ = 0;
};

}  // namespace

std::vector<std::complex<double>> eigenvalues(std::span<const double> matrix, std::int64_t size) {
  if (size < 1 || std::ssize(matrix) != size * size)
    throw std::invalid_argument("eigenvalues: " + std::to_string(matrix.size()) + " numbers are no matrix of " +
                                std::to_string(size) + " rows and columns");
  if (!std::ranges::all_of(matrix, [](double entry) { return std::isfinite(entry); }))
    throw std::invalid_argument("eigenvalues: an entry of the matrix is not finite");
  std::vector<std::complex<double>> found = QrIteration(matrix, size).run();
  std::ranges::sort(found, [](const auto& a, const auto& b) {
    return a.real() != b.real() ? a.real() > b.real() : a.imag() > b.imag();
  });
  return found;
}

std::vector<double> real_eigenvector(std::span<const double> matrix, std::int64_t size, double value,
                                     std::int64_t which) {
  double largest = std::abs(value);
  for (const double entry : matrix) largest = std::max(largest, std::abs(entry));
  if (largest == 0) largest = 1;
  std::vector<double> x(size, 0.1);
  x[which % size] = 1;
  for (double offset = 1e-12; offset < 1; offset *= 16) {
    std::vector<double> shifted(matrix.begin(), matrix.end());
    for (std::int64_t i = 0; i < size; ++i) shifted[i * size + i] -= value + offset * largest;
    const auto factors = LuFactors::of(std::move(shifted), size);
    if (!factors) continue;
    for (int iteration = 0; iteration < 3; ++iteration) {
      factors->solve(x);
      const double top = *std::ranges::max_element(x, {}, [](double entry) { return std::abs(entry); });
      double squares = 0;
      for (double& entry : x) {
        entry /= top;
        squares += entry * entry;
      }
      for (double& entry : x) entry /= std::sqrt(squares);
    }
    return x;
  }
  throw std::invalid_argument("eigenvector: the eigenvalue or an entry of the matrix is not finite");
}

}  // namespace mambarium
