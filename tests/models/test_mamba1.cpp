// Mamba-1 and Motif-Mamba: counts, engines against each other, step against the whole sequence, k = 0 against plain
// Mamba, gradients against finite differences.
#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <stdexcept>

#include "core/kernels/coupled_scan.h"
#include "core/models/mamba1.h"
#include "core/models/model_tensors.h"
#include "core/motif/coupling.h"
#include "tests/models/model_helpers.h"

using namespace mambarium;

namespace {

Mamba1Options small_options() {
  Mamba1Options options;
  options.states = 7;
  options.d_model = 6;
  options.d_state = 5;
  options.layers = 2;
  options.d_conv = 3;
  return options;
}

Mamba1Options coupled_options(bool etd = false, bool per_channel = false) {
  Mamba1Options options = small_options();
  options.coupling.rank = 2;
  options.coupling.etd = etd;
  options.coupling.per_channel = per_channel;
  options.coupling.scale = 0.5;
  return options;
}

Mamba1Options published_options() {
  Mamba1Options options;
  options.states = options.d_model = 64;
  options.d_state = 16;
  options.layers = 2;
  options.d_conv = 4;
  return options;
}

}  // namespace

class TestMamba1 : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void counts_as_published() {
    Mamba1Options options = published_options();
    QCOMPARE(Mamba1(options, Engine::fused, Precision::float32).parameter_count(), 73856);
    options.coupling.rank = 2;
    QCOMPARE(Mamba1(options, Engine::fused, Precision::float32).parameter_count(), 73986);
    options.layers = 24;
    const auto coupled = Mamba1(options, Engine::fused, Precision::float32).parameter_count();
    options.coupling.rank = 0;
    QCOMPARE(coupled - Mamba1(options, Engine::fused, Precision::float32).parameter_count(), 1560);
  }

  void parts_that_are_off_have_no_parameter_and_others_keep_theirs() {
    Mamba1 whole(small_options(), Engine::fused, Precision::float32);
    auto options = small_options();
    options.gate = options.conv = options.norm = options.skip = options.learned_decay = false;
    Mamba1 bare(options, Engine::fused, Precision::float32);
    const auto all = named(whole);
    QCOMPARE(bare.parameters().size() + 2 * 7 + 2, whole.parameters().size());
    for (const auto& [name, tensor] : named(bare)) QVERIFY2(torch::equal(tensor, all.at(name)), name.c_str());
    const auto tokens = some_tokens(2, 9, 7);
    QVERIFY(std::isfinite(bare.loss(tokens, some_tokens(2, 9, 7, 1)).item<double>()));
  }

  void engines_agree_data() {
    QTest::addColumn<int>("form");  // 0: no coupling, 1: euler, 2: etd, 3: euler per channel
    for (const int form : {0, 1, 2, 3}) QTest::newRow(QByteArray::number(form)) << form;
  }
  void engines_agree() {
    QFETCH(int, form);
    const auto options = form == 0 ? small_options() : coupled_options(form == 2, form == 3);
    Mamba1 fused(options, Engine::fused, Precision::float32), exact(options, Engine::torch, Precision::float64);
    enlarge(fused);
    enlarge(exact);
    const auto tokens = some_tokens(3, 70, 7), targets = some_tokens(3, 70, 7, 1);
    const auto loss = fused.loss(tokens, targets), reference = exact.loss(tokens, targets);
    QVERIFY(std::abs(loss.item<double>() - reference.item<double>()) < 1e-5);
    loss.backward();
    reference.backward();
    const auto expected = named(exact);
    for (const auto& [name, tensor] : named(fused)) {
      const auto& gradient = expected.at(name).grad();
      const double size = gradient.abs().max().item<double>();
      QVERIFY2(largest_difference(tensor.grad(), gradient) <= 2e-5 * std::max(size, 1e-2), name.c_str());
    }
  }

  void a_coupling_of_zero_is_plain_mamba_bit_for_bit() {
    for (const bool etd : {false, true}) {
      auto options = coupled_options(etd);
      options.coupling.scale = 0;
      Mamba1 coupled(options, Engine::fused, Precision::float32),
          plain(small_options(), Engine::fused, Precision::float32);
      enlarge(plain);
      const auto all = named(plain);
      {
        const torch::NoGradGuard no_gradients;
        for (const auto& [name, tensor] : named(coupled)) {
          if (all.contains(name)) tensor.copy_(all.at(name));
        }
      }
      const auto tokens = some_tokens(3, 200, 7), targets = some_tokens(3, 200, 7, 1);
      QVERIFY(torch::equal(coupled.log_probabilities(tokens), plain.log_probabilities(tokens)));
      const auto loss = coupled.loss(tokens, targets);
      loss.backward();
      plain.loss(tokens, targets).backward();
      auto of_coupled = named(coupled);
      for (const auto& [name, tensor] : all)
        QVERIFY2(torch::equal(of_coupled.at(name).grad(), tensor.grad()), name.c_str());
      // and yet the coupling can be learned: only k moves it away from 0.
      QVERIFY(of_coupled.at("layers.0.coupling.k").grad().abs().item<double>() > 0);
      QCOMPARE(of_coupled.at("layers.0.coupling.P").grad().abs().max().item<double>(), 0.0);
    }
  }

  void step_equals_scan_over_4096_tokens() {
    for (const bool etd : {false, true}) {
      Mamba1 model(coupled_options(etd), Engine::fused, Precision::float32);
      const auto tokens = some_tokens(1, 4096, 7);
      const torch::NoGradGuard no_gradients;
      const auto whole = model.log_probabilities(tokens);
      const double size = whole.abs().max().item<double>();
      const double difference = largest_difference(whole, read_token_by_token(model, tokens)) / size;
      qInfo("step against scan, float32, relative: %.2g", difference);
      QVERIFY(difference <= 1e-6);
    }
  }

  void reading_in_pieces_equals_the_whole() {
    for (const Engine engine : {Engine::fused, Engine::torch}) {
      Mamba1 model(coupled_options(), engine, engine == Engine::torch ? Precision::float64 : Precision::float32);
      enlarge(model);
      const auto tokens = some_tokens(2, 60, 7);
      const torch::NoGradGuard no_gradients;
      const auto whole = model.log_probabilities(tokens);
      const auto state = model.initial_state(2);
      std::vector<at::Tensor> pieces;
      for (const auto& piece : tokens.split_with_sizes({1, 1, 2, 30, 26}, 1))
        pieces.push_back(model.read(piece.contiguous(), *state));
      QVERIFY(largest_difference(torch::cat(pieces, 1), whole) <= (engine == Engine::torch ? 1e-12 : 5e-6));
    }
  }

  void gradients_agree_with_finite_differences() {
    for (const bool etd : {false, true}) {
      for (const bool per_channel : {false, true}) {
        Mamba1 model(coupled_options(etd, per_channel), Engine::torch, Precision::float64);
        enlarge(model);
        QVERIFY(gradient_error(model, some_tokens(2, 12, 7), some_tokens(2, 12, 7, 1), 6) < 1e-6);
      }
    }
  }

  void targets_that_do_not_count_are_left_out() {
    Mamba1 model(coupled_options(), Engine::torch, Precision::float64);
    enlarge(model);
    const auto tokens = some_tokens(2, 12, 7);
    auto targets = torch::full({2, 12}, -1, torch::kInt64);
    targets[0][5] = 3;
    targets[1][11] = 0;
    const auto rows = model.log_probabilities(tokens);
    const double expected = -(rows[0][5][3] + rows[1][11][0]).item<double>() / 2;
    QVERIFY(std::abs(model.loss(tokens, targets).item<double>() - expected) < 1e-12);
    QVERIFY(gradient_error(model, tokens, targets, 3) < 1e-6);
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.loss(tokens, torch::full({2, 12}, -1, torch::kInt64)));
    targets[0][0] = 7;
    QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.loss(tokens, targets));
  }

  void the_future_changes_nothing() {
    Mamba1 model(coupled_options(), Engine::fused, Precision::float32);
    enlarge(model);
    const torch::NoGradGuard no_gradients;
    const auto tokens = some_tokens(2, 50, 7);
    auto changed = tokens.clone();
    changed.select(1, 30).add_(1).remainder_(7);
    const auto before = model.log_probabilities(tokens), after = model.log_probabilities(changed);
    QVERIFY(torch::equal(before.narrow(1, 0, 30), after.narrow(1, 0, 30)));
    QVERIFY(!torch::equal(before, after));
  }

  void the_coupling_matters() {
    Mamba1 model(coupled_options(), Engine::fused, Precision::float32);
    enlarge(model);
    const torch::NoGradGuard no_gradients;
    const auto tokens = some_tokens(2, 50, 7);
    const auto before = model.log_probabilities(tokens);
    named(model).at("layers.0.coupling.k").zero_();
    const double difference = largest_difference(model.log_probabilities(tokens), before);
    QVERIFY2(difference > 1e-4, QByteArray::number(difference));
  }

  void a_trace_is_what_the_model_computes() {
    for (const bool per_channel : {false, true}) {
      Mamba1 model(coupled_options(true, per_channel), Engine::fused, Precision::float32);
      enlarge(model);
      const std::vector<std::int32_t> tokens = {1, 2, 3, 4, 0, 6, 5, 1, 1, 2};
      const torch::NoGradGuard no_gradients;
      const auto state = model.initial_state(1);
      const auto u = model.embedded(row_of(tokens));
      const ChannelTrace trace = model.trace(u, 1, 4);
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        model.step(torch::tensor({static_cast<std::int64_t>(tokens[t])}), *state);
        const auto h = state->hidden()[1][0][4][0];
        for (std::int64_t n = 0; n < 5; ++n)
          QVERIFY(std::abs(trace.state[t * 5 + static_cast<std::size_t>(n)] - h[n].item<double>()) < 2e-5);
      }
      // and the recurrence of its own numbers leads there.
      std::vector<double> h(5);
      for (std::size_t t = 0; t < tokens.size(); ++t) {
        std::vector<double> z(2), next(5);
        for (std::size_t r = 0; r < 2; ++r)
          for (std::size_t n = 0; n < 5; ++n) z[r] += trace.Q[r * 5 + n] * h[n];
        for (std::size_t n = 0; n < 5; ++n) {
          const double a = trace.A[n], dt = trace.dt[t];
          const double coupling = trace.P[n * 2] * z[0] + trace.P[n * 2 + 1] * z[1];
          next[n] = std::exp(dt * a) * h[n] + std::expm1(dt * a) / a * coupling + dt * trace.drive[t * 5 + n];
          QVERIFY(std::abs(next[n] - trace.state[t * 5 + n]) < 2e-5);
        }
        h = next;
      }
      QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.trace(u, 2, 0));
      QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.trace(u, 0, 12));
      QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.trace(u.narrow(2, 0, 4), 0, 0));
      QVERIFY_THROWS_EXCEPTION(std::invalid_argument, model.trace(u.to(torch::kFloat64), 0, 0));
    }
  }

  // M is scaled to the share of the slowest decay that it acts on: of all channels, or of its own.
  void the_cap_holds_couplings_back_and_touches_nothing_else() {
    for (const bool per_channel : {false, true}) {
      auto options = coupled_options(false, per_channel);
      Mamba1 uncapped(options, Engine::fused, Precision::float32);
      options.coupling.cap = 0.25;
      Mamba1 model(options, Engine::fused, Precision::float32);
      for (Mamba1* const one : {&uncapped, &model}) {
        enlarge(*one);
        const torch::NoGradGuard no_gradients;
        for (const char* k : {"layers.0.coupling.k", "layers.1.coupling.k"}) named(*one).at(k).fill_(2);
        named(*one).at("layers.1.coupling.P").div_(1000);
      }
      std::map<std::string, at::Tensor> before;
      for (const auto& [name, tensor] : named(model)) before[name] = tensor.detach().clone();
      model.hold_couplings();
      uncapped.hold_couplings();
      for (const auto& [name, tensor] : named(uncapped)) QVERIFY(torch::equal(tensor, before.at(name)));
      const auto norm = [&](const Mamba1& of, std::int64_t layer, std::int64_t channel) {
        const CoupledModel::Parts parts = of.coupling(layer, channel);
        return spectral_norm({.n = 5, .rank = 2, .p = parts.P, .q = parts.Q, .k = parts.scale});
      };
      for (std::int64_t layer = 0; layer < 2; ++layer) {
        const auto decays = before.at("layers." + std::to_string(layer) + ".A_log").exp();
        for (std::int64_t channel = 0; channel < model.channels(); ++channel) {
          const double slowest = (per_channel ? decays[channel] : decays).min().item<double>();
          const double free = norm(uncapped, layer, channel), held = norm(model, layer, channel);
          QVERIFY2((free > 0.25 * slowest) == (layer == 0), std::to_string(free / slowest).c_str());
          QVERIFY(std::abs(held - std::min(free, 0.25 * slowest)) <= 1e-6 * held);
        }
      }
      for (const auto& [name, tensor] : named(model))
        QCOMPARE(torch::equal(tensor, before.at(name)), name != "layers.0.coupling.k");
    }
  }

  // Without coupling after one pass, the recurrence after as many as tokens, and nearer with each between.
  void picard_passes_lead_to_the_recurrence() {
    for (const bool etd : {false, true}) {
      Mamba1 model(coupled_options(etd), Engine::torch, Precision::float64);
      enlarge(model, 0.5);
      const torch::NoGradGuard no_gradients;
      const auto tokens = torch::randint(7, {2, 12}, torch::kInt64);
      const auto exact = model.log_probabilities(tokens);
      const auto off = [&](std::int64_t passes, PicardEvaluation& evaluation) {
        const auto picard = std::make_shared<PicardEvaluation>(PicardEvaluation{.passes = passes});
        model.evaluate_by(picard);
        const double difference = largest_difference(model.log_probabilities(tokens), exact);
        evaluation = *picard;
        model.evaluate_by(nullptr);
        return difference;
      };
      double before = HUGE_VAL, error_before = HUGE_VAL;
      for (const std::int64_t passes : {1, 2, 4, 8}) {
        PicardEvaluation found;
        const double difference = off(passes, found);
        QVERIFY2(difference < before && found.output_error < error_before, std::to_string(difference).c_str());
        before = difference;
        error_before = found.output_error;
      }
      PicardEvaluation whole, one;
      QVERIFY(off(12, whole) < 1e-12 && whole.output_error < 1e-12 && whole.state_error < 1e-12);
      QVERIFY(torch::equal(model.log_probabilities(tokens), exact));
      QVERIFY(off(1, one) > 1e-6 && one.output_error > 1e-6 && one.state_error > 1e-6);
      for (const char* k : {"layers.0.coupling.k", "layers.1.coupling.k"}) named(model).at(k).zero_();
      const auto plain = model.log_probabilities(tokens);
      for (const char* k : {"layers.0.coupling.k", "layers.1.coupling.k"}) named(model).at(k).fill_(0.5);
      model.evaluate_by(std::make_shared<PicardEvaluation>());
      QVERIFY(largest_difference(model.log_probabilities(tokens), plain) < 1e-12);
    }
  }

  void the_motif_loss_has_its_gradient() {
    for (const bool per_channel : {false, true}) {
      auto options = coupled_options(false, per_channel);
      options.coupling.target = motif_target("021U");
      options.coupling.motif.rule = {.beta = 3, .theta = 0.1};
      options.coupling.weight = 2;
      Mamba1 model(options, Engine::torch, Precision::float64);
      enlarge(model);
      check_penalty_gradient(model);
    }
  }

  void the_warm_up_shapes_the_coupling_and_nothing_else() {
    auto options = published_options();
    options.coupling.rank = 2;
    options.coupling.target = motif_target("021U");
    Mamba1 model(options, Engine::fused, Precision::float32), untouched(options, Engine::fused, Precision::float32);
    check_warm_up(model, untouched);
  }

  void without_a_motif_nothing_is_asked_for() {
    Mamba1 blank(coupled_options(), Engine::fused, Precision::float32);
    QVERIFY(!blank.penalty().defined());
    QVERIFY(std::isnan(blank.motif_standing().loss));
    const auto before = named(blank).at("layers.0.coupling.P").clone();
    blank.warm_up();
    QVERIFY(torch::equal(named(blank).at("layers.0.coupling.P"), before));
    Mamba1 plain(small_options(), Engine::fused, Precision::float32);
    QVERIFY(plain.coupled() == nullptr);
  }
};

QTEST_APPLESS_MAIN(TestMamba1)
#include "test_mamba1.moc"
