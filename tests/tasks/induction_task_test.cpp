#include "core/tasks/induction_task.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>

#include "core/estimators/known_task.h"

using namespace mambarium;

namespace {

SequenceBatch drawn(const InductionTask& task, std::int64_t count, std::uint64_t seed = 0) {
  SequenceBatch batch;
  task.generate(Stream(seed, "test"), 0, count, batch);
  return batch;
}

std::vector<std::size_t> places_of(std::span<const std::int32_t> row, std::int32_t token) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i] == token) places.push_back(i);
  return places;
}

ExperimentConfig induction_config() {
  ExperimentConfig config;
  config.set_from_string("task.kind", "induction");
  config.set_from_string("task.states", "64");
  config.set_from_string("model.kind", "mamba1");
  return config;
}

}  // namespace

class InductionTaskTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theKeyComesTwiceAndItsValueAfterBoth();
  void placesCoverTheirRanges();
  void tokensAreUniform();
  void aSequenceIsAPureFunctionOfItsNumber();
  void theShortestSequencesAreWhole();
  void sizesThatCannotBeAreRefused();
  void recallAnswersEverySequence();
  void recallGuessesWhatItHasNotSeen();
  void theConfigurationSaysWhatIsMissing();
};

void InductionTaskTest::theKeyComesTwiceAndItsValueAfterBoth() {
  for (const std::int64_t length : {8, 9, 64, 256}) {
    const InductionTask task(64, length);
    const SequenceBatch batch = drawn(task, 500);
    QCOMPARE(batch.scored.size(), 500u);
    for (std::int64_t index = 0; index < batch.batch; ++index) {
      const auto row = batch.sequence(index);
      QCOMPARE(row.size(), static_cast<std::size_t>(length + 1));
      const auto query = static_cast<std::size_t>(batch.scored[static_cast<std::size_t>(index)]);
      const auto places = places_of(row, row[query]);
      QCOMPARE(places.size(), 2u);
      QCOMPARE(places[1], query);
      QCOMPARE(row[places[0] + 1], row[query + 1]);
      QVERIFY(row[query + 1] != row[query]);
      QVERIFY(places[0] >= 1 && places[0] <= static_cast<std::size_t>(length / 2 - 2));
      QVERIFY(query >= std::max(places[0] + 2, static_cast<std::size_t>(length / 2)));
      QVERIFY(query <= static_cast<std::size_t>(length - 2));
      QVERIFY(std::ranges::all_of(row, [](std::int32_t token) { return token >= 1 && token <= 63; }));
    }
  }
}

void InductionTaskTest::placesCoverTheirRanges() {
  const InductionTask task(16, 16);
  const SequenceBatch batch = drawn(task, 4000);
  std::set<std::int64_t> queries;
  std::set<std::size_t> keys;
  for (std::int64_t index = 0; index < batch.batch; ++index) {
    const std::int64_t query = batch.scored[static_cast<std::size_t>(index)];
    queries.insert(query);
    keys.insert(places_of(batch.sequence(index), batch.sequence(index)[static_cast<std::size_t>(query)])[0]);
  }
  QCOMPARE(queries, (std::set<std::int64_t>{8, 9, 10, 11, 12, 13, 14}));
  QCOMPARE(keys, (std::set<std::size_t>{1, 2, 3, 4, 5, 6}));
}

void InductionTaskTest::tokensAreUniform() {
  const InductionTask task(64, 256);
  const SequenceBatch batch = drawn(task, 400);
  std::vector<double> counts(64), answers(64);
  for (std::int64_t index = 0; index < batch.batch; ++index) {
    const auto row = batch.sequence(index);
    for (const std::int32_t token : row) ++counts[static_cast<std::size_t>(token)];
    ++answers[static_cast<std::size_t>(
        row[static_cast<std::size_t>(batch.scored[static_cast<std::size_t>(index)] + 1)])];
  }
  const auto largest_deviation = [](const std::vector<double>& all, double total) {
    const double expected = total / 63;
    double largest = 0;
    for (std::size_t token = 1; token < all.size(); ++token)
      largest = std::max(largest, std::abs(all[token] - expected) / std::sqrt(expected));
    return largest;
  };
  // 63 counts: the largest of so many normal deviates stays below 4.5 but for one draw in two thousand.
  QVERIFY(largest_deviation(counts, 400 * 257) < 4.5);
  QVERIFY(largest_deviation(answers, 400) < 4.5);
}

void InductionTaskTest::aSequenceIsAPureFunctionOfItsNumber() {
  const InductionTask task(64, 100);
  const SequenceBatch whole = drawn(task, 20, 3);
  SequenceBatch part;
  task.generate(Stream(3, "test"), 7, 5, part);
  for (std::int64_t index = 0; index < 5; ++index) {
    QVERIFY(std::ranges::equal(part.sequence(index), whole.sequence(index + 7)));
    QCOMPARE(part.scored[static_cast<std::size_t>(index)], whole.scored[static_cast<std::size_t>(index + 7)]);
  }
  const SequenceBatch other = drawn(task, 20, 4);
  QVERIFY(!std::ranges::equal(other.sequence(0), whole.sequence(0)));
}

void InductionTaskTest::theShortestSequencesAreWhole() {
  const SequenceBatch batch = drawn(InductionTask(4, 8), 1000);
  for (std::int64_t index = 0; index < batch.batch; ++index) {
    const auto row = batch.sequence(index);
    const auto query = static_cast<std::size_t>(batch.scored[static_cast<std::size_t>(index)]);
    QCOMPARE(places_of(row, row[query]).size(), 2u);
  }
}

void InductionTaskTest::sizesThatCannotBeAreRefused() {
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, InductionTask(3, 64));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, InductionTask(64, 7));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, make_recall(3));
}

void InductionTaskTest::recallAnswersEverySequence() {
  const auto task = make_task(induction_config(), Split::test);
  SequenceBatch batch;
  task->generate(Stream(0, "test"), 0, 300, true, batch);
  const EstimatorLosses losses = task->losses(batch);
  QCOMPARE(losses.add_beta.size(), 300u);
  for (const double loss : losses.add_beta) QCOMPARE(loss, 0.0);
  QCOMPARE(losses.oracle, losses.add_beta);
}

void InductionTaskTest::recallGuessesWhatItHasNotSeen() {
  const auto recall = make_recall(5);
  std::vector<double> p(5);
  const auto uniform = std::vector{0.0, 0.25, 0.25, 0.25, 0.25};
  recall->predict(p);
  QCOMPARE(p, uniform);
  for (const std::int32_t token : {1, 2, 3}) recall->observe(token);
  recall->predict(p);
  QCOMPARE(p, uniform);
  recall->observe(1);
  recall->predict(p);
  QCOMPARE(p, (std::vector{0.0, 0.0, 1.0, 0.0, 0.0}));
  recall->observe(4);
  recall->observe(1);
  recall->predict(p);
  QCOMPARE(p, (std::vector{0.0, 0.0, 0.0, 0.0, 1.0}));
  QVERIFY_THROWS_EXCEPTION(std::invalid_argument, recall->observe(5));
  recall->reset();
  recall->predict(p);
  QCOMPARE(p, uniform);
}

void InductionTaskTest::theConfigurationSaysWhatIsMissing() {
  ExperimentConfig config = induction_config();
  QVERIFY(config.validate().empty());
  QVERIFY(!config.applies("task.order"));
  QVERIFY(scores_one_token(config));
  QCOMPARE(best_predictor_name(config), std::string("recall"));
  config.set_from_string("task.states", "2");
  QCOMPARE(config.validate().front().where, std::string("task.states"));
  config.set_from_string("task.states", "64");
  config.set_from_string("task.length", "7");
  QCOMPARE(config.validate().front().where, std::string("task.length"));
  config.set_from_string("task.length", "64");
  config.set_from_string("model.kind", "ngram");
  QCOMPARE(config.validate().front().where, std::string("model.kind"));
}

QTEST_APPLESS_MAIN(InductionTaskTest)
#include "induction_task_test.moc"
