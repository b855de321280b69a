// The coupled scan as a LibTorch function: outputs and every gradient, that of the scale k among them, against plain
// operators with autograd in float64.
#include <torch/torch.h>

#include <QTest>

#include "core/models/kernel_functions.h"

using namespace mambarium;

namespace {

using Tensors = std::vector<at::Tensor>;

struct Sizes {
  std::int64_t batch, length, channels, d_state, rank;
  bool per_channel;
};

// x, dt, B, C, A, h0, M_I, Q, k. A quarter of A is 0 or next to it.
Tensors draw(const Sizes& s, double k) {
  const auto pair = [&](std::int64_t rows, std::int64_t columns) {
    return s.per_channel ? torch::randn({s.channels, rows, columns}) : torch::randn({rows, columns});
  };
  auto A = -3 * torch::rand({s.channels, s.d_state});
  A = torch::where(torch::rand_like(A) < 0.125, torch::zeros_like(A), A);
  A = torch::where(torch::rand_like(A) < 0.125, 1e-6 * A, A);
  return {torch::randn({s.batch, s.length, s.channels}),
          torch::rand({s.batch, s.length, s.channels}),
          torch::randn({s.batch, s.length, s.d_state}),
          torch::randn({s.batch, s.length, s.d_state}),
          A,
          torch::randn({s.batch, s.channels, s.d_state}),
          pair(s.d_state, s.rank),
          pair(s.rank, s.d_state),
          torch::full({}, k)};
}

// dP, y, the last state, z, and the gradients of all inputs for a fixed mixture of the first two.
Tensors everything(const Tensors& inputs, CouplingForm form, bool fused_engine) {
  const auto type = fused_engine ? torch::kFloat32 : torch::kFloat64;
  Tensors in;
  for (const auto& input : inputs) in.push_back(input.detach().to(type).requires_grad_(true));
  at::Tensor z;
  const auto P = in[8] * in[6];
  P.retain_grad();
  const auto result = fused_engine
                          ? fused::coupled_scan(in[0], in[1], in[2], in[3], in[4], P, in[7], form, in[5], 2, &z)
                          : operators::coupled_scan(in[0], in[1], in[2], in[3], in[4], P, in[7], form, in[5], &z);
  at::Tensor mixture = torch::zeros({}, type);
  for (const auto& output : {result.y, result.state}) {
    const auto weights = torch::cos(torch::arange(output.numel(), torch::kFloat64) * 1.7).to(torch::kFloat32);
    mixture = mixture + (output.flatten() * weights.to(type)).sum();
  }
  mixture.backward();
  Tensors results{P.grad(), result.y.detach(), result.state.detach(), z.detach()};
  for (const auto& leaf : in) results.push_back(leaf.grad());
  return results;
}

template <class Call>
QString refusal(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return QString::fromUtf8(error.what());
  }
  return {};
}

}  // namespace

class TestCoupledScanFunction : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { torch::manual_seed(11); }

  void fused_equals_operators_in_float64() {
    for (const bool per_channel : {false, true}) {
      for (const auto& [batch, length, channels, d_state, rank] :
           std::vector<std::array<std::int64_t, 5>>{{2, 37, 5, 7, 2}, {1, 1, 1, 1, 1}, {3, 50, 40, 16, 3}}) {
        for (const CouplingForm form : {CouplingForm::euler, CouplingForm::etd}) {
          for (const double k : {0.0, 0.01}) {
            const auto inputs = draw({batch, length, channels, d_state, rank, per_channel}, k);
            const auto found = everything(inputs, form, true), expected = everything(inputs, form, false);
            for (std::size_t i = 0; i < found.size(); ++i) {
              const double off = (found[i].to(torch::kFloat64) - expected[i]).abs().max().item<double>();
              const bool of_k = i + 1 == found.size();  // <dP, M_I>, a sum whose terms cancel
              const auto terms = of_k ? (expected[0] * inputs[6]).abs().sum() : expected[i].abs().max();
              const double scale = terms.item<double>();
              QVERIFY2(off <= 2e-5 * scale, qPrintable(QString("tensor %1: %2 of %3").arg(i).arg(off).arg(scale)));
            }
            QVERIFY(expected.back().abs().item<double>() > 0);  // also at k = 0
          }
        }
      }
    }
  }

  void operators_agree_on_the_weight_on_both_sides_of_its_branch() {
    const auto leaf = [](double value) { return torch::full({1, 1, 1}, value, torch::kFloat64).requires_grad_(true); };
    for (const double x : {-0.0999999999, -0.1000000001}) {
      const auto A = leaf(x).detach().view({1, 1}).requires_grad_(true), zero = leaf(0), one = leaf(1);
      const auto matrix = one.view({1, 1});
      const auto result =
          operators::coupled_scan(zero, one, zero, one, A, 100 * matrix, matrix, CouplingForm::etd, one);
      result.y.sum().backward();
      const double phi = std::expm1(x) / x, decay = std::exp(x);
      QVERIFY(std::abs(result.y.item<double>() - (decay + 100 * phi)) < 1e-12);
      QVERIFY(std::abs(A.grad().item<double>() - (decay + 100 * (decay - phi) / x)) < 1e-11);
    }
  }

  void without_coupling_it_is_the_diagonal_scan_to_the_bit() {
    const auto in = draw({2, 40, 6, 5, 2, false}, 0);
    const auto plain = fused::diagonal_scan(in[0], in[1], in[2], in[3], in[4], in[5]);
    for (const CouplingForm form : {CouplingForm::euler, CouplingForm::etd}) {
      const auto result = fused::coupled_scan(in[0], in[1], in[2], in[3], in[4], in[8] * in[6], in[7], form, in[5]);
      QVERIFY(result.y.equal(plain.y) && result.state.equal(plain.state));
    }
    const auto exact = operators::diagonal_scan(in[0], in[1], in[2], in[3], in[4], in[5]);
    QVERIFY(torch::allclose(exact.y, plain.y, 1e-4, 1e-4) && torch::allclose(exact.state, plain.state, 1e-4, 1e-4));
  }

  void the_second_half_continues_the_first() {
    const auto in = draw({2, 20, 6, 3, 2, false}, 0.1);
    const auto part = [&](std::int64_t first, std::int64_t count, const at::Tensor& h0) {
      const auto of = [&](const at::Tensor& tensor) { return tensor.narrow(1, first, count); };
      return fused::coupled_scan(of(in[0]), of(in[1]), of(in[2]), of(in[3]), in[4], in[8] * in[6], in[7],
                                 CouplingForm::euler, h0);
    };
    const auto whole = part(0, 20, {});
    const auto second = part(8, 12, part(0, 8, {}).state);
    QVERIFY(torch::allclose(second.y, whole.y.narrow(1, 8, 12), 1e-5, 1e-6));
    QVERIFY(torch::allclose(second.state, whole.state, 1e-5, 1e-6));
  }

  void shapes_that_do_not_fit_are_refused() {
    const auto in = draw({2, 4, 6, 3, 2, false}, 1);
    const auto scan = [&](const at::Tensor& P, const at::Tensor& Q) {
      return refusal([&] { fused::coupled_scan(in[0], in[1], in[2], in[3], in[4], P, Q, CouplingForm::euler); });
    };
    QVERIFY(scan(in[6], in[7]).isEmpty());
    QVERIFY(scan(in[6].t(), in[7]).startsWith("coupled_scan: P: expected float32 [3, 3]"));
    QVERIFY(scan(in[6], in[7].t()).startsWith("coupled_scan: Q: expected float32 [2, 3]"));
    QVERIFY(scan(in[6].expand({5, 3, 2}), in[7]).startsWith("coupled_scan: P: expected float32 [6, 3, 2]"));
    QVERIFY(scan(in[6][0], in[7]).startsWith("coupled_scan: P has 2 dimensions, or 3"));
    QVERIFY(scan(torch::zeros({3, 17}), torch::zeros({17, 3})).contains("the rank is 17, expected 1 to 16"));
  }
};

QTEST_APPLESS_MAIN(TestCoupledScanFunction)
#include "test_coupled_scan_function.moc"
