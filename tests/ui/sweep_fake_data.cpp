#include "sweep_fake_data.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

namespace mambarium::fake {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<MetricsRow> curve(double gap) {
  std::vector<MetricsRow> rows;
  for (std::int64_t step = 0; step <= 100; step += 10) {
    MetricsRow row;
    row.step = step;
    row.gap_add_beta = gap * (1 + std::exp(-static_cast<double>(step) / 20));
    row.add_beta_loss = 0.5;
    row.test_loss = 0.5 + row.gap_add_beta;
    row.train_loss = step == 0 ? nan : row.test_loss;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

SweepAxis axis(const std::string& name, const std::string& title, std::vector<std::string> labels,
               std::vector<double> numbers) {
  return {name, title, {name}, std::move(labels), std::move(numbers)};
}

std::shared_ptr<const SweepData> sweep(std::vector<SweepAxis> axes,
                                       const std::function<double(const std::vector<std::size_t>&)>& gap, int done,
                                       bool curves) {
  auto data = std::make_shared<SweepData>();
  data->folder = "sweeps/example";
  SweepResult& result = data->result;
  result.name = "example";
  result.title = "An example";
  result.axes = std::move(axes);
  result.seeds = {0, 1, 2};
  result.measures = sweep_measures();
  std::size_t cells = 1;
  for (const SweepAxis& along : result.axes) cells *= along.labels.size();
  for (std::size_t index = 0; index < cells * 3; ++index) {
    std::vector<std::size_t> position(result.axes.size());
    std::size_t rest = index / 3;
    for (std::size_t at = position.size(); at-- > 0;) {
      position[at] = rest % result.axes[at].labels.size();
      rest /= result.axes[at].labels.size();
    }
    const double value = gap(position) + 0.002 * (static_cast<double>(index % 3) - 1);
    const bool there = done < 0 || index < static_cast<std::size_t>(done);
    std::vector<double> values(result.measures.size(), there ? value : nan);
    values.back() = there ? 1000 : nan;
    result.rows.push_back({"point-" + std::to_string(index),
                           position,
                           static_cast<std::int64_t>(index % 3),
                           {},
                           values,
                           std::vector<double>(result.measures.size(), nan)});
    data->done += there;
    if (curves) data->curves.push_back(there ? curve(value) : std::vector<MetricsRow>());
  }
  summarise(result);
  return data;
}

std::shared_ptr<const SweepData> orderAndWindow(int done, bool curves) {
  return sweep(
      {axis("task.order", "Order k", {"1", "2", "3", "4"}, {1, 2, 3, 4}),
       axis("model.d_conv", "Window w", {"2", "3", "4", "5", "6"}, {2, 3, 4, 5, 6})},
      [](const std::vector<std::size_t>& at) {
        return at[1] >= at[0] ? 0.004 + 0.002 * double(at[0]) : 0.05 * double(at[0] - at[1]);
      },
      done, curves);
}

std::shared_ptr<const SweepData> widths() {
  return sweep(
      {axis("model.d_model+model.d_state", "Width d_model = State size d_state", {"2", "4", "8", "16"}, {2, 4, 8, 16}),
       axis("case", "Case", {"full", "no gate", "no convolution"})},
      [](const std::vector<std::size_t>& at) { return 0.08 * double(at[1] + 1) / std::pow(2, double(at[0])); });
}

std::shared_ptr<const SweepData> parts(int done) {
  return sweep(
      {axis("model.conv", "Convolution on", {"x,B,C", "none"}), axis("model.gate", "Gate", {"on", "off"}),
       axis("model.mlp", "MLP", {"gated", "none"})},
      [](const std::vector<std::size_t>& at) {
        return 0.01 + 0.05 * double(at[0]) + 0.01 * double(at[1]) + 0.005 * double(at[2]);
      },
      done);
}

void writeFolder(const SweepData& data, const QString& folder) {
  namespace fs = std::filesystem;
  using nlohmann::json;
  const fs::path path(folder.toStdString());
  fs::create_directories(path / "points");
  const bool all = data.done == data.result.rows.size();
  SweepResult plan = data.result;
  for (SweepRow& row : plan.rows) row.values.assign(row.values.size(), nan);
  summarise(plan);
  std::ofstream(path / "plan.json") << json(plan).dump();
  if (all) std::ofstream(path / "results.json") << json(data.result).dump();
  const json document = data.result;
  for (std::size_t index = 0; index < data.result.rows.size(); ++index) {
    const SweepRow& row = data.result.rows[index];
    if (std::isnan(row.values.front())) continue;
    std::ofstream(path / "points" / (row.point + ".json"))
        << json{{"point", row.point},
                {"values", document["rows"][index]["values"]},
                {"standard_errors", document["rows"][index]["standard_errors"]}};
    if (index >= data.curves.size()) continue;
    fs::create_directories(path / "runs" / row.point);
    std::ofstream metrics(path / "runs" / row.point / "metrics.csv");
    metrics << metrics_header() << '\n';
    for (const MetricsRow& evaluation : data.curves[index]) metrics << to_csv_line(evaluation) << '\n';
  }
}

}  // namespace mambarium::fake
