#include "core/reproduce/claim.h"

#include <QTest>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

using namespace mambarium;
using nlohmann::json;

namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

json document() {
  return {{"claim", "counts"},
          {"paper", "0.01"},
          {"measure", "gap_add_beta"},
          {"below", 0.1},
          {"cells", json::array({{{"name", "k = 1"}, {"of", {{"task.order", "1"}}}}})}};
}

// Orders 1 and 2, seeds 0 to 2; the gaps as given.
SweepResult result(const std::string& name, const std::vector<double>& gaps) {
  SweepResult made;
  made.name = name;
  made.axes = {{"task.order", "Order k", {"task.order"}, {"1", "2"}, {1, 2}}};
  made.seeds = {0, 1, 2};
  made.measures = sweep_measures();
  for (std::size_t position = 0; position < 2; ++position) {
    for (std::size_t seed = 0; seed < 3; ++seed) {
      SweepRow row;
      row.point = name + std::to_string(position) + std::to_string(seed);
      row.position = {position};
      row.seed = static_cast<std::int64_t>(seed);
      row.values.assign(made.measures.size(), no_number);
      row.values[made.measure("gap_add_beta")] = gaps[position * 3 + seed];
      made.rows.push_back(row);
    }
  }
  return made;
}

QString refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const std::invalid_argument& fault) {
    return QString::fromStdString(fault.what());
  }
  return {};
}

}  // namespace

class ClaimTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void anIntervalDecides_data() {
    QTest::addColumn<int>("kind");
    QTest::addColumn<double>("low");
    QTest::addColumn<double>("high");
    QTest::addColumn<int>("verdict");
    const auto row = [](const char* name, Inequality::Kind kind, double low, double high, Verdict verdict) {
      QTest::newRow(name) << static_cast<int>(kind) << low << high << static_cast<int>(verdict);
    };
    using enum Inequality::Kind;
    row("below it", below, 0.1, 0.4, Verdict::holds);
    row("above it", below, 0.5, 0.6, Verdict::does_not_hold);
    row("across it", below, 0.4, 0.6, Verdict::undecided);
    row("above, above it", above, 0.6, 0.7, Verdict::holds);
    row("above, below it", above, 0.1, 0.5, Verdict::does_not_hold);
    row("above, across it", above, 0.4, 0.6, Verdict::undecided);
    row("within", within, -0.4, 0.4, Verdict::holds);
    row("within, too high", within, 0.5, 0.9, Verdict::does_not_hold);
    row("within, too low", within, -0.9, -0.5, Verdict::does_not_hold);
    row("within, across both", within, -0.9, 0.9, Verdict::undecided);
    row("between", between, 0.5, 0.7, Verdict::holds);
    row("between, below it", between, 0.1, 0.4, Verdict::does_not_hold);
    row("between, above it", between, 0.8, 0.9, Verdict::does_not_hold);
    row("between, across an end", between, 0.4, 0.6, Verdict::undecided);
    row("one seed", below, no_number, no_number, Verdict::undecided);
  }
  void anIntervalDecides() {
    QFETCH(int, kind);
    QFETCH(double, low);
    QFETCH(double, high);
    QFETCH(int, verdict);
    const SweepSummary value{0, 0, 3, low, high};
    QCOMPARE(static_cast<int>(decide(value, {static_cast<Inequality::Kind>(kind), 0.5, 0.7})), verdict);
  }

  void aCellIsItsSeeds() {
    const Claim claim = claim_from_json(document());
    const SweepResult made[] = {result("a", {0.01, 0.03, 0.02, 9, 9, 9})};
    const DecidedClaim decided = decide(claim, made);
    QCOMPARE(decided.verdict, Verdict::holds);
    const SweepSummary& value = decided.cells[0].value;
    QCOMPARE(value.n, std::int64_t{3});
    QVERIFY(std::abs(value.mean - 0.02) < 1e-15);
    // Student's t for two degrees of freedom is 4.3027; the standard error 0.01 / sqrt 3.
    QVERIFY(std::abs(value.high - 0.02 - 4.302653 * 0.01 / std::sqrt(3.0)) < 1e-7);
    QCOMPARE(decided.cells[0].points.front(), std::string("a01"));
  }

  void aDifferenceIsOfEqualSeeds() {
    json changed = document();
    changed["cells"][0]["minus"] = {{"sweep", "b"}, {"task.order", "2"}};
    const SweepResult made[] = {result("a", {0.5, 0.7, 0.9, 0, 0, 0}), result("b", {0, 0, 0, 0.45, 0.65, 0.85})};
    const DecidedClaim decided = decide(claim_from_json(changed), made);
    // Each seed's difference is 0.05 although seeds differ by 0.2: the interval has no width.
    QVERIFY(std::abs(decided.cells[0].value.low - 0.05) < 1e-9 && std::abs(decided.cells[0].value.high - 0.05) < 1e-9);
    QCOMPARE(decided.verdict, Verdict::holds);
  }

  // p by SciPy's ttest_rel.
  void aComparisonWhoseIntervalHoldsZeroFoundNoDifference() {
    json changed = document();
    changed.erase("below");
    changed["above"] = 0;
    changed["cells"][0]["minus"] = {{"task.order", "2"}};
    const auto against = [&](const std::vector<double>& gaps) {
      const SweepResult made[] = {result("a", gaps)};
      return decide(claim_from_json(changed), made);
    };
    const DecidedClaim open = against({0.312, 0.297, 0.321, 0.3, 0.3, 0.3});
    QCOMPARE(open.verdict, Verdict::no_difference);
    QVERIFY(open.cells[0].found_no_difference() && open.cells[0].value.low < 0 && open.cells[0].value.high > 0);
    QCOMPARE(open.cells[0].test->n, std::int64_t{3});
    QVERIFY(std::abs(open.cells[0].test->p - 0.28933094548129856) < 1e-12);
    QCOMPARE(against({1, 1, 1, 1, 1, 1}).verdict, Verdict::no_difference);
    const DecidedClaim better = against({0.5, 0.51, 0.52, 0.3, 0.3, 0.3});
    QVERIFY(better.verdict == Verdict::holds && !better.cells[0].found_no_difference());
    QCOMPARE(against({0.3, 0.3, 0.3, 0.5, 0.51, 0.52}).verdict, Verdict::does_not_hold);
    QCOMPARE(against({0.3, 0.3, 0.3, no_number, no_number, 0.5}).verdict, Verdict::undecided);
    // Where equality is claimed, finding none is no answer in its place.
    changed.erase("above");
    changed["within"] = 0.1;
    const DecidedClaim equal = against({0.312, 0.297, 0.321, 0.3, 0.3, 0.3});
    QVERIFY(equal.verdict == Verdict::holds && equal.cells[0].found_no_difference());
    const SweepResult alone[] = {result("a", {0.01, -0.02, 0.03, 0, 0, 0})};
    QVERIFY2(!decide(claim_from_json(document()), alone).cells[0].test, "what compares nothing has no test");
  }

  void aCellMayHaveItsOwnInequality() {
    json changed = document();
    changed.erase("below");
    changed["cells"][0]["between"] = {0.01, 0.05};
    const SweepResult made[] = {result("a", {0.02, 0.021, 0.022, 9, 9, 9})};
    QCOMPARE(decide(claim_from_json(changed), made).verdict, Verdict::holds);
    changed["cells"].push_back({{"name", "k = 2"}, {"of", {{"task.order", "2"}}}, {"between", {0, 1}}});
    const DecidedClaim decided = decide(claim_from_json(changed), made);
    QVERIFY(decided.cells[0].verdict == Verdict::holds && decided.cells[1].verdict == Verdict::does_not_hold);
    QCOMPARE(to_string(claim_from_json(changed).cells[0].inequality.value()), std::string("from 0.01 to 0.05"));
  }

  void theMedianCanBeClaimed() {
    json changed = document();
    changed["over_seeds"] = "median";
    SweepResult made[] = {result("a", {0.01, 5, 0.02, 0, 0, 0})};
    QCOMPARE(decide(claim_from_json(changed), made).verdict, Verdict::undecided);
    QCOMPARE(decide(claim_from_json(changed), made).cells[0].value.mean, 0.02);
    for (std::int64_t seed = 3; seed < 9; ++seed) {
      SweepRow row = made[0].rows[0];
      row.seed = seed;
      made[0].rows.push_back(row);
    }
    const DecidedCell cell = decide(claim_from_json(changed), made).cells[0];
    QVERIFY(cell.verdict == Verdict::holds && cell.value.n == 9 && cell.value.mean == 0.01);
  }

  void oneCellCanUndoAClaim() {
    json changed = document();
    changed["cells"].push_back({{"name", "k = 2"}, {"of", {{"task.order", "2"}}}});
    const SweepResult bad[] = {result("a", {0.01, 0.03, 0.02, 0.3, 0.31, 0.32})};
    QCOMPARE(decide(claim_from_json(changed), bad).verdict, Verdict::does_not_hold);
    const SweepResult wide[] = {result("a", {0.01, 0.03, 0.02, 0.0, 0.2, 0.1})};
    QCOMPARE(decide(claim_from_json(changed), wide).verdict, Verdict::undecided);
    const SweepResult missing[] = {result("a", {0.01, 0.03, 0.02, no_number, no_number, no_number})};
    QCOMPARE(decide(claim_from_json(changed), missing).verdict, Verdict::undecided);
  }

  void faultsAreNamed_data() {
    QTest::addColumn<QString>("change");
    QTest::addColumn<QString>("sentence");
    QTest::newRow("no inequality")
        << R"({"below": null})"
        << R"(claim: it, or each of its cells, must have one of "below", "above", "within" and "between")";
    QTest::newRow("two") << R"({"above": 1})"
                         << R"(claim: it must have one of "below", "above", "within" and "between")";
    QTest::newRow("between what") << R"({"below": null, "between": [2, 1]})"
                                  << R"(claim: "between" must be two numbers, the smaller one first)";
    QTest::newRow("over seeds") << R"({"over_seeds": "mode"})"
                                << R"(claim: "over_seeds" is "mode", it must be mean or median)";
    QTest::newRow("measure") << R"({"measure": "luck"})"
                             << R"(claim: there is no measure "luck")";
    QTest::newRow("no cells") << R"({"cells": []})"
                              << R"(claim: "cells" is empty, it must name what decides it)";
    QTest::newRow("label") << R"({"cells": [{"name": "x", "of": {"task.order": 3}}]})"
                           << R"(claim's cell: "task.order" is 3, it must be the label of a position)";
    QTest::newRow("no position") << R"({"cells": [{"name": "x", "of": {}}]})"
                                 << R"(claim: where on the axis "task.order" is missing)";
    QTest::newRow("no such position") << R"({"cells": [{"name": "x", "of": {"task.order": "7"}}]})"
                                      << R"(claim: the axis "task.order" has no position "7")";
    QTest::newRow("no such axis") << R"({"cells": [{"name": "x", "of": {"task.order": "1", "w": "2"}}]})"
                                  << R"(claim: there is no axis "w")";
    QTest::newRow("no such sweep") << R"({"cells": [{"name": "x", "of": {"sweep": "b", "task.order": "1"}}]})"
                                   << R"(claim: there is no sweep "b")";
  }
  void faultsAreNamed() {
    QFETCH(QString, change);
    QFETCH(QString, sentence);
    json changed = document();
    changed.merge_patch(json::parse(change.toStdString()));
    const SweepResult made[] = {result("a", {0, 0, 0, 0, 0, 0})};
    QCOMPARE(refusal([&] { decide(claim_from_json(changed), made); }), sentence);
  }
};

QTEST_GUILESS_MAIN(ClaimTest)
#include "claim_test.moc"
