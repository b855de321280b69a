// The scans' blocks of work, on the CPU, against float64: Mamba-2 and Mamba-1, forward and every gradient.
#include <QTest>

#include "gpu/stages/scan_blocks.h"
#include "gpu/stages/team.h"
#include "tests/gpu/scan_cases.h"
#include "tests/gpu/teams.h"

using namespace mambarium;
using namespace mambarium::gpu;
using kernels::ScanShape;

namespace {

template <class Decay, class Team, class Gradients>
void through_blocks(const Team& team, ScanCase& scan, const ScanJob& job, const Gradients& gradients) {
  // Blocks from the last to the first: none may need another.
  std::vector<float> scratch(static_cast<std::size_t>(scan_scratch(job.tile, job.d_state, job.piece, true)), NAN);
  for (int block = job.blocks() - 1; block >= 0; --block) {
    scan_block<Decay>(team, job, block, scan.y.rows(), scan.h.numbers.data(), scratch.data());
  }
  const auto backward = [&](float* workspace) {
    return plan_scan_backward(job, std::as_const(scan.dy).rows(), scan.dh.numbers.data(), gradients, workspace);
  };
  std::vector<float> workspace(static_cast<std::size_t>(backward(nullptr).workspace), NAN);
  const auto plan = backward(workspace.data());
  for (int block = job.blocks() - 1; block >= 0; --block) {
    scan_backward_block<Decay>(team, job, plan.job, block, scratch.data());
  }
  for (const PartSums& sums : plan.sums) {
    for (std::int64_t i = 0; i < sums.count(); ++i) sums.sum(i);
  }
}

// cut: the plan's own piece and tile, or others.
template <class Team>
void compute(const Team& team, ScanCase& s, int piece = 0, int tile = 0) {
  const auto cut = [&](ScanJob job) {
    if (piece > 0) job.piece = std::min(piece, job.length);
    if (tile > 0) job.tile = std::min(tile, job.headdim);
    return job;
  };
  const auto in = [](const Table<float>& of) { return of.rows(); };
  if (s.diagonal) {
    const DiagonalScanInputs inputs{in(s.x), in(s.dt), in(s.B), in(s.C), s.A.numbers.data(), s.h0.numbers.data()};
    const DiagonalScanGradients gradients{s.dx.rows(), s.ddt.rows(),        s.dB.rows(),
                                          s.dC.rows(), s.dA.numbers.data(), s.dh0.numbers.data()};
    through_blocks<StateDecay>(team, s, cut(plan_scan(s.shape, inputs)), gradients);
  } else {
    const kernels::ScanInputs<float> inputs{in(s.x), in(s.dt), in(s.a), in(s.B), in(s.C), s.h0.numbers.data()};
    const kernels::ScanGradients<float> gradients{s.dx.rows(), s.ddt.rows(), s.da.rows(),
                                                  s.dB.rows(), s.dC.rows(),  s.dh0.numbers.data()};
    through_blocks<HeadDecay>(team, s, cut(plan_scan(s.shape, inputs)), gradients);
  }
}

bool agrees(const ScanCase& scan, double& largest) {
  std::string complaint;
  const bool good = scan_agrees(scan, largest, complaint);
  if (!good) qWarning("%s", complaint.c_str());
  return good;
}

}  // namespace

class ScanTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void against_float64_data() {
    QTest::addColumn<bool>("diagonal");
    QTest::newRow("Mamba-2") << false;
    QTest::newRow("Mamba-1") << true;
  }
  void against_float64() {
    QFETCH(bool, diagonal);
    std::mt19937_64 generator(1);
    const auto from = [&](std::initializer_list<std::int64_t> choices) {
      return choices.begin()[generator() % choices.size()];
    };
    double largest = 0;
    for (const std::int64_t length : {1, 2, 3, 7, 16, 31, 64, 101, 257, 600}) {
      for (int repetition = 0; repetition < 9; ++repetition) {
        const ScanShape shape{.batch = from({1, 2, 3}),
                              .length = length,
                              .heads = diagonal ? 1 : from({1, 1, 2, 3}),
                              .headdim = from({1, 2, 5, 8, 16, 40}),
                              .d_state = from({1, 2, 5, 8, 16, 33})};
        ScanCase scan(shape, diagonal, static_cast<Decays>(repetition % 3), from({0, 1, 5}), generator());
        compute(TeamOfOne(), scan);
        QVERIFY(agrees(scan, largest));
      }
    }
    qInfo("largest relative difference: %.2g", largest);
  }

  // Neither the team nor the cut into blocks and pieces matters; the team not even to a bit.
  void teams_and_cuts_data() { against_float64_data(); }
  void teams_and_cuts() {
    QFETCH(bool, diagonal);
    const ScanShape shape{.batch = 2, .length = 53, .heads = diagonal ? 1 : 2, .headdim = 11, .d_state = 6};
    double largest = 0;
    for (const int piece : {1, 4, 53}) {
      for (const int tile : {1, 4, 11}) {
        ScanCase alone(shape, diagonal, Decays::extreme, 3, 7), several = alone, shuffled = alone;
        compute(TeamOfOne(), alone, piece, tile);
        QVERIFY(agrees(alone, largest));
        compute(EmulatedTeam(5), several, piece, tile);
        compute(ShuffledTeam(9), shuffled, piece, tile);
        for (std::size_t i = 0; i < alone.outputs().size(); ++i) {
          QCOMPARE(several.outputs()[i].second->numbers, alone.outputs()[i].second->numbers);
          QCOMPARE(shuffled.outputs()[i].second->numbers, alone.outputs()[i].second->numbers);
        }
      }
    }
  }

  void the_reference_of_mamba1_agrees_with_differences() {
    ScanCase scan({.batch = 2, .length = 6, .heads = 1, .headdim = 3, .d_state = 4}, true, Decays::uniform, 0, 3);
    const auto outputs = diagonal_reference(scan);
    const auto objective = [&] {
      const auto of = diagonal_reference(scan);
      const auto dy = scan.dy.values(), dh = scan.dh.values();
      double sum = 0;
      for (std::size_t i = 0; i < dy.size(); ++i) sum += dy[i] * of[0][i];
      for (std::size_t i = 0; i < dh.size(); ++i) sum += dh[i] * of[1][i];
      return sum;
    };
    const std::pair<Table<float>*, std::size_t> inputs[] = {{&scan.x, 2}, {&scan.dt, 3}, {&scan.B, 4},
                                                            {&scan.C, 5}, {&scan.h0, 6}, {&scan.A, 7}};
    for (const auto& [input, output] : inputs) {
      std::vector<double> differences;
      input->each([&](float& number) {
        const float kept = number, above = kept + 1e-3f, below = kept - 1e-3f;
        number = above;
        const double up = objective();
        number = below;
        const double down = objective();
        number = kept;
        differences.push_back((up - down) / (static_cast<double>(above) - static_cast<double>(below)));
      });
      // Central differences with steps of 1e-3 are good to about 1e-6 of the curvature.
      QVERIFY(relative_difference(differences, outputs[output]) < 1e-5);
    }
  }

  void states_that_do_not_fit() {
    const kernels::ScanInputs<float> none;
    QVERIFY_EXCEPTION_THROWN(plan_scan({1, 1, 1, 1, 5000}, none), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(plan_scan({1, 0, 1, 1, 5}, none), std::invalid_argument);
    QVERIFY_EXCEPTION_THROWN(plan_scan({1, 1, 2, 1, 5}, DiagonalScanInputs()), std::invalid_argument);
    QCOMPARE(plan_scan({1, 9, 1, 4, 2000}, none).tile, 1);
  }
};

QTEST_APPLESS_MAIN(ScanTest)
#include "scan_test.moc"
