#include "core/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

#include "core/bench/kernel_cases.h"
#include "core/bench/scan_subjects.h"
#include "core/bench/training_subject.h"
#include "core/device/gpu.h"
#include "core/estimators/known_task.h"
#include "core/models/mamba2_options.h"
#include "core/random/stream.h"

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

Subject training_step(const ExperimentConfig& config, Engine engine) {
  Subject subject = training_subject(config, engine);
  subject.name = "training step, " + name_of(engine);
  subject.covers = std::string("data, forward, backward, AdamW; ") +
                   (engine == Engine::fused ? "hand-written kernels" : "plain LibTorch operators");
  return subject;
}

Subject training_step_on_gpu(const ExperimentConfig& config) {
  Subject subject = training_subject(config, Engine::fused, "cuda");
  subject.name = "training step, cuda";
  subject.covers = "data on the CPU; forward, backward, AdamW on " + gpu_support().words;
  return subject;
}

Subject scan(const ExperimentConfig& config) {
  const Mamba2Options options = mamba2_options(config);
  const kernels::ScanShape shape{.batch = config.integer("training.batch"),
                                 .length = config.integer("task.length"),
                                 .heads = options.heads(),
                                 .headdim = options.head_width(),
                                 .d_state = options.d_state};
  Subject subject = scan_subjects(shape, options.threads)[1];
  subject.name = "selective scan";
  subject.covers = "forward and backward of one layer's scan alone";
  return subject;
}

Subject diagonal_scan(const ExperimentConfig& config) {
  const Mamba2Options options = mamba2_options(config);
  const KernelCase pair = diagonal_scan_case({.batch = config.integer("training.batch"),
                                              .length = config.integer("task.length"),
                                              .channels = options.d_inner(),
                                              .d_state = options.d_state},
                                             options.threads);
  Subject subject = pair.fused;
  subject.name = "scan of Mamba-1";
  subject.covers = "the same, with one decay per channel and state";
  return subject;
}

Subject coupled_scan(const ExperimentConfig& config) {
  constexpr std::int64_t usual_rank = 2;
  const Mamba2Options options = mamba2_options(config);
  const KernelCase pair = coupled_scan_case(
      {.batch = config.integer("training.batch"),
       .length = config.integer("task.length"),
       .channels = options.d_inner(),
       .d_state = options.d_state,
       .rank = has_coupling(config) ? config.integer("model.rank") : usual_rank,
       .form = config.text("model.coupling") == "etd" ? kernels::CouplingForm::etd : kernels::CouplingForm::euler},
      options.threads);
  Subject subject = pair.fused;
  subject.name = "coupled scan";
  subject.covers = "the scan of Mamba-1 with its states coupled (Motif-Mamba)";
  return subject;
}

Subject data(const ExperimentConfig& config) {
  const std::int64_t batch = config.integer("training.batch");
  return {.name = "data generator",
          .covers = "fresh kernels and sequences",
          .tokens = batch * config.integer("task.length"),
          .call =
              [task = std::shared_ptr<const KnownTask>(make_task(config, Split::training)), stream = Stream(0, "data"),
               first = std::int64_t{0}, batch, sequences = SequenceBatch()]() mutable {
                task->generate(stream, first, batch, false, sequences);
                first += batch;
              },
          .threads = config.integer("run.threads"),
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

BenchReport run_bench(const ExperimentConfig& config, const BenchOptions& options) {
  if (const auto problems = config.validate(); !problems.empty()) {
    throw std::invalid_argument(to_string(problems.front()));
  }
  BenchReport report;
  report.config = config;
  report.parameter_count = make_model(config)->parameter_count();
  std::vector<Subject> subjects;
  if (has_coupling(config) && is_mamba(config)) {
    subjects = {training_step(config, Engine::fused), training_step(config, Engine::torch), scan(config),
                coupled_scan(config)};
  } else if (is_mamba(config)) {
    subjects = {training_step(config, Engine::fused), training_step(config, Engine::torch), scan(config),
                diagonal_scan(config)};
  } else if (has_kernels(config)) {
    subjects = {training_step(config, Engine::fused), training_step(config, Engine::torch), diagonal_scan(config),
                coupled_scan(config)};
  } else {
    subjects = {training_step(config, Engine::torch)};
  }
  subjects.push_back(data(config));
  if (options.on_gpu && trains_on_gpu(config)) subjects.push_back(training_step_on_gpu(config));
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
