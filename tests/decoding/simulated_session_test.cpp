#include "core/decoding/simulated_session.h"

#include <QTest>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "../contract/sentence.h"
#include "../tasks/statistics.h"
#include "core/decoding/ideal_decoder.h"
#include "core/decoding/score.h"
#include "core/decoding/split.h"
#include "decoding_files.h"

using namespace mambarium;

namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

SimulatedSettings small_settings() {
  SimulatedSettings settings;
  settings.channels = 12;
  settings.trials = 30;
  return settings;
}

// What the ideal decoder and a Gaussian naive one say about every test window of day 0.
struct Judged {
  std::vector<std::int32_t> truth, ideal, naive;
  std::vector<std::vector<double>> surprise_of_trial;  // per trial: hit - posterior of what was said, window by window
  std::vector<float> outputs, ideal_outputs;
  std::vector<IdealAnswer> answers;
};

// Gaussian naive Bayes on each channel's count over the window, learnt from the training windows.
class NaiveDecoder {
 public:
  NaiveDecoder(const DecodingWindows& windows, const std::vector<std::int64_t>& train)
      : channels_(windows.channels), mean_(index(8 * channels_)), variance_(index(8 * channels_)), share_(8) {
    std::vector<double> square(mean_.size());
    for (const std::int64_t w : train) {
      const auto label = windows.label[index(w)];
      const auto sums = sums_of(windows.window(w));
      share_[index(label)] += 1;
      for (std::size_t c = 0; c < sums.size(); ++c) {
        mean_[index(label * channels_) + c] += sums[c];
        square[index(label * channels_) + c] += sums[c] * sums[c];
      }
    }
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double count = share_[i / index(channels_)];
      mean_[i] /= count;
      variance_[i] = square[i] / count - mean_[i] * mean_[i] + 1e-3;
    }
  }
  std::int32_t direction(std::span<const float> window) const {
    const auto sums = sums_of(window);
    std::array<double, 8> score{};
    for (std::size_t d = 0; d < 8; ++d) {
      score[d] = std::log(share_[d]);
      for (std::size_t c = 0; c < sums.size(); ++c) {
        const std::size_t i = d * sums.size() + c;
        score[d] -= 0.5 * std::log(variance_[i]) + (sums[c] - mean_[i]) * (sums[c] - mean_[i]) / (2 * variance_[i]);
      }
    }
    return static_cast<std::int32_t>(std::ranges::max_element(score) - score.begin());
  }

 private:
  std::vector<double> sums_of(std::span<const float> window) const {
    std::vector<double> sums(index(channels_));
    for (std::size_t i = 0; i < window.size(); ++i) sums[i % sums.size()] += static_cast<double>(window[i]);
    return sums;
  }
  std::int64_t channels_;
  std::vector<double> mean_, variance_, share_;
};

const Judged& judged() {
  static const Judged result = [] {
    const SimulatedSession session;
    const DecodingWindows windows = windows_of(session.day(0).session);
    const WindowSplit split = chronological_split(windows);
    const IdealDecoder ideal(session, 0);
    const NaiveDecoder naive(windows, split.train);
    const std::int64_t period = session.settings().trial_bins + session.settings().pause_bins;
    Judged out;
    out.surprise_of_trial.resize(index(session.settings().trials));
    for (const std::int64_t w : split.test) {
      const IdealAnswer answer = ideal.answer(windows.window(w));
      const std::int32_t label = windows.label[index(w)], said = answer.direction();
      out.answers.push_back(answer);
      out.truth.push_back(label);
      out.ideal.push_back(said);
      out.naive.push_back(naive.direction(windows.window(w)));
      out.surprise_of_trial[index(windows.first_bin[index(w)] / period)].push_back((said == label ? 1.0 : 0.0) -
                                                                                   answer.posterior[index(said)]);
      for (std::size_t o = 0; o < 4; ++o) {
        out.outputs.push_back(windows.target[index(4 * w) + o]);
        out.ideal_outputs.push_back(static_cast<float>(answer.outputs[o]));
      }
    }
    std::erase_if(out.surprise_of_trial, [](const auto& trial) { return trial.empty(); });
    return out;
  }();
  return result;
}

}  // namespace

class SimulatedSessionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void aDayIsAFunctionOfSeedAndDay() {
    const SimulatedSettings settings = small_settings();
    const SimulatedDay day = SimulatedSession(settings).day(2);
    QVERIFY(day.session.counts == SimulatedSession(settings).day(2).session.counts);
    QVERIFY(day.session.counts != SimulatedSession(settings).day(1).session.counts);
    SimulatedSettings other = settings;
    other.seed = 2;
    QVERIFY(day.session.counts != SimulatedSession(other).day(2).session.counts);
    check_session(day.session);
  }

  void aLongerDayBeginsWithTheSameTrials() {
    SimulatedSettings settings = small_settings();
    const SimulatedDay day = SimulatedSession(settings).day(0);
    settings.trials *= 2;
    const SimulatedDay longer = SimulatedSession(settings).day(0);
    QVERIFY(std::equal(day.session.counts.begin(), day.session.counts.end(), longer.session.counts.begin()));
    QVERIFY(std::equal(day.session.outputs.begin(), day.session.outputs.end(), longer.session.outputs.begin()));
  }

  // Of each unit, the spikes in the whole day and in movement along and against its preferred direction.
  void tunedUnitsCountAsTheirRatesSay() {
    const SimulatedSession session;
    const SimulatedDay day = session.day(3);
    const std::int64_t period = session.settings().trial_bins + session.settings().pause_bins;
    int beyond = 0, measured = 0;
    for (std::int64_t c = 0; c < day.session.channels; ++c) {
      const SimulatedUnit& unit = day.units[index(c)];
      if (!unit.tuned) continue;
      std::array<double, 3> found{}, right{};
      for (std::size_t t = 0; t < day.session.trials.size(); ++t) {
        const Trial& trial = day.session.trials[t];
        for (std::int64_t bin = 0; bin < period; ++bin) {
          const bool moves = day.profile[t] >= 0 && bin < session.settings().trial_bins;
          const double drive = moves ? session.profiles()[index(day.profile[t])].drive[index(bin)] : 0;
          const double angle = trial.direction * std::numbers::pi / 4 - unit.preferred;
          const double rate =
              unit.baseline * std::exp(drive * (unit.modulation * std::cos(angle) + unit.untuned_modulation));
          const double count = day.session.counts[index((trial.begin + bin) * day.session.channels + c)];
          const std::size_t group = drive < 0.2 ? 0 : std::cos(angle) > 0 ? 1 : 2;
          found[group] += count;
          right[group] += rate;
        }
      }
      for (std::size_t group = 0; group < 3; ++group) {
        ++measured;
        const double errors = std::abs(found[group] - right[group]) / std::sqrt(right[group]);
        beyond += errors > 3 ? 1 : 0;
        QVERIFY2(errors < 4.5, qPrintable(QString("unit %1: %2 standard errors").arg(c).arg(errors)));
      }
    }
    QVERIFY(measured > 150);
    QVERIFY2(beyond <= 3, qPrintable(QString::number(beyond)));  // 0.27 % of about 200 are expected
  }

  void noisyUnitsKnowNothingAndAreMoreVariableThanPoisson() {
    const SimulatedSession session;
    const SimulatedDay day = session.day(0);
    int noisy = 0;
    for (std::int64_t c = 0; c < day.session.channels; ++c) {
      const SimulatedUnit& unit = day.units[index(c)];
      if (unit.tuned) continue;
      ++noisy;
      std::vector<double> counts;
      for (std::int64_t bin = 0; bin < day.session.bins; ++bin)
        counts.push_back(day.session.counts[index(bin * day.session.channels + c)]);
      const MeanAndError measured = mean_and_error(counts);
      QVERIFY(std::abs(measured.mean - unit.baseline) < 4 * measured.standard_error);
      // Var = b + b^2 (exp(0.49) - 1), the bins independent
      const double variance = measured.standard_error * measured.standard_error * static_cast<double>(counts.size());
      const double right = unit.baseline + unit.baseline * unit.baseline * (std::exp(0.49) - 1);
      QVERIFY2(std::abs(variance / right - 1) < 0.1, qPrintable(QString::number(variance / right)));
      QCOMPARE(expected_count(unit, 3, 0.7), unit.baseline);
    }
    QVERIFY(noisy > 15 && noisy < 45);
  }

  void directionsAndProfilesAreUniform() {
    const SimulatedSession session;
    const SimulatedDay day = session.day(0);
    std::array<double, 8> directions{};
    double rewarded = 0, reaction = 0;
    for (std::size_t t = 0; t < day.session.trials.size(); ++t) {
      directions[index(day.session.trials[t].direction)] += 1;
      if (day.profile[t] < 0) continue;
      rewarded += 1;
      reaction += static_cast<double>(session.profiles()[index(day.profile[t])].reaction);
    }
    const double trials = static_cast<double>(day.session.trials.size());
    for (const double count : directions) QVERIFY(close(count / trials, 0.125, std::sqrt(0.125 * 0.875), trials));
    QVERIFY(close(rewarded / trials, 0.95, std::sqrt(0.95 * 0.05), trials));
    QVERIFY(close(reaction / rewarded, 20, std::sqrt(140.0 / 3), rewarded));  // 10, 14, .. 30
  }

  void theVelocityIsTheSlopeOfThePlace() {
    const SimulatedSession session(small_settings());
    for (const ReachProfile& profile : session.profiles()) {
      double way = 0;
      for (std::size_t bin = 1; bin + 1 < profile.distance.size(); ++bin) {
        way += 0.5 * (profile.speed[bin] + profile.speed[bin - 1]) * session.settings().bin_seconds;
        const double slope =
            (profile.distance[bin + 1] - profile.distance[bin - 1]) / (2 * session.settings().bin_seconds);
        QVERIFY(std::abs(slope - profile.speed[bin]) < 0.08 * 1.875 * 8 / 0.4);  // of the fastest peak
      }
      QVERIFY(std::abs(way - profile.distance[profile.distance.size() - 2]) < 0.01 * 8);
    }
  }

  void unitsDriftFromDayToDay() {
    SimulatedSettings settings;
    settings.channels = 2000;
    const SimulatedSession session(settings);
    const auto first = session.units(0), fifth = session.units(5);
    std::vector<double> turned, grown;
    for (std::size_t c = 0; c < first.size(); ++c) {
      turned.push_back((fifth[c].preferred - first[c].preferred) * 180 / std::numbers::pi);
      grown.push_back(std::log(fifth[c].baseline / first[c].baseline));
      QCOMPARE(first[c].modulation, fifth[c].modulation);
    }
    for (const auto& [changes, a_day] : {std::pair{turned, 12.0}, {grown, 0.1}}) {
      const MeanAndError measured = mean_and_error(changes);
      QVERIFY(std::abs(measured.mean) < 4 * measured.standard_error);
      const double deviation = measured.standard_error * std::sqrt(2000.0);
      QVERIFY(close(deviation, a_day * std::sqrt(5.0), a_day * std::sqrt(5.0 / 2), 2000));
    }
  }

  // Every hypothesis by itself, with the probabilities of the counts written out.
  void theIdealDecoderIsBayesRule() {
    SimulatedSettings settings = small_settings();
    settings.channels = 5;
    const SimulatedSession session(settings);
    const SimulatedDay day = session.day(1);
    const DecodingWindows windows = windows_of(day.session, 34, 3);
    const IdealDecoder ideal(session, 1, 34, 3);
    for (std::int64_t w = 0; w < 12; ++w) {
      std::array<double, 8> posterior{};
      std::array<double, 4> outputs{};
      double total = 0;
      for (const ReachProfile& profile : session.profiles())
        for (std::int64_t place = 0; place + 34 <= settings.trial_bins; place += 3)
          for (std::int32_t d = 0; d < 8; ++d) {
            double log_probability = 0;
            for (std::int64_t t = 0; t < 34; ++t)
              for (std::int64_t c = 0; c < settings.channels; ++c) {
                if (!day.units[index(c)].tuned) continue;
                const double rate = expected_count(day.units[index(c)], d, profile.drive[index(place + t)]);
                const double count = windows.window(w)[index(t * settings.channels + c)];
                log_probability += count * std::log(rate) - rate - std::lgamma(count + 1);
              }
            const double weight = std::exp(log_probability + 100);
            const double x = std::cos(d * std::numbers::pi / 4), y = std::sin(d * std::numbers::pi / 4);
            const double distance = profile.distance[index(place + 33)], speed = profile.speed[index(place + 33)];
            total += weight;
            posterior[index(d)] += weight;
            outputs[0] += weight * distance * x;
            outputs[1] += weight * distance * y;
            outputs[2] += weight * speed * x;
            outputs[3] += weight * speed * y;
          }
      const IdealAnswer answer = ideal.answer(windows.window(w));
      for (std::size_t d = 0; d < 8; ++d) QVERIFY(std::abs(answer.posterior[d] - posterior[d] / total) < 1e-9);
      for (std::size_t o = 0; o < 4; ++o) QVERIFY(std::abs(answer.outputs[o] - outputs[o] / total) < 1e-8);
    }
  }

  void theIdealDecoderIsRightAsOftenAsItExpects() {
    std::vector<double> of_trials;  // windows of a trial share their spikes: trials are what is independent
    for (const auto& trial : judged().surprise_of_trial) {
      double sum = 0;
      for (const double surprise : trial) sum += surprise;
      of_trials.push_back(sum);
    }
    const MeanAndError measured = mean_and_error(of_trials);
    QVERIFY(of_trials.size() > 200);
    QVERIFY2(std::abs(measured.mean) < 3 * measured.standard_error,
             qPrintable(QString("%1 +- %2").arg(measured.mean).arg(measured.standard_error)));
  }

  void itsAccuracyIsNeitherPoorNorPerfect() {
    const double accuracy = class_score(judged().truth, judged().ideal, 8).accuracy;
    const double r2 = multivariate_r2(judged().outputs, judged().ideal_outputs, 4);
    QVERIFY2(accuracy > 0.9 && accuracy < 0.97, qPrintable(QString::number(accuracy)));
    QVERIFY2(r2 > 0.9 && r2 < 0.999, qPrintable(QString::number(r2)));
    qInfo("accuracy %.4f, naive %.4f, R^2 %.4f", accuracy, class_score(judged().truth, judged().naive, 8).accuracy, r2);
  }

  void aNaiveDecoderIsWorse() {
    const double ideal = class_score(judged().truth, judged().ideal, 8).accuracy;
    const double naive = class_score(judged().truth, judged().naive, 8).accuracy;
    QVERIFY2(naive > 0.5 && ideal > naive + 0.02, qPrintable(QString("%1 %2").arg(ideal).arg(naive)));
  }

  void settingsOutOfRangeAreRefused() {
    const auto refused = [](auto change) {
      SimulatedSettings settings;
      change(settings);
      return refusal([&] { SimulatedSession{settings}; });
    };
    QCOMPARE(refused([](auto& s) { s.channels = 0; }), "simulated session: channels is 0; it must be from 1 to 4096");
    QVERIFY(is_one_sentence(refused([](auto& s) { s.tuned_share = 1.5; })));
    QVERIFY(is_one_sentence(refused([](auto& s) { s.rate_hertz = std::nan(""); })));
    QVERIFY(is_one_sentence(refused([](auto& s) { s.trials = -4; })));
    const SimulatedSession session(small_settings());
    QVERIFY(is_one_sentence(refusal([&] { session.day(-1); })));
    QVERIFY(is_one_sentence(refusal([&] { IdealDecoder(session, 0, 41); })));
    QVERIFY(is_one_sentence(refusal([&] { IdealDecoder(session, 0).answer(std::vector<float>(7)); })));
  }
};

QTEST_APPLESS_MAIN(SimulatedSessionTest)
#include "simulated_session_test.moc"
