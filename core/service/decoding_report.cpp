#include "core/service/decoding_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/analysis/decoding.h"
#include "core/contract/json_fields.h"
#include "core/contract/run_folder.h"
#include "core/contract/yardsticks.h"
#include "core/service/command_error.h"
#include "core/service/coupling_report.h"
#include "core/service/mean_alone.h"

namespace mambarium {

namespace {

using Quality = DecodingData::Quality;

nlohmann::json matrix(const Tensor& tensor) {
  nlohmann::json rows = nlohmann::json::array();
  const auto columns = static_cast<std::size_t>(tensor.shape[1]);
  for (std::size_t first = 0; first < tensor.data.size(); first += columns) {
    nlohmann::json row = nlohmann::json::array();
    for (std::size_t i = first; i < first + columns; ++i) row.push_back(static_cast<std::int64_t>(tensor.data[i]));
    rows.push_back(std::move(row));
  }
  return rows;
}

nlohmann::json by_output(const DecodingData& data, const Quality& quality) {
  nlohmann::json all = nlohmann::json::object();
  for (std::size_t k = 0; k < quality.r_squared.size(); ++k)
    all[data.output_names[k]] = number_or_null(quality.r_squared[k]);
  return all;
}

nlohmann::json document_of(const LoadedRun& run, const DecodingData& data) {
  const Yardsticks names = yardsticks(run.config);
  nlohmann::json document = {{"checkpoint", run.checkpoint.string()},
                             {"step", run.step},
                             {"parameter_count", run.model->parameter_count()},
                             {"sequences", data.windows},
                             {"unit", loss_unit(run.config)},
                             {"model", mean_alone(data.model.loss)},
                             {names.best, mean_alone(data.ideal.loss)},
                             {names.same, mean_alone(data.uniform_loss)},
                             {"gap_" + names.best, mean_alone(data.model.loss - data.ideal.loss)}};
  if (data.outputs) {
    document["r_squared"] = mean_alone(data.model.r_squared_of_all);
    document["ideal_r_squared"] = mean_alone(data.ideal.r_squared_of_all);
    document["r_squared_by_output"] = by_output(data, data.model);
    document["ideal_r_squared_by_output"] = by_output(data, data.ideal);
  } else {
    document["accuracy"] = mean_alone(data.model.accuracy);
    document["ideal_accuracy"] = mean_alone(data.ideal.accuracy);
    document["macro_f1"] = mean_alone(data.model.macro_f1);
    document["ideal_macro_f1"] = mean_alone(data.ideal.macro_f1);
    document["confusion"] = matrix(data.model.confusion);
    document["ideal_confusion"] = matrix(data.ideal.confusion);
  }
  add_coupling(document, run);
  return document;
}

void print_line(const char* name, double model, double ideal, const char* form) {
  fmt::print("{:<20} {:>12}", name, fmt::format(fmt::runtime(form), model));
  if (std::isfinite(ideal)) fmt::print(" {:>14}", fmt::format(fmt::runtime(form), ideal));
  fmt::print("\n");
}

void print_confusion(const Tensor& confusion) {
  const auto classes = static_cast<std::size_t>(confusion.shape[0]);
  fmt::print("\nwindows by direction (rows) and answer\n\n{:>6}", "");
  for (std::size_t column = 0; column < classes; ++column) fmt::print("{:>7}", column);
  fmt::print("\n");
  for (std::size_t row = 0; row < classes; ++row) {
    fmt::print("{:>6}", row);
    for (std::size_t column = 0; column < classes; ++column)
      fmt::print("{:>7}", static_cast<std::int64_t>(confusion.data[row * classes + column]));
    fmt::print("\n");
  }
}

void print_text(const LoadedRun& run, const DecodingData& data) {
  const bool knows_ideal = std::isfinite(data.ideal.loss);
  fmt::print("{}, step {}\n", run_title(run.config), run.step);
  fmt::print("{} windows of {} bins in the test part\n\n", data.windows, run.config.integer("task.window"));
  fmt::print("{:<20} {:>12}{}\n", "", "model", knows_ideal ? fmt::format(" {:>14}", "ideal decoder") : "");
  print_line(data.outputs ? "loss, variances" : "loss, nats", data.model.loss, data.ideal.loss, "{:.5f}");
  if (data.outputs) {
    print_line("R^2", data.model.r_squared_of_all, data.ideal.r_squared_of_all, "{:.4f}");
    for (std::size_t k = 0; k < data.output_names.size(); ++k)
      print_line(("R^2 of " + data.output_names[k]).c_str(), data.model.r_squared[k],
                 knows_ideal ? data.ideal.r_squared[k] : std::nan(""), "{:.4f}");
  } else {
    print_line("right, %", 100 * data.model.accuracy, 100 * data.ideal.accuracy, "{:.2f}");
    print_line("macro F1", data.model.macro_f1, data.ideal.macro_f1, "{:.4f}");
  }
  fmt::print("{:<20} {:>12.5f}\n", "uninformed loss", data.uniform_loss);
  if (!data.outputs) print_confusion(data.model.confusion);
  print_coupling(run);
}

// Files can change after a run; what it lost at this step then is in its metrics.csv.
void warn_of_another_recording(const LoadedRun& run, double loss) {
  if (run.config.text("task.recording") == "simulated") return;
  const ReadRunFolder read = read_run_folder(run.checkpoint.parent_path().parent_path());
  const auto row = std::ranges::find(read.run.rows, run.step, &MetricsRow::step);
  constexpr double rounding = 1e-3;  // another engine or machine: some 1e-6
  if (row == read.run.rows.end() || !(std::abs(loss - row->test_loss) > rounding * std::max(1.0, row->test_loss)))
    return;
  fmt::print(stderr,
             "{}: its test loss is {:.5f} and was {:.5f} when the run was at step {}; the recording is another one "
             "now\n",
             run.config.text("task.files"), loss, row->test_loss, run.step);
}

}  // namespace

int report_decoding(const LoadedRun& run, const std::optional<PicardComparison>& picard, bool as_json) {
  const DecodingData data = inspect_decoding(*run.model, run.config, run.step);
  warn_of_another_recording(run, data.model.loss);
  if (as_json) {
    nlohmann::json document = document_of(run, data);
    add_picard(document, picard);
    fmt::print("{}\n", document.dump(2));
  } else {
    print_text(run, data);
    print_picard(picard);
  }
  return exit_code::success;
}

}  // namespace mambarium
