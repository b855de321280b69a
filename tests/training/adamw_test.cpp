#include "core/training/adamw.h"

#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <limits>

#include "core/random/stream.h"

using namespace mambarium;

namespace {

std::vector<double> gradient_of_step(std::size_t size, int step) {
  std::vector<double> gradient(size);
  Stream(1, "gradient").normal(gradient, static_cast<std::uint64_t>(step));
  return gradient;
}

std::vector<float> to_float(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

class AdamWTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // Against the algorithm as published, in double.
  void equalsTheAlgorithmInDouble() {
    constexpr std::size_t size = 37;
    constexpr double rate = 2e-3, decay = 0.1, beta1 = 0.9, beta2 = 0.95;
    for (const bool decayed : {false, true}) {
      std::vector<double> exact = gradient_of_step(size, 1000), m(size), v(size);
      std::vector<float> values = to_float(exact);
      const std::size_t sizes[] = {size};
      AdamW optimiser({.weight_decay = decay}, sizes);
      for (int t = 1; t <= 100; ++t) {
        const std::vector<double> gradient = gradient_of_step(size, t);
        for (std::size_t i = 0; i < size; ++i) {
          if (decayed) exact[i] -= rate * decay * exact[i];
          m[i] = beta1 * m[i] + (1 - beta1) * gradient[i];
          v[i] = beta2 * v[i] + (1 - beta2) * gradient[i] * gradient[i];
          exact[i] -= rate * (m[i] / (1 - std::pow(beta1, t))) / (std::sqrt(v[i] / (1 - std::pow(beta2, t))) + 1e-8);
        }
        const std::vector<float> rounded = to_float(gradient);
        const OptimisedBuffer buffers[] = {{values, rounded, decayed}};
        optimiser.step(buffers, t, rate, 1.0);
      }
      for (std::size_t i = 0; i < size; ++i) QVERIFY(std::abs(double{values[i]} - exact[i]) < 5e-6);
    }
  }

  // Two parameter groups and clipping, against torch's own, which rounds decayed values (below 4 here, so by 2^-23 at
  // most) once more in every step than we do.
  void equalsTorch() {
    constexpr double rate = 2e-3, decay = 1e-2, extra_rounding = 100 * 0x1p-23;
    const std::size_t sizes[] = {24, 5};
    std::vector<torch::Tensor> theirs;
    std::vector<std::vector<float>> ours;
    for (int i = 0; i < 2; ++i) {
      ours.push_back(to_float(gradient_of_step(sizes[i], 2000 + i)));
      theirs.push_back(torch::from_blob(ours.back().data(), {static_cast<std::int64_t>(sizes[i])}).clone());
      theirs.back().set_requires_grad(true);
    }
    const auto options = [&](double weight_decay) {
      auto made = std::make_unique<torch::optim::AdamWOptions>(rate);
      made->betas({0.9, 0.95}).eps(1e-8).weight_decay(weight_decay);
      return made;
    };
    torch::optim::AdamW reference({torch::optim::OptimizerParamGroup({theirs[0]}, options(decay)),
                                   torch::optim::OptimizerParamGroup({theirs[1]}, options(0))});
    AdamW optimiser({.weight_decay = decay}, sizes);
    for (int t = 1; t <= 100; ++t) {
      std::vector<std::vector<float>> gradients;
      std::vector<OptimisedBuffer> buffers;
      for (std::size_t i = 0; i < 2; ++i) {
        gradients.push_back(to_float(gradient_of_step(sizes[i], 2 * t + static_cast<int>(i))));
        theirs[i].mutable_grad() = torch::from_blob(gradients.back().data(), theirs[i].sizes()).clone();
      }
      for (std::size_t i = 0; i < 2; ++i) buffers.push_back({ours[i], gradients[i], i == 0});
      const double norm = global_gradient_norm(buffers);
      const double their_norm = torch::nn::utils::clip_grad_norm_(theirs, 1.0);
      QVERIFY(std::abs(norm / their_norm - 1) < 1e-6);
      reference.step();
      optimiser.step(buffers, t, rate, clip_factor(norm, 1.0));
    }
    for (std::size_t i = 0; i < 2; ++i) {
      const auto mine = torch::from_blob(ours[i].data(), theirs[i].sizes());
      QVERIFY((mine - theirs[i].detach()).abs().max().item<double>() < (i == 0 ? extra_rounding : 1e-6));
    }
  }

  void withoutGradientNothingMoves() {
    std::vector<float> values{1, 2, 3};
    const std::size_t sizes[] = {3};
    AdamW optimiser({.weight_decay = 1}, sizes);
    const OptimisedBuffer missing[] = {{values, {}, true}};
    optimiser.step(missing, 1, 0.1, 1.0);
    const std::vector<float> zero(3);
    const OptimisedBuffer undecayed[] = {{values, zero, false}};
    optimiser.step(undecayed, 2, 0.1, 1.0);
    QVERIFY((values == std::vector<float>{1, 2, 3}));
  }

  void clipping() {
    QCOMPARE(clip_factor(0.5, 1.0), 1.0);
    QCOMPARE(clip_factor(0.0, 1.0), 1.0);
    QCOMPARE(clip_factor(1e9, 0.0), 1.0);
    QVERIFY(std::abs(clip_factor(4.0, 1.0) - 0.25) < 1e-6);
  }

  void normIsFiniteExactlyWhenTheGradientIs() {
    std::vector<float> gradient(100, std::numeric_limits<float>::max());
    const OptimisedBuffer buffers[] = {{gradient, gradient, false}};
    QVERIFY(std::isfinite(global_gradient_norm(buffers)));
    gradient[50] = std::numeric_limits<float>::infinity();
    QVERIFY(!std::isfinite(global_gradient_norm(buffers)));
    gradient[50] = std::numeric_limits<float>::quiet_NaN();
    QVERIFY(!std::isfinite(global_gradient_norm(buffers)));
  }
};

QTEST_APPLESS_MAIN(AdamWTest)
#include "adamw_test.moc"
