#include "core/decoding/windows.h"

#include <QTest>
#include <cmath>
#include <limits>
#include <set>

#include "../contract/sentence.h"
#include "core/decoding/electrode_array.h"
#include "core/decoding/muscle_scale.h"
#include "core/decoding/score.h"
#include "core/decoding/split.h"
#include "decoding_files.h"

using namespace mambarium;

namespace {

// Every count says where it stands: 100 bin + channel. Output 0 is the bin.
DecodingSession counting(std::int64_t bins, std::int64_t channels, std::vector<Trial> trials) {
  DecodingSession session{"s", 0.05, bins, channels, {}, {}, {}, {"bin"}, std::move(trials)};
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    for (std::int64_t c = 0; c < channels; ++c) session.counts.push_back(static_cast<float>(100 * bin + c));
    session.outputs.push_back(static_cast<float>(bin));
  }
  for (std::int64_t c = 0; c < channels; ++c) session.channel_names.push_back(std::to_string(c));
  return session;
}

// A day of `trials` rewarded trials of `length` bins, `pause` bins apart.
DecodingSession day_of(std::int64_t trials, std::int64_t length, std::int64_t pause) {
  std::vector<Trial> all;
  for (std::int64_t t = 0; t < trials; ++t)
    all.push_back({t * (length + pause), t * (length + pause) + length, -1, static_cast<std::int32_t>(t % 8), true});
  return counting(trials * (length + pause), 2, all);
}

// `days` days of as many windows as `values`, one bin each, whose only output is a muscle; all but the last `tested` of
// a day are for training.
std::pair<DecodingWindows, WindowSplit> muscle_days(const std::vector<std::vector<float>>& days, std::int64_t tested) {
  DecodingWindows windows;
  WindowSplit split;
  windows.source = "s";
  windows.bins = windows.channels = windows.muscle_outputs = 1;
  windows.output_names = {"EMG_FCR"};
  for (std::size_t day = 0; day < days.size(); ++day)
    for (std::size_t w = 0; w < days[day].size(); ++w) {
      const bool trains = std::ssize(days[day]) - static_cast<std::int64_t>(w) > tested;
      (trains ? split.train : split.test).push_back(windows.windows++);
      windows.target.push_back(days[day][w]);
      windows.first_bin.push_back(static_cast<std::int64_t>(w));
      windows.day.push_back(static_cast<std::int64_t>(day));
    }
  return {windows, split};
}

std::set<std::int64_t> bins_of(const DecodingWindows& windows, const std::vector<std::int64_t>& part) {
  std::set<std::int64_t> bins;
  for (const std::int64_t w : part) {
    const std::int64_t first = windows.first_bin[static_cast<std::size_t>(w)];
    const std::int64_t day = windows.day[static_cast<std::size_t>(w)] * 1000000;
    for (std::int64_t bin = first - windows.reach_before; bin < first + windows.bins + windows.reach_after; ++bin)
      bins.insert(day + bin);
  }
  return bins;
}

bool meet(const std::set<std::int64_t>& a, const std::set<std::int64_t>& b) {
  return std::ranges::any_of(a, [&](std::int64_t bin) { return b.contains(bin); });
}

}  // namespace

class DecodingWindowsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void targetsHaveTheirDirections_data() {
    QTest::addColumn<double>("degrees");
    QTest::addColumn<int>("direction");
    QTest::newRow("0") << 0.0 << 0;
    QTest::newRow("44") << 44.0 << 1;
    QTest::newRow("180") << 180.0 << 4;
    QTest::newRow("-90") << -90.0 << 6;
    QTest::newRow("-180") << -180.0 << 4;
    QTest::newRow("359") << 359.0 << 0;
    QTest::newRow("720") << 720.0 << 0;
    QTest::newRow("none") << std::nan("") << -1;
  }
  void targetsHaveTheirDirections() {
    QFETCH(double, degrees);
    QFETCH(int, direction);
    QCOMPARE(direction_of_target(degrees), direction);
  }

  void anglesBetweenTargetsAreRefused() {
    for (const double degrees : {22.5, 42.9, -47.1, 2.36, std::numeric_limits<double>::infinity(), 1e300})
      QVERIFY(is_one_sentence(refusal([&] { direction_of_target(degrees); })));
  }

  void rebinningAddsCountsAndAveragesOutputs() {
    const DecodingSession fine = counting(11, 2, {{1, 9, 4, 3, true}, {10, 11, -1, 0, true}});
    const DecodingSession coarse = rebin(fine, 0.15);
    QCOMPARE(coarse.bins, std::int64_t{3});
    QCOMPARE(coarse.counts, (std::vector<float>{300, 303, 1200, 1203, 2100, 2103}));
    QCOMPARE(coarse.outputs, (std::vector<float>{1, 4, 7}));
    QCOMPARE(coarse.trials[0].begin, std::int64_t{1});
    QCOMPARE(coarse.trials[0].end, std::int64_t{3});
    QCOMPARE(coarse.trials[0].go, std::int64_t{1});
    QCOMPARE(coarse.trials[1].begin, coarse.trials[1].end);
    check_session(coarse);
    QVERIFY(is_one_sentence(refusal([&] { rebin(fine, 0.12); })));
    QVERIFY(is_one_sentence(refusal([&] { rebin(fine, 0.025); })));
    QVERIFY(is_one_sentence(refusal([&] { rebin(fine, 5); })));
  }

  void smoothingIsANormalisedGaussian() {
    DecodingSession session = counting(41, 1, {});
    std::ranges::fill(session.counts, 0.0f);
    session.counts[20] = 1;
    const DecodingSession both = smooth(session, Smoothing::gaussian, 0.1);
    const DecodingSession past = smooth(session, Smoothing::causal, 0.1);
    double both_sum = 0, past_sum = 0;
    for (int lag = -6; lag <= 6; ++lag) {
      const double weight = std::exp(-lag * lag / 8.0);
      both_sum += weight;
      if (lag >= 0) past_sum += weight;
    }
    for (int bin = 0; bin < 41; ++bin) {
      const int lag = bin - 20;
      const double weight = std::exp(-lag * lag / 8.0);
      const auto place = static_cast<std::size_t>(bin);
      QCOMPARE(both.counts[place], std::abs(lag) <= 6 ? static_cast<float>(weight / both_sum) : 0.0f);
      QCOMPARE(past.counts[place], lag >= 0 && lag <= 6 ? static_cast<float>(weight / past_sum) : 0.0f);
    }
    QCOMPARE(both.reach_after, std::int64_t{6});
    QCOMPARE(past.reach_before, std::int64_t{6});
    QCOMPARE(past.reach_after, std::int64_t{0});
  }

  void smoothingKeepsAConstantAtTheEnds() {
    DecodingSession session = counting(20, 1, {});
    std::ranges::fill(session.counts, 3.0f);
    for (const Smoothing kind : {Smoothing::gaussian, Smoothing::causal})
      for (const float count : smooth(session, kind, 0.2).counts) QCOMPARE(count, 3.0f);
  }

  void windowsLieWithinRewardedTrials() {
    const DecodingSession session = counting(30, 2,
                                             {{0, 6, -1, 5, true},
                                              {6, 12, -1, 1, false},
                                              {12, 14, -1, 2, true},
                                              {15, 20, -1, 7, true},
                                              {20, 30, -1, -1, true}});
    const DecodingWindows windows = windows_of(session, 4);
    QCOMPARE(windows.first_bin, (std::vector<std::int64_t>{0, 1, 2, 15, 16}));
    QCOMPARE(windows.label, (std::vector<std::int32_t>{5, 5, 5, 7, 7}));
    QCOMPARE(windows.target, (std::vector<float>{3, 4, 5, 18, 19}));
    for (std::int64_t w = 0; w < windows.windows; ++w)
      for (std::int64_t t = 0; t < 4; ++t)
        for (std::int64_t c = 0; c < 2; ++c)
          QCOMPARE(windows.window(w)[static_cast<std::size_t>(2 * t + c)],
                   static_cast<float>(100 * (windows.first_bin[static_cast<std::size_t>(w)] + t) + c));
    QCOMPARE(windows_of(session, 4, 2).first_bin, (std::vector<std::int64_t>{0, 2, 15}));
    QVERIFY(is_one_sentence(refusal([&] { windows_of(session, 0); })));
  }

  // Every trial counts for the first thing it lacks.
  void aSessionWithoutWindowsSaysWhatItsTrialsLack() {
    DecodingSession session = counting(40, 2,
                                       {{0, 6, -1, 5, true},
                                        {6, 8, -1, 1, false},
                                        {8, 20, -1, -1, false},
                                        {20, 30, -1, -1, true},
                                        {30, 35, -1, 2, true}});
    session.trials_left_out = 4;
    const std::string sentence = refusal([&] { windows_of(session, 7); });
    const std::string says =
        "s: none of its trials can be used: 4 without a start or an end in the recording, 2 not rewarded "
        "(trial_result is not R), 1 without a target direction, 2 shorter than 7 bins (the longest has 6); ";
    QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(says), sentence.c_str());
    const std::string one = refusal([&] { windows_of(counting(10, 2, {{0, 6, -1, 5, true}}), 7); });
    QVERIFY2(one.starts_with("s: none of its trials can be used: 1 shorter than 7 bins (the longest has 6); "),
             one.c_str());
  }

  void eachWindowCanBeStandardised() {
    DecodingWindows windows = windows_of(day_of(3, 6, 1), 5);
    for (std::size_t i = 1; i < windows.x.size(); i += 2) windows.x[i] = 0.3f;  // channel 1 does not change
    const auto before = windows.x;
    standardise_each_window(windows);
    for (std::int64_t w = 0; w < windows.windows; ++w)
      for (std::size_t t = 0; t < 5; ++t) {
        // 0, 100, .. 400 have the mean 200 and the deviation sqrt(20000)
        QVERIFY(std::abs(windows.window(w)[2 * t] - (static_cast<float>(t) - 2) * 100 / std::sqrt(20000.0f)) < 1e-6f);
        QCOMPARE(windows.window(w)[2 * t + 1], 0.0f);
      }
  }

  void onContiguousWindowsTheSplitIsThePublishedOne() {
    DecodingWindows windows = windows_of(day_of(1, 1029, 0), 30);
    QCOMPARE(windows.windows, std::int64_t{1000});
    const WindowSplit split = chronological_split(windows, {0.2, 0});
    QCOMPARE(std::ssize(split.train), std::int64_t{800 - 29});
    QCOMPARE(split.train.back(), std::int64_t{770});
    QCOMPARE(split.test.front(), std::int64_t{800});
    QCOMPARE(std::ssize(split.test), std::int64_t{200});
    QVERIFY(split.validation.empty());
  }

  void noBinStandsInTwoParts_data() {
    QTest::addColumn<int>("length");
    QTest::addColumn<int>("stride");
    QTest::addColumn<int>("smoothing");
    for (const int length : {9, 12, 40, 900})
      for (const int stride : {1, 3})
        for (const int smoothing : {0, 1, 2})
          QTest::addRow("%d bins, stride %d, smoothing %d", length, stride, smoothing) << length << stride << smoothing;
  }
  void noBinStandsInTwoParts() {
    QFETCH(int, length);
    QFETCH(int, stride);
    QFETCH(int, smoothing);
    DecodingWindows windows;
    for (const std::int64_t day : {0, 4})
      append(windows, windows_of(smooth(day_of(1800 / length, length, 2), static_cast<Smoothing>(smoothing), 0.2), 9,
                                 stride, day));
    const WindowSplit split = chronological_split(windows, {0.2, 0.15});
    const auto train = bins_of(windows, split.train), validation = bins_of(windows, split.validation),
               test = bins_of(windows, split.test);
    QVERIFY(!train.empty() && !validation.empty() && !test.empty());
    QVERIFY(!meet(train, validation));
    QVERIFY(!meet(train, test));
    QVERIFY(!meet(validation, test));
    for (const std::int64_t day : {0, 4}) {  // no look ahead
      const auto of_day = [&](const std::set<std::int64_t>& bins) {
        std::vector<std::int64_t> found;
        for (const std::int64_t bin : bins)
          if (std::abs(bin - day * 1000000) < 500000) found.push_back(bin);
        return found;
      };
      QVERIFY(of_day(train).back() < of_day(validation).front());
      QVERIFY(of_day(validation).back() < of_day(test).front());
    }
  }

  void aDayThatIsTooShortToSplitIsRefused() {
    const DecodingWindows few = windows_of(day_of(1, 40, 0), 30);
    const std::string sentence = refusal([&] { chronological_split(few); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, "leave none for"), sentence.c_str());
    QVERIFY(is_one_sentence(refusal([&] { chronological_split(few, {1.5, 0}); })));
    QVERIFY(is_one_sentence(refusal([&] { chronological_split(few, {0.2, -1}); })));
  }

  void daysComeInOrderAndFitEachOther() {
    const DecodingWindows one = windows_of(day_of(2, 12, 0), 9, 1, 1), other = windows_of(day_of(2, 12, 0), 8, 1, 2);
    DecodingWindows all = one;
    QVERIFY(is_one_sentence(refusal([&] { append(all, one); })));
    QVERIFY(is_one_sentence(refusal([&] { append(all, other); })));
    DecodingWindows other_muscles = windows_of(day_of(2, 12, 0), 9, 1, 2);
    other_muscles.muscle_outputs = 1;
    QVERIFY(is_one_sentence(refusal([&] { append(all, other_muscles); })));
    DecodingWindows other_outputs = windows_of(day_of(2, 12, 0), 9, 1, 2);
    other_outputs.output_names = {"speed"};
    const std::string sentence = refusal([&] { append(all, other_outputs); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, "the outputs speed") && mentions(sentence, "bin"),
             sentence.c_str());
    append(all, windows_of(day_of(3, 12, 0), 9, 1, 2));
    QCOMPARE(all.windows, std::int64_t{20});
    QCOMPARE(std::ssize(all.x), std::int64_t{20 * 9 * 2});
  }

  void statisticsComeFromTheWindowsNamedAlone() {
    const std::vector<float> values{1, 5, 3, 5, 100, -7, 200, 9};  // 4 windows of 1 row and 2 columns
    const std::vector<std::int64_t> train{0, 1};
    const ColumnStatistics statistics = column_statistics(values, 1, 2, train);
    QCOMPARE(statistics.mean, (std::vector<double>{2, 5}));
    QCOMPARE(statistics.scale, (std::vector<double>{1, 1}));
    std::vector<float> scaled = values;
    standardise(scaled, statistics);
    QCOMPARE(scaled, (std::vector<float>{-1, 0, 1, 0, 98, -12, 198, 4}));
  }

  void percentilesLieBetweenTheirNeighbours() {
    const std::vector<double> values{40, 10, 30, 20};
    QCOMPARE(percentile(values, 0), 10.0);
    QCOMPARE(percentile(values, 0.5), 25.0);
    QCOMPARE(percentile(values, 1), 40.0);
    QVERIFY(std::abs(percentile(values, 0.9) - 37) < 1e-12);
    QCOMPARE(percentile({7}, 0.3), 7.0);
    QVERIFY(is_one_sentence(refusal([&] { percentile({}, 0.5); })));
    QVERIFY(is_one_sentence(refusal([&] { percentile(values, 1.5); })));
  }

  // 0, 1 .. 100 for training: percentiles 2 and 90, mean 50, deviation sqrt((101^2 - 1) / 12).
  void musclesAreScaledByTheTrainingWindowsOfTheirDay() {
    std::vector<float> first, tenfold;
    for (int i = 0; i < 101; ++i) first.push_back(static_cast<float>((i * 37) % 101));
    first.insert(first.end(), {46, 1000, -6});  // tested
    for (const float value : first) tenfold.push_back(10 * value);
    auto [windows, split] = muscle_days({first, tenfold}, 3);
    scale_muscles(windows, split);
    const double most = 50 + 6 * std::sqrt((101.0 * 101 - 1) / 12);
    for (const std::size_t day : {0u, 1u}) {
      const auto scaled = std::span(windows.target).subspan(day * 104, 104);
      for (std::size_t w = 0; w < 101; ++w)
        QVERIFY(std::abs(static_cast<double>(scaled[w]) - (static_cast<double>(first[w]) - 2) / 88) < 1e-6);
      QVERIFY(std::abs(static_cast<double>(scaled[101]) - 0.5) < 1e-6);
      QVERIFY(std::abs(static_cast<double>(scaled[102]) - (most - 2) / 88) < 1e-6);
      QVERIFY(std::abs(static_cast<double>(scaled[103]) + 8.0 / 88) < 1e-6);
    }
    QVERIFY(is_one_sentence(refusal([&] { scale_muscles(windows, {}); })));
  }

  void anArtefactInTrainingIsClipped() {
    std::vector<float> values(1000, 1.0f);
    for (std::size_t i = 0; i < 500; ++i) values[i] = 0;
    values[700] = 100;
    auto [windows, split] = muscle_days({values}, 0);
    scale_muscles(windows, split);
    double mean = 0, variance = 0;
    for (const float value : values) mean += static_cast<double>(value) / 1000;
    for (const float value : values) variance += std::pow(static_cast<double>(value) - mean, 2) / 1000;
    QVERIFY(std::abs(static_cast<double>(windows.target[700]) - (mean + 6 * std::sqrt(variance))) < 1e-5);
    QCOMPARE(windows.target[701], 1.0f);  // percentiles 0 and 1: the others stay
    QCOMPARE(windows.target[0], 0.0f);
  }

  void aMuscleThatRestsKeepsItsUnitAndOtherOutputsTheirs() {
    auto [windows, split] = muscle_days({{3, 3, 3, 5}}, 1);
    windows.output_names.push_back("force_x");
    windows.target = {3, 70, 3, 80, 3, 90, 5, 100};
    scale_muscles(windows, split);
    QCOMPARE(windows.target, (std::vector<float>{0, 70, 0, 80, 0, 90, 0, 100}));
    windows.muscle_outputs = 0;
    scale_muscles(windows, split);
    QCOMPARE(windows.target[1], 70.0f);
  }

  void namesTellElectrodes() {
    QCOMPARE(electrode_of("elec1").value_or(-1), std::int64_t{1});
    QCOMPARE(electrode_of("Elec96").value_or(-1), std::int64_t{96});
    QCOMPARE(electrode_of("elec12_3").value_or(-1), std::int64_t{12});
    for (const char* name : {"", "elec", "elec0", "elec97", "elec-3", "elec+3", "elec3a", "elec3_", "elec3_a", "chan3",
                             "3", "elec 3", "elec99999999999999999999"})
      QVERIFY2(!electrode_of(name), name);
  }

  void channelsComeInTheOrderOfTheirElectrodes() {
    DecodingSession session = counting(4, 3, {});
    session.channel_names = {"elec90", "elec2", "elec33_1"};
    const DecodingSession placed = by_electrode(session);
    check_session(placed);
    QCOMPARE(placed.channels, std::int64_t{96});
    QCOMPARE(placed.channel_names[0], std::string("elec1"));
    QCOMPARE(placed.channel_names[32], std::string("elec33_1"));
    for (std::size_t bin = 0; bin < 4; ++bin)
      for (std::size_t e = 0; e < 96; ++e) {
        const std::size_t channel = e == 89 ? 0 : e == 1 ? 1 : 2;
        const bool there = e == 89 || e == 1 || e == 32;
        QCOMPARE(placed.counts[bin * 96 + e], there ? static_cast<float>(100 * bin + channel) : 0.0f);
      }
    QVERIFY(placed.outputs == session.outputs);
    for (const char* name : {"elec2_2", "elec97", "tuned 1"}) {  // the same electrode again, and none
      session.channel_names[2] = name;
      const DecodingSession left = by_electrode(session);
      QCOMPARE(left.channels, std::int64_t{3});
      QVERIFY(left.counts == session.counts);
    }
  }

  void rSquaredHasItsClosedForm() {
    const std::vector<float> y{1, 10, 2, 20, 3, 30};
    QCOMPARE(multivariate_r2(y, y, 2), 1.0);
    const std::vector<float> means{2, 20, 2, 20, 2, 20};
    QCOMPARE(multivariate_r2(y, means, 2), 0.0);
    const std::vector<float> off{2, 10, 2, 20, 3, 25};  // squares 1 + 25 of 2 + 200
    QCOMPARE(multivariate_r2(y, off, 2), 1 - 26.0 / 202.0);
    QVERIFY(is_one_sentence(refusal([&] { multivariate_r2(y, off, 4); })));
    QVERIFY(is_one_sentence(refusal([&] { multivariate_r2(y, std::span(off).first(4), 2); })));
    QVERIFY(is_one_sentence(refusal([&] { multivariate_r2(means, y, 2); })));
  }

  void classScoresAreThoseOfTheConfusion() {
    const std::vector<std::int32_t> truth{0, 0, 1, 1, 1, 2}, predicted{0, 1, 1, 1, 0, 2};
    const ClassScore score = class_score(truth, predicted, 4);
    QCOMPARE(score.accuracy, 4.0 / 6);
    QCOMPARE(score.confusion, (std::vector<std::int64_t>{1, 1, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0}));
    QCOMPARE(score.macro_f1, (0.5 + 2.0 / 3 + 1) / 3);  // class 3 does not occur
    // Of eight directions 1 and 4 occur and 6 is answered: 2 / 3, 1 and 0. The other five say nothing.
    const std::vector<std::int32_t> two{1, 1, 4, 4}, answered{1, 6, 4, 4};
    QCOMPARE(class_score(two, answered, 8).macro_f1, (2.0 / 3 + 1 + 0) / 3);
    QCOMPARE(class_score(two, two, 8).macro_f1, 1.0);
    QCOMPARE(class_score(two, std::vector<std::int32_t>(4, 0), 8).macro_f1, 0.0);
    QVERIFY(is_one_sentence(refusal([&] { class_score(truth, predicted, 2); })));
    QVERIFY(is_one_sentence(refusal([&] { class_score({}, {}, 2); })));
  }
};

QTEST_APPLESS_MAIN(DecodingWindowsTest)
#include "windows_test.moc"
