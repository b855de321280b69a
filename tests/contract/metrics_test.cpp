#include "core/contract/metrics.h"

#include <QFloat16>
#include <QTest>
#include <bit>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <stdexcept>

#include "sentence.h"

using namespace mambarium;
using nlohmann::json;

namespace {

bool same_bits(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

bool same(const MetricsRow& a, const MetricsRow& b) {
  return a.step == b.step && a.tokens == b.tokens && same_bits(a.seconds, b.seconds) &&
         same_bits(a.train_loss, b.train_loss) && same_bits(a.test_loss, b.test_loss) &&
         same_bits(a.add_beta_loss, b.add_beta_loss) && same_bits(a.oracle_loss, b.oracle_loss) &&
         same_bits(a.gap_add_beta, b.gap_add_beta) && same_bits(a.gap_oracle, b.gap_oracle) &&
         same_bits(a.learning_rate, b.learning_rate);
}

// Any finite double at all, by its bits.
double any_double(std::mt19937_64& random) {
  while (true) {
    const auto number = std::bit_cast<double>(random());
    if (std::isfinite(number)) return number;
  }
}

std::vector<MetricsRow> random_rows(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<MetricsRow> rows;
  for (std::size_t index = 0; index < count; ++index) {
    MetricsRow row{
        static_cast<std::int64_t>(index) * 50, static_cast<std::int64_t>(random() >> 1), 0, 0, 0, 0, 0, 0, 0, 0};
    for (double* number : {&row.seconds, &row.train_loss, &row.test_loss, &row.add_beta_loss, &row.oracle_loss,
                           &row.gap_add_beta, &row.gap_oracle, &row.learning_rate})
      *number = any_double(random);
    rows.push_back(row);
  }
  rows[0].train_loss = std::numeric_limits<double>::quiet_NaN();
  rows[1].seconds = 1e6;
  rows[2].test_loss = -0.0;
  return rows;
}

std::string csv(const std::vector<MetricsRow>& rows) {
  std::string text = metrics_header() + "\n";
  for (const MetricsRow& row : rows) text += to_csv_line(row) + "\n";
  return text;
}

}  // namespace

class MetricsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyBitSurvivesCsvAndJson() {
    const auto rows = random_rows(500);
    const auto parsed = metrics_from_csv(csv(rows), "metrics.csv");
    QVERIFY2(parsed.problems.empty(), to_string(parsed.problems).c_str());
    QCOMPARE(parsed.rows.size(), rows.size());
    QCOMPARE(parsed.complete_bytes, csv(rows).size());
    for (std::size_t index = 0; index < rows.size(); ++index) {
      QVERIFY2(same(parsed.rows[index], rows[index]), to_csv_line(rows[index]).c_str());
      QVERIFY(same(json::from_cbor(json::to_cbor(json(rows[index]))).get<MetricsRow>(), rows[index]));
      QVERIFY(same(json::parse(json(rows[index]).dump()).get<MetricsRow>(), rows[index]));
    }
  }

  void aMissingTrainLossIsAnEmptyField() {
    MetricsRow row;
    row.train_loss = std::numeric_limits<double>::quiet_NaN();
    QCOMPARE(to_csv_line(row), std::string("0,0,0,,0,0,0,0,0,0"));
  }

  void everyFormIsReadBackAndWhatIsUnknownStaysSo() {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    MetricsRow row = random_rows(4)[3];
    row.add_beta_loss = row.oracle_loss = row.gap_add_beta = row.gap_oracle = unknown;
    row.accuracy = 0.25;
    row.r_squared = -0.5;
    row.motif_loss = 3;
    row.motif_r_squared = 0.75;
    for (const MetricsForm form :
         {MetricsForm{}, MetricsForm{.accuracy = true}, MetricsForm{.r_squared = true}, MetricsForm{.motif = true},
          MetricsForm{.accuracy = true, .motif = true}, MetricsForm{.r_squared = true, .motif = true}}) {
      const auto parsed = metrics_from_csv(metrics_header(form) + "\n" + to_csv_line(row, form) + "\n", "metrics.csv");
      QVERIFY2(parsed.problems.empty(), to_string(parsed.problems).c_str());
      const MetricsRow& read = parsed.rows.at(0);
      QVERIFY(same(read, row));
      QVERIFY(same_bits(read.accuracy, form.accuracy ? row.accuracy : unknown));
      QVERIFY(same_bits(read.r_squared, form.r_squared ? row.r_squared : unknown));
      QVERIFY(same_bits(read.motif_loss, form.motif ? row.motif_loss : unknown));
      QVERIFY(same_bits(read.motif_r_squared, form.motif ? row.motif_r_squared : unknown));
    }
    const json document = json::parse(json(row).dump());
    QVERIFY(document.at("gap_add_beta").is_null() && document.at("add_beta_loss").is_null());
    QVERIFY(same_bits(document.get<MetricsRow>().r_squared, row.r_squared));
  }

  void aLineCutAtAnyByteIsLeftOut() {
    const auto rows = random_rows(3);
    const std::string whole = csv(rows);
    for (std::size_t bytes = 0; bytes <= whole.size(); ++bytes) {
      const auto parsed = metrics_from_csv(std::string_view(whole).substr(0, bytes), "metrics.csv");
      QVERIFY(parsed.problems.empty());
      const auto lines =
          static_cast<std::size_t>(std::count(whole.begin(), whole.begin() + static_cast<long>(bytes), '\n'));
      QCOMPARE(parsed.rows.size(), lines == 0 ? 0 : lines - 1);
      QCOMPARE(parsed.complete_bytes, lines == 0 ? 0 : whole.rfind('\n', bytes - 1) + 1);
    }
  }

  void windowsLineEndsAreRead() {
    std::string text;
    for (const char character : csv(random_rows(3))) {
      if (character == '\n') text += '\r';
      text += character;
    }
    const auto parsed = metrics_from_csv(text, "metrics.csv");
    QVERIFY2(parsed.problems.empty(), to_string(parsed.problems).c_str());
    QCOMPARE(parsed.rows.size(), std::size_t{3});
  }

  void brokenLinesAreNamedAndTheOthersKept() {
    std::string text = csv(random_rows(3));
    text += "200,1,0,0,0,0,0,0,0\n";           // a field too few
    text += "two hundred,1,0,,0,0,0,0,0,0\n";  // no number
    text += "200,1,0,0,0.5x,0,0,0,0,0\n";      // half a number
    text += "50,1,0,0,0,0,0,0,0,0\n";          // back in time
    text += "300,1,0,0,0,0,0,0,0,0\n";
    const auto parsed = metrics_from_csv(text, "runs/a/metrics.csv");
    QCOMPARE(parsed.rows.size(), std::size_t{4});
    QCOMPARE(parsed.rows.back().step, std::int64_t{300});
    QCOMPARE(parsed.problems.size(), std::size_t{4});
    for (std::size_t index = 0; index < 4; ++index) {
      QCOMPARE(parsed.problems[index].where, "runs/a/metrics.csv:" + std::to_string(5 + index));
      QVERIFY2(is_one_sentence(parsed.problems[index].message), parsed.problems[index].message.c_str());
    }
  }

  void aFileOfSomethingElseIsOneProblem() {
    const auto parsed = metrics_from_csv("step;loss\n1;2\n3;4\n", "metrics.csv");
    QVERIFY(parsed.rows.empty());
    QCOMPARE(parsed.problems.size(), std::size_t{1});
    QVERIFY(is_one_sentence(to_string(parsed.problems[0])));
  }

  void malformedJsonRowsGiveOneSentence() {
    json row = MetricsRow{};
    row["step"] = -1;
    QVERIFY_EXCEPTION_THROWN(row.get<MetricsRow>(), std::invalid_argument);
    row = MetricsRow{};
    row["test_loss"] = "low";
    QVERIFY_EXCEPTION_THROWN(row.get<MetricsRow>(), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(json(1).get<MetricsRow>(), std::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(MetricsTest)
#include "metrics_test.moc"
