// The WKV recurrence of RWKV-4 against its defining sums, as a softmax over all earlier tokens; gradients, pieces,
// keys of any size, threads.
#include <torch/torch.h>

#include <QTest>
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/models/wkv_function.h"
#include "tests/models/plain_rwkv4.h"

using namespace mambarium;

namespace {

struct Example {
  at::Tensor k, v, w, u;

  explicit Example(std::int64_t batch, std::int64_t length, std::int64_t channels, double size = 2,
                   at::ScalarType type = torch::kFloat64) {
    const auto wave = [&](const std::vector<std::int64_t>& shape, double speed) {
      std::int64_t count = 1;
      for (const std::int64_t side : shape) count *= side;
      return torch::sin(torch::arange(count, torch::kFloat64) * speed + speed).reshape(shape);
    };
    k = (size * wave({batch, length, channels}, 1.3)).to(type).requires_grad_();
    v = wave({batch, length, channels}, 2.1).to(type).requires_grad_();
    w = (0.5 + 0.45 * wave({channels}, 0.9)).to(type).requires_grad_();
    u = wave({channels}, 1.7).to(type).requires_grad_();
  }
  std::vector<at::Tensor> all() const { return {k, v, w, u}; }
};

double apart(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

// A sum in which every number counts differently.
at::Tensor weighed(const at::Tensor& y) {
  return (y * torch::cos(torch::arange(y.numel(), y.options())).reshape(y.sizes())).sum();
}

}  // namespace

class TestWkv : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void is_the_average_that_the_formula_says() {
    for (const std::int64_t length : {1, 2, 100}) {
      const Example in(3, length, 7);
      QVERIFY(apart(wkv(in.k, in.v, in.w, in.u).y, plain_wkv(in.k, in.v, in.w, in.u)) < 1e-12);
      const Example single(3, length, 7, 2, torch::kFloat32);
      QVERIFY(apart(wkv(single.k, single.v, single.w, single.u).y, plain_wkv(in.k, in.v, in.w, in.u)) < 2e-6);
    }
  }

  void keys_of_any_size_are_as_good() {
    const Example in(2, 60, 9, 80);
    const auto y = wkv(in.k, in.v, in.w, in.u).y;
    QVERIFY(apart(y, plain_wkv(in.k, in.v, in.w, in.u)) < 1e-10);
    for (const double size : {80.0, 1e4, -80.0, -1e4}) {
      for (const auto type : {torch::kFloat32, torch::kFloat64}) {
        const Example constant(2, 60, 9, 0, type), waves(2, 60, 9, size, type);
        const auto k = (constant.k.detach() + size).requires_grad_();
        const auto same = wkv(k, constant.v, constant.w, constant.u).y;
        // Equal keys cancel, whatever they are; float32 holds u + 1e4 to 1e-3.
        if (type == torch::kFloat64)
          QVERIFY(apart(same, wkv(constant.k, constant.v, constant.w, constant.u).y) < 1e-10);
        const auto wild = wkv(waves.k, waves.v, waves.w, waves.u).y;
        (same.sum() + wild.sum()).backward();
        for (const auto& number :
             {same, wild, k.grad(), waves.k.grad(), waves.v.grad(), waves.w.grad(), waves.u.grad()})
          QVERIFY(number.isfinite().all().item<bool>());
      }
    }
  }

  void gradients_agree_with_those_of_the_formula() {
    for (const double size : {2.0, 30.0}) {
      const Example in(3, 40, 5, size);
      const auto found = torch::autograd::grad({weighed(wkv(in.k, in.v, in.w, in.u).y)}, in.all());
      const auto expected = torch::autograd::grad({weighed(plain_wkv(in.k, in.v, in.w, in.u))}, in.all());
      for (std::size_t i = 0; i < found.size(); ++i) QVERIFY(apart(found[i], expected[i]) < 1e-11);
      const Example single(3, 40, 5, size, torch::kFloat32);
      const auto rounded =
          torch::autograd::grad({weighed(wkv(single.k, single.v, single.w, single.u).y)}, single.all());
      for (std::size_t i = 0; i < found.size(); ++i)
        QVERIFY(apart(rounded[i], expected[i]) < 1e-5 * std::max(1.0, expected[i].abs().max().item<double>()));
    }
  }

  void gradients_agree_with_finite_differences() {
    const Example in(2, 9, 3);
    const auto found = torch::autograd::grad({weighed(wkv(in.k, in.v, in.w, in.u).y)}, in.all());
    const torch::NoGradGuard no_gradients;
    const auto value = [&] { return weighed(wkv(in.k, in.v, in.w, in.u).y).item<double>(); };
    constexpr double step = 1e-6;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const auto numbers = in.all()[i].view(-1);
      for (std::int64_t index = 0; index < numbers.numel(); ++index) {
        const double kept = numbers[index].item<double>();
        numbers[index] = kept + step;
        const double above = value();
        numbers[index] = kept - step;
        const double below = value();
        numbers[index] = kept;
        QVERIFY(std::abs((above - below) / (2 * step) - found[i].reshape(-1)[index].item<double>()) < 1e-8);
      }
    }
  }

  void pieces_give_the_whole_and_its_gradients() {
    const Example in(2, 50, 6, 5);
    const auto whole = wkv(in.k, in.v, in.w, in.u);
    std::vector<at::Tensor> rows;
    at::Tensor state;
    std::int64_t done = 0;
    for (const std::int64_t length : {1, 20, 3, 26}) {
      const auto piece = wkv(in.k.narrow(1, done, length), in.v.narrow(1, done, length), in.w, in.u, state);
      rows.push_back(piece.y);
      state = piece.state;
      done += length;
    }
    QVERIFY(torch::equal(torch::cat(rows, 1), whole.y));
    QVERIFY(torch::equal(state, whole.state));
    const auto found = torch::autograd::grad({weighed(torch::cat(rows, 1))}, in.all());
    const auto expected = torch::autograd::grad({weighed(whole.y)}, in.all());
    for (std::size_t i = 0; i < found.size(); ++i) QVERIFY(apart(found[i], expected[i]) < 1e-12);
  }

  void threads_change_nothing() {
    const Example in(5, 30, 4, 2, torch::kFloat32), other(5, 30, 4, 2, torch::kFloat32);
    const auto one = wkv(in.k, in.v, in.w, in.u, {}, 1), three = wkv(other.k, other.v, other.w, other.u, {}, 3);
    QVERIFY(torch::equal(one.y, three.y));
    weighed(one.y).backward();
    weighed(three.y).backward();
    for (std::size_t i = 0; i < 4; ++i) QVERIFY(torch::equal(in.all()[i].grad(), other.all()[i].grad()));
  }

  void what_does_not_fit_is_refused_in_one_sentence() {
    const Example in(2, 5, 3), wider(2, 5, 4);
    const auto said = [](const std::function<void()>& action) -> std::string {
      try {
        action();
      } catch (const std::invalid_argument& error) {
        return error.what();
      }
      return "";
    };
    QVERIFY(said([&] { wkv(in.k, wider.v, in.w, in.u); }).find("v must be Double [2, 5, 3]") != std::string::npos);
    QVERIFY(said([&] { wkv(in.k, in.v, wider.w, in.u); }).find("w must be Double [3]") != std::string::npos);
    QVERIFY(said([&] { wkv(in.k, in.v, in.w, in.u.to(torch::kFloat32)); }).find("u must be") != std::string::npos);
    QVERIFY(said([&] { wkv(in.k, in.v, in.w, in.u, in.k); }).find("the state must be Double [2, 3, 3]") !=
            std::string::npos);
    QVERIFY(said([&] { wkv(in.w, in.v, in.w, in.u); }).find("k must be") != std::string::npos);
  }
};

QTEST_APPLESS_MAIN(TestWkv)
#include "test_wkv.moc"
