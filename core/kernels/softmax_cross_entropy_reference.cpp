#include <algorithm>
#include <cmath>

#include "core/kernels/softmax_cross_entropy.h"

namespace mambarium::kernels {

template <class Real>
double softmax_cross_entropy_reference(const SoftmaxShape& shape, Strided<const Real> logits,
                                       const std::int64_t* targets, Strided<Real> gradient) {
  const auto counted = static_cast<double>(shape.rows - std::count(targets, targets + shape.rows, ignored_target));
  double loss = 0;
  for (std::int64_t t = 0; t < shape.rows; ++t) {
    const Real* row = logits.row(t);
    const double largest = static_cast<double>(*std::max_element(row, row + shape.vocabulary));
    double sum = 0;
    for (std::int64_t v = 0; v < shape.vocabulary; ++v) {
      sum += std::exp(static_cast<double>(row[v]) - largest);
    }
    const bool counts = targets[t] != ignored_target;
    if (counts) {
      loss += std::log(sum) + (largest - static_cast<double>(row[targets[t]]));
    }
    for (std::int64_t v = 0; gradient.data != nullptr && v < shape.width; ++v) {
      const bool zero = !counts || v >= shape.vocabulary;
      const double p = zero ? 0 : std::exp(static_cast<double>(row[v]) - largest) / sum;
      gradient.row(t)[v] = static_cast<Real>(zero ? 0 : (p - (v == targets[t] ? 1 : 0)) / counted);
    }
  }
  return counted > 0 ? loss / counted : 0;
}

template double softmax_cross_entropy_reference(const SoftmaxShape&, Strided<const float>, const std::int64_t*,
                                                Strided<float>);
template double softmax_cross_entropy_reference(const SoftmaxShape&, Strided<const double>, const std::int64_t*,
                                                Strided<double>);

}  // namespace mambarium::kernels
