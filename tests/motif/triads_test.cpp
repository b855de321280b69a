// The 16 classes of directed graphs of three nodes.
#include "core/motif/triads.h"

#include <QTest>
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "tests/contract/sentence.h"

using namespace mambarium;

namespace {

constexpr std::array<std::string_view, 6> arrows = {"a->b", "a->c", "b->a", "b->c", "c->a", "c->b"};

struct Dyads {
  int mutual = 0, asymmetric = 0, null = 0;
};

Dyads dyads_of(unsigned code) {
  Dyads dyads;
  for (const auto& [there, back] : {std::pair{1u, 4u}, std::pair{2u, 16u}, std::pair{8u, 32u}}) {
    const int edges = ((code & there) != 0 ? 1 : 0) + ((code & back) != 0 ? 1 : 0);
    ++(edges == 2 ? dyads.mutual : edges == 1 ? dyads.asymmetric : dyads.null);
  }
  return dyads;
}

// a->b->c or a<->b of a description, written out as arrows.
std::set<std::string> edges_in(std::string_view description) {
  std::set<std::string> edges;
  for (std::size_t at = 0; at + 3 < description.size(); ++at) {
    const std::string_view rest = description.substr(at);
    const auto node = [&](std::size_t i) { return i < rest.size() && rest[i] >= 'a' && rest[i] <= 'c'; };
    if (node(0) && rest.substr(1, 2) == "->" && node(3)) edges.insert(std::string(rest.substr(0, 4)));
    if (node(0) && rest.substr(1, 3) == "<->" && node(4)) {
      edges.insert(std::string{rest[0], '-', '>', rest[4]});
      edges.insert(std::string{rest[4], '-', '>', rest[0]});
    }
  }
  return edges;
}

std::string refusal(std::string_view text) {
  try {
    find_triad(text);
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

class TriadsTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  // The number of labelled graphs of a class is 6 over its automorphisms; together they are all 64.
  void everyLabelledGraphFallsInExactlyOneClass() {
    std::array<int, triad_count> members{};
    for (unsigned code = 0; code < triad_code_count; ++code) {
      int matches = 0;
      for (std::size_t index = 0; index < triad_count; ++index) {
        const bool is_one = std::ranges::any_of(orders_of_three, [&](const auto& places) {
          return permuted(static_cast<TriadCode>(code), places) == triads()[index].example;
        });
        matches += is_one ? 1 : 0;
        if (is_one) QCOMPARE(classify(static_cast<TriadCode>(code)), index);
      }
      QCOMPARE(matches, 1);
      ++members[classify(static_cast<TriadCode>(code))];
    }
    for (std::size_t index = 0; index < triad_count; ++index)
      QCOMPARE(members[index] * triads()[index].automorphisms, 6);
  }

  void theDigitsOfANameCountMutualAsymmetricAndNullPairs() {
    for (const Triad& triad : triads()) {
      const Dyads dyads = dyads_of(triad.example);
      QCOMPARE(triad.name.substr(0, 3),
               std::string_view(std::to_string(dyads.mutual) + std::to_string(dyads.asymmetric) +
                                std::to_string(dyads.null)));
    }
  }

  void aDescriptionHasTheEdgesOfTheExample() {
    for (const Triad& triad : triads()) {
      std::set<std::string> edges;
      for (std::size_t bit = 0; bit < 6; ++bit)
        if ((triad.example >> bit & 1) != 0) edges.insert(std::string(arrows[bit]));
      QCOMPARE(edges_in(triad.description), edges);
    }
  }

  void upAndDownAreEachOthersReversal() {
    constexpr std::array<std::array<std::string_view, 2>, 11> pairs = {{{"021D", "021U"},
                                                                        {"021C", "021C"},
                                                                        {"030T", "030T"},
                                                                        {"111U", "111D"},
                                                                        {"120U", "120D"},
                                                                        {"201", "201"},
                                                                        {"030C", "030C"},
                                                                        {"120C", "120C"},
                                                                        {"210", "210"},
                                                                        {"300", "300"},
                                                                        {"012", "012"}}};
    for (const auto& [name, reversed_name] : pairs) {
      const TriadCode code = triads()[find_triad(name)].example;
      unsigned reversed = 0;
      for (std::size_t from = 0; from < 3; ++from)
        for (std::size_t to = 0; to < 3; ++to)
          if (from != to && (code & triad_edge(from, to)) != 0) reversed |= triad_edge(to, from);
      QCOMPARE(triads()[classify(static_cast<TriadCode>(reversed))].name, reversed_name);
    }
  }

  // A down triad has one node that sends to both others, an up triad one that both others send to.
  void motifTwoConvergesAndMotifOneDiverges() {
    QCOMPARE(triads()[classify(triad_edge(1, 0) | triad_edge(2, 0))].name, std::string_view("021U"));
    QCOMPARE(triads()[classify(triad_edge(0, 1) | triad_edge(0, 2))].name, std::string_view("021D"));
    QCOMPARE(find_triad("021U"), std::size_t{1});
    QCOMPARE(find_triad("021D"), std::size_t{0});
  }

  void motifsAreNumberedFirst() {
    for (std::size_t index = 0; index < triad_count; ++index)
      QCOMPARE(triads()[index].motif, index < motif_count ? static_cast<int>(index) + 1 : 0);
  }

  void aTriadIsFoundByNameAndByNumber() {
    for (std::size_t index = 0; index < triad_count; ++index) QCOMPARE(find_triad(triads()[index].name), index);
    for (std::size_t index = 0; index < motif_count; ++index) {
      const std::string number = std::to_string(index + 1);
      for (const std::string& text : {number, "Motif-" + number, "motif " + number, "MOTIF" + number})
        QCOMPARE(find_triad(text), index);
    }
    QCOMPARE(find_triad(" 030t "), find_triad("030T"));
    QCOMPARE(triad_title(1), std::string("Motif-2 (021U)"));
    QCOMPARE(triad_title(13), std::string("003"));
  }

  void whatIsNoTriadIsRefusedWithAllThatAre() {
    for (const char* text : {"", "021X", "0", "14", "-2", "02", "Motif", "Motif-", "Motif-0", "2.0", "2 3"}) {
      const std::string message = refusal(text);
      QVERIFY2(is_one_sentence(message), text);
      QVERIFY(mentions(message, "021U") && mentions(message, "003") && mentions(message, "1 to 13"));
    }
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, classify(64));
  }
};

QTEST_APPLESS_MAIN(TriadsTest)
#include "triads_test.moc"
