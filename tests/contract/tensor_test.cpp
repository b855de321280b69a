#include "core/contract/tensor.h"

#include <QFloat16>
#include <QTest>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sentence.h"

using namespace mambarium;
using nlohmann::json;

class TensorTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bitsSurviveCbor() {
    const Tensor tensor{{2, 3}, {0.1f, -0.0f, 1e-30f, std::numeric_limits<float>::denorm_min(), 3.4e38f, 1.0f / 3}};
    const auto read = json::from_cbor(json::to_cbor(json(tensor))).get<Tensor>();
    QVERIFY(read == tensor);
    QVERIFY(std::signbit(read.data[1]));
    const Tensor nothing{{0, 5}, {}};
    QVERIFY(json::from_cbor(json::to_cbor(json(nothing))).get<Tensor>() == nothing);
  }

  void theReadableFormSurvivesText() {
    const Tensor tensor{{3}, {0.1f, std::numeric_limits<float>::quiet_NaN(), -7.5f}};
    const json document = {{"list", {{{"inner", tensor}}}}, {"step", 4}};
    const json read = json::parse(readable_json(document).dump());
    QCOMPARE(read["step"], 4);
    const auto back = read["list"][0]["inner"].get<Tensor>();
    QCOMPARE(back.data[0], 0.1f);
    QVERIFY(std::isnan(back.data[1]));
    QCOMPARE(back.data[2], -7.5f);
  }

  void malformedTensorsGiveOneSentence() {
    const json good = Tensor{{2}, {1, 2}};
    const auto with = [&](const char* name, json value) {
      json changed = good;
      changed[name] = std::move(value);
      return changed;
    };
    json without = good;
    without.erase("data");
    const std::vector<json> bad = {json(3),
                                   without,
                                   with("dtype", "f64"),
                                   with("dtype", 1),
                                   with("shape", {3}),
                                   with("shape", {-2}),
                                   with("shape", {1.5}),
                                   with("shape", {std::int64_t{1} << 62, 8}),
                                   with("data", json::binary({1, 2, 3})),
                                   with("data", {1, "two"}),
                                   with("data", "12345678")};
    for (const json& document : bad) {
      Tensor tensor{{1}, {42}};
      try {
        from_json(document, tensor);
        QFAIL("a malformed tensor was read");
      } catch (const std::invalid_argument& fault) {
        QVERIFY2(is_one_sentence(fault.what()) && mentions(fault.what(), "tensor"), fault.what());
      }
      QCOMPARE(tensor.data[0], 42.0f);
    }
  }
};

QTEST_APPLESS_MAIN(TensorTest)
#include "tensor_test.moc"
