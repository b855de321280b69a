// A whole model composed of the stages, on the CPU, against core/kernels/whole_model: loss and every gradient.
#include "gpu/stages/whole_model.h"

#include <QTest>
#include <functional>

#include "gpu/model_plan.h"
#include "tests/gpu/model_fixture.h"
#include "tests/gpu/teams.h"

using namespace mambarium;
using namespace mambarium::gpu;

namespace {

struct Result {
  double loss = 0;
  std::vector<float> gradients;
};

template <class Team>
Result through_stages(const Team& team, const ModelFixture& model, const ModelPlan& plan, bool wanted = true) {
  const auto& shape = model.shape.mixer;
  const auto flat = model.flat_weights();
  const SequencePass sizes(plan, nullptr, nullptr, wanted);
  const auto count = static_cast<std::size_t>(plan.count), batch = static_cast<std::size_t>(shape.batch);
  // What a stage reads before it is written shows.
  std::vector<double> scratch(static_cast<std::size_t>(plan.scratch / 2 + 1), NAN);
  std::vector<float> memory(static_cast<std::size_t>(sizes.memory_size()), NAN);
  std::vector<float> per_sequence(batch * count, NAN);
  std::vector<double> losses(batch, NAN);
  for (std::size_t b = 0; b < batch; ++b) {
    const SequencePass pass(plan, reinterpret_cast<float*>(scratch.data()), memory.data(), wanted);
    pass.run(team, {.weights = flat.data(),
                    .tokens = model.tokens.data() + b * static_cast<std::size_t>(shape.length),
                    .targets = model.targets.data() + b * static_cast<std::size_t>(shape.length),
                    .weight_of_target = 1.0f / static_cast<float>(shape.batch * shape.length),
                    .loss = &losses[b],
                    .gradients = wanted ? per_sequence.data() + b * count : nullptr});
  }
  Result result;
  for (const double loss : losses) result.loss += loss / static_cast<double>(shape.batch * shape.length);
  if (!wanted) return result;
  const auto roles = kernels::parameter_roles(model.shape, model.layout(), model.weights);
  result.gradients.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (roles[i] == ParameterRole::fixed) continue;
    for (std::size_t b = 0; b < batch; ++b) result.gradients[i] += per_sequence[b * count + i];
  }
  return result;
}

// Whether the stages say what core/kernels/whole_model says, whatever the team, and with the loss alone.
bool agrees(const WholeModelShape& shape, const Parts& parts, std::uint64_t seed, double& largest,
            int rows_of_a_piece = 0, const std::function<void(ModelFixture&)>& change = {}) {
  ModelFixture model(shape, parts, seed);
  if (change) change(model);
  const auto layout = model.layout();
  ModelPlan plan = make_plan(shape, layout);
  if (rows_of_a_piece > 0) {
    plan.piece = rows_of_a_piece;
    plan.scratch = SequencePass(plan, nullptr, nullptr, true).scratch_size();
  }
  const auto expected = model.expected();
  const auto alone = through_stages(TeamOfOne(), model, plan);
  const double off = std::abs(alone.loss - expected.loss) / std::max(expected.loss, 1.0);
  largest = std::max(largest, off);
  const std::string what = description(shape, parts);
  std::string complaint;
  if (!gradients_agree(model, alone.gradients, expected.gradients, largest, complaint) || !(off <= 2e-5)) {
    qWarning("loss %g is off by %g; %s: %s", expected.loss, off, complaint.c_str(), what.c_str());
    return false;
  }
  for (const auto& several :
       {through_stages(EmulatedTeam(7), model, plan), through_stages(ShuffledTeam(seed), model, plan)}) {
    if (several.loss != alone.loss || several.gradients != alone.gradients) {
      qWarning("a team of several gives other bits: %s", what.c_str());
      return false;
    }
  }
  if (through_stages(TeamOfOne(), model, plan, false).loss != alone.loss) {
    qWarning("the loss alone is another: %s", what.c_str());
    return false;
  }
  return true;
}

WholeModelShape usual() {
  WholeModelShape shape;
  shape.mixer = {.batch = 3, .length = 40, .d_model = 8, .heads = 1, .headdim = 16, .d_state = 8, .d_conv = 3};
  shape.hidden = 32;
  return shape;
}

}  // namespace

class WholeModelTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void random_models() {
    std::mt19937_64 generator(1);
    const auto from = [&](std::initializer_list<std::int64_t> choices) {
      return choices.begin()[generator() % choices.size()];
    };
    const auto maybe = [&] { return generator() % 3 != 0; };
    double largest = 0;
    for (int repetition = 0; repetition < 150; ++repetition) {
      WholeModelShape shape;
      shape.mixer = {.batch = from({1, 2, 5}),
                     .length = from({1, 2, 3, 7, 29, 64, 101}),
                     .d_model = from({3, 5, 8, 12}),
                     .heads = from({1, 1, 2, 3}),
                     .headdim = from({1, 3, 4, 8}),
                     .d_state = from({1, 3, 8, 11}),
                     .d_conv = from({1, 2, 3, 5}),
                     .activation = from({0, 1}) == 0 ? Activation::silu : Activation::none};
      shape.hidden = from({0, 7, 16});
      shape.states = from({2, 3, 6});
      shape.l1 = !maybe();
      Parts parts = some_parts(maybe);
      // Without norms every block multiplies its inputs with each other: several leave the range of float.
      if (parts.norm) parts.blocks = static_cast<int>(from({1, 1, 2, 3}));
      QVERIFY(agrees(shape, parts, generator(), largest, static_cast<int>(from({0, 5, 16}))));
    }
    qInfo("largest relative difference: %.2g", largest);
  }
  void every_part_off_by_itself() {
    double largest = 0;
    const std::function<void(Parts&)> off[] = {
        [](Parts& p) { p.norm = false; },
        [](Parts& p) { p.conv_x = false; },
        [](Parts& p) { p.conv_B = false; },
        [](Parts& p) { p.conv_C = false; },
        [](Parts& p) { p.gate = false; },
        [](Parts& p) { p.decay = false; },
        [](Parts& p) { p.skip = false; },
        [](Parts& p) { p.gated_mlp = false; },
        [](Parts& p) { p = {false, false, false, false, false, false, false, false, 1}; }};
    for (const auto& take_away : off) {
      Parts parts{.blocks = 2};
      take_away(parts);
      QVERIFY(agrees(usual(), parts, 3, largest));
    }
    auto shape = usual();
    shape.hidden = 0;
    QVERIFY(agrees(shape, {.blocks = 2}, 4, largest));
    qInfo("largest relative difference: %.2g", largest);
  }
  void relu() {
    double largest = 0;
    auto shape = usual();
    shape.mixer.activation = shape.mlp_activation = Activation::relu;
    QVERIFY(agrees(shape, {}, 5, largest));
  }
  void decays_of_zero() {
    double largest = 0;
    const auto large_rate = [](ModelFixture& model) { model.set(model.weights.blocks[0].mixer.A_log, 12.0f); };
    QVERIFY(agrees(usual(), {}, 6, largest, 0, large_rate));
  }
  void window_longer_than_the_sequence() {
    double largest = 0;
    auto shape = usual();
    shape.mixer.d_conv = 9;
    for (const std::int64_t length : {1, 5, 8, 9, 17}) {
      shape.mixer.length = length;
      QVERIFY(agrees(shape, {}, 7, largest));
      if (length > 8) QVERIFY(agrees(shape, {}, 7, largest, 8));
    }
  }
  // A piece is cut by the shape alone, fits where it says it does, and leaves no short piece but the last.
  void plans() {
    auto shape = usual();
    shape.mixer.length = 512;
    const auto plan_of = [](const WholeModelShape& of) {
      const ModelFixture model(of, {}, 1);
      const auto layout = model.layout();
      return make_plan(of, layout);
    };
    const ModelPlan small = plan_of(shape);
    QVERIFY(small.on_chip && small.scratch <= on_chip_floats && small.piece >= 8 && small.piece < 512);
    shape.mixer.headdim = 256;
    shape.mixer.d_state = 64;
    const ModelPlan large = plan_of(shape);
    QVERIFY(!large.on_chip && large.scratch > on_chip_floats);
    QCOMPARE(large.piece, 32);
    shape.mixer.d_conv = 50;
    QCOMPARE(plan_of(shape).piece, 49);
    shape.mixer.d_model = std::int64_t{1} << 32;
    QVERIFY_EXCEPTION_THROWN(make_plan(shape, WholeModelLayout()), std::invalid_argument);
  }
};

QTEST_APPLESS_MAIN(WholeModelTest)
#include "whole_model_test.moc"
