// What the self-test says on this machine, and that it can say no.
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/kernels/simd.h"
#include "core/models/parameter.h"
#include "core/selftest/gpu_checks.h"
#include "core/selftest/model_checks.h"
#include "core/selftest/selftest.h"
#include "tests/gpu/on_the_cpu.h"

using namespace mambarium;

class TestSelftest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void every_kernel_agrees_with_float64() {
    std::size_t told = 0;
    const auto checks = run_selftest([&](const SelftestCheck&) { ++told; });
    QCOMPARE(told, checks.size());
    std::set<std::string> instructions, paths, whats;
    for (const SelftestCheck& check : checks) {
      const std::string name = check.instructions + ", " + check.path + ", " + check.what;
      QVERIFY2(check.passed(), (name + ": " + std::to_string(check.difference)).c_str());
      QVERIFY2(check.cases > 0 && check.difference > 0, name.c_str());  // float32 is never float64 to the last bit
      instructions.insert(check.instructions);
      paths.insert(check.path);
      whats.insert(check.what);
    }
    for (const std::string& target : mambarium::kernels::simd_targets())
      QVERIFY2(instructions.contains(target), target.c_str());
    QVERIFY(paths == (std::set<std::string>{"scan", "Mamba-1 scan", "coupled scan", "RMSNorm", "vocabulary",
                                            "whole model", "blocks", "optimiser"}));
    for (const char* what :
         {"gradient of a", "gradients of the convolution", "gradients of the decay", "gradients of the MLP",
          "gradients of the skip", "loss", "gradient of A", "gradient of the gate", "gradient of the logits"}) {
      QVERIFY2(whats.contains(what), what);
    }
  }

  // What a GPU is asked, asked of its stages on the CPU; and of stages that err by a ten-thousandth.
  void what_a_gpu_is_asked() {
    auto checks = check_step(gpu::make_stage_step, "stages");
    const TensorKernels kernels{gpu::selective_scan_with_stages, gpu::diagonal_scan_with_stages,
                                gpu::causal_convolution_with_stages};
    std::ranges::copy(check_tensor_kernels(kernels, "stages"), std::back_inserter(checks));
    std::set<std::string> paths;
    for (const SelftestCheck& check : checks) {
      const std::string name = check.path + ", " + check.what + ": ";
      qInfo("%-60s %.1e of %.1e", name.c_str(), check.difference, check.bound());
      QVERIFY2(check.passed(), (name + std::to_string(check.difference)).c_str());
      paths.insert(check.path);
    }
    QVERIFY(paths ==
            (std::set<std::string>{"whole model", "L1 read-out", "optimiser", "scan", "Mamba-1 scan", "convolution"}));
  }

  void a_gpu_that_errs_is_found_out() {
    class Erring final : public TrainingStep {
     public:
      Erring(SequenceModel& model, AdamW& optimiser, std::int64_t batch, std::int64_t length)
          : right_(model, optimiser, batch, length), model_(model) {}
      std::string device() const override { return ""; }
      BatchLoss gradient(const at::Tensor& inputs, const at::Tensor& targets) override {
        return right_.gradient(inputs, targets);
      }
      void update(std::int64_t number, double rate, double highest) override {
        right_.update(number, rate * 1.1, highest);
      }
      void fetch() override {
        right_.fetch();
        for (Parameter& parameter : model_.parameters()) parameter.tensor.mutable_grad() *= 1.0001f;
      }
      void push() override { right_.push(); }

     private:
      gpu::StageStep right_;
      SequenceModel& model_;
    };
    const auto make_erring = [](SequenceModel& model, AdamW& optimiser, std::int64_t batch, std::int64_t length) {
      return std::make_unique<Erring>(model, optimiser, batch, length);
    };
    for (const SelftestCheck& check : check_step(make_erring, "")) {
      const bool touched = check.path == "whole model" && check.what != "loss";
      if (touched || check.what == "AdamW, weights") QVERIFY2(!check.passed(), check.what.c_str());
    }
    const TensorKernels kernels{[](const auto& in, const auto& out) {
                                  gpu::selective_scan_with_stages(in, out);
                                  for (const auto& tensor : out) tensor.mul_(1.0001f);
                                },
                                [](const auto& in, const auto& out) {
                                  gpu::diagonal_scan_with_stages(in, out);
                                  for (const auto& tensor : out) tensor.mul_(1.0001f);
                                },
                                [](const auto&, const auto&) {}};  // writes nothing
    for (const SelftestCheck& check : check_tensor_kernels(kernels, "")) {
      QVERIFY2(!check.passed(), (check.path + ", " + check.what).c_str());
    }
  }

  void a_difference_beyond_the_bound_fails() {
    SelftestCheck check{"AVX2", "scan", "y", 1, 1e-6, 4e-6};
    QVERIFY(check.passed());
    check.difference = 3e-5;
    QVERIFY(!check.passed());
    check.of_torch = 1e-5;
    QVERIFY(check.passed());
    check.difference = NAN;
    QVERIFY(!check.passed());
    const auto document = to_json(std::vector{check});
    QVERIFY(document.at(0).at("difference").is_null());
    QCOMPARE(document.at(0).at("passed").get<bool>(), false);
  }
};

QTEST_APPLESS_MAIN(TestSelftest)
#include "test_selftest.moc"
