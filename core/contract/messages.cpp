#include "core/contract/messages.h"

#include <array>
#include <utility>

#include "core/contract/json_fields.h"
#include "core/contract/text.h"

namespace mambarium {

using nlohmann::json;

namespace {

constexpr std::array<std::pair<RunState, const char*>, 5> run_states = {{{RunState::idle, "idle"},
                                                                         {RunState::paused, "paused"},
                                                                         {RunState::running, "running"},
                                                                         {RunState::finished, "finished"},
                                                                         {RunState::failed, "failed"}}};

RunState run_state_from(const JsonFields& fields, const char* name) {
  const std::string text = fields.text(name);
  for (const auto& [state, state_name] : run_states)
    if (text == state_name) return state;
  throw MessageError(std::string("state: \"") + name + "\" is " + in_quotes(text) +
                     ", it must be one of idle, paused, running, finished, failed");
}

ExperimentConfig config_from(const JsonFields& fields, const std::string& owner) {
  ParsedConfig parsed = config_from_json(fields.object("config"));
  if (!parsed.problems.empty())
    throw MessageError(owner + ": its configuration: " + to_string(parsed.problems.front()));
  return std::move(parsed.config);
}

template <class Item>
std::vector<Item> list_from(const JsonFields& fields, const char* name) {
  std::vector<Item> items;
  for (const json& entry : fields.array(name)) items.push_back(entry.get<Item>());
  return items;
}

// Anything that from_json of a part throws becomes one MessageError.
template <class Decode>
auto decoded(const json& message, const char* kind, Decode decode) {
  try {
    const JsonFields envelope(message, kind);
    const std::string type = envelope.text("type");
    return decode(type, JsonFields(message, type));
  } catch (const std::invalid_argument& fault) {
    throw MessageError(fault.what());
  }
}

struct RequestEncoder {
  json operator()(const HelloRequest& hello) const {
    return {{"type", "hello"}, {"protocol", hello.protocol}, {"program", hello.program}, {"version", hello.version}};
  }
  json operator()(const OpenConfig& open) const { return {{"type", "open_config"}, {"config", open.config}}; }
  json operator()(const OpenFolder& open) const { return {{"type", "open_folder"}, {"folder", open.folder}}; }
  json operator()(const OpenFork& fork) const {
    return {{"type", "open_fork"}, {"folder", fork.folder}, {"step", fork.step}, {"config", fork.config}};
  }
  json operator()(const StartRequest&) const { return {{"type", "start"}}; }
  json operator()(const PauseRequest&) const { return {{"type", "pause"}}; }
  json operator()(const StepRequest& step) const { return {{"type", "step"}, {"count", step.count}}; }
  json operator()(const TempoRequest& tempo) const {
    return {{"type", "tempo"}, {"steps_per_second", tempo.steps_per_second}};
  }
  json operator()(const InspectMessage& inspect) const {
    json message = inspect.request;
    message["type"] = "inspect";
    message["id"] = inspect.id;
    return message;
  }
  json operator()(const CheckpointRequest&) const { return {{"type", "checkpoint"}}; }
  json operator()(const ListRunsRequest& list) const {
    return {{"type", "list_runs"}, {"id", list.id}, {"root", list.root}};
  }
  json operator()(const ReadRunRequest& read) const {
    return {{"type", "read_run"}, {"id", read.id}, {"folder", read.folder}};
  }
  json operator()(const CloseRequest&) const { return {{"type", "close"}}; }
};

struct ReportEncoder {
  json operator()(const HelloReport& hello) const {
    return {{"type", "hello"},    {"protocol", hello.protocol}, {"program", hello.program}, {"version", hello.version},
            {"host", hello.host}, {"device", hello.device},     {"threads", hello.threads}};
  }
  json operator()(const OpenedReport& opened) const {
    return {{"type", "opened"},
            {"generation", opened.generation},
            {"folder", opened.folder},
            {"config", to_json(opened.config)},
            {"parameter_count", opened.parameter_count},
            {"step", opened.step},
            {"rows", opened.rows},
            {"checkpoints", opened.checkpoints}};
  }
  json operator()(const MetricsReport& metrics) const {
    return {{"type", "metrics"},
            {"generation", metrics.generation},
            {"step", metrics.step},
            {"train_loss", number_or_null(metrics.train_loss)},
            {"tokens_per_second", number_or_null(metrics.tokens_per_second)},
            {"seconds_left", number_or_null(metrics.seconds_left)},
            {"rows", metrics.rows},
            {"checkpoints", metrics.checkpoints}};
  }
  json operator()(const InspectedReport& inspected) const {
    return {{"type", "inspected"},
            {"generation", inspected.generation},
            {"id", inspected.id},
            {"what", inspected.what},
            {"data", inspected.data}};
  }
  json operator()(const StateReport& state) const {
    return {
        {"type", "state"}, {"generation", state.generation}, {"state", to_string(state.state)}, {"step", state.step}};
  }
  json operator()(const RunsReport& runs) const { return {{"type", "runs"}, {"id", runs.id}, {"runs", runs.runs}}; }
  json operator()(const RunReport& run) const {
    return {{"type", "run"},
            {"id", run.id},
            {"folder", run.folder},
            {"config", to_json(run.config)},
            {"manifest", run.manifest},
            {"rows", run.rows},
            {"checkpoints", run.checkpoints}};
  }
  json operator()(const PreparingReport& preparing) const { return {{"type", "preparing"}, {"text", preparing.text}}; }
  json operator()(const LogReport& log) const { return {{"type", "log"}, {"text", log.text}}; }
  json operator()(const ErrorReport& error) const {
    return {{"type", "error"},
            {"generation", error.generation},
            {"id", error.id ? json(*error.id) : json(nullptr)},
            {"message", error.message},
            {"hint", error.hint},
            {"fatal", error.fatal}};
  }
};

std::int64_t positive(const JsonFields& fields, const char* name, const std::string& owner) {
  const std::int64_t value = fields.integer(name);
  if (value < 1)
    throw MessageError(owner + ": \"" + name + "\" is " + std::to_string(value) + ", it must be at least 1");
  return value;
}

double tempo_from(const JsonFields& fields) {
  const double tempo = fields.number("steps_per_second");
  if (tempo >= 0) return tempo;
  throw MessageError("tempo: \"steps_per_second\" is " + shortest(tempo) + ", it must be 0 (full speed) or above");
}

Request request_from(const std::string& type, const JsonFields& fields, const json& message) {
  if (type == "hello") return HelloRequest{fields.integer("protocol"), fields.text("program"), fields.text("version")};
  if (type == "open_config") return OpenConfig{fields.object("config")};
  if (type == "open_folder") return OpenFolder{fields.text("folder")};
  if (type == "open_fork") return OpenFork{fields.text("folder"), fields.count("step"), fields.object("config")};
  if (type == "start") return StartRequest{};
  if (type == "pause") return PauseRequest{};
  if (type == "step") return StepRequest{positive(fields, "count", type)};
  if (type == "tempo") return TempoRequest{tempo_from(fields)};
  if (type == "inspect") return InspectMessage{fields.integer("id"), message.get<InspectRequest>()};
  if (type == "checkpoint") return CheckpointRequest{};
  if (type == "list_runs") return ListRunsRequest{fields.integer("id"), fields.text("root")};
  if (type == "read_run") return ReadRunRequest{fields.integer("id"), fields.text("folder")};
  if (type == "close") return CloseRequest{};
  throw MessageError("request: the type " + in_quotes(type) +
                     " is unknown, it must be one of hello, open_config, open_folder, open_fork, start, pause, step, "
                     "tempo, inspect, checkpoint, list_runs, read_run, close");
}

Report report_from(const std::string& type, const JsonFields& fields) {
  if (type == "hello")
    return HelloReport{fields.integer("protocol"), fields.text("program"), fields.text("version"),
                       fields.text("host"),        fields.text("device"),  fields.integer("threads")};
  if (type == "opened")
    return OpenedReport{fields.count("generation"),      fields.text("folder"), config_from(fields, type),
                        fields.count("parameter_count"), fields.count("step"),  list_from<MetricsRow>(fields, "rows"),
                        fields.integers("checkpoints")};
  if (type == "metrics")
    return MetricsReport{fields.count("generation"),    fields.count("step"),
                         fields.number("train_loss"),   fields.number("tokens_per_second"),
                         fields.number("seconds_left"), list_from<MetricsRow>(fields, "rows"),
                         fields.integers("checkpoints")};
  if (type == "inspected")
    return InspectedReport{fields.count("generation"), fields.integer("id"), fields.text("what"),
                           fields.object("data")};
  if (type == "state")
    return StateReport{fields.count("generation"), run_state_from(fields, "state"), fields.count("step")};
  if (type == "runs") return RunsReport{fields.integer("id"), list_from<RunSummary>(fields, "runs")};
  if (type == "run")
    return RunReport{fields.integer("id"),
                     fields.text("folder"),
                     config_from(fields, type),
                     fields.object("manifest").get<Manifest>(),
                     list_from<MetricsRow>(fields, "rows"),
                     fields.integers("checkpoints")};
  if (type == "preparing") return PreparingReport{fields.text("text")};
  if (type == "log") return LogReport{fields.text("text")};
  if (type == "error")
    return ErrorReport{fields.count("generation"),
                       fields.has("id") ? std::optional(fields.integer("id")) : std::nullopt, fields.text("message"),
                       fields.text("hint"), fields.boolean("fatal")};
  throw MessageError(
      "report: the type " + in_quotes(type) +
      " is unknown, it must be one of hello, opened, metrics, inspected, state, runs, run, preparing, log, "
      "error");
}

}  // namespace

std::string to_string(RunState state) {
  for (const auto& [known, name] : run_states)
    if (known == state) return name;
  throw std::logic_error("a run state without a name");
}

json encode_request(const Request& request) {
  return std::visit(RequestEncoder{}, request);
}
json encode_report(const Report& report) {
  return std::visit(ReportEncoder{}, report);
}

Request decode_request(const json& message) {
  return decoded(message, "request", [&](const std::string& type, const JsonFields& fields) {
    return request_from(type, fields, message);
  });
}

Report decode_report(const json& message) {
  return decoded(message, "report",
                 [](const std::string& type, const JsonFields& fields) { return report_from(type, fields); });
}

}  // namespace mambarium
