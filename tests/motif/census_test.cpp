// Counts of triads against their definition, against NetworkX and in closed form; the gradient by a complex step.
#include "core/motif/census.h"

#include <QTest>
#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/contract/text.h"
#include "core/motif/adjacency.h"
#include "core/motif/soft_census.h"
#include "tests/contract/sentence.h"
#include "tests/motif/brute_force_census.h"

using namespace mambarium;

namespace {

std::vector<double> as_probabilities(const std::vector<std::uint8_t>& adjacency) {
  return {adjacency.begin(), adjacency.end()};
}

HardCensus counted_one_by_one(const std::vector<std::uint8_t>& adjacency, std::size_t n) {
  HardCensus counts{};
  const auto edge = [&](std::size_t from, std::size_t to) { return unsigned{adjacency[from * n + to]}; };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i + 1; j < n; ++j)
      for (std::size_t k = j + 1; k < n; ++k)
        ++counts[classify(static_cast<TriadCode>(edge(i, j) | edge(i, k) << 1 | edge(j, i) << 2 | edge(j, k) << 3 |
                                                 edge(k, i) << 4 | edge(k, j) << 5))];
  return counts;
}

template <typename Body>
std::string refusal(const Body& body) {
  try {
    body();
  } catch (const std::invalid_argument& fault) {
    return fault.what();
  }
  return "";
}

}  // namespace

class CensusTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void bothCensusesOfTheSixtyFourGraphsNameTheirClass() {
    for (unsigned code = 0; code < triad_code_count; ++code) {
      std::vector<std::uint8_t> adjacency(9);
      for (std::size_t from = 0; from < 3; ++from)
        for (std::size_t to = 0; to < 3; ++to)
          if (from != to) adjacency[from * 3 + to] = (code & triad_edge(from, to)) != 0 ? 1 : 0;
      HardCensus one{};
      one[classify(static_cast<TriadCode>(code))] = 1;
      QCOMPARE(hard_census(adjacency, 3), one);
      QCOMPARE(SoftCensus(as_probabilities(adjacency), 3).counts(), as_real(one));
    }
  }

  void twoHundredRandomGraphsAreCountedExactly() {
    std::mt19937_64 random(3);
    for (int graph = 0; graph < 200; ++graph) {
      const std::size_t n = 3 + static_cast<std::size_t>(graph) % 22;
      const double density = 0.02 + 0.95 * (graph % 11) / 10;
      const auto adjacency = random_graph(n, density, random);
      const HardCensus expected = counted_one_by_one(adjacency, n);
      QCOMPARE(hard_census(adjacency, n), expected);
      QCOMPARE(SoftCensus(as_probabilities(adjacency), n).counts(), as_real(expected));
      QCOMPARE(std::accumulate(expected.begin(), expected.end(), std::int64_t{0}),
               static_cast<std::int64_t>(triple_count(n)));
    }
  }

  // More than 64 nodes: rows of several words, with a last one that is not full.
  void aGraphOfSeveralWordsIsCountedExactly() {
    std::mt19937_64 random(4);
    for (const std::size_t n : {63, 64, 65, 130}) {
      const auto adjacency = random_graph(n, 0.3, random);
      QCOMPARE(hard_census(adjacency, n), counted_one_by_one(adjacency, n));
    }
  }

  void theCountsAreThoseOfNetworkX() {
    std::ifstream file(MAMBARIUM_SOURCE_DIR "/tests/motif/golden/triadic_census.csv");
    int graphs = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('#')) continue;
      const auto cells = split(line, ',');
      QCOMPARE(cells.size(), 2 + triad_count);
      const auto n = static_cast<std::size_t>(integer_from(cells[0]).value());
      std::vector<std::uint8_t> adjacency;
      for (const char edge : cells[1]) adjacency.push_back(edge == '1' ? 1 : 0);
      HardCensus expected{};
      for (std::size_t i = 0; i < triad_count; ++i) expected[i] = integer_from(cells[2 + i]).value();
      QCOMPARE(hard_census(adjacency, n), expected);
      ++graphs;
    }
    QCOMPARE(graphs, 40);
  }

  void softCountsAreTheSumOverOrderedTriples() {
    std::mt19937_64 random(5);
    for (const std::size_t n : {3, 4, 7, 12, 24}) {
      std::vector<double> soft = random_probabilities(n, random);
      const auto expected = brute_force_census<double>(soft, n);
      const auto found = SoftCensus(soft, n).counts();
      for (std::size_t i = 0; i < triad_count; ++i)
        QVERIFY2(std::abs(found[i] - expected[i]) <= 1e-12 * std::max(1.0, expected[i]), triads()[i].name.data());
      QVERIFY(std::abs(std::accumulate(found.begin(), found.end(), 0.0) - triple_count(n)) <= 1e-12 * triple_count(n));
    }
  }

  // All edges with the same probability p: C(n,3) 6/|Aut| p^edges (1-p)^(6-edges).
  void equalProbabilitiesHaveTheirClosedForm() {
    constexpr std::size_t n = 16;
    for (const double p : {0.1, 0.5, 5.0 / 6}) {
      const auto found = SoftCensus(std::vector<double>(n * n, p), n).counts();
      for (std::size_t i = 0; i < triad_count; ++i) {
        const int edges = std::popcount(unsigned{triads()[i].example});
        const double expected =
            triple_count(n) * 6 / triads()[i].automorphisms * std::pow(p, edges) * std::pow(1 - p, 6 - edges);
        QVERIFY(std::abs(found[i] - expected) <= 1e-12 * triple_count(n));
      }
    }
  }

  // Eleven nodes that send to five: every pair of senders with every receiver.
  void aCompleteBipartiteGraphOnlyConvergesAndDiverges() {
    constexpr std::size_t n = 16, senders = 11;
    std::vector<std::uint8_t> adjacency(n * n);
    for (std::size_t i = 0; i < senders; ++i)
      for (std::size_t j = senders; j < n; ++j) adjacency[i * n + j] = 1;
    HardCensus expected{};
    expected[find_triad("021U")] = 55 * 5;
    expected[find_triad("021D")] = 11 * 10;
    expected[find_triad("003")] = 165 + 10;
    QCOMPARE(hard_census(adjacency, n), expected);
  }

  void theGradientIsThatOfTheDefinition() {
    constexpr std::size_t n = 6;
    constexpr double step = 1e-30;
    std::mt19937_64 random(6);
    const std::vector<double> soft = random_probabilities(n, random);
    const SoftCensus census(soft, n);
    for (std::size_t motif = 0; motif < motif_count; ++motif) {
      std::array<double, motif_count> weights{};
      weights[motif] = 1;
      const std::vector<double> gradient = census.gradient(weights);
      for (std::size_t entry = 0; entry < n * n; ++entry) {
        std::vector<std::complex<double>> moved(soft.begin(), soft.end());
        moved[entry] += std::complex<double>(0, step);
        const double expected = brute_force_census<std::complex<double>>(moved, n)[motif].imag() / step;
        QVERIFY2(std::abs(gradient[entry] - expected) <= 1e-13 * std::max(1.0, std::abs(expected)),
                 triads()[motif].name.data());
      }
    }
  }

  void theDiagonalNeverCounts() {
    std::mt19937_64 random(7);
    constexpr std::size_t n = 9;
    auto adjacency = random_graph(n, 0.4, random);
    auto soft = random_probabilities(n, random);
    const HardCensus hard = hard_census(adjacency, n);
    const auto counts = SoftCensus(soft, n).counts();
    const double density = edge_density(adjacency, n), entropy = mean_edge_entropy(soft, n);
    for (std::size_t i = 0; i < n; ++i) {
      adjacency[i * n + i] = 1 - adjacency[i * n + i];
      soft[i * n + i] = 0.9;
    }
    QCOMPARE(hard_census(adjacency, n), hard);
    QCOMPARE(SoftCensus(soft, n).counts(), counts);
    QCOMPARE(edge_density(adjacency, n), density);
    QCOMPARE(mean_edge_entropy(soft, n), entropy);
    QCOMPARE(hard_adjacency(std::vector<double>(9, 1.0), 3, {})[4], std::uint8_t{0});
    QCOMPARE(soft_adjacency(std::vector<double>(9, 1.0), 3, {})[4], 0.0);
  }

  void instancesAreTheCountedTriplesInTheOrderOfTheirRoles() {
    constexpr std::size_t n = 14;
    std::mt19937_64 random(8);
    const auto adjacency = random_graph(n, 0.4, random);
    const HardCensus counts = hard_census(adjacency, n);
    for (std::size_t triad = 0; triad < triad_count; ++triad) {
      const auto instances = triad_instances(adjacency, n, triad);
      QCOMPARE(static_cast<std::int64_t>(instances.size()), counts[triad]);
      std::set<std::set<std::size_t>> different;
      for (const TriadInstance& nodes : instances) {
        different.insert({nodes.begin(), nodes.end()});
        for (std::size_t from = 0; from < 3; ++from)
          for (std::size_t to = 0; to < 3; ++to)
            if (from != to)
              QCOMPARE(adjacency[nodes[from] * n + nodes[to]] != 0,
                       (triads()[triad].example & triad_edge(from, to)) != 0);
      }
      QCOMPARE(different.size(), instances.size());
    }
    QCOMPARE(triad_instances(adjacency, n, find_triad("012"), 2).size(), std::size_t{2});
  }

  void causalCountsAreThoseOfTheTransposedMatrix() {
    constexpr std::size_t n = 8;
    std::mt19937_64 random(9);
    std::normal_distribution<double> normal(0, 0.01);
    std::vector<double> matrix(n * n), transposed(n * n);
    for (double& entry : matrix) entry = normal(random);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) transposed[j * n + i] = matrix[i * n + j];
    const EdgeRule index, causal{index.beta, index.theta, EdgeConvention::causal};
    QCOMPARE(soft_adjacency(matrix, n, causal), soft_adjacency(transposed, n, index));
    QCOMPARE(hard_adjacency(matrix, n, causal), hard_adjacency(transposed, n, index));
    const HardCensus by_index = hard_census(hard_adjacency(matrix, n, index), n);
    const HardCensus by_cause = hard_census(hard_adjacency(matrix, n, causal), n);
    for (const auto& [name, other] : {std::pair{"021U", "021D"}, std::pair{"111U", "111D"}, std::pair{"120U", "120D"},
                                      std::pair{"030C", "030C"}, std::pair{"210", "210"}, std::pair{"012", "012"}})
      QCOMPARE(by_index[find_triad(name)], by_cause[find_triad(other)]);
    QVERIFY(by_index != by_cause);
  }

  void anEdgeIsHardWhereItsProbabilityIsAboveOneHalf() {
    const EdgeRule rule;
    const double edge = std::sqrt(rule.theta);
    const std::vector<double> matrix = {0, edge * 1.0001, -edge * 1.0001, edge * 0.9999, 0, 0, 1, -1, 0};
    const auto soft = soft_adjacency(matrix, 3, rule);
    QCOMPARE(hard_adjacency(matrix, 3, rule), (std::vector<std::uint8_t>{0, 1, 1, 0, 0, 0, 1, 1, 0}));
    for (std::size_t i = 0; i < 9; ++i) QCOMPARE(soft[i] > 0.5, hard_adjacency(matrix, 3, rule)[i] == 1);
    QVERIFY(std::abs(soft[5] - 1 / (1 + std::exp(5.0))) < 1e-16);
    QCOMPARE(edge_density(hard_adjacency(matrix, 3, rule), 3), 4.0 / 6);
  }

  void entropyIsOneWhereNothingIsDecided() {
    QCOMPARE(mean_edge_entropy(std::vector<double>(16, 0.5), 4), 1.0);
    QCOMPARE(mean_edge_entropy(std::vector<double>{0, 1, 0, 1, 0, 1, 0, 0, 0}, 3), 0.0);
    const double expected = 0.25 * 2 + 0.75 * std::log2(4.0 / 3);
    QVERIFY(std::abs(mean_edge_entropy(std::vector<double>(9, 0.25), 3) - expected) < 1e-15);
  }

  void sharesSumToOne() {
    std::mt19937_64 random(10);
    const auto counts = SoftCensus(random_probabilities(10, random), 10).counts();
    const Census triples = shares(counts, 10, CensusShare::triples);
    const Census connected = shares(counts, 10, CensusShare::connected);
    QVERIFY(std::abs(std::accumulate(triples.begin(), triples.end(), 0.0) - 1) < 1e-13);
    QVERIFY(std::abs(std::accumulate(connected.begin(), connected.end(), 0.0) - 1) < 1e-13);
    QCOMPARE(connected[13] + connected[14] + connected[15], 0.0);
    QVERIFY(std::abs(connected[1] / connected[11] - counts[1] / counts[11]) < 1e-12);
    QCOMPARE(triples[1], counts[1] / 120);
    Census none{};
    none[13] = 120;
    QCOMPARE(shares(none, 10, CensusShare::connected), Census{});
  }

  void badInputIsRefusedInOneSentence() {
    const std::vector<double> four(4), nine(9), ten(10), high(9, 1.5);
    const std::vector<std::uint8_t> edges(10);
    std::vector<double> broken(9);
    broken[5] = std::nan("");
    const auto refused = [](const std::string& message, std::string_view words) {
      return is_one_sentence(message) && mentions(message, words);
    };
    QVERIFY(refused(refusal([&] { SoftCensus(four, 2); }), "at least 3"));
    QVERIFY(refused(refusal([&] { SoftCensus(ten, 3); }), "3 x 3"));
    QVERIFY(refused(refusal([&] { SoftCensus(high, 3); }), "1.5"));
    QVERIFY(refused(refusal([&] { hard_census(edges, 3); }), "3 x 3"));
    QVERIFY(refused(refusal([&] { soft_adjacency(broken, 3, {}); }), "row 2, column 3"));
    QVERIFY(refused(refusal([&] { hard_adjacency(broken, 3, {}); }), "nan"));
    QVERIFY(refused(refusal([&] { soft_adjacency(nine, 3, {0, 1, EdgeConvention::index}); }), "beta"));
    QVERIFY(refused(refusal([&] { hard_adjacency(nine, 3, {1, -1, EdgeConvention::index}); }), "theta"));
    QVERIFY(refused(refusal([&] { triad_instances(std::vector<std::uint8_t>(9), 3, 16); }), "16"));
  }
};

QTEST_APPLESS_MAIN(CensusTest)
#include "census_test.moc"
