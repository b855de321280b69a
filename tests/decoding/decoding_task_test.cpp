#include "core/decoding/decoding_task.h"

#include <QDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>

#include "../contract/sentence.h"
#include "core/decoding/simulated_session.h"
#include "core/decoding/xds_session.h"
#include "decoding_files.h"
#include "stored_npz.h"

using namespace mambarium;

namespace {

constexpr std::int64_t trials = 60, channels = 12, bins = 20, seed = 3;

ExperimentConfig with(ExperimentConfig config, const std::vector<std::pair<std::string, std::string>>& settings) {
  for (const auto& [key, value] : settings)
    if (const auto problem = config.set_from_string(key, value)) throw std::logic_error(to_string(*problem));
  return config;
}

ExperimentConfig simulated() {
  return with({}, {{"task.kind", "decoding"},
                   {"model.kind", "mamba1"},
                   {"task.trials", std::to_string(trials)},
                   {"task.channels", std::to_string(channels)},
                   {"task.window", std::to_string(bins)},
                   {"training.seed", std::to_string(seed)}});
}

SimulatedSession the_session() {
  SimulatedSettings settings;
  settings.seed = seed;
  settings.channels = channels;
  settings.trials = trials;
  return SimulatedSession(settings);
}

DecodingWindows raw_windows() {
  return windows_of(the_session().day(0).session, bins);
}

std::set<std::int64_t> bins_of(const DecodingWindows& windows, const std::vector<std::int64_t>& part) {
  std::set<std::int64_t> all;
  for (const std::int64_t w : part) {
    const std::int64_t first = windows.first_bin[static_cast<std::size_t>(w)];
    for (std::int64_t bin = first - windows.reach_before; bin < first + windows.bins + windows.reach_after; ++bin)
      all.insert(windows.day[static_cast<std::size_t>(w)] * 1000000 + bin);
  }
  return all;
}

}  // namespace

class DecodingTaskTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void theTestPartIsTheLibrarysWindowsInOrder() {
    const DecodingTask task(simulated());
    DecodingWindows raw = raw_windows();
    const WindowSplit split = chronological_split(raw);
    standardise(raw.x, column_statistics(raw.x, bins, channels, split.train));
    QCOMPARE(task.split().test, split.test);
    SequenceBatch batch;
    task.test(3, 5, batch);
    QCOMPARE(batch.batch, std::int64_t{5});
    QCOMPARE(batch.length, bins);
    QCOMPARE(batch.channels, channels);
    QVERIFY(batch.tokens.empty() && batch.outputs.empty());
    for (std::size_t i = 0; i < 5; ++i) {
      const std::int64_t number = split.test[3 + i];
      const auto window = std::span(batch.features).subspan(i * bins * channels, bins * channels);
      QVERIFY(std::ranges::equal(window, raw.window(number)));
      QCOMPARE(batch.labels[i], std::int64_t{raw.label[static_cast<std::size_t>(number)]});
    }
  }

  void drawsAreTrainingWindowsAndAPureFunctionOfTheirNumber() {
    const DecodingTask task(simulated());
    const Stream stream(5, "data");
    SequenceBatch whole, part;
    task.draw(stream, 0, 400, whole);
    task.draw(stream, 37, 10, part);
    constexpr std::size_t numbers = bins * channels;
    QVERIFY(std::ranges::equal(part.features, std::span(whole.features).subspan(37 * numbers, 10 * numbers)));
    QVERIFY(std::ranges::equal(part.labels, std::span(whole.labels).subspan(37, 10)));
    std::set<std::int64_t> drawn;
    for (std::size_t i = 0; i < 400; ++i) {
      const auto window = std::span(whole.features).subspan(i * numbers, numbers);
      const auto same = std::ranges::find_if(task.split().train, [&](std::int64_t number) {
        return std::ranges::equal(task.windows().window(number), window);
      });
      QVERIFY(same != task.split().train.end());
      QCOMPARE(whole.labels[i], std::int64_t{task.windows().label[static_cast<std::size_t>(*same)]});
      drawn.insert(*same);
    }
    // 400 draws out of some 800 windows: 1 - exp(-1/2) of them on average.
    const double share = static_cast<double>(drawn.size()) / static_cast<double>(task.split().train.size());
    const double expected = 1 - std::exp(-400.0 / static_cast<double>(task.split().train.size()));
    QVERIFY2(std::abs(share - expected) < 0.05, qPrintable(QString("%1 %2").arg(share).arg(expected)));
  }

  void noTestWindowSharesABinWithTraining_data() {
    QTest::addColumn<QString>("smoothing");
    for (const char* kind : {"none", "causal", "gaussian"}) QTest::newRow(kind) << kind;
  }
  void noTestWindowSharesABinWithTraining() {
    QFETCH(QString, smoothing);
    const DecodingTask task(with(simulated(), {{"task.smoothing", smoothing.toStdString()}}));
    const auto train = bins_of(task.windows(), task.split().train), test = bins_of(task.windows(), task.split().test);
    const auto validation = bins_of(task.windows(), task.split().validation);
    for (const std::int64_t bin : test) QVERIFY(!train.contains(bin) && !validation.contains(bin));
    for (const std::int64_t bin : validation) QVERIFY(!train.contains(bin));
    QVERIFY(*train.rbegin() < *validation.begin() && *validation.rbegin() < *test.begin());
    QCOMPARE(task.windows().reach_before > 0, smoothing != "none");
    QCOMPARE(task.windows().reach_after > 0, smoothing == "gaussian");
  }

  void channelsAndOutputsAreOnTheScaleOfTheTrainPart() {
    const DecodingTask task(with(simulated(), {{"task.answer", "outputs"}}));
    QCOMPARE(task.shape(), (DecodingShape{bins, channels, 4, true}));
    SequenceBatch batch;
    task.test(0, task.test_windows(), batch);
    QVERIFY(batch.labels.empty());
    std::vector<double> mean(4), square(4);
    std::vector<float> targets;
    for (const std::int64_t w : task.split().train)
      for (std::size_t k = 0; k < 4; ++k) targets.push_back(task.windows().target[static_cast<std::size_t>(w) * 4 + k]);
    const std::vector<float> scaled = task.on_scale(targets);
    const double count = static_cast<double>(task.split().train.size());
    for (std::size_t i = 0; i < scaled.size(); ++i) {
      mean[i % 4] += static_cast<double>(scaled[i]) / count;
      square[i % 4] += std::pow(static_cast<double>(scaled[i]), 2) / count;
    }
    for (std::size_t k = 0; k < 4; ++k) {
      QVERIFY(std::abs(mean[k]) < 1e-5);
      QVERIFY(std::abs(square[k] - 1) < 1e-5);
    }
    const std::vector<float> back = task.as_recorded(scaled);
    for (std::size_t i = 0; i < back.size(); ++i) QVERIFY(std::abs(back[i] - targets[i]) < 1e-4f);
    std::vector<double> of_channel(channels);
    for (const std::int64_t w : task.split().train) {
      const auto window = task.windows().window(w);
      for (std::size_t i = 0; i < window.size(); ++i) of_channel[i % channels] += static_cast<double>(window[i]);
    }
    for (const double sum : of_channel) QVERIFY(std::abs(sum) / (count * bins) < 1e-5);
  }

  void theIdealDecoderReadsTheRawCountsOfTheTestPart() {
    const DecodingTask task(with(simulated(), {{"task.smoothing", "causal"}}));
    const IdealDecoder ideal(the_session(), 0, bins);
    const DecodingWindows raw = raw_windows();
    QCOMPARE(task.ideal().size(), task.split().test.size());
    for (std::size_t i = 0; i < task.ideal().size(); i += 7)
      QCOMPARE(task.ideal()[i].posterior, ideal.answer(raw.window(task.split().test[i])).posterior);
  }

  void daysDrift() {
    const DecodingTask today(simulated()), later(with(simulated(), {{"task.day", "9"}}));
    QVERIFY(today.windows().x != later.windows().x);
    QVERIFY(today.ideal()[0].posterior != later.ideal()[0].posterior);
  }

  void filesOfWindowsAreDaysInTheirOrder() {
    write_day(folder_.filePath("one.npz").toStdString(), 60, 4, 3);
    write_day(folder_.filePath("two.npz").toStdString(), 80, 4, 3);
    const ExperimentConfig config = of_files({"one.npz", "two.npz"});
    const DecodingTask task(config);
    QCOMPARE(task.shape(), (DecodingShape{4, 2, 3, false}));
    QCOMPARE(decoding_shape(config), task.shape());
    QVERIFY(task.ideal().empty());
    // The last fifth of each day: 12 windows of the first, 16 of the second.
    QCOMPARE(task.test_windows(), std::int64_t{28});
    QCOMPARE(task.split().test.front(), std::int64_t{48});
    QCOMPARE(task.split().test[12], std::int64_t{124});
  }

  void anXdsSessionHasOutputsAndDirections() {
    const ExperimentConfig config = with(simulated(), {{"task.recording", "xds"},
                                                       {"task.files", data_path("session_v5.mat").toStdString()},
                                                       {"task.window", "2"},
                                                       {"task.answer", "outputs"}});
    const DecodingTask task(config);
    QCOMPARE(task.bin_seconds(), 0.05);
    QCOMPARE(task.shape(), decoding_shape(config));
    QCOMPARE(task.shape().answers, static_cast<std::int64_t>(task.output_names().size()));
    QVERIFY(task.shape().outputs && task.shape().answers == 8 && task.shape().channels == 96);
    QVERIFY(task.ideal().empty());
    QCOMPARE(DecodingTask(with(config, {{"task.answer", "direction"}})).shape().answers, std::int64_t{8});
  }

  // The recorded electrodes 1, 4, 7, 10 and 13 in their columns, muscles on the scale of the train part, the rest as it
  // is.
  void anXdsSessionIsPreprocessed() {
    const std::string file = data_path("session_v73.mat").toStdString();
    const DecodingTask task(
        with(simulated(),
             {{"task.recording", "xds"}, {"task.files", file}, {"task.window", "2"}, {"task.answer", "outputs"}}));
    const DecodingSession session = rebin(read_xds_session(file), 0.05);
    const DecodingWindows raw = windows_of(session, 2);
    for (std::int64_t w = 0; w < raw.windows; ++w)
      for (std::size_t t = 0; t < 2; ++t)
        for (std::size_t e = 0; e < 96; ++e)
          if (e % 3 != 0 || e > 12) QCOMPARE(task.windows().window(w)[t * 96 + e], 0.0f);
    DecodingWindows standardised = raw;
    standardise(standardised.x, column_statistics(raw.x, 2, 5, task.split().train));
    for (std::size_t c = 0; c < 5; ++c) QCOMPARE(task.windows().window(3)[96 + 3 * c], standardised.window(3)[5 + c]);
    for (std::size_t k = 0; k < 8; ++k) {
      std::vector<double> train;
      for (const std::int64_t w : task.split().train)
        train.push_back(static_cast<double>(raw.target[static_cast<std::size_t>(w) * 8 + k]));
      std::ranges::sort(train);
      const auto between = [&](double place) {
        const auto below = static_cast<std::size_t>(place);
        return train[below] + (place - static_cast<double>(below)) * (train[below + 1] - train[below]);
      };
      const double last = static_cast<double>(train.size() - 1), p2 = between(0.02 * last), p90 = between(0.9 * last);
      for (std::size_t w = 0; w < static_cast<std::size_t>(raw.windows); ++w) {
        const double recorded = static_cast<double>(raw.target[8 * w + k]);
        const double expected = k < 2 ? (recorded - p2) / (p90 - p2) : recorded;
        QVERIFY(std::abs(static_cast<double>(task.windows().target[8 * w + k]) - expected) < 1e-5);
      }
    }
  }

  // The same session with another name for its second electrode, and one that is no electrode's.
  void daysOfXdsSessionsHaveTheSameChannels() {
    const QByteArray day = data_bytes("spikes_v5.mat");
    const auto named = [&](const char* file, const char* name) {
      QByteArray bytes = day;
      if (bytes.count("elec4") != 1) throw std::logic_error("the file names no elec4");
      return written(folder_, file, bytes.replace("elec4", name));
    };
    const auto task_of = [&](const std::string& files) {
      return DecodingTask(with(simulated(), {{"task.recording", "xds"}, {"task.files", files}, {"task.window", "2"}}));
    };
    const std::string first = written(folder_, "first.mat", day), moved = named("moved.mat", "elec5");
    const DecodingTask both = task_of(first + ";" + moved);
    QCOMPARE(both.shape().channels, std::int64_t{96});
    const DecodingWindows& windows = both.windows();
    const auto sum = [&](std::int64_t of_day, std::size_t electrode) {
      double all = 0;
      for (std::int64_t w = 0; w < windows.windows; ++w)
        if (windows.day[static_cast<std::size_t>(w)] == of_day)
          for (std::size_t t = 0; t < 2; ++t)
            all += std::abs(static_cast<double>(windows.window(w)[t * 96 + electrode - 1]));
      return all;
    };
    QVERIFY(sum(0, 4) > 0 && sum(1, 5) > 0);
    const std::string other = named("other.mat", "chan4"), another = named("another.mat", "chan5");
    QCOMPARE(task_of(other).shape().channels, std::int64_t{5});
    const std::string names = refusal([&] { task_of(other + ";" + another); });
    QVERIFY2(
        is_one_sentence(names) && names.starts_with(another) && mentions(names, "chan4") && mentions(names, "chan5"),
        names.c_str());
    const std::string counts = refusal([&] { task_of(first + ";" + other); });
    QVERIFY2(is_one_sentence(counts) && counts.starts_with(other) && mentions(counts, "5 channels"), counts.c_str());
  }

  void shapesOfSimulatedSessionsAreKnownBeforehand() {
    for (const char* answer : {"direction", "outputs"}) {
      const ExperimentConfig config = with(simulated(), {{"task.answer", answer}});
      QCOMPARE(decoding_shape(config), DecodingTask(config).shape());
    }
  }

  void whatCannotBeReadIsOneSentence_data() {
    QTest::addColumn<QString>("files");
    QTest::addColumn<QString>("window");
    QTest::addColumn<QString>("says");
    write_day(folder_.filePath("good.npz").toStdString(), 60, 4, 3);
    write_day(folder_.filePath("longer.npz").toStdString(), 60, 5, 3);
    write_day(folder_.filePath("few.npz").toStdString(), 6, 4, 3);
    write_npz(folder_.filePath("empty.npz").toStdString(), {{"other", npy_of<float>("<f4", "(1,)", {1})}});
    written(folder_, "cut.npz", data_bytes("windows.npz").left(300));
    write_day(folder_.filePath("one_label.npz").toStdString(), 60, 4, 1);
    // The first four fifths train, less the gaps: label 1 is in the test part alone.
    std::vector<std::int32_t> late(60, 0);
    std::fill(late.begin() + 48, late.end(), 1);
    write_npz(folder_.filePath("late_label.npz").toStdString(),
              {{"neural_activity", npy_of<float>("<f4", "(60, 4, 1)", std::vector<float>(240, 1.0f))},
               {"classification_label", npy_of<std::int32_t>("<i4", "(60,)", late)}});
    const std::string gap = npy_of<std::int32_t>("<i4", "(4,)", {0, 2, 1, 4});
    write_npz(folder_.filePath("gap.npz").toStdString(),
              {{"neural_activity", npy_of<float>("<f4", "(4, 4, 1)", std::vector<float>(16, 1.0f))},
               {"classification_label", gap}});
    QTest::newRow("classes with a gap") << "gap.npz"
                                        << "4"
                                        << "goes up to 4 and is never 3";
    QTest::newRow("one label") << "one_label.npz"
                               << "4"
                               << "windows of the training part have the label 0; there must be at least two";
    QTest::newRow("one label to learn from") << "late_label.npz"
                                             << "4"
                                             << "windows of the training part have the label 0; there must be at least";
    QTest::newRow("none") << "nowhere.npz"
                          << "4"
                          << "nowhere.npz";
    QTest::newRow("no names") << " ; "
                              << "4"
                              << "task.files";
    QTest::newRow("other arrays") << "empty.npz"
                                  << "4"
                                  << "neural_activity";
    QTest::newRow("cut short") << "cut.npz"
                               << "4"
                               << "cut.npz";
    QTest::newRow("other length") << "good.npz"
                                  << "30"
                                  << "task.window";
    QTest::newRow("days differ") << "good.npz;longer.npz"
                                 << "4"
                                 << "longer.npz";
    QTest::newRow("too few") << "few.npz"
                             << "4"
                             << "few.npz";
  }
  void whatCannotBeReadIsOneSentence() {
    QFETCH(QString, files);
    QFETCH(QString, window);
    QFETCH(QString, says);
    const ExperimentConfig config = with(of_files(files.split(';')), {{"task.window", window.toStdString()}});
    const std::string sentence = refusal([&] { DecodingTask task(config); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, says.toStdString()), sentence.c_str());
  }

  void aRelativePathIsSaidToBeginHere() {
    const ExperimentConfig config =
        with(simulated(), {{"task.recording", "windows"}, {"task.files", "days/nowhere.npz"}, {"task.window", "4"}});
    const std::string sentence = refusal([&] { DecodingTask task(config); });
    QVERIFY2(is_one_sentence(sentence) && sentence.starts_with("days/nowhere.npz: ") &&
                 mentions(sentence, QDir::currentPath().toStdString()) && mentions(sentence, "task.files"),
             sentence.c_str());
  }

  // Outputs can be learnt from movements that all go one way.
  void oneDirectionIsTooFewForDirectionsAlone() {
    const double targets[4] = {45, 180, -90, 0}, alike[4] = {45, 45, 45, 45};
    const QByteArray recorded(reinterpret_cast<const char*>(targets), sizeof targets);
    QByteArray bytes = data_bytes("spikes_v5.mat");
    if (bytes.count(recorded) != 1) throw std::logic_error("the file holds other targets");
    bytes.replace(recorded, QByteArray(reinterpret_cast<const char*>(alike), sizeof alike));
    const ExperimentConfig config =
        with(simulated(),
             {{"task.recording", "xds"}, {"task.files", written(folder_, "one_way.mat", bytes)}, {"task.window", "2"}});
    const std::string sentence = refusal([&] { DecodingTask task(config); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, "have the label 1"), sentence.c_str());
    QCOMPARE(DecodingTask(with(config, {{"task.answer", "outputs"}})).shape().answers, std::int64_t{8});
  }

  void theConfigurationSaysWhatDoesNotFit() {
    ExperimentConfig config = simulated();
    QVERIFY(config.validate().empty());
    QVERIFY(is_decoder(config) && !decodes_outputs(config));
    QCOMPARE(length_of(config), bins);
    QCOMPARE(best_predictor_name(config), std::string("ideal decoder"));
    for (const char* key : {"task.order", "task.states", "task.beta", "task.length", "model.readout",
                            "training.test_sequences", "task.files"})
      QVERIFY2(!config.applies(key), key);
    for (const char* key : {"task.trials", "task.window", "model.input_dropout"}) {
      QVERIFY2(config.applies(key), key);
      QVERIFY2(!ExperimentConfig().applies(key), key);
    }
    QCOMPARE(with(config, {{"model.kind", "ngram"}}).validate().front().where, std::string("model.kind"));
    QCOMPARE(with(config, {{"task.window", "41"}}).validate().front().where, std::string("task.window"));
    config = with(config, {{"task.recording", "windows"}, {"task.answer", "outputs"}});
    QCOMPARE(config.validate().front().where, std::string("task.answer"));
    QVERIFY(config.applies("task.files") && !config.applies("task.trials"));
  }

 private:
  ExperimentConfig of_files(const QStringList& names) {
    std::string files;
    for (const QString& name : names)
      files += std::string(files.empty() ? "" : ";") +
               (name.trimmed().isEmpty() ? name : folder_.filePath(name)).toStdString();
    return with(simulated(), {{"task.recording", "windows"}, {"task.files", files}, {"task.window", "4"}});
  }

  QTemporaryDir folder_;
};

QTEST_APPLESS_MAIN(DecodingTaskTest)
#include "decoding_task_test.moc"
