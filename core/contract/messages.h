// The messages of the protocol, one struct each. docs/protocol.md describes the conversation.
//
// A Request goes from the desktop to the worker, a Report back. decode_* checks every field and throws MessageError
// with one sentence that names the message, the field, and what would be right; encode_* cannot fail. `generation`
// counts the experiments a worker has opened: reports that carry an older one are dropped by the receiver.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "core/contract/experiment_config.h"
#include "core/contract/inspection.h"
#include "core/contract/metrics.h"
#include "core/contract/run_folder.h"

namespace mambarium {

inline constexpr std::int64_t protocol_version = 1;

class MessageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// ---- desktop -> worker ----
struct HelloRequest {
  std::int64_t protocol = protocol_version;
  std::string program, version;
};  // always first
struct OpenConfig {
  nlohmann::json config;
};  // start a fresh run (paused at step 0); the worker makes the folder
struct OpenFolder {
  std::string folder;
};  // go on with a run (paused at its last good checkpoint)
struct OpenFork {
  std::string folder;
  std::int64_t step = 0;
  nlohmann::json config;
};  // start a run from a checkpoint of another (paused at that step), with changed settings (fork.h)
struct StartRequest {};
struct PauseRequest {};
struct StepRequest {
  std::int64_t count = 1;
};  // so many steps, then paused; answered by state
struct TempoRequest {
  double steps_per_second = 0;
};  // 0: full speed
struct InspectMessage {
  std::int64_t id = 0;
  InspectRequest request;
};
struct CheckpointRequest {};  // write one now
struct ListRunsRequest {
  std::int64_t id = 0;
  std::string root;
};  // run folders below a directory
struct ReadRunRequest {
  std::int64_t id = 0;
  std::string folder;
};                       // config, manifest and metrics, without opening it
struct CloseRequest {};  // checkpoint and exit 0; end of file does the same

using Request =
    std::variant<HelloRequest, OpenConfig, OpenFolder, OpenFork, StartRequest, PauseRequest, StepRequest, TempoRequest,
                 InspectMessage, CheckpointRequest, ListRunsRequest, ReadRunRequest, CloseRequest>;

// ---- worker -> desktop ----
enum class RunState { idle, paused, running, finished, failed };
std::string to_string(RunState state);

struct HelloReport {
  std::int64_t protocol = protocol_version;
  std::string program, version, host, device;
  std::int64_t threads = 1;
};
struct OpenedReport {
  std::int64_t generation = 0;
  std::string folder;       // where the run lives, on the worker's machine
  ExperimentConfig config;  // after defaults
  std::int64_t parameter_count = 0;
  std::int64_t step = 0;                  // where it stands
  std::vector<MetricsRow> rows;           // what is already in metrics.csv
  std::vector<std::int64_t> checkpoints;  // steps that can be inspected
};
struct MetricsReport {  // at most 30 a second, however fast the steps are
  std::int64_t generation = 0;
  std::int64_t step = 0;
  double train_loss = 0;                  // of the newest step
  double tokens_per_second = 0;           // over about the last second
  double seconds_left = -1;               // estimate to the last step; negative: not known yet
  std::vector<MetricsRow> rows;           // evaluations since the last report
  std::vector<std::int64_t> checkpoints;  // steps newly on disk since the last report
};
struct InspectedReport {
  std::int64_t generation = 0;
  std::int64_t id = 0;
  std::string what;
  nlohmann::json data;
};
struct StateReport {
  std::int64_t generation = 0;
  RunState state = RunState::idle;
  std::int64_t step = 0;
};
struct RunsReport {
  std::int64_t id = 0;
  std::vector<RunSummary> runs;
};
struct RunReport {
  std::int64_t id = 0;
  std::string folder;
  ExperimentConfig config;
  Manifest manifest;
  std::vector<MetricsRow> rows;
  std::vector<std::int64_t> checkpoints;
};
struct PreparingReport {
  std::string text;  // what is being done before `opened`, without a full stop: "Reading the recording"
};
struct LogReport {
  std::string text;
};
struct ErrorReport {
  std::int64_t generation = 0;
  std::optional<std::int64_t> id;  // of the request that failed, where it had one
  std::string message;             // what and where, one sentence
  std::string hint;                // what would be right, or ""
  bool fatal = false;              // the run cannot go on (state becomes failed)
};

using Report = std::variant<HelloReport, OpenedReport, MetricsReport, InspectedReport, StateReport, RunsReport,
                            RunReport, PreparingReport, LogReport, ErrorReport>;

nlohmann::json encode_request(const Request& request);
Request decode_request(const nlohmann::json& message);
nlohmann::json encode_report(const Report& report);
Report decode_report(const nlohmann::json& message);

}  // namespace mambarium
