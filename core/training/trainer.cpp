#include "core/training/trainer.h"

#include <torch/torch.h>
#include <unistd.h>

#include <chrono>
#include <cmath>

#include "core/contract/length_schedule.h"
#include "core/decoding/decoding_task.h"
#include "core/device/gpu.h"
#include "core/estimators/known_task.h"
#include "core/models/coupled_model.h"
#include "core/models/parameter.h"
#include "core/random/stream.h"
#include "core/training/adamw.h"
#include "core/training/checkpoint.h"
#include "core/training/divergence.h"
#include "core/training/input_dropout.h"
#include "core/training/learning_rate.h"
#include "core/training/run_writer.h"
#include "core/training/runtime.h"
#include "core/training/sequence_tensors.h"
#include "core/training/test_set.h"
#include "mambarium/version.h"

namespace mambarium {
namespace {

void check(const ExperimentConfig& config) {
  const std::vector<Problem> problems = config.validate();
  if (!problems.empty()) throw std::invalid_argument(to_string(problems.front()));
}

StepFactory step_factory(const ExperimentConfig& config, Engine engine, std::vector<std::string>& notes) {
  const std::string device = config.text("run.device");
  const auto on_host = [](SequenceModel& model, AdamW& optimiser, std::int64_t, std::int64_t) {
    return make_host_step(model, optimiser);
  };
  if (device == "cpu" || (device == "auto" && engine == Engine::torch)) return on_host;
  if (engine == Engine::torch) {
    throw TrainingError("run.device: the torch engine computes on the CPU",
                        "Choose --engine fused, or run.device cpu.");
  }
  if (device == "cuda") return make_gpu_step;
  if (!gpu_support().usable()) return on_host;
  return [&notes](SequenceModel& model, AdamW& optimiser, std::int64_t batch, std::int64_t length) {
    try {
      return make_gpu_step(model, optimiser, batch, length);
    } catch (const TrainingError& error) {
      notes.push_back(std::string("steps are taken on the CPU: ") + error.what());
      return make_host_step(model, optimiser);
    }
  };
}

Manifest new_manifest(const ExperimentConfig& config, const std::string& device, Engine engine,
                      std::int64_t parameter_count) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  Manifest manifest;
  manifest.program_version = version;
  manifest.git_revision = revision;
  manifest.torch_version = TORCH_VERSION;
  manifest.compiler = std::string(__VERSION__);
  manifest.host = host;
  manifest.device = device;
  manifest.engine = name_of(engine);
  manifest.threads = config.integer("run.threads");
  manifest.seed = config.integer("training.seed");
  manifest.parameter_count = parameter_count;
  manifest.status = "created";
  return manifest;
}

std::string last_component(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

std::vector<std::size_t> sizes_of(const std::vector<Parameter>& parameters) {
  std::vector<std::size_t> sizes;
  for (const Parameter& parameter : parameters) sizes.push_back(static_cast<std::size_t>(parameter.tensor.numel()));
  return sizes;
}

std::unique_ptr<KnownTask> training_task(ExperimentConfig config, std::int64_t length) {
  if (const auto problem = config.set("task.length", length)) throw std::invalid_argument(to_string(*problem));
  return make_task(config, Split::training);
}

class RunTrainer : public Trainer {
 public:
  RunTrainer(const ExperimentConfig& config, Engine engine, const StepFactory& make_step)
      : config_((check(config), config)),
        engine_(engine_of(config, engine)),
        model_((configure_runtime(torch_threads(engine_, config.integer("run.threads"))), make_model(config, engine_))),
        optimiser_({.weight_decay = config.real("training.weight_decay")}, sizes_of(model_->parameters())),
        lengths_(config),
        length_(lengths_.at(0)),
        make_step_(make_step ? make_step : step_factory(config, engine_, notes_)),
        step_(make_step_(*model_, optimiser_, config.integer("training.batch"), length_)),
        schedule_(schedule_from_name(config.text("training.schedule"))),
        decoding_(is_decoder(config) ? std::make_shared<const DecodingTask>(config) : nullptr),
        task_(decoding_ ? nullptr : training_task(config, length_)),
        data_(static_cast<std::uint64_t>(config.integer("training.seed")), "data"),
        dropout_(static_cast<std::uint64_t>(config.integer("training.seed")), "dropout"),
        test_set_(decoding_ ? TestSet(decoding_) : TestSet(config, config.integer("training.test_sequences"))) {}

  void start(const TrainerOptions& options) {
    Manifest manifest = manifest_now();
    manifest.warm_up = warm_up();
    if (options.folder) make_folder(*options.folder, std::move(manifest));
    add_row();
    write_checkpoint();
  }

  void start_as_fork(const RunFolder& parent, std::int64_t step, const std::filesystem::path& folder) {
    warm_up();
    read_shared_weights(parent.path, step, *model_, optimiser_);
    if (CoupledModel* const coupled = model_->coupled()) coupled->hold_couplings();
    step_->push();
    progress_.step = step;
    take_seconds(parent.rows);
    Manifest manifest = manifest_now();
    manifest.fork = {last_component(parent.path), run_title(parent.config), step, changes_text(parent.config, config_)};
    make_folder(folder, std::move(manifest));
    add_row();
    write_checkpoint();
  }

  void go_on(std::unique_ptr<RunWriter> writer) {
    writer_ = std::move(writer);
    folder_ = writer_->folder();
    rows_ = writer_->rows();
    checkpoints_ = read_run_folder(*folder_).run.checkpoints;
    load_newest();
    take_seconds(rows_);
    const Manifest before = writer_->manifest();
    writer_->manifest() = manifest_now();
    writer_->manifest().started = before.started;
    writer_->manifest().fork = before.fork;
    writer_->manifest().warm_up = before.warm_up;
    set_status(finished() ? "finished" : "paused", finished() ? "all steps taken" : "");
    mend_rows();
  }

  Engine engine() const override { return engine_; }
  const ExperimentConfig& config() const override { return config_; }
  const std::optional<std::filesystem::path>& folder() const override { return folder_; }
  std::int64_t step() const override { return progress_.step; }
  bool finished() const override { return progress_.step >= config_.integer("training.steps"); }
  double last_train_loss() const override { return progress_.last_loss; }
  std::int64_t parameter_count() const override { return model_->parameter_count(); }
  const std::vector<MetricsRow>& rows() const override { return rows_; }
  const std::vector<std::int64_t>& checkpoints() const override { return checkpoints_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  const DecodingTask* decoding() const override { return decoding_.get(); }
  SequenceModel& model() override {
    step_->fetch();
    return *model_;
  }

  void advance() override {
    if (failure_) throw TrainingError(*failure_);
    if (finished()) return;
    guarded([this] {
      take_step();
      if (due("training.eval_every")) add_row();
      if (due("training.checkpoint_every")) write_checkpoint();
      if (finished()) set_status("finished", "all steps taken");
    });
  }

  void write_checkpoint() override {
    if (!writer_ || std::ranges::binary_search(checkpoints_, progress_.step)) return;
    guarded([this] {
      step_->fetch();
      const std::vector<OptimisedBuffer> buffers = buffers_of(model_->parameters());
      if (first_not_finite(model_->parameters(), buffers) != nullptr) {
        throw divergence(progress_.step, progress_.last_loss, model_->parameters(), buffers, rate_of_last_step());
      }
      write_checkpoint_files(*folder_, config_, *model_, optimiser_, progress_);
      checkpoints_.insert(std::ranges::upper_bound(checkpoints_, progress_.step), progress_.step);
      writer_->manifest().step = progress_.step;
      writer_->write_manifest();
    });
  }

  void set_status(const std::string& status, const std::string& exit_reason) override {
    if (!writer_) return;
    writer_->manifest().status = status;
    writer_->manifest().exit_reason = exit_reason;
    writer_->manifest().step = progress_.step;
    writer_->write_manifest();
  }

 private:
  std::optional<WarmUpRecord> warm_up() {
    CoupledModel* const coupled = model_->coupled();
    if (coupled == nullptr) return std::nullopt;
    const auto record = coupled->warm_up();
    coupled->hold_couplings();
    step_->push();
    return record;
  }

  Manifest manifest_now() const { return new_manifest(config_, step_->device(), engine_, parameter_count()); }

  void make_folder(const std::filesystem::path& folder, Manifest manifest) {
    writer_ = std::make_unique<RunWriter>(folder, config_, std::move(manifest));
    folder_ = folder;
  }

  void take_seconds(const std::vector<MetricsRow>& rows) {
    for (const MetricsRow& row : rows) {
      if (row.step <= progress_.step) seconds_ = row.seconds;
    }
  }

  bool due(const char* every) const { return finished() || progress_.step % config_.integer(every) == 0; }

  double rate_of(std::int64_t step) const {
    return learning_rate(schedule_, config_.real("training.lr"), step, config_.integer("training.steps"));
  }
  double rate_of_last_step() const { return rate_of(std::max<std::int64_t>(progress_.step - 1, 0)); }

  std::string lengthwise() const { return is_decoder(config_) ? "task.window" : "task.length"; }

  // A run that failed once stays so: what is in memory need not fit what is on disk any more.
  template <typename Action>
  void guarded(const Action& action) {
    if (failure_) throw TrainingError(*failure_);
    try {
      action();
    } catch (const TrainingError& error) {
      fail(error);
    } catch (const std::bad_alloc&) {
      fail({"step " + std::to_string(progress_.step + 1) + ": there is not enough memory",
            "Lower training.batch, " + lengthwise() + " or the model's sizes."});
    } catch (const c10::Error& error) {
      const std::string said = error.what_without_backtrace();
      const bool is_memory = said.find("DefaultCPUAllocator") != std::string::npos;
      fail({"step " + std::to_string(progress_.step + 1) + ": " + (is_memory ? "there is not enough memory" : said),
            "Lower training.batch, " + lengthwise() + " or the model's sizes."});
    } catch (const std::exception& error) {
      fail({"step " + std::to_string(progress_.step + 1) + ": " + error.what(), ""});
    }
  }

  [[noreturn]] void fail(const TrainingError& error) {
    if (!failure_) {
      failure_.emplace(error);
      try {
        set_status("failed", error.what());
      } catch (const TrainingError& second) {
        notes_.push_back(second.what());
      }
    }
    throw TrainingError(*failure_);
  }

  // What a step holds on a device is laid out for one length.
  void use_length(std::int64_t length) {
    if (length == length_) return;
    length_ = length;
    step_->fetch();
    step_.reset();
    step_ = make_step_(*model_, optimiser_, config_.integer("training.batch"), length);
    task_ = training_task(config_, length);
  }

  void next_batch(std::int64_t batch) {
    use_length(lengths_.at(progress_.step));
    const std::int64_t first = progress_.step * batch;
    if (decoding_) {
      decoding_->draw(data_, first, batch, sequences_);
      drop_inputs(sequences_.features, config_.real("model.input_dropout"), dropout_, progress_.step);
    } else {
      task_->generate(data_, first, batch, false, sequences_);
    }
  }

  void take_step() {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t batch = config_.integer("training.batch");
    next_batch(batch);
    const auto [inputs, targets] = sequence_tensors(sequences_, 0, batch);
    const BatchLoss of_batch = step_->gradient(inputs, targets);
    const double rate = rate_of(progress_.step);
    if (!std::isfinite(of_batch.loss) || !std::isfinite(of_batch.norm)) {
      step_->fetch();
      const std::vector<Parameter>& parameters = model_->parameters();
      throw divergence(progress_.step + 1, of_batch.loss, parameters, buffers_of(parameters), rate);
    }
    step_->update(progress_.step + 1, rate, config_.real("training.clip"));
    ++progress_.step;
    progress_.loss_sum += of_batch.loss;
    ++progress_.loss_count;
    progress_.last_loss = of_batch.loss;
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  // metrics.csv may have lost rows that the checkpoint is already beyond. They cannot be measured again, but where the
  // run stands can; its training loss since the row before is unknown then.
  void mend_rows() {
    const std::int64_t last = rows_.empty() ? -1 : rows_.back().step;
    const std::int64_t every = config_.integer("training.eval_every");
    const std::int64_t expected = finished() ? progress_.step : progress_.step / every * every;
    if (last >= expected) return;
    notes_.push_back("metrics.csv ends at step " + std::to_string(last) + " and the checkpoint is of step " +
                     std::to_string(progress_.step) + ": the rows between them are missing");
    if (progress_.step == expected) add_row();
  }

  // Rows that an earlier process wrote beyond the checkpoint it left are the same ones and stay.
  void add_row() {
    const double mean_loss = progress_.loss_sum / static_cast<double>(progress_.loss_count);
    progress_.loss_sum = 0;
    progress_.loss_count = 0;
    const auto known = std::ranges::lower_bound(rows_, progress_.step, {}, &MetricsRow::step);
    if (known != rows_.end()) {
      if (known->step == progress_.step) seconds_ = std::max(seconds_, known->seconds);
      return;
    }
    step_->fetch();
    const Evaluation test = test_set_.evaluate(*model_);
    if (!std::isfinite(test.model)) {
      throw divergence(progress_.step, test.model, model_->parameters(), buffers_of(model_->parameters()),
                       rate_of_last_step());
    }
    MetricsRow row;
    row.step = progress_.step;
    row.tokens = lengths_.tokens_before(progress_.step);
    row.seconds = seconds_;
    row.train_loss = mean_loss;
    row.test_loss = test.model;
    row.add_beta_loss = test.add_beta;
    row.oracle_loss = test.oracle;
    row.gap_add_beta = test.model - test.add_beta;
    row.gap_oracle = test.model - test.oracle;
    row.learning_rate = rate_of_last_step();
    row.accuracy = test.accuracy;
    row.r_squared = test.r_squared;
    if (const CoupledModel* const coupled = model_->coupled(); coupled != nullptr && coupled->has_motif()) {
      const MotifStanding standing = coupled->motif_standing();
      row.motif_loss = standing.loss;
      row.motif_r_squared = standing.r_squared;
    }
    if (writer_) writer_->append(row);
    rows_.push_back(row);
  }

  void load_newest() {
    std::string last_fault;
    while (!checkpoints_.empty()) {
      const std::int64_t newest = checkpoints_.back();
      try {
        progress_ = read_checkpoint_files(*folder_, newest, *model_, optimiser_);
        step_->push();
        if (!last_fault.empty()) notes_.push_back("going on from step " + std::to_string(newest) + ": " + last_fault);
        return;
      } catch (const TrainingError& error) {
        last_fault = error.what();
        checkpoints_.pop_back();
      }
    }
    throw TrainingError(folder_->string() + " has no checkpoint that can be read whole" +
                            (last_fault.empty() ? "" : " (" + last_fault + ")"),
                        "Start a new run with the settings in its experiment.json.");
  }

  ExperimentConfig config_;
  Engine engine_;
  std::vector<std::string> notes_;
  std::unique_ptr<SequenceModel> model_;
  AdamW optimiser_;
  LengthSchedule lengths_;
  std::int64_t length_;  // of the sequences of the step before, or of the first
  StepFactory make_step_;
  std::unique_ptr<TrainingStep> step_;
  Schedule schedule_;
  std::shared_ptr<const DecodingTask> decoding_;  // the one of both that the run has
  std::unique_ptr<KnownTask> task_;
  Stream data_, dropout_;
  TestSet test_set_;
  SequenceBatch sequences_;
  TrainingProgress progress_;
  double seconds_ = 0;
  std::unique_ptr<RunWriter> writer_;
  std::optional<std::filesystem::path> folder_;
  std::vector<MetricsRow> rows_;
  std::vector<std::int64_t> checkpoints_;
  std::optional<TrainingError> failure_;
};

}  // namespace

std::unique_ptr<Trainer> Trainer::create(const ExperimentConfig& config, const TrainerOptions& options) {
  auto trainer = std::make_unique<RunTrainer>(config, options.engine, options.make_step);
  trainer->start(options);
  return trainer;
}

std::unique_ptr<Trainer> Trainer::resume(const std::filesystem::path& folder, const StepFactory& make_step) {
  auto writer = std::make_unique<RunWriter>(folder);
  auto trainer = std::make_unique<RunTrainer>(writer->config(), engine_named(writer->manifest().engine), make_step);
  trainer->go_on(std::move(writer));
  return trainer;
}

std::unique_ptr<Trainer> Trainer::fork(const RunFolder& parent, std::int64_t step, const ExperimentConfig& config,
                                       const std::filesystem::path& folder) {
  if (const std::vector<Problem> problems = fork_problems(parent.config, config, step); !problems.empty()) {
    throw TrainingError(to_string(problems.front()), "");
  }
  const Engine engine = engine_named(parent.manifest.engine);
  auto trainer = std::make_unique<RunTrainer>(config, engine, StepFactory());
  trainer->start_as_fork(parent, step, folder);
  return trainer;
}

std::filesystem::path Trainer::new_folder(const ExperimentConfig& config) {
  const std::filesystem::path root = config.text("run.out");
  for (;;) {
    const std::filesystem::path folder = root / RunWriter::new_run_name(config);
    std::error_code error;
    if (!std::filesystem::exists(folder, error)) return folder;
  }
}

}  // namespace mambarium
