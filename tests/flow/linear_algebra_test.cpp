#include <QTest>
#include <algorithm>
#include <cmath>

#include "core/flow/dense_matrix.h"
#include "core/flow/eigenvalues.h"
#include "core/flow/pseudo_inverse.h"
#include "core/flow/symmetric_eigen.h"
#include "tests/contract/sentence.h"
#include "tests/flow/random_numbers.h"

using namespace mambarium;

namespace {

using Complex = std::complex<double>;

std::vector<double> transposed(const std::vector<double>& matrix, std::int64_t rows, std::int64_t columns) {
  std::vector<double> result(matrix.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) result[j * rows + i] = matrix[i * columns + j];
  return result;
}

// The matrix whose characteristic polynomial has these roots.
std::vector<double> companion(const std::vector<Complex>& roots) {
  std::vector<Complex> coefficients{1};  // the highest power first
  for (const Complex root : roots) {
    coefficients.push_back(0);
    for (std::int64_t i = std::ssize(coefficients) - 1; i > 0; --i) coefficients[i] -= root * coefficients[i - 1];
  }
  const std::int64_t size = std::ssize(roots);
  std::vector<double> matrix(size * size);
  for (std::int64_t i = 0; i < size; ++i) {
    matrix[i] = -coefficients[i + 1].real();
    if (i > 0) matrix[i * size + i - 1] = 1;
  }
  return matrix;
}

// S D S^-1 with D of 1 x 1 and 2 x 2 blocks of the spectrum; a pair stands as its member with a positive imaginary
// part.
std::vector<double> matrix_with_spectrum(RandomNumbers& random, const std::vector<Complex>& halves, std::int64_t size) {
  std::vector<double> blocks(size * size);
  std::int64_t at = 0;
  for (const Complex value : halves) {
    blocks[at * size + at] = value.real();
    if (value.imag() != 0) {
      blocks[at * size + at + 1] = value.imag();
      blocks[(at + 1) * size + at] = -value.imag();
      ++at;
      blocks[at * size + at] = value.real();
    }
    ++at;
  }
  std::vector<double> similar = random.normals(size * size, 0.3);
  for (std::int64_t i = 0; i < size; ++i) similar[i * size + i] += 1.5;
  // S D S^-1 = (S^-T (S D)^T)^T
  const auto factors = LuFactors::of(transposed(similar, size, size), size);
  std::vector<double> product = multiply(similar, size, size, blocks, size);
  for (std::int64_t row = 0; row < size; ++row) factors->solve(std::span(product).subspan(row * size, size));
  return product;
}

double spectrum_error(std::vector<Complex> found, std::vector<Complex> expected) {
  if (found.size() != expected.size()) return INFINITY;
  double largest = 0;
  for (const Complex value : expected) {
    const auto nearest = std::ranges::min_element(found, {}, [&](Complex other) { return std::abs(other - value); });
    largest = std::max(largest, std::abs(*nearest - value));
    found.erase(nearest);
  }
  return largest;
}

}  // namespace

class LinearAlgebraTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void equationsAreSolved() {
    RandomNumbers random(1);
    for (std::int64_t size = 1; size <= 24; ++size) {
      const std::vector<double> matrix = random.normals(size * size), expected = random.normals(size);
      std::vector<double> x = multiply(matrix, size, size, expected, 1);
      const auto factors = LuFactors::of(matrix, size);
      QVERIFY(factors);
      factors->solve(x);
      QVERIFY(largest_difference(x, expected) < 1e-10);
    }
  }

  void aZeroPivotIsExchanged() {
    std::vector<double> x{3, 5};
    LuFactors::of({0, 1, 1, 0}, 2)->solve(x);
    QCOMPARE(x, (std::vector<double>{5, 3}));
  }

  void aSingularMatrixIsTold() {
    QVERIFY(!LuFactors::of({0}, 1));
    QVERIFY(!LuFactors::of({1, 2, 2, 4}, 2));
    QVERIFY(!LuFactors::of({1, 2, 3, 4, 5, 6, 7, 8, 9}, 3));
    QVERIFY(!LuFactors::of({NAN, 0, 0, 1}, 2));
    QVERIFY(LuFactors::of({1e-200, 0, 0, 1e-200}, 2));
  }

  void eigenvaluesOfDesignedSpectraAreFound() {
    RandomNumbers random(2);
    double worst = 0;
    for (int round = 0; round < 300; ++round) {
      std::vector<Complex> halves, all;
      const auto size = 1 + std::int64_t(random.uniform(0, 16));
      while (std::ssize(all) < size) {
        const double real = random.uniform(-3, 3);
        if (std::ssize(all) + 1 < size && random.uniform() < 0.5) {
          halves.emplace_back(real, random.uniform(0.1, 3));
          all.push_back(halves.back());
          all.push_back(std::conj(halves.back()));
        } else {
          halves.emplace_back(real);
          all.push_back(halves.back());
        }
      }
      const std::vector<double> matrix = matrix_with_spectrum(random, halves, size);
      worst = std::max(worst, spectrum_error(eigenvalues(matrix, size), all));
    }
    qInfo("largest error %.2g", worst);
    QVERIFY(worst < 1e-9);
  }

  void eigenvaluesOfCompanionMatricesAreTheRoots() {
    const std::vector<Complex> spiral{{-1, 2}, {-1, -2}, 3, {0, 0.5}, {0, -0.5}, -4};
    QVERIFY(spectrum_error(eigenvalues(companion(spiral), 6), spiral) < 1e-11);
    const std::vector<Complex> steps{1, 2, 3, 4, 5, 6, 7, 8};
    QVERIFY(spectrum_error(eigenvalues(companion(steps), 8), steps) < 1e-7);  // ill-conditioned by nature
    std::vector<Complex> unity;
    for (int i = 0; i < 16; ++i) unity.push_back(std::polar(1.0, 2 * std::numbers::pi * i / 16));
    QVERIFY(spectrum_error(eigenvalues(companion(unity), 16), unity) < 1e-13);
  }

  void closedFormsOfSmallMatricesAreMet() {
    QCOMPARE(eigenvalues(std::vector<double>{-7}, 1).front(), Complex(-7));
    QVERIFY(spectrum_error(eigenvalues(std::vector<double>{1, 2, 3, 4}, 2),
                           {(5 + std::sqrt(33)) / 2, (5 - std::sqrt(33)) / 2}) < 1e-14);
    QVERIFY(spectrum_error(eigenvalues(std::vector<double>{0, -1, 1, 0}, 2), {{0, 1}, {0, -1}}) < 1e-15);
    QVERIFY(spectrum_error(eigenvalues(std::vector<double>{0, 0, 1, 1, 0, 0, 0, 1, 0}, 3),
                           {1, std::polar(1.0, 2 * std::numbers::pi / 3), std::polar(1.0, -2 * std::numbers::pi / 3)}) <
            1e-14);
    QVERIFY(spectrum_error(eigenvalues(std::vector<double>(25), 5), std::vector<Complex>(5)) == 0);
    // Badly scaled: x^2 - 3x + 2 with 1e12 on one side.
    QVERIFY(spectrum_error(eigenvalues(std::vector<double>{3, -2e12, 1e-12, 0}, 2), {1, 2}) < 1e-14);
  }

  void complexEigenvaluesComeInExactPairsInOrder() {
    RandomNumbers random(3);
    for (int round = 0; round < 50; ++round) {
      const auto found = eigenvalues(random.normals(81), 9);
      for (std::size_t i = 0; i < found.size(); ++i) {
        if (found[i].imag() > 0) QCOMPARE(found[i + 1], std::conj(found[i]));
        if (i > 0) QVERIFY(found[i - 1].real() >= found[i].real());
      }
    }
  }

  void largeMatricesKeepTraceAndDeterminant() {
    RandomNumbers random(4);
    constexpr std::int64_t size = 64;
    const std::vector<double> matrix = random.normals(size * size);
    Complex sum = 0, sum_of_squares = 0;
    for (const Complex value : eigenvalues(matrix, size)) {
      sum += value;
      sum_of_squares += value * value;
    }
    double trace = 0, trace_of_square = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      trace += matrix[i * size + i];
      for (std::int64_t j = 0; j < size; ++j) trace_of_square += matrix[i * size + j] * matrix[j * size + i];
    }
    QVERIFY(std::abs(sum - trace) < 1e-11);
    QVERIFY(std::abs(sum_of_squares - trace_of_square) < 1e-10);
  }

  // Long tokens: e^(dt A) - 1 is -1 to the last digits for most states, and the coupling moves a few of them.
  void eigenvaluesThatNearlyCoincideAreFound() {
    RandomNumbers random(8);
    constexpr std::int64_t size = 24;
    for (int round = 0; round < 100; ++round) {
      std::vector<double> matrix = multiply(random.normals(size, 0.3), size, 1, random.normals(size, 0.3), size);
      double trace = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        trace += matrix[i * size + i];
        matrix[i * size + i] += std::expm1(-1.5 * double(i + 1));
        trace += std::expm1(-1.5 * double(i + 1));
      }
      Complex sum = 0;
      int close = 0;
      for (const Complex value : eigenvalues(matrix, size)) {
        sum += value;
        close += std::abs(value + 1.0) < 1e-6;
      }
      QVERIFY(std::abs(sum - trace) < 1e-12);
      QVERIFY(close >= size - 12);
    }
  }

  void eigenvectorsAreMappedToMultiplesOfThemselves() {
    RandomNumbers random(5);
    const std::vector<double> matrix = matrix_with_spectrum(random, {-2, -0.5, 1, {0.3, 1}}, 5);
    for (const double value : {-2.0, -0.5, 1.0}) {
      const std::vector<double> x = real_eigenvector(matrix, 5, value);
      std::vector<double> expected = x;
      for (double& entry : expected) entry *= value;
      QVERIFY(std::abs(length_of(x) - 1) < 1e-14);
      QVERIFY(largest_difference(multiply(matrix, 5, 5, x, 1), expected) < 1e-10);
    }
    const std::vector<double> twice{-1, 0, 0, -1};
    const auto one = real_eigenvector(twice, 2, -1, 0), other = real_eigenvector(twice, 2, -1, 1);
    QVERIFY(std::abs(one[0] * other[1] - one[1] * other[0]) > 0.5);  // two directions, not one twice
  }

  void symmetricMatricesAreDecomposed() {
    RandomNumbers random(6);
    for (std::int64_t size = 1; size <= 16; ++size) {
      const std::vector<double> half = random.normals(size * size);
      const std::vector<double> matrix = multiply(half, size, size, transposed(half, size, size), size);
      const SymmetricEigen eigen = symmetric_eigen(matrix, size);
      std::vector<double> scaled = eigen.vectors;
      for (std::int64_t i = 0; i < size * size; ++i) scaled[i] *= eigen.values[i % size];
      const std::vector<double> turned = transposed(eigen.vectors, size, size);
      QVERIFY(largest_difference(multiply(scaled, size, size, turned, size), matrix) < 1e-12 * eigen.values[0]);
      std::vector<double> identity(size * size);
      for (std::int64_t i = 0; i < size; ++i) identity[i * size + i] = 1;
      QVERIFY(largest_difference(multiply(turned, size, size, eigen.vectors, size), identity) < 1e-13);
      QVERIFY(std::ranges::is_sorted(eigen.values, std::ranges::greater()));
    }
  }

  void pseudoInversesMeetPenrosesFourConditions() {
    RandomNumbers random(7);
    for (int round = 0; round < 100; ++round) {
      const auto rows = 1 + std::int64_t(random.uniform(0, 8)), columns = 1 + std::int64_t(random.uniform(0, 20));
      const auto rank = 1 + std::int64_t(random.uniform(0, double(std::min(rows, columns))));
      const std::vector<double> left = random.normals(rows * rank), right = random.normals(rank * columns);
      const std::vector<double> matrix = multiply(left, rows, rank, right, columns);
      const PseudoInverse inverse = pseudo_inverse(matrix, rows, columns);
      QCOMPARE(inverse.rank, rank);
      const std::vector<double> before = multiply(matrix, rows, columns, inverse.matrix, rows);
      const std::vector<double> after = multiply(inverse.matrix, columns, rows, matrix, columns);
      const double size = inverse.singular_values.front() / inverse.singular_values[rank - 1];
      const double tolerance = 1e-13 * size * std::max(1.0, length_of(inverse.matrix));
      QVERIFY(largest_difference(multiply(before, rows, rows, matrix, columns), matrix) < tolerance * size);
      QVERIFY(largest_difference(multiply(after, columns, columns, inverse.matrix, rows), inverse.matrix) < tolerance);
      QVERIFY(largest_difference(before, transposed(before, rows, rows)) < tolerance);
      QVERIFY(largest_difference(after, transposed(after, columns, columns)) < tolerance);
    }
  }

  void pseudoInversesOfSimpleMatricesAreKnown() {
    QCOMPARE(pseudo_inverse(std::vector<double>(6), 2, 3).matrix, std::vector<double>(6));
    QVERIFY(largest_difference(pseudo_inverse(std::vector<double>{3, 4}, 1, 2).matrix, {0.12, 0.16}) < 1e-16);
    QVERIFY(largest_difference(pseudo_inverse(std::vector<double>{3e-200, 4e-200}, 1, 2).matrix, {12e198, 16e198}) <
            1e185);
    const auto found = pseudo_inverse(std::vector<double>{2, 0, 0, 0, 0.5, 0}, 2, 3);
    QVERIFY(largest_difference(found.matrix, {0.5, 0, 0, 2, 0, 0}) < 1e-15);
    QVERIFY(largest_difference(found.singular_values, {2, 0.5}) < 1e-15);
  }

  void badMatricesAreRefusedInOneSentence() {
    for (const auto& bad : {std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 3, NAN}}) {
      try {
        eigenvalues(bad, 2);
        QFAIL("accepted");
      } catch (const std::invalid_argument& error) {
        QVERIFY(is_one_sentence(error.what()) && mentions(error.what(), "eigenvalues"));
      }
      try {
        pseudo_inverse(bad, 2, 2);
        QFAIL("accepted");
      } catch (const std::invalid_argument& error) {
        QVERIFY(is_one_sentence(error.what()) && mentions(error.what(), "pseudo-inverse"));
      }
    }
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, real_eigenvector(std::vector<double>{NAN}, 1, 1));
  }
};

QTEST_APPLESS_MAIN(LinearAlgebraTest)
#include "linear_algebra_test.moc"
