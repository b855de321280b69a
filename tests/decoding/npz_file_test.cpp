#include "core/decoding/npz_file.h"

#include <QJsonArray>
#include <QTest>
#include <cmath>
#include <limits>
#include <set>

#include "../contract/sentence.h"
#include "core/decoding/windows.h"
#include "decoding_files.h"

using namespace mambarium;

namespace {

// A zip with one stored entry, as APPNOTE.TXT lays it out; the checksum is computed bit by bit.
QByteArray stored_zip(const QByteArray& name, const QByteArray& content, quint32 claimed_bytes) {
  quint32 checksum = 0xFFFFFFFFu;
  for (const char byte : content) {
    checksum ^= static_cast<quint8>(byte);
    for (int bit = 0; bit < 8; ++bit) checksum = checksum >> 1 ^ (checksum & 1u ? 0xEDB88320u : 0u);
  }
  checksum = ~checksum;
  const auto little = [](quint32 value, int bytes) {
    QByteArray out;
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xFFu);
    return out;
  };
  const auto size = static_cast<quint32>(name.size());
  const QByteArray common = little(20, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(checksum, 4) +
                            little(claimed_bytes, 4) + little(claimed_bytes, 4) + little(size, 2) + little(0, 2);
  const QByteArray local = "PK\x03\x04" + common + name + content;
  const QByteArray directory = "PK\x01\x02" + little(20, 2) + common + little(0, 2) + little(0, 2) + little(0, 2) +
                               little(0, 4) + little(0, 4) + name;
  return local + directory + "PK\x05\x06" + little(0, 4) + little(1, 2) + little(1, 2) +
         little(static_cast<quint32>(directory.size()), 4) + little(static_cast<quint32>(local.size()), 4) +
         little(0, 2);
}

QByteArray npy(const QByteArray& dictionary, const QByteArray& numbers, int version = 1) {
  QByteArray out("\x93NUMPY");
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) out += static_cast<char>(dictionary.size() >> 8 * i & 0xFF);
  return out + dictionary + numbers;
}

QByteArray npz(const QByteArray& array) {
  return stored_zip("a.npy", array, static_cast<quint32>(array.size()));
}

}  // namespace

class NpzFileTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void everyTypeOfNumberReadsTheSame_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "fortran"})
      QTest::newRow(name) << QString(name);
  }
  void everyTypeOfNumberReadsTheSame() {
    QFETCH(QString, name);
    const NpzFile file(data_path("types.npz").toStdString());
    const auto reals = file.read<double>(name.toStdString());
    const auto floats = file.read<float>(name.toStdString());
    const auto wholes = file.read<std::int64_t>(name.toStdString());
    const QJsonArray numbers = expected()["types"].toArray();
    QCOMPARE(reals.shape, (std::vector<std::int64_t>{3, 8, 5}));
    QCOMPARE(std::ssize(reals.values), std::int64_t{numbers.size()});
    for (int i = 0; i < numbers.size(); ++i) {
      const auto place = static_cast<std::size_t>(i);
      QCOMPARE(reals.values[place], numbers[i].toDouble());
      QCOMPARE(floats.values[place], static_cast<float>(numbers[i].toDouble()));
      QCOMPARE(wholes.values[place], static_cast<std::int64_t>(numbers[i].toInt()));
    }
  }

  void truthsScalarsAndEmptyArraysAreRead() {
    const NpzFile file(data_path("types.npz").toStdString());
    const auto truths = file.read<std::int64_t>("bool");
    const QJsonArray numbers = expected()["types"].toArray();
    for (int i = 0; i < numbers.size(); ++i)
      QCOMPARE(truths.values[static_cast<std::size_t>(i)], std::int64_t{numbers[i].toInt() > 0});
    const auto scalar = file.read<std::int64_t>("scalar");
    QVERIFY(scalar.shape.empty());
    QCOMPARE(scalar.values, std::vector<std::int64_t>{7});
    const auto empty = file.read<float>("empty");
    QCOMPARE(empty.shape, (std::vector<std::int64_t>{0, 3}));
    QVERIFY(empty.values.empty());
  }

  void namesStandWithoutTheirSuffix() {
    const NpzFile file(data_path("windows.npz").toStdString());
    QCOMPARE(file.names(), (std::vector<std::string>{"neural_activity", "classification_label"}));
    QVERIFY(file.contains("neural_activity"));
    QVERIFY(!file.contains("neural_activity.npy"));
  }

  void versionsTwoAndThreeOfTheHeaderAreRead() {
    const QTemporaryDir folder;
    for (const int version : {1, 2, 3}) {
      const QByteArray array =
          npy("{\"shape\": (2,), 'fortran_order': False, 'descr': '|u1'}   \n", "\x05\x07", version);
      const NpzFile file(written(folder, "v.npz", npz(array)));
      QCOMPARE(file.read<std::int64_t>("a").values, (std::vector<std::int64_t>{5, 7}));
    }
  }

  void numbersThatAreNotWholeAreRefusedAsLabels() {
    const QTemporaryDir folder;
    const float half = 1.5f;
    const QByteArray array = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }",
                                 QByteArray(reinterpret_cast<const char*>(&half), 4));
    const NpzFile file(written(folder, "half.npz", npz(array)));
    QCOMPARE(file.read<float>("a").values, std::vector{1.5f});
    const std::string sentence = refusal([&] { file.read<std::int64_t>("a"); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, "holds 1.5; it must hold whole numbers"),
             sentence.c_str());
  }

  void arraysOfOtherTypesAreRefused_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("array");
    QTest::addColumn<QString>("says");
    QTest::newRow("objects") << "objects.npz"
                             << "words"
                             << "holds Python objects";
    QTest::newRow("half") << "types.npz"
                          << "half"
                          << "numbers of the type \"<f2\"";
    QTest::newRow("complex") << "types.npz"
                             << "complex"
                             << "numbers of the type \"<c16\"";
    QTest::newRow("big") << "types.npz"
                         << "big"
                         << "most significant byte first";
    QTest::newRow("missing") << "types.npz"
                             << "nothing"
                             << "holds no array \"nothing\"";
  }
  void arraysOfOtherTypesAreRefused() {
    QFETCH(QString, file);
    QFETCH(QString, array);
    QFETCH(QString, says);
    const NpzFile npz_file(data_path(file).toStdString());
    const std::string sentence = refusal([&] { npz_file.read<double>(array.toStdString()); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, says.toStdString()), sentence.c_str());
  }

  void brokenHeadersAreRefused_data() {
    QTest::addColumn<QByteArray>("array");
    QTest::addColumn<QString>("says");
    const QByteArray two("\0\0", 2);
    QTest::newRow("no npy") << QByteArray("hello, I am no array") << "is no .npy array";
    QTest::newRow("cut") << QByteArray("\x93NUMPY\x01") << "cut short";
    QTest::newRow("cut text") << npy("{'descr': '<f4', 'fortran", "").left(20) << "cut short";
    QTest::newRow("version") << npy("{}", "", 9) << "version 9";
    QTest::newRow("no text") << npy("", "") << "cannot be understood";
    QTest::newRow("no keys") << npy("{}", "") << "must hold descr, fortran_order and shape";
    QTest::newRow("other key") << npy("{'order': 'C'}", "") << "cannot be understood";
    QTest::newRow("negative") << npy("{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}", two)
                              << "cannot be understood";
    QTest::newRow("open text") << npy("{'descr", two) << "cannot be understood";
    QTest::newRow("records") << npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}", two)
                             << "records of several fields";
    QTest::newRow("huge") << npy("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}", two)
                          << "claims more numbers";
    QTest::newRow("overflow") << npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", two)
                              << "claims more numbers";
    QTest::newRow("beyond") << npy("{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}", two)
                            << "cannot be understood";
    QTest::newRow("short") << npy("{'descr': '|u1', 'fortran_order': False, 'shape': (1,)}", two)
                           << "claims 1 numbers of 1 bytes, but 2 bytes follow";
  }
  void brokenHeadersAreRefused() {
    QFETCH(QByteArray, array);
    QFETCH(QString, says);
    const QTemporaryDir folder;
    const std::string path = written(folder, "broken.npz", npz(array));
    const std::string sentence = refusal([&] { NpzFile(path).read<double>("a"); });
    QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(path) && mentions(sentence, says.toStdString()),
             sentence.c_str());
  }

  void aZipThatClaimsMoreThanItsFileIsRefused() {
    const QTemporaryDir folder;
    const QByteArray array = npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2,)}", QByteArray(2, '\1'));
    const std::string path = written(folder, "liar.npz", stored_zip("a.npy", array, 4000000000u));
    const std::string sentence = refusal([&] { NpzFile(path).read<double>("a"); });
    QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(path), sentence.c_str());
  }

  void filesThatAreNoNpzAreRefused() {
    const QTemporaryDir folder;
    const std::vector<std::pair<std::string, std::string>> cases{
        {folder.filePath("nothing.npz").toStdString(), "there is no such file"},
        {folder.path().toStdString(), "is a folder"},
        {written(folder, "empty.npz", ""), "is empty"},
        {written(folder, "text.npz", "this is a text and no zip"), "is no .npz file"},
        {written(folder, "cut.npz", data_bytes("windows.npz").left(500)), "is no .npz file, or cut short"}};
    for (const auto& [path, says] : cases) {
      const std::string sentence = refusal([&, &at = path] { NpzFile{at}; });
      QVERIFY2(is_one_sentence(sentence) && sentence.starts_with(path) && mentions(sentence, says), sentence.c_str());
    }
  }

  // Whatever byte is changed, the arrays are the same, or there is a sentence.
  void noDamagedByteGoesUnnoticed() {
    const QTemporaryDir folder;
    const QByteArray whole = data_bytes("windows.npz");
    const NpzFile good(data_path("windows.npz").toStdString());
    const auto activity = good.read<float>("neural_activity").values;
    const auto label = good.read<std::int64_t>("classification_label").values;
    int refused = 0;
    for (int place = 0; place < whole.size(); ++place) {
      QByteArray damaged = whole;
      damaged[place] = static_cast<char>(damaged[place] ^ 0x5A);
      const std::string path = written(folder, "damaged.npz", damaged);
      const std::string sentence = refusal([&] {
        const NpzFile file(path);
        QVERIFY(file.read<float>("neural_activity").values == activity);
        QVERIFY(file.read<std::int64_t>("classification_label").values == label);
      });
      if (sentence.empty()) continue;
      ++refused;
      QVERIFY2(is_one_sentence(sentence), sentence.c_str());
    }
    QVERIFY2(refused > whole.size() / 2, qPrintable(QString::number(refused)));
  }

  void windowsOfADayAreRead() {
    const DecodingWindows windows = read_windows(data_path("windows.npz").toStdString(), 3);
    const QJsonObject numbers = expected();
    QCOMPARE(windows.windows, std::int64_t{numbers["windows"].toArray()[0].toInt()});
    QCOMPARE(windows.bins, std::int64_t{8});
    QCOMPARE(windows.channels, std::int64_t{5});
    QCOMPARE(windows.classes, 7);
    double sum = 0, weighted = 0;
    for (std::size_t i = 0; i < windows.x.size(); ++i) {
      sum += static_cast<double>(windows.x[i]);
      weighted += static_cast<double>(windows.x[i]) * static_cast<double>(i);
    }
    QCOMPARE(sum, numbers["activity_sum"].toDouble());
    QCOMPARE(weighted, numbers["activity_weighted"].toDouble());
    for (std::size_t w = 0; w < windows.label.size(); ++w) {
      QCOMPARE(windows.label[w], numbers["labels"].toArray()[static_cast<int>(w)].toInt());
      QCOMPARE(windows.first_bin[w], static_cast<std::int64_t>(w));
      QCOMPARE(windows.day[w], std::int64_t{3});
    }
  }

  void arraysThatAreNoWindowsAreRefused() {
    const std::string types = data_path("types.npz").toStdString();
    const std::string sentence = refusal([&] { read_windows(types); });
    QVERIFY2(is_one_sentence(sentence) && mentions(sentence, "holds no array \"neural_activity\""), sentence.c_str());
  }
};

QTEST_APPLESS_MAIN(NpzFileTest)
#include "npz_file_test.moc"
