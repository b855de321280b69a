// What the self-test says on this machine, and that it can say no.
#include <QTest>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/kernels/simd.h"
#include "core/selftest/selftest.h"

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
    QVERIFY(paths == (std::set<std::string>{"scan", "Mamba-1 scan", "RMSNorm", "vocabulary", "whole model", "blocks",
                                            "optimiser"}));
    for (const char* what :
         {"gradient of a", "gradients of the convolution", "gradients of the decay", "gradients of the MLP",
          "gradients of the skip", "loss", "gradient of A", "gradient of the gate", "gradient of the logits"}) {
      QVERIFY2(whats.contains(what), what);
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
