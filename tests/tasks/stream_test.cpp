#include "core/random/stream.h"

#include <QTest>
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

using namespace mambarium;

using Block = std::array<std::uint32_t, 4>;

class StreamTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  // The vectors published with the Random123 library.
  void knownAnswers() {
    QVERIFY((philox4x32_10({0, 0, 0, 0}, {0, 0}) == Block{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}));
    QVERIFY(
        (philox4x32_10({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}) == Block{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}));
    QVERIFY((philox4x32_10({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
             Block{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}));
  }

  void blocksAreOrderedByCounterWords() {
    const Stream stream(7, "data");
    QVERIFY(stream.block(0x1122334455667788u, 0x99aabbccddeeff00u) ==
            philox4x32_10({0x55667788u, 0x11223344u, 0xddeeff00u, 0x99aabbccu}, stream.key()));
  }

  // Folders on disk depend on these keys. By hand: FNV-1a 64 of eight zero bytes and of (1, 0 x 7, 'd','a','t','a'),
  // mixed.
  void keysNeverChange() {
    const auto key_by_hand = [](std::vector<unsigned> bytes) {
      unsigned __int128 hash = 14695981039346656037u;
      for (const unsigned byte : bytes) {
        hash = ((hash ^ byte) * 1099511628211u) & 0xffffffffffffffffu;
      }
      auto value = static_cast<std::uint64_t>(hash);
      for (const std::uint64_t factor : {0xff51afd7ed558ccdu, 0xc4ceb9fe1a85ec53u})
        value = (value ^ value >> 33) * factor;
      value ^= value >> 33;
      return std::array<std::uint32_t, 2>{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)};
    };
    QVERIFY(Stream(0, "").key() == key_by_hand({0, 0, 0, 0, 0, 0, 0, 0}));
    QVERIFY(Stream(1, "data").key() == key_by_hand({1, 0, 0, 0, 0, 0, 0, 0, 'd', 'a', 't', 'a'}));
  }

  void seedsAndNamesGiveDifferentStreams() {
    std::set<std::array<std::uint32_t, 2>> keys;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      for (const char* name : {"data", "test", "probe", "parameter layers.0.in_proj.weight"}) {
        keys.insert(Stream(seed, name).key());
      }
    }
    QCOMPARE(keys.size(), std::size_t{4000});
  }

  void longerSpansBeginAlike() {
    const Stream stream(3, "parameter x");
    std::vector<double> whole(9), part(4);
    stream.normal(whole, 5);
    stream.normal(part, 5);
    QVERIFY(std::equal(part.begin(), part.end(), whole.begin()));
    stream.uniform(whole, 5);
    stream.uniform(part, 5);
    QVERIFY(std::equal(part.begin(), part.end(), whole.begin()));
    std::vector<double> other(9);
    stream.uniform(other, 6);
    QVERIFY(other != whole);
  }

  // Four standard errors of each statistic; the seed is fixed, so this either always holds or never.
  void moments() {
    const Stream stream(11, "moments");
    constexpr std::size_t count = 1u << 20;
    std::vector<double> numbers(count);
    const auto mean_of_power = [&](int power) {
      double sum = 0;
      for (const double number : numbers) sum += std::pow(number, power);
      return sum / static_cast<double>(count);
    };
    const double root = std::sqrt(static_cast<double>(count));
    stream.uniform(numbers);
    QVERIFY(*std::min_element(numbers.begin(), numbers.end()) >= 0.0);
    QVERIFY(*std::max_element(numbers.begin(), numbers.end()) < 1.0);
    QVERIFY(std::abs(mean_of_power(1) - 1.0 / 2) < 4 * std::sqrt(1.0 / 12) / root);
    QVERIFY(std::abs(mean_of_power(2) - 1.0 / 3) < 4 * std::sqrt(1.0 / 5 - 1.0 / 9) / root);
    stream.normal(numbers);
    QVERIFY(std::abs(mean_of_power(1)) < 4 / root);
    QVERIFY(std::abs(mean_of_power(2) - 1) < 4 * std::sqrt(2.0) / root);
    QVERIFY(std::abs(mean_of_power(3)) < 4 * std::sqrt(15.0) / root);
    QVERIFY(std::abs(mean_of_power(4) - 3) < 4 * std::sqrt(96.0) / root);
    double product = 0;
    for (std::size_t i = 0; i < count; i += 2) product += numbers[i] * numbers[i + 1];
    QVERIFY(std::abs(product / (count / 2)) < 4 * std::sqrt(2.0) / root);
  }
};

QTEST_APPLESS_MAIN(StreamTest)
#include "stream_test.moc"
