#include "core/training/safetensors.h"

#include <QTest>
#include <cstring>

#include "core/training/training_error.h"

using namespace mambarium;

namespace {

std::vector<std::byte> file_of(const std::string& header, std::size_t data_bytes) {
  std::vector<std::byte> content(8 + header.size() + data_bytes);
  const std::uint64_t length = header.size();
  std::memcpy(content.data(), &length, 8);
  std::memcpy(content.data() + 8, header.data(), header.size());
  return content;
}

// What parse() says, or "" when it takes the file.
QString refusal(std::vector<std::byte> content) {
  try {
    SafetensorsFile::parse(std::move(content), "x.safetensors");
  } catch (const TrainingError& error) {
    return error.what();
  }
  return "";
}

std::vector<std::byte> two_tensors() {
  static const std::vector<float> weights{1.5f, -2, 0, 4, 5, 6}, bias{7};
  const TensorToWrite tensors[] = {{"weight", {2, 3}, weights}, {"bias", {}, bias}};
  return safetensors_bytes(tensors, {{"step", "12"}});
}

}  // namespace

class SafetensorsTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void readsWhatItWrote() {
    const SafetensorsFile file = SafetensorsFile::parse(two_tensors(), "x");
    QCOMPARE(file.tensors().size(), std::size_t{2});
    QCOMPARE(file.metadata().at("step"), std::string("12"));
    const SafetensorsEntry& weight = file.tensors().at("weight");
    QCOMPARE(weight.dtype, std::string("F32"));
    QVERIFY((weight.shape == std::vector<std::int64_t>{2, 3}));
    float numbers[6];
    QCOMPARE(weight.data.size(), sizeof numbers);
    std::memcpy(numbers, weight.data.data(), sizeof numbers);
    QCOMPARE(numbers[0], 1.5f);
    QCOMPARE(numbers[5], 6.0f);
    QVERIFY(file.tensors().at("bias").shape.empty());
    QVERIFY(two_tensors() == two_tensors());
  }

  // A file as another program writes it: unordered, padded header, several dtypes, an empty tensor, no checksum.
  void readsForeignFiles() {
    const std::string header =
        R"({"b":{"dtype":"F16","shape":[3],"data_offsets":[4,10]},"a":{"dtype":"I32","shape":[1],"data_offsets":[0,4]},)"
        R"("empty":{"dtype":"BOOL","shape":[0,9999999999],"data_offsets":[10,10]}}   )";
    const SafetensorsFile file = SafetensorsFile::parse(file_of(header, 10), "x");
    QCOMPARE(file.tensors().size(), std::size_t{3});
    QCOMPARE(file.tensors().at("b").data.size(), std::size_t{6});
    QVERIFY(file.tensors().at("empty").data.empty());
    QCOMPARE(SafetensorsFile::parse(file_of("{}", 0), "x").tensors().size(), std::size_t{0});
  }

  void refusesBrokenFiles_data() {
    QTest::addColumn<QString>("header");
    QTest::addColumn<int>("data_bytes");
    QTest::addColumn<QString>("message");
    const auto row = [](const char* name, const QString& header, int bytes, const char* message) {
      QTest::newRow(name) << header << bytes << message;
    };
    const auto tensor = [](const QString& dtype, const QString& shape, const QString& offsets) {
      return QString(R"({"w":{"dtype":%1,"shape":%2,"data_offsets":%3}})").arg(dtype, shape, offsets);
    };
    row("not JSON", "{\"w\":", 4, "not valid JSON");
    row("not an object", "[1,2]", 0, "not a JSON object");
    row("not UTF-8", "{\"\xff\":1}", 0, "");
    row("no dtype", R"({"w":{"shape":[1],"data_offsets":[0,4]}})", 4, "\"w\" lacks dtype");
    row("tensor is a number", R"({"w":3})", 0, "\"w\" lacks dtype");
    row("unknown dtype", tensor("\"F31\"", "[1]", "[0,4]"), 4, "unknown dtype \"F31\"");
    row("dtype is a number", tensor("4", "[1]", "[0,4]"), 4, "dtype that is not a text");
    row("negative shape", tensor("\"F32\"", "[-1]", "[0,4]"), 4, "shape that is not whole numbers");
    row("fractional shape", tensor("\"F32\"", "[1.0]", "[0,4]"), 4, "shape that is not whole numbers");
    row("shape is a text", tensor("\"F32\"", "\"1\"", "[0,4]"), 4, "shape that is not a list");
    row("shape overflows", tensor("\"F32\"", "[4294967296,4294967296,4]", "[0,4]"), 4, "overflows");
    row("shape overflows to zero", tensor("\"F32\"", "[4611686018427387904]", "[0,0]"), 0, "overflows");
    row("shape beyond 64 bits", tensor("\"F32\"", "[99999999999999999999]", "[0,4]"), 4, "shape that is not whole");
    row("offset past the end", tensor("\"F32\"", "[2]", "[0,8]"), 4, "cut off or damaged");
    row("offsets turned round", tensor("\"F32\"", "[1]", "[4,0]"), 4, "bytes 4 to 0");
    row("negative offset", tensor("\"F32\"", "[1]", "[-4,0]"), 4, "not two whole numbers");
    row("three offsets", tensor("\"F32\"", "[1]", "[0,4,4]"), 4, "not two whole numbers");
    row("size and shape disagree", tensor("\"F32\"", "[3]", "[0,8]"), 8, "takes 8 bytes where its shape needs 12");
    row("bytes after the last tensor", tensor("\"F32\"", "[1]", "[0,4]"), 8, "4 bytes after its last tensor");
    row("hole", R"({"a":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})", 4, "belong to no tensor");
    row("overlap",
        R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
        4, "\"b\" overlaps");
    row("name twice",
        R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
        1, "names \"a\" twice");
    row("key twice", R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1,
        "names \"dtype\" twice");
    row("metadata is a list", R"({"__metadata__":[]})", 0, "metadata are not a map");
    row("metadata number", R"({"__metadata__":{"step":3}})", 0, "entry \"step\" is not a text");
    row("wrong checksum", R"({"__metadata__":{"checksum":"fnv1a64:0000000000000000"}})", 0,
        "do not match their checksum");
    row("deep nesting", "{\"a\":" + QString(100000, '[') + QString(100000, ']') + "}", 0, "\"a\" lacks dtype");
  }
  void refusesBrokenFiles() {
    QFETCH(QString, header);
    QFETCH(int, data_bytes);
    QFETCH(QString, message);
    const QString said = refusal(file_of(header.toLatin1().toStdString(), static_cast<std::size_t>(data_bytes)));
    QVERIFY2(said.startsWith("x.safetensors: ") && said.contains(message), qPrintable(said));
  }

  void refusesImpossibleLengths() {
    QVERIFY(refusal({}).contains("0 bytes, too few"));
    QVERIFY(refusal(std::vector<std::byte>(7)).contains("7 bytes, too few"));
    QVERIFY(refusal(std::vector<std::byte>(8)).contains("not a JSON object"));
    std::vector<std::byte> content = file_of("{}", 0);
    content[7] = std::byte{0xff};
    QVERIFY(refusal(content).contains("only 2 follow"));
  }

  // Wherever the file is cut it is refused; and whichever byte of the data flips.
  void refusesEveryTruncationAndDamage() {
    const std::vector<std::byte> whole = two_tensors();
    QCOMPARE(refusal(whole), "");
    for (std::size_t size = 0; size < whole.size(); ++size) {
      QVERIFY(refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}) != "");
    }
    for (std::size_t byte = whole.size() - 28; byte < whole.size(); ++byte) {
      std::vector<std::byte> damaged = whole;
      damaged[byte] ^= std::byte{0x10};
      QVERIFY(refusal(damaged).contains("do not match their checksum"));
    }
  }
};

QTEST_APPLESS_MAIN(SafetensorsTest)
#include "safetensors_test.moc"
