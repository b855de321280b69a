#include "core/service/session.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>

#include "core/analysis/analysis.h"
#include "core/contract/length_schedule.h"
#include "core/contract/run_folder.h"
#include "core/contract/text.h"
#include "core/service/loaded_run.h"
#include "core/service/machine.h"
#include "core/training/runtime.h"
#include "mambarium/version.h"

namespace mambarium {

namespace fs = std::filesystem;

namespace {

constexpr std::chrono::microseconds between_reports{1'000'000 / 30};

// LibTorch's messages carry a stack trace after the first line.
std::string first_line(const char* text) {
  return std::string(split(text, '\n').front());
}

std::string joined(std::span<const Problem> problems) {
  std::string sentences;
  for (const Problem& problem : problems) sentences += (sentences.empty() ? "" : "; ") + to_string(problem);
  return sentences;
}

// What takes many seconds before the first row of a decoder.
std::string preparation(const ExperimentConfig& config) {
  return config.text("task.recording") == "simulated" ? "Preparing the recording and its ideal decoder"
                                                      : "Reading the recording";
}

bool same_folder(const Trainer* trainer, const fs::path& folder) {
  std::error_code error;
  return trainer != nullptr && trainer->folder() && fs::equivalent(*trainer->folder(), folder, error);
}

}  // namespace

Session::Session(Send send, Engine engine) : send_(std::move(send)), engine_(engine) {}

void Session::handle(const Request& request) {
  if (!greeted_ && !std::holds_alternative<HelloRequest>(request)) {
    error("a request came before the greeting", "the first message must be hello");
    return;
  }
  std::visit([this](const auto& specific) { on(specific); }, request);
}

void Session::refuse(const std::string& sentence, std::optional<std::int64_t> id) {
  spdlog::warn("{}", sentence);
  error(sentence, "", id);
}

void Session::on(const HelloRequest& hello) {
  if (hello.protocol != protocol_version) {
    const std::string message = fmt::format("the window speaks version {} of the protocol and this worker version {}",
                                            hello.protocol, protocol_version);
    const std::string hint = "install the same version of Mambarium on both sides";
    send_(ErrorReport{generation_, std::nullopt, message, hint, true});
    throw bad_input(message + "; " + hint);
  }
  greeted_ = true;
  const ExperimentConfig config = trainer_ ? trainer_->config() : ExperimentConfig();
  send_(HelloReport{protocol_version, "mambarium-worker", version, host_name(), resolved_device(config),
                    config.integer("run.threads")});
}

void Session::on(const OpenConfig& open) {
  const ParsedConfig parsed = config_from_json(open.config);
  if (!parsed.problems.empty()) return error(joined(parsed.problems), "correct these settings and open it again");
  replace(parsed.config, [&] { return Trainer::create(parsed.config, {engine_, Trainer::new_folder(parsed.config)}); });
}

void Session::on(const OpenFolder& open) {
  const ReadRunFolder read = read_run_folder(open.folder);
  if (!read.problems.empty()) return error(joined(read.problems), "choose a folder that holds a whole run");
  if (same_folder(trainer_.get(), open.folder)) {
    // A folder belongs to one trainer at a time, so this one cannot be kept until the new one is there.
    try {
      close("opened again");
    } catch (const CommandError& fault) {
      error(fault.what());
    }
    state_ = RunState::idle;
  }
  replace(read.run.config, [&] { return Trainer::resume(open.folder); });
}

void Session::on(const OpenFork& fork) {
  const ReadRunFolder read = read_run_folder(fork.folder);
  if (!read.problems.empty()) return error(joined(read.problems), "choose a folder that holds a whole run");
  const ParsedConfig parsed = config_from_json(fork.config);
  if (!parsed.problems.empty()) return error(joined(parsed.problems), "correct these settings and fork again");
  if (const auto problems = fork_problems(read.run.config, parsed.config, fork.step); !problems.empty())
    return error(joined(problems));
  if (const auto& present = read.run.checkpoints; !std::ranges::binary_search(present, fork.step)) {
    const MissingCheckpoint missing = missing_checkpoint(fork.step, present);
    return error(fork.folder + ": " + missing.message, missing.hint);
  }
  replace(parsed.config,
          [&] { return Trainer::fork(read.run, fork.step, parsed.config, Trainer::new_folder(parsed.config)); });
}

void Session::replace(const ExperimentConfig& config, const std::function<std::unique_ptr<Trainer>()>& make) {
  if (const auto problem = unfit_for_this_machine(config, engine_)) return error(to_string(*problem));
  if (is_decoder(config)) send_(PreparingReport{preparation(config)});
  const ExperimentConfig before = trainer_ ? trainer_->config() : ExperimentConfig();
  const Engine engine_before = trainer_ ? trainer_->engine() : engine_of(before, engine_);
  try {
    if (trainer_ && state_ != RunState::failed) trainer_->write_checkpoint();
    auto made = make();
    if (trainer_ && state_ == RunState::running) trainer_->set_status("paused", "another experiment was opened");
    return opened(std::move(made));
  } catch (const TrainingError& fault) {
    error(fault.what(), fault.hint());
  } catch (const std::exception& fault) {
    error("the experiment cannot be opened: " + first_line(fault.what()));
  }
  configure_runtime(torch_threads(engine_before, before.integer("run.threads")));
}

void Session::opened(std::unique_ptr<Trainer> trainer) {
  trainer_ = std::move(trainer);
  checkpoint_model_.reset();
  checkpoint_model_step_ = -1;
  steps_to_go_.reset();
  ++generation_;
  state_ = trainer_->finished() ? RunState::finished : RunState::paused;
  rows_reported_ = trainer_->rows().size();
  checkpoint_reported_ = trainer_->checkpoints().empty() ? -1 : trainer_->checkpoints().back();
  const std::string folder = trainer_->folder()->string();
  spdlog::info("opened {} at step {}", folder, trainer_->step());
  send_(OpenedReport{generation_, folder, trainer_->config(), trainer_->parameter_count(), trainer_->step(),
                     trainer_->rows(), trainer_->checkpoints()});
  for (const std::string& note : trainer_->notes()) send_(LogReport{note});
  report_state();
}

void Session::on(const StartRequest&) {
  if (can_train()) run(std::nullopt);
}

void Session::on(const StepRequest& step) {
  if (can_train()) run(step.count);
}

void Session::run(std::optional<std::int64_t> steps) {
  if (state_ == RunState::finished) return report_state();
  if (state_ != RunState::running) {
    try {
      trainer_->set_status("running", "");
    } catch (const TrainingError& fault) {
      return fail(fault);
    }
    speed_.restart(trainer_->step());
    last_step_ = {};
  }
  state_ = RunState::running;
  steps_to_go_ = steps;
  if (!steps) report_state();
}

void Session::on(const PauseRequest&) {
  if (!has_experiment()) return;
  if (state_ == RunState::running) return pause("paused by the window");
  report_state();
}

void Session::on(const TempoRequest& tempo) {
  tempo_ = tempo.steps_per_second;
}

void Session::on(const InspectMessage& inspect_message) {
  if (!has_experiment(inspect_message.id)) return;
  const InspectRequest& request = inspect_message.request;
  try {
    SequenceModel& model = request.at ? model_at(*request.at) : trainer_->model();
    nlohmann::json data =
        inspect(model, trainer_->config(), request, request.at.value_or(trainer_->step()), trainer_->decoding());
    send_(InspectedReport{generation_, inspect_message.id, request.what, std::move(data)});
  } catch (const TrainingError& fault) {
    error(fault.what(), fault.hint(), inspect_message.id);
  } catch (const std::exception& fault) {
    error(first_line(fault.what()), "", inspect_message.id);
  }
}

SequenceModel& Session::model_at(std::int64_t step) {
  if (checkpoint_model_ && checkpoint_model_step_ == step) return *checkpoint_model_;
  const auto& present = trainer_->checkpoints();
  if (!std::ranges::binary_search(present, step)) {
    const MissingCheckpoint missing = missing_checkpoint(step, present);
    throw TrainingError(missing.message, missing.hint);
  }
  if (!checkpoint_model_) checkpoint_model_ = make_model(trainer_->config(), engine_);
  checkpoint_model_step_ = -1;
  load_checkpoint(*checkpoint_model_, checkpoint_path(*trainer_->folder(), step));
  checkpoint_model_step_ = step;
  return *checkpoint_model_;
}

void Session::on(const CheckpointRequest&) {
  if (!has_experiment()) return;
  try {
    trainer_->write_checkpoint();
    report_metrics();
  } catch (const TrainingError& fault) {
    error(fault.what(), fault.hint());
  }
}

void Session::on(const ListRunsRequest& list) {
  send_(RunsReport{list.id, list_run_folders(list.root)});
}

void Session::on(const ReadRunRequest& read) {
  ReadRunFolder folder = read_run_folder(read.folder);
  if (!folder.problems.empty()) return error(joined(folder.problems), "", read.id);
  RunFolder& run = folder.run;
  send_(RunReport{read.id, read.folder, std::move(run.config), std::move(run.manifest), std::move(run.rows),
                  std::move(run.checkpoints)});
}

void Session::on(const CloseRequest&) {
  closing_ = true;
}

std::optional<Session::Clock::time_point> Session::due() const {
  if (state_ != RunState::running) return std::nullopt;
  if (tempo_ <= 0 || steps_to_go_) return Clock::time_point{};
  constexpr double longest_wait = 3600;
  const std::chrono::duration<double> wait(std::min(1 / tempo_, longest_wait));
  return last_step_ + std::chrono::duration_cast<Clock::duration>(wait);
}

void Session::advance() {
  last_step_ = Clock::now();
  try {
    trainer_->advance();
  } catch (const TrainingError& fault) {
    return fail(fault);
  } catch (const std::exception& fault) {
    return fail({fmt::format("step {}: {}", trainer_->step() + 1, first_line(fault.what())), ""});
  }
  speed_.passed(trainer_->step());
  if (trainer_->finished()) return come_to_rest(RunState::finished);
  if (steps_to_go_ && --*steps_to_go_ == 0) return pause("the steps that were asked for are taken");
  if (Clock::now() - last_report_ >= between_reports) report_metrics();
}

void Session::pause(const std::string& reason) {
  try {
    trainer_->set_status("paused", reason);
  } catch (const TrainingError& fault) {
    return fail(fault);
  }
  come_to_rest(RunState::paused);
}

void Session::come_to_rest(RunState state) {
  state_ = state;
  steps_to_go_.reset();
  report_metrics();
  report_state();
}

void Session::fail(const TrainingError& fault) {
  spdlog::error("{}", fault.what());
  send_(ErrorReport{generation_, std::nullopt, fault.what(), fault.hint(), true});
  come_to_rest(RunState::failed);
}

bool Session::has_experiment(std::optional<std::int64_t> id) {
  if (trainer_) return true;
  error("no experiment is open", "send open_config or open_folder first", id);
  return false;
}

bool Session::can_train() {
  if (!has_experiment()) return false;
  if (state_ != RunState::failed) return true;
  error("this run has failed and cannot go on", "open its folder again to go on from its last good checkpoint");
  return false;
}

void Session::error(const std::string& message, const std::string& hint, std::optional<std::int64_t> id) {
  send_(ErrorReport{generation_, id, message, hint, false});
}

void Session::report_metrics() {
  last_report_ = Clock::now();
  const ExperimentConfig& config = trainer_->config();
  const LengthSchedule lengths(config);
  const auto tokens_per_step = static_cast<double>(lengths.tokens_in(trainer_->step() - 1));
  MetricsReport report{generation_,
                       trainer_->step(),
                       trainer_->last_train_loss(),
                       speed_.steps_per_second() * tokens_per_step,
                       speed_.seconds_left(trainer_->step() + lengths.steps_left_alike(trainer_->step())),
                       {},
                       {}};
  const auto& rows = trainer_->rows();
  report.rows.assign(rows.begin() + static_cast<std::ptrdiff_t>(rows_reported_), rows.end());
  const auto& checkpoints = trainer_->checkpoints();
  report.checkpoints.assign(std::ranges::upper_bound(checkpoints, checkpoint_reported_), checkpoints.end());
  rows_reported_ = rows.size();
  if (!checkpoints.empty()) checkpoint_reported_ = checkpoints.back();
  send_(report);
}

void Session::report_state() {
  send_(StateReport{generation_, state_, trainer_ ? trainer_->step() : 0});
}

void Session::close(const std::string& reason) {
  if (!trainer_) return;
  const auto trainer = std::move(trainer_);
  if (state_ == RunState::failed) return;
  try {
    trainer->write_checkpoint();
    if (!trainer->finished()) trainer->set_status("paused", reason);
  } catch (const std::exception& fault) {
    throw CommandError(exit_code::failure, first_line(fault.what()));
  }
  spdlog::info("closed {} at step {}", trainer->folder()->string(), trainer->step());
}

}  // namespace mambarium
