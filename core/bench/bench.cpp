#include "core/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "core/kernels/selective_scan.h"
#include "core/models/mamba2_options.h"
#include "core/random/stream.h"
#include "core/training/test_set.h"
#include "core/training/trainer.h"

namespace mambarium {

namespace {

BenchMeasurement measured(Subject& subject) {
  const double median = subject.median();
  return {.subject = subject.name,
          .covers = subject.covers,
          .median = median,
          .best = subject.by_wall.back(),
          .per_processor_second = std::ranges::max(subject.by_processor)};
}

Subject training_step(const ExperimentConfig& config, Engine engine, std::int64_t& parameter_count) {
  std::shared_ptr<Trainer> trainer = Trainer::create(config, {.engine = engine, .folder = {}});
  parameter_count = trainer->parameter_count();
  return {.name = engine == Engine::fused ? "training step, fused" : "training step, torch",
          .covers = engine == Engine::fused ? "data, forward, backward, AdamW; hand-written kernels"
                                            : "data, forward, backward, AdamW; plain LibTorch operators",
          .tokens = config.integer("training.batch") * config.integer("task.length"),
          .call = [trainer] { trainer->advance(); },
          .threads = 1,
          .by_wall = {},
          .by_processor = {}};
}

Subject scan(const ExperimentConfig& config) {
  using namespace kernels;
  struct Arrays {
    std::vector<float> x, dt, a, B, C, y, dx, ddt, da, dB, dC;
  };
  const Mamba2Options options = mamba2_options(config);
  const ScanShape shape{.batch = config.integer("training.batch"),
                        .length = config.integer("task.length"),
                        .heads = options.heads(),
                        .headdim = options.head_width(),
                        .d_state = options.d_state};
  const std::int64_t tokens = shape.batch * shape.length, inner = shape.heads * shape.headdim;
  const auto filled = [&](std::int64_t width, const char* name) {
    std::vector<double> numbers(static_cast<std::size_t>(tokens * width));
    Stream(0, name).uniform(numbers);
    return std::vector<float>(numbers.begin(), numbers.end());
  };
  const auto arrays = std::make_shared<Arrays>();
  arrays->x = arrays->y = arrays->dx = filled(inner, "bench x");
  arrays->dt = arrays->a = arrays->ddt = arrays->da = filled(shape.heads, "bench dt");
  arrays->B = arrays->dB = filled(shape.d_state, "bench B");
  arrays->C = arrays->dC = filled(shape.d_state, "bench C");
  return {.name = "selective scan",
          .covers = "forward and backward of one layer's scan alone",
          .tokens = tokens,
          .call =
              [=] {
                const auto rows = [&](std::vector<float>& numbers, std::int64_t width) {
                  return Rows<float>{numbers.data(), shape.length * width, width};
                };
                const ScanInputs<float> inputs{rows(arrays->x, inner), rows(arrays->dt, shape.heads),
                                               rows(arrays->a, shape.heads), rows(arrays->B, shape.d_state),
                                               rows(arrays->C, shape.d_state)};
                selective_scan(shape, inputs, rows(arrays->y, inner), nullptr, options.threads);
                selective_scan_backward(
                    shape, inputs, rows(arrays->y, inner), nullptr,
                    {rows(arrays->dx, inner), rows(arrays->ddt, shape.heads), rows(arrays->da, shape.heads),
                     rows(arrays->dB, shape.d_state), rows(arrays->dC, shape.d_state)},
                    options.threads);
              },
          .threads = 1,
          .by_wall = {},
          .by_processor = {}};
}

Subject data(const ExperimentConfig& config) {
  const std::int64_t batch = config.integer("training.batch");
  return {.name = "data generator",
          .covers = "fresh kernels and sequences",
          .tokens = batch * config.integer("task.length"),
          .call =
              [task = markov_task(config), stream = Stream(0, "data"), first = std::int64_t{0}, batch,
               sequences = SequenceBatch()]() mutable {
                task.generate(stream, first, batch, false, sequences);
                first += batch;
              },
          .threads = 1,
          .by_wall = {},
          .by_processor = {}};
}

}  // namespace

ExperimentConfig bench_config() {
  ExperimentConfig config;
  for (const auto& [key, value] : {std::pair{"task.order", 1},
                                   {"task.states", 2},
                                   {"task.length", 512},
                                   {"model.d_model", 8},
                                   {"model.d_state", 8},
                                   {"model.expand", 2},
                                   {"model.d_conv", 2},
                                   {"training.batch", 64},
                                   {"run.threads", 1}}) {
    config.set(key, std::int64_t{value});
  }
  return config;
}

BenchReport run_bench(const ExperimentConfig& asked, const BenchOptions& options) {
  ExperimentConfig config = asked;
  // As many steps as it takes, and nothing between them.
  for (const char* key : {"training.steps", "training.eval_every", "training.checkpoint_every"}) {
    config.set(key, std::int64_t{100000000});
  }
  if (const auto problems = config.validate(); !problems.empty()) {
    throw std::invalid_argument(to_string(problems.front()));
  }
  BenchReport report;
  report.config = asked;
  std::vector<Subject> subjects;
  subjects.push_back(training_step(config, Engine::fused, report.parameter_count));
  subjects.push_back(training_step(config, Engine::torch, report.parameter_count));
  subjects.push_back(scan(config));
  subjects.push_back(data(config));
  for (Subject& subject : subjects) {
    subject.threads = config.integer("run.threads");
  }
  time_in_turns(subjects, options);
  for (Subject& subject : subjects) {
    report.measurements.push_back(measured(subject));
  }
  return report;
}

nlohmann::json to_json(const BenchReport& report) {
  nlohmann::json measurements = nlohmann::json::array();
  for (const BenchMeasurement& m : report.measurements) {
    measurements.push_back({{"subject", m.subject},
                            {"covers", m.covers},
                            {"tokens_per_second", {{"median", m.median}, {"best", m.best}}},
                            {"tokens_per_processor_second", m.per_processor_second}});
  }
  return {{"experiment", to_json(report.config)},
          {"parameter_count", report.parameter_count},
          {"measurements", measurements}};
}

std::string to_markdown(const BenchReport& report) {
  const std::int64_t threads = report.config.integer("run.threads");
  std::ostringstream text;
  text << "`" << share_string(report.config) << "`, " << report.parameter_count << " parameters, " << threads
       << (threads == 1 ? " thread" : " threads") << "\n\n"
       << "| subject | tokens/s, median | tokens/s, best | tokens per processor second | covers |\n"
       << "|---|---:|---:|---:|---|\n";
  for (const BenchMeasurement& m : report.measurements) {
    text << "| " << m.subject << " | " << std::llround(m.median) << " | " << std::llround(m.best) << " | "
         << std::llround(m.per_processor_second) << " | " << m.covers << " |\n";
  }
  return text.str();
}

}  // namespace mambarium
