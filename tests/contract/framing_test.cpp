#include "core/contract/framing.h"

#include <QFloat16>
#include <QTest>
#include <algorithm>
#include <iterator>

#include "core/contract/tensor.h"
#include "sentence.h"

using namespace mambarium;
using nlohmann::json;

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes frame_of(const Bytes& body) {
  Bytes frame;
  for (unsigned byte = 0; byte < 4; ++byte) frame.push_back(static_cast<std::uint8_t>(body.size() >> (8 * byte)));
  std::ranges::copy(body, std::back_inserter(frame));
  return frame;
}

Bytes joined(const std::vector<Bytes>& pieces) {
  Bytes all;
  for (const Bytes& piece : pieces) std::ranges::copy(piece, std::back_inserter(all));
  return all;
}

std::vector<json> messages() {
  return {{{"type", "start"}},
          {{"type", "tempo"}, {"steps_per_second", 2.5}},
          {{"type", "inspected"}, {"data", Tensor{{2, 2}, {1, 2, 3, 4}}}, {"what", "d\u00e9cay"}}};
}

}  // namespace

Q_DECLARE_METATYPE(Bytes)

class FramingTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void lengthIsLittleEndian() {
    const Bytes frame = encode_frame({{"type", "start"}});
    QCOMPARE(frame[0], frame.size() - 4);
    QCOMPARE(frame[1] + frame[2] + frame[3], 0);
    QCOMPARE(json::from_cbor(frame.begin() + 4, frame.end())["type"], "start");
  }

  void framesCutAtEveryByteAreReadWhole() {
    Bytes stream;
    for (const json& message : messages()) stream = joined({stream, encode_frame(message)});
    for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
      FrameReader reader;
      std::vector<json> read;
      const auto take = [&] {
        while (auto message = reader.next()) read.push_back(*message);
      };
      reader.append(std::span(stream).first(cut));
      take();
      QCOMPARE(reader.frames_read(), read.size());
      reader.append(std::span(stream).subspan(cut));
      take();
      QCOMPARE(read, messages());
      QVERIFY(reader.at_frame_border());
    }
  }

  void bytesOneByOne() {
    Bytes stream;
    for (const json& message : messages()) stream = joined({stream, encode_frame(message)});
    FrameReader reader;
    std::vector<json> read;
    for (const std::uint8_t byte : stream) {
      reader.append(std::span(&byte, 1));
      while (auto message = reader.next()) read.push_back(*message);
    }
    QCOMPARE(read, messages());
  }

  void aCutFrameIsNoticedAtTheEnd() {
    const Bytes frame = encode_frame({{"type", "start"}});
    for (std::size_t bytes = 1; bytes < frame.size(); ++bytes) {
      FrameReader reader;
      reader.append(std::span(frame).first(bytes));
      QVERIFY(!reader.next());
      QVERIFY(!reader.at_frame_border());
    }
  }

  void malformedBodiesGiveOneSentenceAndTheReaderGoesOn_data() {
    QTest::addColumn<Bytes>("body");
    QTest::newRow("not cbor") << Bytes{0xff, 0x00, 0x13};
    QTest::newRow("json text") << Bytes{'{', '"', 't', '"', ':', '1', '}'};
    QTest::newRow("cut map") << Bytes{0xa1, 0x64, 't', 'y'};
    QTest::newRow("a list") << Bytes{0x81, 0x01};
    QTest::newRow("a number") << Bytes{0x07};
    QTest::newRow("null") << Bytes{0xf6};
    QTest::newRow("empty map") << Bytes{0xa0};
    QTest::newRow("no type") << json::to_cbor({{"kind", "start"}});
    QTest::newRow("type is a number") << json::to_cbor({{"type", 3}});
    QTest::newRow("type is null") << json::to_cbor({{"type", nullptr}});
    QTest::newRow("two values") << joined({json::to_cbor({{"type", "start"}}), {0x01}});
    QTest::newRow("text is not utf-8") << Bytes{0xa1, 0x64, 't', 'y', 'p', 'e', 0x62, 0xc3, 0x28};
    QTest::newRow("huge string") << Bytes{0xa1, 0x64, 't',  'y',  'p',  'e',  0x7b, 0x7f,
                                          0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    QTest::newRow("huge list") << Bytes{0x9b, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    QTest::newRow("a million brackets") << Bytes(1000000, 0x81);
    QTest::newRow("a million maps") << [] {
      Bytes body;
      for (int depth = 0; depth < 1000000; ++depth) body.insert(body.end(), {0xa1, 0x61, 'a'});
      return body;
    }();
    QTest::newRow("endless text") << Bytes{0x7f, 0x61, 'a'};
  }
  void malformedBodiesGiveOneSentenceAndTheReaderGoesOn() {
    QFETCH(Bytes, body);
    FrameReader reader;
    reader.append(joined({encode_frame({{"type", "pause"}}), frame_of(body), encode_frame({{"type", "close"}})}));
    QCOMPARE(reader.next().value()["type"], "pause");
    try {
      reader.next();
      QFAIL("a malformed frame was read");
    } catch (const FrameError& fault) {
      QVERIFY2(is_one_sentence(fault.what()) && mentions(fault.what(), "frame 2"), fault.what());
    }
    QCOMPARE(reader.next().value()["type"], "close");
    QVERIFY(!reader.next());
    QVERIFY(reader.at_frame_border());
  }

  void aBrokenLengthEndsTheStream() {
    for (const Bytes& length : {Bytes{0, 0, 0, 0}, Bytes{0xff, 0xff, 0xff, 0xff}, Bytes{1, 0, 0, 0x10}}) {
      FrameReader reader;
      reader.append(joined({encode_frame({{"type", "pause"}}), length, encode_frame({{"type", "close"}})}));
      QCOMPARE(reader.next().value()["type"], "pause");
      for (int attempt = 0; attempt < 3; ++attempt) {
        try {
          reader.next();
          QFAIL("a broken length was accepted");
        } catch (const FrameError& fault) {
          QVERIFY2(is_one_sentence(fault.what()) && mentions(fault.what(), "length"), fault.what());
        }
      }
    }
  }

  void aLargeTensorArrives() {
    const Tensor tensor{{1 << 20}, std::vector<float>(1 << 20, 0.25f)};
    FrameReader reader;
    reader.append(encode_frame({{"type", "inspected"}, {"data", tensor}}));
    QVERIFY(reader.next().value()["data"].get<Tensor>() == tensor);
  }
};

QTEST_APPLESS_MAIN(FramingTest)
#include "framing_test.moc"
