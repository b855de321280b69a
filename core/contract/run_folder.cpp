#include "core/contract/run_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "core/contract/json_fields.h"
#include "core/contract/text.h"

namespace mambarium {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::array<std::pair<const char*, std::string Manifest::*>, 11> manifest_texts = {
    {{"program_version", &Manifest::program_version},
     {"git_revision", &Manifest::git_revision},
     {"torch_version", &Manifest::torch_version},
     {"compiler", &Manifest::compiler},
     {"host", &Manifest::host},
     {"device", &Manifest::device},
     {"engine", &Manifest::engine},
     {"started", &Manifest::started},
     {"updated", &Manifest::updated},
     {"status", &Manifest::status},
     {"exit_reason", &Manifest::exit_reason}}};
constexpr std::array<std::pair<const char*, std::int64_t Manifest::*>, 4> manifest_counts = {
    {{"threads", &Manifest::threads},
     {"seed", &Manifest::seed},
     {"parameter_count", &Manifest::parameter_count},
     {"step", &Manifest::step}}};

std::optional<std::string> content_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  if (file.peek() == std::ifstream::traits_type::eof()) return std::string();
  std::ostringstream content;
  content << file.rdbuf();
  return file ? std::optional(std::move(content).str()) : std::nullopt;
}

std::string step_name(std::int64_t step) {
  std::string digits = std::to_string(step);
  constexpr std::size_t width = 6;
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return "step-" + digits;
}

std::optional<std::int64_t> step_of(const fs::path& file) {
  const std::string name = file.stem().string();
  constexpr std::string_view prefix = "step-";
  if (file.extension() != ".safetensors" || !name.starts_with(prefix)) return std::nullopt;
  const auto step = integer_from(std::string_view(name).substr(prefix.size()));
  if (!step || *step < 0 || name != step_name(*step)) return std::nullopt;
  return step;
}

std::vector<std::int64_t> checkpoints_of(const fs::path& run) {
  std::vector<std::int64_t> steps;
  std::error_code error;
  for (fs::directory_iterator entry(run / "checkpoints", error), end; !error && entry != end; entry.increment(error)) {
    const auto step = step_of(entry->path());
    std::error_code ignored;
    if (step && fs::is_regular_file(state_path(run, *step), ignored)) steps.push_back(*step);
  }
  std::ranges::sort(steps);
  return steps;
}

void append(std::vector<Problem>& problems, const std::vector<Problem>& more) {
  problems.insert(problems.end(), more.begin(), more.end());
}

void read_manifest(const fs::path& path, ReadRunFolder& read) {
  const JsonFile file = read_json_file(path);
  if (file.problem) {
    read.problems.push_back(*file.problem);
    return;
  }
  try {
    read.run.manifest = file.document.get<Manifest>();
    std::string& status = read.run.manifest.status;
    if ((status == "running" || status == "created") && !is_held_by_a_process(path.parent_path()))
      status = "interrupted";
  } catch (const std::invalid_argument& fault) {
    read.problems.push_back({path.string(), fault.what()});
  }
}

void read_metrics(const fs::path& path, ReadRunFolder& read) {
  const auto content = content_of(path);
  if (!content) {
    read.problems.push_back({path.string(), "there is no such file, or it cannot be read"});
    return;
  }
  ParsedMetrics parsed = metrics_from_csv(*content, path.string());
  append(read.problems, parsed.problems);
  read.run.rows = std::move(parsed.rows);
}

}  // namespace

void to_json(json& document, const Manifest& manifest) {
  document = json::object();
  for (const auto& [name, member] : manifest_texts) document[name] = manifest.*member;
  for (const auto& [name, member] : manifest_counts) document[name] = manifest.*member;
  if (manifest.warm_up)
    document["warm_up"] = {{"steps", manifest.warm_up->steps}, {"reached", manifest.warm_up->reached}};
  if (!manifest.fork) return;
  document["parent"] = manifest.fork->parent;
  document["parent_title"] = manifest.fork->parent_title;
  document["parent_step"] = manifest.fork->step;
  document["changes"] = manifest.fork->changes;
}

void from_json(const json& document, Manifest& manifest) {
  const JsonFields fields(document, "manifest");
  Manifest read;
  for (const auto& [name, member] : manifest_texts)
    if (document.contains(name)) read.*member = fields.text(name);
  for (const auto& [name, member] : manifest_counts)
    if (document.contains(name)) read.*member = fields.count(name);
  if (document.contains("parent"))
    read.fork =
        Fork{fields.text("parent"), fields.text("parent_title"), fields.count("parent_step"), fields.text("changes")};
  if (document.contains("warm_up")) {
    const JsonFields warm_up(fields.object("warm_up"), "manifest: \"warm_up\"");
    read.warm_up = WarmUpRecord{warm_up.number("steps"), warm_up.number("reached")};
  }
  manifest = std::move(read);
}

void to_json(json& document, const RunSummary& summary) {
  document = {{"folder", summary.folder},
              {"name", summary.name},
              {"title", summary.title},
              {"status", summary.status},
              {"step", summary.step},
              {"steps", summary.steps},
              {"gap_add_beta", number_or_null(summary.gap_add_beta)}};
}

void from_json(const json& document, RunSummary& summary) {
  const JsonFields fields(document, "run summary");
  summary = {fields.text("folder"), fields.text("name"),   fields.text("title"),         fields.text("status"),
             fields.count("step"),  fields.count("steps"), fields.number("gap_add_beta")};
}

std::string run_title(const ExperimentConfig& config, const std::optional<Fork>& fork) {
  if (fork) return fork_title(*fork);
  constexpr std::string_view dot = " \u00b7 ";
  std::string title = config.text("model.kind");
  const auto add = [&](std::string_view words) { title.append(dot).append(words); };
  const auto differs = [&](std::string_view key) {
    return config.applies(key) && config.value(key) != find_property(key)->default_value;
  };
  const auto shown_value = [&](std::string_view key) { return value_to_string(config.value(key)); };
  if (differs("task.kind")) add(shown_value("task.kind"));
  if (is_decoder(config)) add(shown_value("task.recording") + (decodes_outputs(config) ? " outputs" : " directions"));
  if (config.applies("task.order")) add("order " + shown_value("task.order"));
  if (differs("task.states")) add("S=" + shown_value("task.states"));
  if (differs("task.beta")) add("beta " + shown_value("task.beta"));
  if (differs("task.p_switch")) add("p_switch " + shown_value("task.p_switch"));
  if (config.applies("model.ngram_order")) add("n-gram order " + shown_value("model.ngram_order"));
  if (config.applies("model.d_conv")) {
    add("w=" + shown_value("model.d_conv"));
    for (const char* where : {"model.conv", "model.conv_qkv"})
      if (differs(where)) add("convolution on " + shown_value(where));
    if (differs("model.conv_filters")) add(shown_value("model.conv_filters") + " filters");
  } else if (has_kernels(config)) {
    add("no convolution");
  }
  if (differs("model.attention")) add(shown_value("model.attention") + " attention");
  if (differs("model.layers")) add(shown_value("model.layers") + " layers");
  if (differs("model.d_model")) add("d_model=" + shown_value("model.d_model"));
  if (differs("model.d_state")) add("d_state=" + shown_value("model.d_state"));
  if (differs("model.activation")) add("activation " + shown_value("model.activation"));
  if (differs("model.gate")) add("no gate");
  if (differs("model.decay")) add("a_t=1");
  if (differs("model.norm")) add("no norms");
  if (differs("model.mlp")) add(config.text("model.mlp") == "none" ? "no MLP" : "plain MLP");
  if (differs("model.skip")) add("D skip");
  if (differs("model.readout")) add("L1 read-out");
  if (has_coupling(config)) {
    add(shown_value("model.coupling") + " coupling r=" + shown_value("model.rank"));
    add(config.text("model.motif") == "none" ? "no motif" : "motif " + shown_value("model.motif"));
  }
  add("seed " + shown_value("training.seed"));
  return title;
}

ReadRunFolder read_run_folder(const fs::path& path) {
  ReadRunFolder read;
  read.run.path = path;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    read.problems.push_back({path.string(), fs::exists(path, error)
                                                ? "this is a file; a run is a folder that holds experiment.json"
                                                : "there is no such run folder"});
    return read;
  }
  ParsedConfig parsed = config_from_file((path / "experiment.json").string());
  append(read.problems, parsed.problems);
  read.run.config = std::move(parsed.config);
  read_manifest(path / "manifest.json", read);
  read_metrics(path / "metrics.csv", read);
  read.run.checkpoints = checkpoints_of(path);
  return read;
}

bool is_held_by_a_process(const fs::path& run) {
  const int file = ::open((run / ".lock").c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool held = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return held;
}

std::vector<RunSummary> list_run_folders(const fs::path& root) {
  std::vector<std::pair<std::string, RunSummary>> dated;
  std::error_code error;
  for (fs::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!fs::is_regular_file(entry->path() / "experiment.json", ignored)) continue;
    if (!is_utf8(entry->path().string())) continue;  // no message can carry such a name
    const ReadRunFolder read = read_run_folder(entry->path());
    if (!read.problems.empty()) continue;
    const RunFolder& run = read.run;
    const double gap = run.rows.empty() ? std::numeric_limits<double>::quiet_NaN() : run.rows.back().gap_add_beta;
    dated.emplace_back(run.manifest.started, RunSummary{entry->path().string(), entry->path().filename().string(),
                                                        run_title(run.config, run.manifest.fork), run.manifest.status,
                                                        run.manifest.step, run.config.integer("training.steps"), gap});
  }
  std::ranges::sort(dated, [](const auto& a, const auto& b) {
    return std::tie(a.first, a.second.name) > std::tie(b.first, b.second.name);
  });
  std::vector<RunSummary> summaries;
  for (auto& [started, summary] : dated) summaries.push_back(std::move(summary));
  return summaries;
}

fs::path checkpoint_path(const fs::path& run, std::int64_t step) {
  return run / "checkpoints" / (step_name(step) + ".safetensors");
}
fs::path state_path(const fs::path& run, std::int64_t step) {
  return run / "checkpoints" / (step_name(step) + ".state");
}

}  // namespace mambarium
