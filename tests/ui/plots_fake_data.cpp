// Runs, and what every panel is shown.
#include "plots_fake_data.h"

#include <cmath>
#include <limits>

#include "fake_noise.h"

namespace mambarium::fake {
namespace {

constexpr double add_beta_loss = 0.5039, oracle_loss = 0.4789;

template <typename Answer>
PanelData coupledRun(const Answer& answer) {
  PanelData data = inspected(answer);
  data.runs[0].config.set_from_string("model.kind", "mamba1");
  data.runs[0].config.set_from_string("model.coupling", "euler");
  return data;
}

}  // namespace

RunSeries run(const std::string& title, int style, double plateau, std::int64_t last_step, std::int64_t every) {
  RunSeries series;
  series.title = title;
  series.folder = "runs/2026-11-30-" + std::to_string(style);
  series.palette_index = style;
  series.marker_index = style;
  series.config.set("training.steps", std::int64_t{2000});
  Noise noise(static_cast<std::uint32_t>(style) + 7);
  const auto gap = [plateau](double step) {
    return plateau + 0.19 * std::exp(-step / 60) + 0.008 * std::exp(-step / 300);
  };
  for (std::int64_t step = 0; step <= last_step; ++step) {
    const double now = gap(static_cast<double>(step));
    const double train = add_beta_loss + now + 0.015 * noise.centered();
    if (step > 0) series.train_losses.emplace_back(step, train);
    if (step % every != 0) continue;
    MetricsRow row;
    row.step = step;
    row.tokens = step * 64 * 128;
    row.seconds = static_cast<double>(step) * 0.02;
    row.train_loss = step == 0 ? std::numeric_limits<double>::quiet_NaN() : train;
    row.test_loss = add_beta_loss + now * (1 + 0.05 * noise.centered());
    row.add_beta_loss = add_beta_loss;
    row.oracle_loss = oracle_loss;
    row.gap_add_beta = row.test_loss - row.add_beta_loss;
    row.gap_oracle = row.test_loss - row.oracle_loss;
    row.learning_rate = 2e-3;
    series.rows.push_back(row);
  }
  return series;
}

PanelData oneRun() {
  PanelData data;
  data.runs = {run("mamba2, order 1", 0, 0.0007)};
  return data;
}

PanelData threeRuns() {
  PanelData data;
  data.runs = {run("full", 0, 0.0007), run("no convolution", 1, 0.0527), run("window 2, order 2", 2, 0.0202, 800)};
  return data;
}

PanelData seedsAndAnother() {
  PanelData data;
  for (int seed = 0; seed < 3; ++seed) {
    data.runs.push_back(
        run("full · seed " + std::to_string(seed), seed, 0.0007 + 0.0004 * seed, seed == 2 ? 800 : 1240));
    data.runs.back().config.set("training.seed", std::int64_t{seed});
    data.runs.back().config.set("run.threads", std::int64_t{seed + 1});
  }
  data.runs.push_back(run("no convolution", 3, 0.05));
  data.runs.back().config.set("model.conv", std::string("none"));
  return data;
}
PanelData panelData(const QString& id, bool rich) {
  if (id == u"circuit") return circuitRun(circuit(rich));
  if (id == u"flow") return coupledRun(flow(6, rich ? 3 : 2, 60));
  if (id == u"reconstruction") return coupledRun(reconstruction(60, rich ? 16 : 6));
  if (id == u"extrapolation") return inductionRuns(rich ? 3 : 1);
  if (id == u"decoding") return decodingRuns(rich ? 3 : 1, false);
  if (id == u"prediction") return inspected(prediction(128, rich ? 4 : 2));
  if (id == u"decay") return inspected(decay(128, rich ? 2 : 1, rich ? 2 : 1));
  if (id == u"filters") {
    PanelData data = inspected(filters(rich ? 2 : 1, rich ? 4 : 2));
    for (std::int64_t step = 0; step < 1240; step += 155) {
      FilterData earlier = data.inspected->get<FilterData>();
      earlier.step = step;
      for (FilterData::Layer& layer : earlier.layers)
        for (FilterData::Filter& filter : layer)
          for (float& tap : filter.taps.data) tap *= static_cast<float>(1 - std::exp(-static_cast<double>(step) / 300));
      data.earlier.push_back(nlohmann::json(earlier));
    }
    return data;
  }
  if (id == u"state") return inspected(state(128, rich ? 3 : 2, rich ? 2 : 1));
  if (id == u"inner-products") return inspected(innerProducts(2, rich ? 4 : 2));
  return threeRuns();
}

}  // namespace mambarium::fake
