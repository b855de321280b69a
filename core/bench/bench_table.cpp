#include "core/bench/bench_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/bench/bench.h"
#include "core/bench/grouped_number.h"
#include "core/bench/scan_subjects.h"
#include "core/bench/training_subject.h"
#include "core/device/gpu.h"
#include "core/kernels/multiply_add_peak.h"
#include "core/models/mamba2_options.h"

namespace mambarium {

namespace {

struct Setting {
  const char* name;
  std::vector<std::pair<const char*, std::int64_t>> changes;
};

// The first is the published one; T = 512, B = 64, e = 2 in all.
const std::vector<Setting>& settings() {
  static const std::vector<Setting> list = {
      {"paper: order 1, w 2, d 8", {{"model.d_model", 8}, {"model.d_state", 8}, {"model.d_conv", 2}}},
      {"d 16", {{"model.d_model", 16}, {"model.d_state", 16}, {"model.d_conv", 2}}},
      {"d 32", {{"model.d_model", 32}, {"model.d_state", 32}, {"model.d_conv", 2}}},
      {"d 64", {{"model.d_model", 64}, {"model.d_state", 64}, {"model.d_conv", 2}}},
      {"order 3, w 4, d 8", {{"task.order", 3}, {"model.d_model", 8}, {"model.d_state", 8}, {"model.d_conv", 4}}},
  };
  return list;
}

struct Size {
  std::int64_t batch = 64, length = 512;
};

ExperimentConfig config_of(const Setting& setting, const Size& size, std::int64_t threads) {
  ExperimentConfig config = bench_config();
  config.set("training.batch", size.batch);
  config.set("task.length", size.length);
  config.set("run.threads", threads);
  for (const auto& [key, value] : setting.changes) config.set(key, value);
  return config;
}

double training_flops_per_token(const ExperimentConfig& config) {
  const Mamba2Options o = mamba2_options(config);
  const std::int64_t inner = o.d_inner(), in = 2 * inner + 2 * o.d_state + o.heads(), mlp = 3 * 4 * o.d_model;
  const std::int64_t products = o.d_model * (in + inner + mlp + o.states), scan = inner * o.d_state;
  return 3.0 * static_cast<double>(2 * products + 5 * scan);
}

TrainingSpeed time_training(const Setting& setting, const Size& size, const BenchOptions& options) {
  std::vector<Subject> subjects;
  for (const Engine engine : {Engine::fused, Engine::torch}) {
    for (const std::int64_t threads : {1, 2})
      subjects.push_back(training_subject(config_of(setting, size, threads), engine));
  }
  if (options.on_gpu) subjects.push_back(training_subject(config_of(setting, size, 1), Engine::fused, "cuda"));
  time_in_turns(subjects, options);
  TrainingSpeed speed;
  speed.setting = setting.name;
  speed.config = config_of(setting, size, 1);
  speed.parameter_count = make_model(speed.config)->parameter_count();
  speed.fused = subjects[0].median();
  speed.fused_two_threads = subjects[1].median();
  speed.torch = subjects[2].median();
  speed.torch_two_threads = subjects[3].median();
  if (options.on_gpu) speed.gpu = subjects[4].median();
  speed.flops_per_token = training_flops_per_token(speed.config);
  return speed;
}

ScanSpeed time_scan(const kernels::ScanShape& shape, const BenchOptions& options) {
  std::vector<Subject> subjects = scan_subjects(shape, 1);
  time_in_turns(subjects, options);
  ScanSpeed speed;
  speed.headdim = shape.headdim;
  speed.d_state = shape.d_state;
  speed.length = shape.length;
  speed.batch = shape.batch;
  speed.fused_forward = subjects[0].median();
  speed.fused = subjects[1].median();
  speed.torch = subjects[2].median();
  const auto size = static_cast<double>(shape.headdim * shape.d_state);
  speed.flops_forward = 5 * size;
  speed.flops = 19 * size;
  speed.bytes = static_cast<double>(4 * (5 * shape.headdim + 6 * shape.d_state + 6));
  return speed;
}

GpuScanSpeed time_gpu_scan(const kernels::ScanShape& shape, const BenchOptions& options) {
  constexpr int scans = 20;  // of a call, so that starting and waiting do not count
  std::vector<Subject> subjects(1);
  subjects[0].tokens = scans * shape.batch * shape.length;
  subjects[0].call = scans_on_gpu(shape, scans);
  time_in_turns(subjects, options);
  return {shape, subjects[0].median()};
}

double measured_peak(const BenchOptions& options) {
  constexpr std::int64_t calls = 100'000;
  std::vector<Subject> subjects(1);
  const auto sum = std::make_shared<float>(0.0f);
  subjects[0].tokens = kernels::multiply_adds(calls, *sum);
  subjects[0].call = [sum] { kernels::multiply_adds(calls, *sum); };
  time_in_turns(subjects, {.rounds = options.rounds, .seconds = std::min(options.seconds, 0.2)});
  return 2 * subjects[0].median();
}

}  // namespace

double TrainingSpeed::ratio() const {
  return fused / std::max(torch, torch_two_threads);
}

double GpuScanSpeed::bytes() const {
  return static_cast<double>(4 * (2 * shape.heads * (shape.headdim + 1) + 2 * shape.d_state));
}

BenchTable run_bench_table(const BenchOptions& options, std::int64_t batch, std::int64_t length,
                           const KernelSizes& kernels) {
  BenchTable table;
  if (options.on_gpu) table.gpu = gpu_support().words;
  table.peak = measured_peak(options);
  for (const Setting& setting : settings()) table.training.push_back(time_training(setting, {batch, length}, options));
  table.peak = std::max(table.peak, measured_peak(options));
  constexpr std::pair<std::int64_t, std::int64_t> shapes[] = {{16, 8},   {16, 16},  {16, 24},  {16, 100},
                                                              {16, 128}, {32, 128}, {128, 16}, {128, 128}};
  for (const auto& [headdim, d_state] : shapes) {
    for (const std::int64_t tokens : {length, 4 * length}) {
      table.scans.push_back(time_scan({std::max<std::int64_t>(batch / 4, 1), tokens, 1, headdim, d_state}, options));
      if (options.on_gpu) table.gpu_scans.push_back(time_gpu_scan({4 * batch, tokens, 1, headdim, d_state}, options));
    }
  }
  table.kernels = time_kernels(kernels, options);
  table.peak = std::max(table.peak, measured_peak(options));
  return table;
}

namespace {

nlohmann::json gpu_json(const BenchTable& table) {
  nlohmann::json training = nlohmann::json::array(), scans = nlohmann::json::array();
  for (const TrainingSpeed& row : table.training) {
    training.push_back({{"setting", row.setting}, {"tokens_per_second", row.gpu}});
  }
  for (const GpuScanSpeed& row : table.gpu_scans) {
    scans.push_back({{"headdim", row.shape.headdim},
                     {"d_state", row.shape.d_state},
                     {"length", row.shape.length},
                     {"batch", row.shape.batch},
                     {"tokens_per_second", row.forward},
                     {"bytes_per_token", row.bytes()}});
  }
  return {{"name", table.gpu}, {"training", training}, {"scans_forward", scans}};
}

std::string gpu_markdown(const BenchTable& table) {
  std::string text = fmt::format(
      "\nOn the GPU ({}): whole training step, data made on the CPU, tokens a second:\n\n"
      "| setting | parameters | GPU | to one thread |\n|---|---:|---:|---:|\n",
      table.gpu);
  for (const TrainingSpeed& row : table.training) {
    text += fmt::format("| {} | {} | {} | {:.1f} x |\n", row.setting, grouped(static_cast<double>(row.parameter_count)),
                        grouped(row.gpu), row.gpu / row.fused);
  }
  text +=
      "\nSelective scan on the GPU, forward (one head):\n\n"
      "| headdim | d_state | T | B | tokens a second | bytes/token | GB/s |\n|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const GpuScanSpeed& row : table.gpu_scans) {
    text += fmt::format("| {} | {} | {} | {} | {} | {:.0f} | {:.1f} |\n", row.shape.headdim, row.shape.d_state,
                        row.shape.length, row.shape.batch, grouped(row.forward), row.bytes(),
                        row.forward * row.bytes() / 1e9);
  }
  return text;
}

}  // namespace

nlohmann::json to_json(const BenchTable& table) {
  nlohmann::json training = nlohmann::json::array(), scans = nlohmann::json::array();
  for (const TrainingSpeed& row : table.training) {
    training.push_back({{"setting", row.setting},
                        {"experiment", to_json(row.config)},
                        {"parameter_count", row.parameter_count},
                        {"tokens_per_second",
                         {{"fused", row.fused},
                          {"fused_two_threads", row.fused_two_threads},
                          {"torch", row.torch},
                          {"torch_two_threads", row.torch_two_threads}}},
                        {"ratio", row.ratio()},
                        {"flops_per_token", row.flops_per_token},
                        {"share_of_peak", row.fused * row.flops_per_token / table.peak}});
  }
  for (const ScanSpeed& row : table.scans) {
    scans.push_back(
        {{"headdim", row.headdim},
         {"d_state", row.d_state},
         {"length", row.length},
         {"batch", row.batch},
         {"tokens_per_second", {{"fused_forward", row.fused_forward}, {"fused", row.fused}, {"torch", row.torch}}},
         {"ratio", row.fused / row.torch},
         {"flops_per_token", row.flops},
         {"bytes_per_token", row.bytes},
         {"share_of_peak_forward", row.fused_forward * row.flops_forward / table.peak},
         {"share_of_peak", row.fused * row.flops / table.peak}});
  }
  nlohmann::json document = {{"peak_flops_per_second", table.peak},
                             {"training", training},
                             {"scans", scans},
                             {"kernels", to_json(table.kernels, table.peak)}};
  if (!table.gpu.empty()) document["gpu"] = gpu_json(table);
  return document;
}

std::string to_markdown(const BenchTable& table) {
  std::string text =
      fmt::format("Measured peak, one thread: {:.1f} GFLOP/s of fused multiply-adds.\n\n", table.peak / 1e9);
  text +=
      "Whole training step, tokens a second:\n\n"
      "| setting | parameters | fused | two threads | torch | torch, two threads | ratio | of peak |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const TrainingSpeed& row : table.training) {
    text +=
        fmt::format("| {} | {} | {} | {} ({:.2f} x) | {} | {} | {:.1f} | {:.0f} % |\n", row.setting,
                    grouped(static_cast<double>(row.parameter_count)), grouped(row.fused),
                    grouped(row.fused_two_threads), row.fused_two_threads / row.fused, grouped(row.torch),
                    grouped(row.torch_two_threads), row.ratio(), 100 * row.fused * row.flops_per_token / table.peak);
  }
  text +=
      "\nSelective scan, forward and backward, tokens a second (one head, one thread):\n\n"
      "| headdim | d_state | T | B | fused | torch, chunks of 64 | ratio | FLOP/token | bytes/token | GB/s | "
      "of peak, forward | of peak, both |\n"
      "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const ScanSpeed& row : table.scans) {
    text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {:.1f} | {:.0f} | {:.0f} | {:.1f} | {:.0f} % | {:.0f} % |\n",
                    row.headdim, row.d_state, row.length, row.batch, grouped(row.fused), grouped(row.torch),
                    row.fused / row.torch, row.flops, row.bytes, row.fused * row.bytes / 1e9,
                    100 * row.fused_forward * row.flops_forward / table.peak, 100 * row.fused * row.flops / table.peak);
  }
  text += "\n" + to_markdown(table.kernels, table.peak);
  if (!table.gpu.empty()) text += gpu_markdown(table);
  return text;
}

}  // namespace mambarium
