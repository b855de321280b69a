// A worker that learns nothing: it speaks the protocol and answers with a synthetic, deterministic learning curve, so
// that the window can be tested without a model, and it misbehaves on request.
//
//   --speed N          steps a second at full speed (400)
//   --long-step MS     every step takes so long, deaf to everything
//   --crash-at STEP    a fresh run dies by SIGKILL at that step (a continued one goes on)
//   --fail-at STEP     training becomes impossible there: a fatal error report
//   --hang-on TYPE, --garbage-on TYPE, --nonsense-on TYPE    what to do when such a request comes
//   --greeting TEXT    text on standard output before anything else, as a chatty login script would
//   --words TEXT       a line on standard error at the start
//   --leave CODE       exit at once
//   --protocol N       another protocol version
//   --slow MS          replies come three bytes at a time with pauses in between
//   --stale            after opening, reports of an older generation that must be dropped
//   --in-use FILE      while that file is there, folders cannot be opened: another worker has them
//   --slow-read FILE   while that file is there, no run folder has been read: neither to show nor to open it
//   --prepare FILE     while that file is there, no configuration is opened, and the window is told so
//   --journal FILE     one line per request: its type, and for inspect what and at
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>

#include "core/contract/framing.h"
#include "core/contract/messages.h"

namespace mambarium {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using nlohmann::json;

constexpr double oracle_loss = 0.475, add_beta_loss = 0.5;

double test_loss_at(std::int64_t step) {
  return add_beta_loss + 0.19 * std::exp(-static_cast<double>(step) / 90.0) + 0.0007;
}

class FakeWorker {
 public:
  explicit FakeWorker(std::map<std::string, std::string> options) : options_(std::move(options)) {}

  int run() {
    if (has("words")) {
      const std::string words = options_["words"] + "\n";
      (void)!::write(2, words.data(), words.size());
    }
    if (has("leave")) return static_cast<int>(number("leave", 0));
    if (has("greeting")) put(options_["greeting"] + "\n");
    while (true) {
      pollfd waiting{0, POLLIN, 0};
      ::poll(&waiting, 1, milliseconds_to_next_step());
      if (waiting.revents != 0 && !read_requests()) return leave();
      if (training_ && Clock::now() >= next_step_) take_step();
    }
  }

 private:
  bool has(const std::string& name) const { return options_.contains(name); }
  double number(const std::string& name, double otherwise) const {
    const auto found = options_.find(name);
    return found == options_.end() ? otherwise : std::stod(found->second);
  }

  void put(const std::string& bytes) {
    const std::size_t piece = has("slow") ? 3 : bytes.size();
    for (std::size_t at = 0; at < bytes.size();) {
      const auto written = ::write(1, bytes.data() + at, std::min(piece, bytes.size() - at));
      if (written <= 0) std::_Exit(0);
      at += static_cast<std::size_t>(written);
      if (has("slow") && at % 60 == 0)
        std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(number("slow", 1)));
    }
  }
  void report(const Report& report) {
    const std::vector<std::uint8_t> frame = encode_frame(encode_report(report));
    put({frame.begin(), frame.end()});
  }
  void state(RunState now) { report(StateReport{generation_, now, step_}); }

  int milliseconds_to_next_step() const {
    if (!training_) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(next_step_ - Clock::now()).count();
    return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1000));
  }

  bool read_requests() {
    std::uint8_t bytes[65536];
    const auto size = ::read(0, bytes, sizeof bytes);
    if (size <= 0) return false;
    reader_.append({bytes, static_cast<std::size_t>(size)});
    while (const auto message = reader_.next()) {
      const std::string type = message->value("type", "");
      note(*message);
      misbehave(type);
      const Request request = decode_request(*message);
      if (std::holds_alternative<CloseRequest>(request)) return false;
      std::visit([this](const auto& known) { answer(known); }, request);
    }
    return true;
  }

  void note(const json& message) {
    if (!has("journal")) return;
    std::ofstream journal(options_["journal"], std::ios::app);
    journal << message.value("type", "");
    if (message.contains("what")) journal << ' ' << message["what"].get<std::string>();
    if (message.contains("at") && message["at"].is_number()) journal << ' ' << message["at"];
    journal << '\n';
  }

  void misbehave(const std::string& type) {
    const auto told = [&](const char* option) { return has(option) && options_[option] == type; };
    if (told("hang-on")) std::this_thread::sleep_for(1h);
    if (told("garbage-on")) put(std::string(64, '\xff'));
    if (told("nonsense-on")) {
      const auto frame = encode_frame(json{{"type", "metrics"}, {"step", "seven"}});
      put({frame.begin(), frame.end()});
    }
  }

  int leave() {
    if (!folder_.empty()) {
      write_checkpoint();
      write_manifest(step_ >= steps() ? "finished" : "paused");
    }
    return 0;
  }

  void answer(const HelloRequest&) {
    report(HelloReport{static_cast<std::int64_t>(number("protocol", static_cast<double>(protocol_version))),
                       "fake-worker", "0", "test-host", "cpu", 1});
  }

  void answer(const OpenConfig& open) {
    const ParsedConfig parsed = config_from_json(open.config);
    if (!parsed.problems.empty()) {
      report(ErrorReport{generation_, std::nullopt, to_string(parsed.problems), "", true});
      return;
    }
    if (has("prepare")) report(PreparingReport{"Reading the recording"});
    while (has("prepare") && fs::exists(options_["prepare"])) std::this_thread::sleep_for(5ms);
    begin(parsed.config, 0, std::nullopt);
  }

  void answer(const OpenFork& fork) {
    const ReadRunFolder parent = read_run_folder(fork.folder);
    const ParsedConfig parsed = config_from_json(fork.config);
    if (!parent.problems.empty() || !parsed.problems.empty() ||
        !std::ranges::count(parent.run.checkpoints, fork.step)) {
      report(
          ErrorReport{generation_, std::nullopt, fork.folder + " cannot be forked here", "Fork another run.", false});
      return;
    }
    begin(parsed.config, fork.step,
          Fork{fs::path(fork.folder).filename().string(), run_title(parent.run.config), fork.step,
               changes_text(parent.run.config, parsed.config)});
  }

  void begin(const ExperimentConfig& config, std::int64_t step, const std::optional<Fork>& fork) {
    config_ = config;
    fork_ = fork;
    fresh_ = true;
    step_ = step;
    rows_.clear();
    checkpoints_.clear();
    const fs::path root = config_.text("run.out");
    std::error_code fault;
    fs::create_directories(root, fault);
    // Making the folder is what claims it: two workers may begin at the same time.
    for (int count = 1; !fault; ++count) {
      folder_ = root / ("run-" + std::to_string(count));
      if (fs::create_directory(folder_, fault)) break;
    }
    if (!fault) fs::create_directory(folder_ / "checkpoints", fault);
    if (fault) {
      folder_.clear();
      report(ErrorReport{generation_, std::nullopt,
                         "the run folder " + (root / "run-1").string() + " cannot be made: " + fault.message(),
                         "Choose another folder for runs.", true});
      return;
    }
    write_whole("experiment.json", to_json(config_));
    std::ofstream(folder_ / "metrics.csv") << metrics_header() << '\n';
    write_manifest("paused");
    evaluate();
    if (fork) write_checkpoint();
    opened();
  }

  void wait_for_disk() {
    while (has("slow-read") && fs::exists(options_["slow-read"])) std::this_thread::sleep_for(5ms);
  }

  void answer(const OpenFolder& open) {
    wait_for_disk();
    if (has("in-use") && fs::exists(options_["in-use"])) {
      report(ErrorReport{generation_, std::nullopt, open.folder + " is in use by another run (process 7)",
                         "Wait until it ends.", true});
      return;
    }
    const ReadRunFolder read = read_run_folder(open.folder);
    if (!read.problems.empty() || read.run.checkpoints.empty()) {
      report(ErrorReport{
          generation_, std::nullopt,
          read.problems.empty() ? open.folder + " has no checkpoint to go on from" : to_string(read.problems.front()),
          "Open another run.", true});
      return;
    }
    fresh_ = false;
    fork_ = read.run.manifest.fork;
    folder_ = open.folder;
    config_ = read.run.config;
    rows_ = read.run.rows;
    checkpoints_ = read.run.checkpoints;
    step_ = checkpoints_.back();
    opened();
  }

  void opened() {
    training_ = false;
    ++generation_;
    new_rows_ = rows_.size();
    new_checkpoints_ = checkpoints_.size();
    report(OpenedReport{generation_, folder_.string(), config_, 1498, step_, rows_, checkpoints_});
    state(step_ >= steps() ? RunState::finished : RunState::paused);
    if (!has("stale")) return;
    MetricsRow wrong;
    wrong.step = 7;
    wrong.test_loss = 99;
    report(MetricsReport{generation_ - 1, 7, 99, 1, 1, {wrong}, {7}});
    report(StateReport{generation_ - 1, RunState::failed, 7});
    report(ErrorReport{generation_ - 1, std::nullopt, "an old error that nobody should see", "", false});
  }

  void answer(const StartRequest&) {
    if (folder_.empty() || step_ >= steps()) return;
    training_ = true;
    steps_to_take_ = -1;
    next_step_ = Clock::now();
    write_manifest("running");
    state(RunState::running);
  }
  void answer(const PauseRequest&) {
    training_ = false;
    if (!folder_.empty()) state(step_ >= steps() ? RunState::finished : RunState::paused);
  }
  void answer(const StepRequest& step) {
    if (folder_.empty() || step_ >= steps()) return;
    training_ = true;
    steps_to_take_ = step.count;
    next_step_ = Clock::now();
  }
  void answer(const TempoRequest& tempo) {
    tempo_ = tempo.steps_per_second;
    next_step_ = Clock::now();
  }
  void answer(const CheckpointRequest&) {
    write_checkpoint();
    metrics();
  }

  void answer(const InspectMessage& inspect) {
    const std::int64_t step = inspect.request.at.value_or(step_);
    if (inspect.request.at && !std::ranges::count(checkpoints_, step)) {
      report(ErrorReport{generation_, inspect.id, "there is no checkpoint of step " + std::to_string(step), "", false});
      return;
    }
    report(InspectedReport{generation_, inspect.id, inspect.request.what, data_of(inspect.request, step)});
  }
  void answer(const ListRunsRequest& list) { report(RunsReport{list.id, list_run_folders(list.root)}); }
  void answer(const ReadRunRequest& read) {
    wait_for_disk();
    const ReadRunFolder found = read_run_folder(read.folder);
    if (!found.problems.empty()) {
      report(ErrorReport{generation_, read.id, to_string(found.problems.front()),
                         "Choose a folder that a run has written.", false});
      return;
    }
    report(
        RunReport{read.id, read.folder, found.run.config, found.run.manifest, found.run.rows, found.run.checkpoints});
  }
  void answer(const CloseRequest&) {}

  std::int64_t steps() const { return config_.integer("training.steps"); }

  void take_step() {
    if (has("long-step"))
      std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(number("long-step", 0)));
    ++step_;
    if (fresh_ && has("crash-at") && step_ >= static_cast<std::int64_t>(number("crash-at", 0))) ::raise(SIGKILL);
    if (step_ % config_.integer("training.eval_every") == 0 || step_ == steps()) evaluate();
    if (step_ % config_.integer("training.checkpoint_every") == 0 || step_ == steps()) write_checkpoint();
    const bool fails = has("fail-at") && step_ >= static_cast<std::int64_t>(number("fail-at", 0));
    const bool last = step_ >= steps() || fails || (steps_to_take_ > 0 && --steps_to_take_ == 0);
    if (last || Clock::now() - last_metrics_ > 33ms) metrics();
    const double speed = tempo_ > 0 ? tempo_ : number("speed", 400);
    // Not from when this one was due: a worker that had to wait does not catch up in a burst.
    next_step_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(1 / speed));
    if (!last) return;
    training_ = false;
    if (fails)
      report(ErrorReport{generation_, std::nullopt, "the loss is not finite at step " + std::to_string(step_),
                         "Lower the learning rate.", true});
    const RunState now = fails ? RunState::failed : step_ >= steps() ? RunState::finished : RunState::paused;
    write_manifest(to_string(now));
    state(now);
  }

  void metrics() {
    last_metrics_ = Clock::now();
    const std::vector<MetricsRow> rows(rows_.begin() + static_cast<std::ptrdiff_t>(new_rows_), rows_.end());
    const std::vector<std::int64_t> checkpoints(checkpoints_.begin() + static_cast<std::ptrdiff_t>(new_checkpoints_),
                                                checkpoints_.end());
    new_rows_ = rows_.size();
    new_checkpoints_ = checkpoints_.size();
    const double wobble = 0.01 * std::sin(static_cast<double>(step_) * 0.7);
    report(MetricsReport{generation_, step_, test_loss_at(step_) + wobble, 2.1e6,
                         static_cast<double>(steps() - step_) / 400, rows, checkpoints});
  }

  void evaluate() {
    MetricsRow row;
    row.step = step_;
    row.tokens = step_ * 64 * 128;
    row.seconds = static_cast<double>(step_) / 400;
    row.train_loss = step_ == 0 ? std::nan("") : test_loss_at(step_);
    row.test_loss = test_loss_at(step_);
    row.add_beta_loss = add_beta_loss;
    row.oracle_loss = oracle_loss;
    row.gap_add_beta = row.test_loss - add_beta_loss;
    row.gap_oracle = row.test_loss - oracle_loss;
    row.learning_rate = 0.002;
    if (!rows_.empty() && rows_.back().step >= step_) return;
    rows_.push_back(row);
    std::ofstream(folder_ / "metrics.csv", std::ios::app) << to_csv_line(row) << '\n';
  }

  void write_checkpoint() {
    if (folder_.empty() || std::ranges::count(checkpoints_, step_)) return;
    std::ofstream(checkpoint_path(folder_, step_)) << "weights";
    std::ofstream(state_path(folder_, step_)) << "state";
    checkpoints_.push_back(step_);
  }

  void write_manifest(const std::string& status) {
    Manifest manifest;
    manifest.status = status;
    manifest.step = step_;
    manifest.parameter_count = 1498;
    manifest.started = "2026-11-29T00:00:00Z";
    manifest.fork = fork_;
    write_whole("manifest.json", manifest);
  }

  // Another worker may be reading the folder: it finds the old file or the new one, never half of one.
  void write_whole(const std::string& name, const json& content) {
    const fs::path unfinished = folder_ / (name + ".new");
    std::ofstream(unfinished) << content.dump(2);
    fs::rename(unfinished, folder_ / name);
  }

  json data_of(const InspectRequest& request, std::int64_t step) const {
    const std::int64_t length = std::min<std::int64_t>(config_.integer("task.length"), 128);
    const double learned = 1 - std::exp(-static_cast<double>(step) / 90.0);
    std::vector<std::int32_t> tokens;
    for (std::int64_t t = 0; t < length; ++t)
      tokens.push_back(static_cast<std::int32_t>((t * 7 + request.probe * 3) % 5 < 2));
    if (request.what == "decay") {
      DecayData data{step, tokens, {{1, 1, length}, {}}};
      for (std::int64_t t = 0; t < length; ++t)
        data.decay.data.push_back(static_cast<float>(0.5 + 0.495 * learned -
                                                     0.01 * static_cast<double>(tokens[static_cast<std::size_t>(t)])));
      return data;
    }
    if (request.what == "filters") {
      const std::int64_t inner = config_.integer("model.expand") * config_.integer("model.d_model");
      const std::int64_t d_state = config_.integer("model.d_state");
      FilterData::Layer layer;
      for (const auto& [name, channels] : {std::pair{"x", inner}, {"B", d_state}, {"C", d_state}})
        layer.push_back({name,
                         taps(name, channels, learned),
                         {{channels}, std::vector<float>(static_cast<std::size_t>(channels))}});
      return FilterData{step, {layer}};
    }
    const std::int64_t states = alphabet_of(config_);
    PredictionData data{step,
                        config_.integer("task.order"),
                        tokens,
                        0,
                        {{length, states}, {}},
                        {{length, states}, {}},
                        {{length, states}, {}}};
    const auto fill = [&](Tensor& tensor, double level) {
      for (std::int64_t t = 0; t < length; ++t) {
        const double first = std::clamp(0.5 + level * std::sin(static_cast<double>(t) / 9.0), 0.01, 0.99);
        for (std::int64_t s = 0; s < states; ++s)
          tensor.data.push_back(static_cast<float>(s == 0 ? first : (1 - first) / static_cast<double>(states - 1)));
      }
    };
    fill(data.model, 0.3 * learned);
    fill(data.add_beta, 0.3);
    fill(data.oracle, 0.35);
    return data;
  }

  Tensor taps(std::string_view segment, std::int64_t channels, double learned) const {
    const std::int64_t window = config_.integer("model.d_conv");
    if (!config_.includes("model.conv", segment)) channels = 0;
    Tensor tensor{{channels, window}, {}};
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t tap = 0; tap < window; ++tap)
        tensor.data.push_back(static_cast<float>(std::sin(static_cast<double>(c * 3 + tap)) * learned));
    return tensor;
  }

  std::map<std::string, std::string> options_;
  FrameReader reader_;
  ExperimentConfig config_;
  std::optional<Fork> fork_;
  fs::path folder_;
  std::vector<MetricsRow> rows_;
  std::vector<std::int64_t> checkpoints_;
  std::size_t new_rows_ = 0, new_checkpoints_ = 0;
  std::int64_t generation_ = 0, step_ = 0, steps_to_take_ = -1;
  bool training_ = false, fresh_ = true;
  double tempo_ = 0;
  Clock::time_point next_step_, last_metrics_;
};

std::map<std::string, std::string> options_from(int count, char** words) {
  std::map<std::string, std::string> options;
  for (int index = 1; index < count; ++index) {
    const std::string word = words[index];
    if (!word.starts_with("--")) continue;
    const bool has_value = index + 1 < count && !std::string(words[index + 1]).starts_with("--") && word != "--stale";
    options[word.substr(2)] = has_value ? words[++index] : "";
  }
  return options;
}

}  // namespace
}  // namespace mambarium

int main(int count, char** words) {
  ::signal(SIGPIPE, SIG_IGN);
  return mambarium::FakeWorker(mambarium::options_from(count, words)).run();
}
