// Every stage by itself, on the CPU, against its counterpart in core/kernels and core/training or loops in double.
#include <QTest>

#include "core/kernels/cross_entropy.h"
#include "core/kernels/decay.h"
#include "core/kernels/gated_activation.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/skip.h"
#include "core/training/adamw.h"
#include "gpu/stages/adamw.h"
#include "gpu/stages/decay.h"
#include "gpu/stages/embedding.h"
#include "gpu/stages/gate.h"
#include "gpu/stages/layer_norm.h"
#include "gpu/stages/linear.h"
#include "gpu/stages/read_out.h"
#include "gpu/stages/skip.h"
#include "tests/gpu/convolution_cases.h"
#include "tests/gpu/teams.h"

using namespace mambarium;
using namespace mambarium::gpu;

namespace {

constexpr double tolerance = 2e-5;
constexpr Activation activations[] = {Activation::silu, Activation::relu, Activation::none};

Table<float> random_table(std::int64_t rows, std::int64_t width, std::uint64_t seed, float deviation = 1.0f) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<float> normal(0.0f, deviation);
  Table<float> table(1, rows, width, 3);
  table.fill([&] { return normal(generator); });
  return table;
}
std::vector<float> random_vector(std::int64_t count, std::uint64_t seed) {
  const auto numbers = random_table(1, count, seed).values();
  return {numbers.begin(), numbers.end()};
}
NumbersOut panel(Table<float>& of) {
  return {of.numbers.data(), of.rows().row_stride};
}
kernels::Strided<float> strided(Table<float>& of) {
  return of.rows().sequence(0);
}
double apart(const Table<float>& found, const Table<float>& expected) {
  return found.gaps_untouched() ? relative_difference(found.values(), expected.values()) : HUGE_VAL;
}
double apart(const std::vector<float>& found, const std::vector<float>& expected) {
  return relative_difference(as_doubles(found), as_doubles(expected));
}

template <class Team>
void convolve(const Team& team, ConvolutionCase& c, int segment, int tile) {
  ConvolutionJob job = plan_convolution(c.batch, c.shape, std::as_const(c.in).rows(), c.taps.numbers.data(),
                                        c.bias.numbers.data(), c.activation);
  if (segment > 0) job.segment = segment, job.tile = tile;
  for (int block = job.blocks() - 1; block >= 0; --block) convolution_block(team, job, block, c.out.rows());
  const auto backward = [&](float* workspace) {
    return plan_convolution_backward(job, c.dtaps.numbers.data(), c.dbias.numbers.data(), workspace);
  };
  std::vector<float> workspace(static_cast<std::size_t>(backward(nullptr).workspace), NAN);
  std::vector<float> scratch(static_cast<std::size_t>(job.scratch()), NAN);
  const auto plan = backward(workspace.data());
  for (int block = job.blocks() - 1; block >= 0; --block) {
    convolution_backward_block(team, job, block, std::as_const(c.dout).rows(), c.din.rows(), plan.dtaps, plan.dbias,
                               scratch.data());
  }
  for (const PartSums& sums : plan.sums) {
    for (std::int64_t i = 0; i < sums.count(); ++i) sums.sum(i);
  }
}

}  // namespace

class StagesTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void convolution() {
    std::mt19937_64 generator(1);
    const auto from = [&](std::initializer_list<std::int64_t> choices) {
      return choices.begin()[generator() % choices.size()];
    };
    double largest = 0;
    std::string complaint;
    for (int repetition = 0; repetition < 60; ++repetition) {
      const kernels::ConvolutionShape shape{.length = from({1, 2, 3, 17, 64, 65, 130, 200}),
                                            .channels = from({1, 3, 32, 64, 70}),
                                            .window = from({1, 2, 3, 4, 9})};
      ConvolutionCase alone(from({1, 3}), shape, activations[repetition % 3], from({0, 2}), generator());
      ConvolutionCase several = alone, cut = alone;
      convolve(TeamOfOne(), alone, 0, 0);
      convolve(ShuffledTeam(3), several, 0, 0);
      convolve(EmulatedTeam(4), cut, 3, 2);
      QVERIFY2(alone.agrees(largest, complaint) && cut.agrees(largest, complaint), complaint.c_str());
      QCOMPARE(several.din.numbers, alone.din.numbers);
      QCOMPARE(several.dtaps.numbers, alone.dtaps.numbers);
    }
    QVERIFY_EXCEPTION_THROWN(plan_convolution(1, {5, 5, 200}, {}, nullptr, nullptr, Activation::silu),
                             std::invalid_argument);
    qInfo("largest relative difference: %.2g", largest);
  }

  void layer_norms() {
    for (const int rows : {1, 7}) {
      for (const int width : {2, 5, 16, 33}) {
        auto in = random_table(rows, width, 1), dout = random_table(rows, width, 2), out = in, theirs = in;
        auto din = random_table(rows, width, 3), their_din = din;
        const auto gain = random_vector(width, 4);
        auto dgain = random_vector(width, 5), their_dgain = dgain;
        std::vector<float> scratch(static_cast<std::size_t>(rows * (width + 3)), NAN);
        Carve carve(scratch.data());
        const NormRows kept(carve, rows, width);
        gpu::layer_norm(EmulatedTeam(3), rows, width, gain.data(), panel(in), kept, panel(out));
        gpu::layer_norm_backward(EmulatedTeam(3), rows, width, gain.data(), kept, panel(dout), panel(din), panel(din),
                                 dgain.data());
        kernels::layer_norm(rows, width, strided(in), gain.data(), strided(theirs));
        kernels::layer_norm_backward(rows, width, strided(in), gain.data(), strided(dout), strided(their_din), true,
                                     their_dgain.data());
        QVERIFY(apart(out, theirs) <= tolerance);
        QVERIFY(apart(din, their_din) <= tolerance);
        QVERIFY(apart(dgain, their_dgain) <= tolerance);
      }
    }
  }

  void gates() {
    for (const Activation activation : activations) {
      for (const bool with_value : {true, false}) {
        // Up to both tails of the sigmoid.
        auto value = random_table(9, 6, 1), gate_in = random_table(9, 6, 2, 40.0f), dout = random_table(9, 6, 3);
        auto out = value, theirs = value, dvalue = value, dgate = value, their_dvalue = value, their_dgate = value;
        const NumbersOut ours = with_value ? panel(value) : NumbersOut();
        const auto strided_value = with_value ? strided(value) : kernels::Strided<float>();
        gate(EmulatedTeam(4), 9, 6, ours, panel(gate_in), activation, panel(out));
        gate_backward(EmulatedTeam(4), 9, 6, ours, panel(gate_in), activation, panel(dout), panel(dvalue),
                      panel(dgate));
        kernels::gated_activation(9, 6, strided_value, strided(gate_in), activation, strided(theirs));
        kernels::gated_activation_backward(9, 6, strided_value, strided(gate_in), activation, strided(dout),
                                           with_value ? strided(their_dvalue) : kernels::Strided<float>(),
                                           strided(their_dgate), {});
        QVERIFY(apart(out, theirs) <= tolerance);
        QVERIFY(apart(dvalue, their_dvalue) <= tolerance);
        QVERIFY(apart(dgate, their_dgate) <= tolerance);
      }
    }
  }

  void decays() {
    for (const int heads : {1, 3}) {
      for (const bool learned : {true, false}) {
        const int rows = 11;
        auto raw = random_table(rows, heads, 1, 30.0f), draw = raw, their_draw = raw;
        const auto bias = random_vector(heads, 2), rate = random_vector(heads, 3);
        const auto ddt = random_vector(rows * heads, 4), da = random_vector(rows * heads, 5);
        auto dt = ddt, a = ddt, their_dt = ddt, their_a = ddt, my_ddt = ddt, my_da = da;
        auto dbias = random_vector(heads, 6), drate = dbias, their_dbias = dbias, their_drate = dbias;
        const float* A_log = learned ? rate.data() : nullptr;
        const auto flat = [&](std::vector<float>& of) { return NumbersOut{of.data(), heads}; };
        decay(EmulatedTeam(2), rows, heads, panel(raw), bias.data(), A_log, flat(dt), flat(a));
        decay_backward(EmulatedTeam(2), rows, heads, panel(raw), bias.data(), A_log, flat(dt), flat(a), flat(my_ddt),
                       flat(my_da), panel(draw), dbias.data(), drate.data());
        kernels::Scratch scratch;
        kernels::decay(rows, heads, strided(raw), bias.data(), A_log, their_dt.data(), their_a.data());
        kernels::decay_backward(rows, heads, strided(raw), bias.data(), A_log, their_dt.data(), their_a.data(),
                                ddt.data(), da.data(), strided(their_draw), their_dbias.data(),
                                learned ? their_drate.data() : nullptr, scratch);
        QVERIFY(apart(dt, their_dt) <= tolerance && apart(a, their_a) <= tolerance);
        QVERIFY(apart(draw, their_draw) <= tolerance);
        QVERIFY(apart(dbias, their_dbias) <= tolerance && apart(drate, their_drate) <= tolerance);
      }
    }
    // Softplus has two tails and no seam.
    for (const float x : {-100.0f, -20.5f, -1.0f, 0.0f, 1.0f, 19.9f, 20.1f, 100.0f}) {
      const double exact =
          std::log1p(std::exp(-std::abs(static_cast<double>(x)))) + std::max(static_cast<double>(x), 0.0);
      QVERIFY(std::abs(static_cast<double>(softplus(x)) - exact) <= 2e-7 * exact + 1e-38);
    }
    QVERIFY(std::isnan(softplus(NAN)) && std::isnan(activated(NAN, Activation::silu).value));
    QVERIFY(std::isnan(activated(NAN, Activation::relu).value));
  }

  void skips() {
    const int rows = 5, heads = 3, headdim = 4, width = heads * headdim;
    auto x = random_table(rows, width, 1), y = random_table(rows, width, 2), their_y = y;
    auto dy = random_table(rows, width, 3), dx = random_table(rows, width, 4), their_dx = dx;
    const auto D = random_vector(heads, 5);
    auto dD = random_vector(heads, 6), their_dD = dD;
    std::vector<float> room(width, NAN);
    gpu::skip(EmulatedTeam(5), rows, heads, headdim, panel(x), D.data(), panel(y));
    gpu::skip_backward(EmulatedTeam(5), rows, heads, headdim, panel(x), D.data(), panel(dy), panel(dx), dD.data(),
                       room.data());
    kernels::skip(rows, heads, headdim, strided(x), D.data(), strided(their_y));
    kernels::skip_backward(rows, heads, headdim, strided(x), D.data(), strided(dy), strided(their_dx), their_dD.data());
    QVERIFY(apart(y, their_y) <= tolerance && apart(dx, their_dx) <= tolerance && apart(dD, their_dD) <= tolerance);
  }

  void linears() {
    const int rows = 6, depth = 5, width = 7;
    auto in = random_table(rows, depth, 1), residual = random_table(rows, width, 2), out = residual, dout = residual;
    const auto matrix = random_vector(width * depth, 3);
    auto sums = random_vector(width * depth, 4);
    std::vector<double> expected, into(as_doubles(sums));
    for (int t = 0; t < rows; ++t) {
      for (int j = 0; j < width; ++j) {
        double sum = static_cast<double>(residual.at(0, t, j));
        for (int k = 0; k < depth; ++k) {
          sum += static_cast<double>(matrix[static_cast<std::size_t>(j * depth + k)]) *
                 static_cast<double>(in.at(0, t, k));
          into[static_cast<std::size_t>(j * depth + k)] +=
              static_cast<double>(dout.at(0, t, j)) * static_cast<double>(in.at(0, t, k));
        }
        expected.push_back(sum);
      }
    }
    linear(EmulatedTeam(3), rows, depth, width, {matrix.data(), depth}, panel(in), panel(out), panel(out));
    linear_gradient(EmulatedTeam(3), rows, depth, width, panel(in), panel(dout), sums.data());
    QVERIFY(out.gaps_untouched() && relative_difference(out.values(), expected) <= tolerance);
    QVERIFY(relative_difference(as_doubles(sums), into) <= tolerance);
    // A matrix with its strides exchanged is its transpose.
    std::vector<float> transposed(matrix.size());
    for (int j = 0; j < width; ++j) {
      for (int k = 0; k < depth; ++k) {
        transposed[static_cast<std::size_t>(k * width + j)] = matrix[static_cast<std::size_t>(j * depth + k)];
      }
    }
    auto again = residual;
    linear(TeamOfOne(), rows, depth, width, {transposed.data(), 1, width}, panel(in), panel(residual), panel(again));
    QCOMPARE(again.numbers, out.numbers);
  }

  // core/kernels/cross_entropy has lm_head and norm around it: the identity as lm_head, and no norm.
  void read_outs() {
    for (const bool l1 : {false, true}) {
      for (const int states : {2, 3, 7}) {
        const int rows = 9;
        auto logits = random_table(rows, states, 1, 3.0f), theirs = logits;
        std::vector<float> identity(static_cast<std::size_t>(states * states)), unused(identity.size());
        for (int s = 0; s < states; ++s) identity[static_cast<std::size_t>(s * (states + 1))] = 1.0f;
        std::vector<std::int64_t> targets;
        for (int t = 0; t < rows; ++t) targets.push_back(t % states);
        const double loss =
            kernels::cross_entropy({rows, states, states, l1}, {nullptr, identity.data()}, strided(logits),
                                   targets.data(), strided(theirs), {nullptr, unused.data()}, 1);
        std::vector<float> log_p(static_cast<std::size_t>(rows));
        read_out(EmulatedTeam(2), rows, states, l1, targets.data(), 1.0f / static_cast<float>(rows), panel(logits),
                 log_p.data());
        std::vector<double> strands(sum_strands);
        ordered_sum(
            EmulatedTeam(5), rows, [&](int t) { return log_p[static_cast<std::size_t>(t)]; }, strands.data());
        QVERIFY(std::abs(-strands[0] / rows - loss) <= tolerance * loss);
        QVERIFY(apart(logits, theirs) <= tolerance);
      }
    }
  }

  void embeddings() {
    const std::int64_t tokens[] = {2, 0, 2, 2, 1};
    auto dout = random_table(5, 3, 1), out = dout;
    const auto table = random_vector(4 * 3, 2);
    auto dtable = random_vector(4 * 3, 3), expected = dtable;
    embed(EmulatedTeam(4), 5, 3, tokens, table.data(), panel(out));
    embed_backward(EmulatedTeam(4), 5, 4, 3, tokens, panel(dout), dtable.data());
    for (int t = 0; t < 5; ++t) {
      for (int c = 0; c < 3; ++c) {
        const auto at = static_cast<std::size_t>(tokens[t] * 3 + c);
        QCOMPARE(out.at(0, t, c), table[at]);
        expected[at] += dout.at(0, t, c);
      }
    }
    QVERIFY(apart(dtable, expected) <= tolerance);
    QCOMPARE(dtable.back(), expected.back());  // of a token that did not occur
  }

  // Several steps against core/training/adamw.h, with and without clipping; what belongs to no parameter stays.
  void adamw_steps() {
    const std::size_t count = 1000, decayed = 400, fixed = 900;  // where the last two roles begin
    for (const double highest : {0.0, 1.0}) {
      auto weights = random_vector(count, 1), theirs = weights;
      std::vector<float> first(count), second(count);
      std::vector<ParameterRole> roles(count, ParameterRole::trained);
      std::fill(roles.begin() + decayed, roles.end(), ParameterRole::decayed);
      std::fill(roles.begin() + fixed, roles.end(), ParameterRole::fixed);
      const std::size_t sizes[] = {decayed, fixed - decayed};
      AdamW reference({.weight_decay = 0.1}, sizes);
      for (std::int64_t number = 1; number <= 4; ++number) {
        const auto gradient = random_vector(count, static_cast<std::uint64_t>(10 + number));
        const std::span<float> all(theirs);
        const std::span<const float> of(gradient);
        const OptimisedBuffer buffers[] = {
            {all.first(decayed), of.first(decayed), false},
            {all.subspan(decayed, fixed - decayed), of.subspan(decayed, fixed - decayed), true}};
        const double norm = global_gradient_norm(buffers);
        reference.step(buffers, number, 1e-2, mambarium::clip_factor(norm, highest));

        std::vector<double> strands(sum_strands);
        sum_of_squares(EmulatedTeam(9), count, roles.data(), gradient.data(), strands.data());
        QVERIFY(std::abs(std::sqrt(strands[0]) - norm) <= 1e-12 * norm);
        const auto step = adamw_step({.weight_decay = 0.1, .highest_norm = highest}, number, 1e-2);
        const float factor = gpu::clip_factor(norm, step.highest_norm);
        for (std::size_t i = 0; i < count; ++i) {
          adamw(step, roles[i], gradient[i] * factor, weights[i], first[i], second[i]);
        }
      }
      QVERIFY(apart(weights, theirs) <= 1e-6);
      const auto untouched = random_vector(count, 1);
      QVERIFY(std::equal(weights.begin() + fixed, weights.end(), untouched.begin() + fixed));
    }
  }
};

QTEST_APPLESS_MAIN(StagesTest)
#include "stages_test.moc"
