#include "core/decoding/xds_session.h"

#include <QJsonArray>
#include <QTest>
#include <cmath>

#include "../contract/sentence.h"
#include "core/decoding/mat_struct.h"
#include "core/decoding/windows.h"
#include "decoding_files.h"
#include "mat_v73_writer.h"

using namespace mambarium;

namespace {

DecodingSession session_in(const QString& name) {
  return read_xds_session(data_path(name).toStdString());
}

// A MAT-file of version 5 with a struct `name` of double matrices and texts, not packed, as MathWorks documents it.
class MatWriter {
 public:
  MatWriter& matrix(const QByteArray& name, int rows, int columns, const std::vector<double>& numbers) {
    const QByteArray data(reinterpret_cast<const char*>(numbers.data()), static_cast<int>(8 * numbers.size()));
    return add(name, array(6, rows, columns, element(9, data)));
  }
  MatWriter& text(const QByteArray& name, const QByteArray& value) {
    return add(name, array(4, 1, static_cast<int>(value.size()), element(16, value)));
  }
  MatWriter& without(const QByteArray& name) {
    for (int i = 0; i < names_.size(); ++i)
      if (names_[i] == name) names_.removeAt(i), values_.removeAt(i);
    return *this;
  }
  QByteArray file(const QByteArray& variable = "xds") const {
    QByteArray names, values;
    for (const QByteArray& name : names_) names += name.leftJustified(32, '\0');
    for (const QByteArray& value : values_) values += value;
    const QByteArray body =
        array_start(2, 1, 1, variable) + number(5 | 4 << 16) + number(32) + element(1, names) + values;
    return QByteArray("MATLAB 5.0 MAT-file").leftJustified(124, ' ') + QByteArray("\x00\x01IM", 4) + element(14, body);
  }

 private:
  static QByteArray number(int value) { return QByteArray(reinterpret_cast<const char*>(&value), 4); }
  static QByteArray element(int type, const QByteArray& data) {
    return number(type) + number(static_cast<int>(data.size())) + data.leftJustified((data.size() + 7) / 8 * 8, '\0');
  }
  static QByteArray array_start(int type, int rows, int columns, const QByteArray& name) {
    return element(6, number(type) + number(0)) + element(5, number(rows) + number(columns)) + element(1, name);
  }
  static QByteArray array(int type, int rows, int columns, const QByteArray& data) {
    return element(14, array_start(type, rows, columns, "") + data);
  }
  MatWriter& add(const QByteArray& name, const QByteArray& value) {
    without(name);
    names_ += name;
    values_ += value;
    return *this;
  }

  QList<QByteArray> names_, values_;
};

std::vector<double> small_times() {
  std::vector<double> times;
  for (int bin = 0; bin < 10; ++bin) times.push_back(2 + 0.05 * bin);
  return times;
}

// Ten bins of 50 ms, two channels, two trials.
MatWriter small_session() {
  MatWriter writer;
  const std::vector<double> time = small_times(), counts(20, 1.0);
  return writer.matrix("bin_width", 1, 1, {0.05})
      .matrix("time_frame", 10, 1, time)
      .matrix("spike_counts", 10, 2, counts)
      .text("trial_result", "RF")
      .matrix("trial_start_time", 2, 1, {2.0, 2.25})
      .matrix("trial_end_time", 2, 1, {2.2, 2.5})
      .matrix("trial_target_dir", 2, 1, {90, 180});
}

// The same with spikes in place of counts and everything empty that need not be there; `lacking` is empty as well.
MatV73Writer write_session_of_two_spikes(const std::string& path, const std::string& lacking = "",
                                         const std::string& its_class = "") {
  MatV73Writer writer(path);
  const auto numbers = [&](const std::string& field, const std::vector<double>& values) {
    if (field != lacking) writer.numbers(field, values.size(), 1, values);
  };
  numbers("bin_width", {0.05});
  numbers("time_frame", small_times());
  numbers("trial_start_time", {2.0, 2.25});
  numbers("trial_end_time", {2.2, 2.5});
  numbers("trial_target_dir", {90, 180});
  if (lacking != "trial_result") writer.text("trial_result", "RF");
  if (lacking != "spikes") writer.cells("spikes", {{2.01, 2.03, 2.31}, {}});
  for (const char* const field : {"spike_counts", "EMG", "force", "curs_p", "curs_v"}) writer.empty(field, "double");
  for (const char* const field : {"unit_names", "EMG_names"}) writer.empty(field, "cell");
  if (!lacking.empty()) writer.empty(lacking, its_class);
  return writer;
}

}  // namespace

class XdsSessionTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyVersionHoldsWhatWasWritten_data() {
    QTest::addColumn<QString>("name");
    QTest::newRow("5, packed, counts") << "session_v5.mat";
    QTest::newRow("5, spike times") << "spikes_v5.mat";
    QTest::newRow("7.3") << "session_v73.mat";
  }
  void everyVersionHoldsWhatWasWritten() {
    QFETCH(QString, name);
    const QJsonObject numbers = expected();
    const DecodingSession session = session_in(name);
    QCOMPARE(session.source, data_path(name).toStdString());
    QCOMPARE(session.bins, std::int64_t{numbers["bins"].toInt()});
    QCOMPARE(session.channels, std::int64_t{numbers["channels"].toInt()});
    QCOMPARE(session.bin_seconds, numbers["bin_width"].toDouble());
    QCOMPARE(session.muscle_outputs, std::int64_t{2});
    double sum = 0, weighted = 0;
    for (std::size_t i = 0; i < session.counts.size(); ++i) {
      sum += static_cast<double>(session.counts[i]);
      weighted += static_cast<double>(session.counts[i]) * static_cast<double>(i);
    }
    QCOMPARE(sum, numbers["counts_sum"].toDouble());
    QCOMPARE(weighted, numbers["counts_weighted"].toDouble());
    for (std::size_t c = 0; c < session.channel_names.size(); ++c)
      QCOMPARE(session.channel_names[c], numbers["unit_names"].toArray()[static_cast<int>(c)].toString().toStdString());
    const QJsonArray names = numbers["outputs"].toArray(), row = numbers["outputs_row_123"].toArray();
    QCOMPARE(std::ssize(session.output_names), std::int64_t{names.size()});
    for (int o = 0; o < names.size(); ++o) {
      QCOMPARE(session.output_names[static_cast<std::size_t>(o)], names[o].toString().toStdString());
      QCOMPARE(session.outputs[static_cast<std::size_t>(123 * names.size() + o)],
               static_cast<float>(row[o].toDouble()));
    }
    const QJsonArray trials = numbers["trials"].toArray();
    QCOMPARE(std::ssize(session.trials), std::int64_t{trials.size()});
    for (int t = 0; t < trials.size(); ++t) {
      const QJsonObject right = trials[t].toObject();
      const Trial& trial = session.trials[static_cast<std::size_t>(t)];
      QCOMPARE(trial.begin, std::int64_t{right["begin"].toInt()});
      QCOMPARE(trial.end, std::int64_t{right["end"].toInt()});
      QCOMPARE(trial.go, std::int64_t{right["go"].toInt()});
      QCOMPARE(trial.direction, right["direction"].toInt());
      QCOMPARE(trial.rewarded, right["rewarded"].toBool());
    }
  }

  void allVersionsGiveTheSameArrays() {
    const DecodingSession five = session_in("session_v5.mat");
    for (const char* name : {"spikes_v5.mat", "session_v73.mat"}) {
      const DecodingSession other = session_in(name);
      QVERIFY(other.counts == five.counts);
      QVERIFY(other.outputs == five.outputs);
      QCOMPARE(other.channel_names, five.channel_names);
    }
  }

  void windowsOfTheSessionAreThoseOfTheNpz() {
    const DecodingWindows cut = windows_of(rebin(session_in("session_v73.mat"), 0.05), 8);
    const DecodingWindows read = read_windows(data_path("windows.npz").toStdString());
    QCOMPARE(cut.windows, read.windows);
    QVERIFY(cut.x == read.x);
    QVERIFY(cut.label == read.label);
  }

  void aSessionWithoutOutputsOrNamesIsRead() {
    const QTemporaryDir folder;
    const DecodingSession session = read_xds_session(written(folder, "small.mat", small_session().file()));
    QCOMPARE(session.bins, std::int64_t{10});
    QVERIFY(session.outputs.empty());
    QCOMPARE(session.channel_names, (std::vector<std::string>{"channel 1", "channel 2"}));
    QCOMPARE(session.trials.size(), std::size_t{2});
    QCOMPARE(session.trials[0].end, std::int64_t{4});
    QCOMPARE(session.trials[0].direction, 2);
    QVERIFY(session.trials[0].rewarded && !session.trials[1].rewarded);
  }

  void trialsWithoutATimeAreLeftOut() {
    const QTemporaryDir folder;
    const QByteArray bytes = small_session().matrix("trial_start_time", 2, 1, {std::nan(""), 2.25}).file();
    const DecodingSession session = read_xds_session(written(folder, "nan.mat", bytes));
    QCOMPARE(session.trials.size(), std::size_t{1});
    QCOMPARE(session.trials[0].begin, std::int64_t{5});
    QCOMPARE(session.trials_left_out, std::int64_t{1});
  }

  // MATLAB saves no array of no numbers: the dataset has one row of sizes, and its class is that of the array.
  void whatIsEmptyInVersion73IsEmpty() {
    const QTemporaryDir folder;
    const std::string path = folder.filePath("empty.mat").toStdString();
    write_session_of_two_spikes(path).empty("trial_gocue_time", "double");
    const DecodingSession session = read_xds_session(path);
    std::vector<float> counts(20, 0.0f);
    counts[0] = 2;   // channel 1 at 2.01 and 2.03
    counts[12] = 1;  // and at 2.31; channel 2 has no spikes
    QCOMPARE(session.counts, counts);
    QCOMPARE(session.channel_names, (std::vector<std::string>{"channel 1", "channel 2"}));
    QVERIFY(session.output_names.empty() && session.outputs.empty());
    QCOMPARE(session.muscle_outputs, std::int64_t{0});
    QCOMPARE(session.trials.size(), std::size_t{2});
    QCOMPARE(session.trials[0].go, std::int64_t{-1});
    QCOMPARE(session.trials[1].direction, 4);
  }

  void whatIsEmptyInVersion73AndNeededIsRefused_data() {
    QTest::addColumn<QString>("matlab_class");
    QTest::newRow("trial_result") << "char";
    QTest::newRow("trial_end_time") << "double";
    QTest::newRow("spikes") << "cell";
  }
  void whatIsEmptyInVersion73AndNeededIsRefused() {
    QFETCH(QString, matlab_class);
    const QTemporaryDir folder;
    const std::string path = folder.filePath("lacking.mat").toStdString();
    write_session_of_two_spikes(path, QTest::currentDataTag(), matlab_class.toStdString());
    const std::string sentence = refusal([&] { read_xds_session(path); });
    const std::string says = std::string("xds.") + QTest::currentDataTag() + " is missing or empty";
    const std::string spikes = "xds.spike_counts and xds.spikes are missing or empty";
    QVERIFY2(is_one_sentence(sentence) && (mentions(sentence, says) || mentions(sentence, spikes)), sentence.c_str());
  }

  void windowsThatCannotBeSayWhatTheTrialsLack() {
    const QTemporaryDir folder;
    const std::string path = written(folder, "short.mat",
                                     small_session()
                                         .text("trial_result", "RFRR")
                                         .matrix("trial_start_time", 4, 1, {2.0, 2.25, 2.3, std::nan("")})
                                         .matrix("trial_end_time", 4, 1, {2.2, 2.3, 2.5, 2.6})
                                         .matrix("trial_target_dir", 4, 1, {90, 180, std::nan(""), 0})
                                         .file());
    const std::string sentence = refusal([&] { windows_of(read_xds_session(path), 6); });
    for (const char* const part : {"none of its trials can be used", "1 without a start or an end", "1 not rewarded",
                                   "1 without a target direction", "1 shorter than 6 bins (the longest has 4)"})
      QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(path) && mentions(sentence, part), sentence.c_str());
  }

  void sessionsThatMissOrMixSomethingAreRefused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("says");
    const MatWriter small = small_session();
    const auto changed = [&](auto change) {
      MatWriter writer = small;
      change(writer);
      return writer.file();
    };
    for (const char* name :
         {"bin_width", "time_frame", "trial_result", "trial_start_time", "trial_end_time", "trial_target_dir"})
      QTest::newRow(name) << changed([&](MatWriter& w) { w.without(name); })
                          << "xds." + QString(name) + " is missing or empty";
    QTest::newRow("no spikes") << changed([](MatWriter& w) { w.without("spike_counts"); })
                               << "xds.spike_counts and xds.spikes are missing or empty";
    QTest::newRow("text as counts") << changed([](MatWriter& w) { w.text("spike_counts", "many"); })
                                    << "xds.spike_counts holds no real numbers";
    QTest::newRow("numbers as result") << changed([](MatWriter& w) {
      w.matrix("trial_result", 2, 1, {1, 2});
    }) << "xds.trial_result holds no texts";
    QTest::newRow("bins") << changed([](MatWriter& w) {
      w.matrix("spike_counts", 4, 1, {1, 2, 3, 4});
    }) << "xds.spike_counts is 4 by 1; time_frame has 10 bins";
    for (const double step : {-0.05, 0.0, std::nan("")})
      QTest::addRow("time goes on by %g", step) << changed([&](MatWriter& w) {
        std::vector<double> time = small_times();
        time[6] = time[5] + step;
        w.matrix("time_frame", 10, 1, time);
      }) << "in bin 7 and 2.25 in the one before; time must rise from bin to bin";
    QTest::newRow("EMG bins") << changed([](MatWriter& w) { w.matrix("EMG", 3, 1, {1, 2, 3}); }) << "xds.EMG is 3 by 1";
    QTest::newRow("names") << changed([](MatWriter& w) { w.text("unit_names", "elec1"); })
                           << "xds.unit_names holds 1 names for 2 channels";
    QTest::newRow("trials") << changed([](MatWriter& w) { w.text("trial_result", "RFR"); })
                            << "xds.trial_start_time holds 2 trials and trial_result 3";
    QTest::newRow("NaN counts") << changed([](MatWriter& w) {
      std::vector<double> counts(20, 0.0);
      counts[13] = std::nan("");
      w.matrix("spike_counts", 10, 2, counts);
    }) << "the spike count is nan in bin 3, column 1";
    QTest::newRow("negative") << changed([](MatWriter& w) {
      w.matrix("spike_counts", 10, 2, std::vector<double>(20, -1.0));
    }) << "the spike count is -1 in bin 0, column 0";
    QTest::newRow("radians") << changed([](MatWriter& w) {
      w.matrix("trial_target_dir", 2, 1, {2.356, 0});
    }) << "xds.trial_target_dir of trial 1: a target stands at 2.356 degrees";
    QTest::newRow("bin width") << changed([](MatWriter& w) { w.matrix("bin_width", 1, 1, {0}); })
                               << "xds.bin_width must be one number of seconds above 0";
    QTest::newRow("bin width of another") << changed([](MatWriter& w) { w.matrix("bin_width", 1, 1, {0.001}); })
                                          << "xds.time_frame runs from 2 to 2.45 seconds";
    QTest::newRow("backwards") << changed([](MatWriter& w) {
      w.matrix("trial_end_time", 2, 1, {2.4, 2.1});
    }) << "xds.trial_end_time is 2.1 for trial 2, before its start at 2.25";
    QTest::newRow("overlap") << changed([](MatWriter& w) {
      w.matrix("trial_end_time", 2, 1, {2.4, 2.5});
    }) << "trial 2 lasts from bin 5 to 10";
    QTest::newRow("other variable") << small.file("data") << "holds no variable \"xds\"";
  }
  void sessionsThatMissOrMixSomethingAreRefused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, says);
    const QTemporaryDir folder;
    const std::string path = written(folder, "wrong.mat", bytes);
    const std::string sentence = refusal([&] { read_xds_session(path); });
    QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(path) && mentions(sentence, says.toStdString()),
             sentence.c_str());
  }

  void aHeaderThatClaimsTooMuchIsRefused() {
    const QTemporaryDir folder;
    QByteArray bytes = small_session().file();
    const int rows[2] = {10, 2}, claimed[2] = {100000, 200000};
    const int place = static_cast<int>(bytes.indexOf(QByteArray(reinterpret_cast<const char*>(rows), 8)));
    QVERIFY(place > 0);
    bytes.replace(place, 8, QByteArray(reinterpret_cast<const char*>(claimed), 8));
    const std::string path = written(folder, "huge.mat", bytes);
    const std::string sentence = refusal([&] { read_xds_session(path); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, "xds.spike_counts claims more numbers"), sentence.c_str());
  }

  void filesThatAreNoMatFilesAreRefused() {
    const QTemporaryDir folder;
    const std::vector<std::pair<std::string, std::string>> cases{
        {folder.filePath("nothing.mat").toStdString(), "there is no such file"},
        {folder.path().toStdString(), "is a folder"},
        {written(folder, "empty.mat", ""), "is empty"},
        {written(folder, "text.mat", QByteArray(600, 'x')), "is no MAT-file of version 5 or 7.3"},
        {written(folder, "header.mat", data_bytes("session_v5.mat").left(100)), "is no MAT-file of version 5 or 7.3"}};
    for (const auto& [path, says] : cases) {
      const std::string sentence = refusal([&, &at = path] { read_xds_session(at); });
      QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(path) && mentions(sentence, says), sentence.c_str());
    }
  }

  void aFileThatIsCutShortIsRefusedWhereverItIsCut_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"session_v5.mat", "spikes_v5.mat", "session_v73.mat"})
      QTest::newRow(name) << QString(name);
  }
  void aFileThatIsCutShortIsRefusedWhereverItIsCut() {
    QFETCH(QString, name);
    const QTemporaryDir folder;
    const QByteArray whole = data_bytes(name);
    for (qsizetype size = 1; size < whole.size(); size += size < 1000 ? 37 : 1009) {
      const std::string path = written(folder, "cut.mat", whole.left(static_cast<int>(size)));
      const std::string sentence = refusal([&] { read_xds_session(path); });
      QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(path), (std::to_string(size) + sentence).c_str());
    }
  }

  void aPackedVariableThatIsDamagedIsRefused() {
    const QTemporaryDir folder;
    QByteArray bytes = data_bytes("session_v5.mat");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
    const std::string path = written(folder, "damaged.mat", bytes);
    const std::string sentence = refusal([&] { read_xds_session(path); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, "a packed variable does not unpack"), sentence.c_str());
  }
};

QTEST_APPLESS_MAIN(XdsSessionTest)
#include "xds_session_test.moc"
