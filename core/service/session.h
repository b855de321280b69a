// Session: the worker's side of the protocol. It holds at most one experiment and does what requests say to it, between
// two steps. It neither reads nor waits: serve_command.cpp does, and asks due() when the next step may be taken.
//
// docs/protocol.md describes what is seen from outside. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/contract/messages.h"
#include "core/service/command_error.h"
#include "core/service/speedometer.h"
#include "core/training/trainer.h"

namespace mambarium {

class Session {
 public:
  using Clock = std::chrono::steady_clock;
  using Send = std::function<void(const Report&)>;

  Session(Send send, Engine engine);

  // Does it and answers. Throws CommandError when the worker has to end: another protocol version.
  void handle(const Request& request);
  void refuse(const std::string& sentence, std::optional<std::int64_t> id);  // a frame that was no request

  bool closing() const { return closing_; }
  // When the next step may be taken; nothing while no run is running.
  std::optional<Clock::time_point> due() const;
  // Takes one step and reports what there is to report. A run that cannot go on becomes failed; nothing is thrown.
  void advance();

  // The last checkpoint and the reason into the manifest; the experiment is let go of. Throws CommandError when the
  // checkpoint cannot be written.
  void close(const std::string& reason);

 private:
  void on(const HelloRequest& hello);
  void on(const OpenConfig& open);
  void on(const OpenFolder& open);
  void on(const OpenFork& fork);
  void on(const StartRequest& start);
  void on(const PauseRequest& pause);
  void on(const StepRequest& step);
  void on(const TempoRequest& tempo);
  void on(const InspectMessage& inspect);
  void on(const CheckpointRequest& checkpoint);
  void on(const ListRunsRequest& list);
  void on(const ReadRunRequest& read);
  void on(const CloseRequest& close);

  bool has_experiment(std::optional<std::int64_t> id = std::nullopt);  // answers with an error if not
  bool can_train();
  void replace(const ExperimentConfig& config, const std::function<std::unique_ptr<Trainer>()>& make);
  void opened(std::unique_ptr<Trainer> trainer);
  void run(std::optional<std::int64_t> steps);
  void pause(const std::string& reason);
  void fail(const TrainingError& fault);
  void come_to_rest(RunState state);  // with the last metrics and the state
  void error(const std::string& message, const std::string& hint = "", std::optional<std::int64_t> id = std::nullopt);
  void report_metrics();
  void report_state();
  SequenceModel& model_at(std::int64_t step);

  Send send_;
  Engine engine_;
  bool greeted_ = false, closing_ = false;
  std::int64_t generation_ = 0;
  std::unique_ptr<Trainer> trainer_;
  RunState state_ = RunState::idle;
  std::optional<std::int64_t> steps_to_go_;  // of a step request
  double tempo_ = 0;
  Clock::time_point last_step_{}, last_report_{};
  Speedometer speed_;
  std::size_t rows_reported_ = 0;
  std::int64_t checkpoint_reported_ = -1;  // the newest one
  std::unique_ptr<SequenceModel> checkpoint_model_;
  std::int64_t checkpoint_model_step_ = -1;
};

}  // namespace mambarium
