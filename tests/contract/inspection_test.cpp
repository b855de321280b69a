#include "core/contract/inspection.h"

#include <QFloat16>
#include <QTest>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "sentence.h"

using namespace mambarium;
using nlohmann::json;

namespace {

Tensor ramp(std::vector<std::int64_t> shape) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  Tensor tensor{std::move(shape), {}};
  for (std::size_t index = 0; index < count; ++index) tensor.data.push_back(0.1f * static_cast<float>(index));
  return tensor;
}

DecayData decay() {
  return {120, {0, 1, 1, 0}, ramp({2, 3, 4})};
}
FilterData filters() {
  return {400, {{{"x", ramp({16, 2}), ramp({16})}, {"B", ramp({8, 2}), ramp({8})}}, {{"K", ramp({4, 2}), ramp({0})}}}};
}
PredictionData prediction() {
  return {7, 2, {0, 1, 1}, 1, ramp({3, 2}), ramp({3, 2}), ramp({3, 2})};
}

StateData state() {
  return {120, 1, 2, 0, 1, {0, 1, 1}, ramp({3, 4, 5}), ramp({3, 2, 2}), ramp({3, 2, 2}), 0.97, 0.67};
}
InnerProductData inner_products() {
  return {40, 2, {"00", "01", "10", "11"}, ramp({4, 4})};
}
QuantisationData quantisation() {
  return {2000, {2, 3, 32}, {0.3, 0.1, 0.001}, {0.01, 0.002, 0.0001}, 160};
}
TheoremData theorem() {
  return {0.01, 1, {1024, 10, 1e-6, 1e-5}, {100, 200, 1e-7, 1e-6}, ramp({2, 2}), ramp({2}), ramp({2})};
}

template <class Data>
void comes_back(const Data& data) {
  const json sent = data;
  QCOMPARE(json(json::from_cbor(json::to_cbor(sent)).get<Data>()), sent);
  QCOMPARE(json(json::parse(readable_json(sent).dump()).get<Data>()), sent);
}

template <class Data>
void each_broken_field_is_named(const Data& data) {
  const json good = data;
  for (const auto& [name, value] : good.items()) {
    json missing = good;
    missing.erase(name);
    json mistyped = good;
    mistyped[name] = "something else";
    for (const json& bad : {missing, mistyped}) {
      try {
        bad.get<Data>();
        QFAIL(("accepted without a good " + name).c_str());
      } catch (const std::invalid_argument& fault) {
        QVERIFY2(is_one_sentence(fault.what()) && mentions(fault.what(), "\"" + name + "\""), fault.what());
      }
    }
  }
}

}  // namespace

class InspectionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void answersComeBackTheSame() {
    comes_back(decay());
    comes_back(filters());
    comes_back(prediction());
    comes_back(state());
    comes_back(inner_products());
    comes_back(quantisation());
    comes_back(theorem());
  }

  void whatCouldNotBeMeasuredComesBackAsNotANumber() {
    StateData constant = state();
    constant.r_squared = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(std::isnan(json(constant).get<StateData>().r_squared));
    QuantisationData overflowed = quantisation();
    overflowed.gap[0] = std::numeric_limits<double>::infinity();
    QVERIFY(std::isnan(json(overflowed).get<QuantisationData>().gap[0]));
  }

  void filtersOfVersion01AreStillRead() {
    const json taps = ramp({4, 2}), bias = ramp({4}), no_taps = ramp({0, 2}), no_bias = ramp({0});
    const json layer = {{"x", taps},      {"B", no_taps},      {"C", no_taps},
                        {"x_bias", bias}, {"B_bias", no_bias}, {"C_bias", no_bias}};
    const auto read = json{{"step", 3}, {"layers", {layer}}}.get<FilterData>();
    QCOMPARE(read.layers.at(0).size(), std::size_t{1});
    QCOMPARE(read.layers[0][0].name, std::string("x"));
    QVERIFY(read.layers[0][0].taps.data == ramp({4, 2}).data);
  }

  void brokenFieldsAreNamed() {
    each_broken_field_is_named(decay());
    each_broken_field_is_named(filters());
    each_broken_field_is_named(prediction());
    each_broken_field_is_named(state());
    each_broken_field_is_named(inner_products());
    each_broken_field_is_named(quantisation());
    each_broken_field_is_named(theorem());
  }

  void shapesThatDisagreeAreRefused() {
    DecayData wrong_length = decay();
    wrong_length.tokens.push_back(0);
    QVERIFY_EXCEPTION_THROWN(json(wrong_length).get<DecayData>(), std::invalid_argument);
    DecayData flat = decay();
    flat.decay.shape = {6, 4};
    QVERIFY_EXCEPTION_THROWN(json(flat).get<DecayData>(), std::invalid_argument);
    PredictionData narrow = prediction();
    narrow.oracle = ramp({3, 1});
    QVERIFY_EXCEPTION_THROWN(json(narrow).get<PredictionData>(), std::invalid_argument);
    FilterData biased = filters();
    biased.layers[0][0].bias = ramp({3});
    QVERIFY_EXCEPTION_THROWN(json(biased).get<FilterData>(), std::invalid_argument);
    StateData shortened = state();
    shortened.state = ramp({2, 4, 5});
    QVERIFY_EXCEPTION_THROWN(json(shortened).get<StateData>(), std::invalid_argument);
    StateData three_states = state();
    three_states.states = 3;
    QVERIFY_EXCEPTION_THROWN(json(three_states).get<StateData>(), std::invalid_argument);
    InnerProductData unnamed = inner_products();
    unnamed.windows.pop_back();
    QVERIFY_EXCEPTION_THROWN(json(unnamed).get<InnerProductData>(), std::invalid_argument);
    QuantisationData unmeasured = quantisation();
    unmeasured.gap.pop_back();
    QVERIFY_EXCEPTION_THROWN(json(unmeasured).get<QuantisationData>(), std::invalid_argument);
  }

  void aQuestionNeedsOnlyItsKind() {
    const auto request = json{{"what", "filters"}}.get<InspectRequest>();
    QVERIFY((request == InspectRequest{"filters", 0, std::nullopt}));
    const InspectRequest whole{"decay", 3, 400, 1, 2, 1e-4, 0.5};
    QVERIFY(json(whole).get<InspectRequest>() == whole);
    QVERIFY_EXCEPTION_THROWN((json{{"what", "state"}, {"layer", -1}}.get<InspectRequest>()), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN((json{{"what", "theorem4"}, {"epsilon", "x"}}.get<InspectRequest>()),
                             std::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(InspectionTest)
#include "inspection_test.moc"
