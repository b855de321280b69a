#include "core/training/checkpoint.h"

#include <torch/torch.h>

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/contract/run_folder.h"
#include "core/models/parameter.h"
#include "core/training/durable_file.h"
#include "core/training/safetensors.h"
#include "core/training/trainer.h"
#include "mambarium/version.h"

namespace mambarium {
namespace {

constexpr const char* first_moment_prefix = "first_moment.";
constexpr const char* second_moment_prefix = "second_moment.";

std::string text(double value) {
  char buffer[40];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

template <typename Number>
std::optional<Number> number_from(const SafetensorsFile& file, const char* key) {
  const auto found = file.metadata().find(key);
  if (found == file.metadata().end()) return std::nullopt;
  const char* const end = found->second.data() + found->second.size();
  Number value{};
  const auto result = std::from_chars(found->second.data(), end, value);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return value;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string words = "[";
  for (const std::int64_t size : shape) words += (words.size() > 1 ? ", " : "") + std::to_string(size);
  return words + "]";
}

// Without what changes no number, so that equal runs leave equal files.
std::string config_text(ExperimentConfig config) {
  for (const char* const key : {"run.out", "run.threads"}) config.set(key, find_property(key)->default_value);
  return to_json(config).dump();
}

std::vector<std::int64_t> shape_of(const at::Tensor& tensor) {
  return tensor.sizes().vec();
}

// The tensor of this name, once its type and shape are what is expected.
std::span<const std::byte> expected_data(const SafetensorsFile& file, const std::filesystem::path& path,
                                         const std::string& name, const std::vector<std::int64_t>& shape) {
  const auto fail = [&](const std::string& what) {
    throw TrainingError(path.string() + ": tensor \"" + name + "\" " + what,
                        "The file belongs to a run with other settings, or to another program; use one that fits.");
  };
  const auto found = file.tensors().find(name);
  if (found == file.tensors().end()) fail("is missing, expected with shape " + shape_text(shape));
  if (found->second.dtype != "F32") fail("has dtype " + found->second.dtype + ", expected F32");
  if (found->second.shape != shape) {
    fail("has shape " + shape_text(found->second.shape) + ", expected " + shape_text(shape));
  }
  return found->second.data;
}

// The data of every parameter, in their order; the file may hold no others.
std::vector<std::span<const std::byte>> all_weights(const SafetensorsFile& file, const std::filesystem::path& path,
                                                    const std::vector<Parameter>& parameters) {
  std::vector<std::span<const std::byte>> data;
  for (const Parameter& parameter : parameters) {
    data.push_back(expected_data(file, path, parameter.name, shape_of(parameter.tensor)));
  }
  for (const auto& [name, entry] : file.tensors()) {
    if (std::ranges::find(parameters, name, &Parameter::name) == parameters.end()) {
      throw TrainingError(path.string() + ": tensor \"" + name + "\" is not one of this model",
                          "The file belongs to a run with other settings; use one that fits.");
    }
  }
  return data;
}

void copy_weights(std::vector<Parameter>& parameters, const std::vector<std::span<const std::byte>>& data) {
  const torch::NoGradGuard no_gradients;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    at::Tensor values = torch::empty(parameters[i].tensor.sizes(), torch::kFloat32);
    std::memcpy(values.data_ptr<float>(), data[i].data(), data[i].size());
    parameters[i].tensor.copy_(values);
  }
}

// Both files of a step, each whole, and made together.
struct CheckpointFiles {
  std::filesystem::path weights_path, state_path;
  SafetensorsFile weights, state;
  TrainingProgress progress;
};

CheckpointFiles read_both_files(const std::filesystem::path& run, std::int64_t step) {
  const std::filesystem::path weights_path = checkpoint_path(run, step), path = state_path(run, step);
  std::vector<std::byte> content = read_whole_file(weights_path);
  const std::uint64_t bytes_checksum = checksum(content);
  SafetensorsFile weights = SafetensorsFile::parse(std::move(content), weights_path.string());
  SafetensorsFile state = SafetensorsFile::read(path);
  const auto saved_step = number_from<std::int64_t>(state, "step");
  const auto loss_sum = number_from<double>(state, "train_loss_sum");
  const auto loss_count = number_from<std::int64_t>(state, "train_loss_count");
  const auto last_loss = number_from<double>(state, "last_train_loss");
  const auto weights_checksum = number_from<std::uint64_t>(state, "weights_checksum");
  if (!saved_step || !loss_sum || !loss_count || !last_loss || !weights_checksum || *saved_step != step) {
    throw TrainingError(path.string() + ": is not the training state of step " + std::to_string(step),
                        "Use another checkpoint of the run.");
  }
  if (*weights_checksum != bytes_checksum) {
    throw TrainingError(path.string() + ": belongs to other weights than " + weights_path.string(),
                        "Use another checkpoint of the run.");
  }
  return {weights_path, path, std::move(weights), std::move(state), {*saved_step, *loss_sum, *loss_count, *last_loss}};
}

// A convolution's taps for another window: [channels][window], the newest token last. Older taps that are new are 0.
std::vector<std::byte> fitted_taps(std::span<const std::byte> taps, std::int64_t channels, std::int64_t from,
                                   std::int64_t to) {
  const auto row_from = static_cast<std::size_t>(from) * sizeof(float);
  const auto row_to = static_cast<std::size_t>(to) * sizeof(float);
  const std::size_t kept = std::min(row_from, row_to);
  std::vector<std::byte> fitted(static_cast<std::size_t>(channels) * row_to);
  for (std::size_t channel = 0; channel < static_cast<std::size_t>(channels); ++channel) {
    std::memcpy(&fitted[(channel + 1) * row_to - kept], &taps[(channel + 1) * row_from - kept], kept);
  }
  return fitted;
}

bool is_taps(const Parameter& parameter) {
  return parameter.name.find(".conv.") != std::string::npos && parameter.name.ends_with(".weight");
}

// The same shape, or taps of as many filters for another window.
bool is_shared(const SafetensorsEntry& entry, const Parameter& parameter) {
  const std::vector<std::int64_t> shape = shape_of(parameter.tensor);
  if (entry.shape == shape) return true;
  return is_taps(parameter) && entry.shape.size() == 2 && shape.size() == 2 && entry.shape[0] == shape[0];
}

// The numbers of `name`, a tensor of the file's shape `of_file`, as the parameter takes them.
std::vector<std::byte> shared_data(const SafetensorsFile& file, const std::filesystem::path& path,
                                   const std::string& name, const std::vector<std::int64_t>& of_file,
                                   const Parameter& parameter) {
  const std::span<const std::byte> data = expected_data(file, path, name, of_file);
  const std::vector<std::int64_t> shape = shape_of(parameter.tensor);
  if (of_file == shape) return {data.begin(), data.end()};
  return fitted_taps(data, shape[0], of_file[1], shape[1]);
}

}  // namespace

void load_checkpoint(SequenceModel& model, const std::filesystem::path& checkpoint) {
  const SafetensorsFile file = SafetensorsFile::read(checkpoint);
  copy_weights(model.parameters(), all_weights(file, checkpoint, model.parameters()));
}

void write_checkpoint_files(const std::filesystem::path& run, const ExperimentConfig& config, SequenceModel& model,
                            AdamW& optimiser, const TrainingProgress& progress) {
  const std::vector<Parameter>& parameters = model.parameters();
  const std::string step = std::to_string(progress.step);
  std::vector<TensorToWrite> weights, moments;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto& [name, tensor, decayed] = parameters[i];
    const std::span<const float> values(tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel()));
    weights.push_back({name, shape_of(tensor), values});
    moments.push_back({first_moment_prefix + name, shape_of(tensor), optimiser.first_moment(i)});
    moments.push_back({second_moment_prefix + name, shape_of(tensor), optimiser.second_moment(i)});
  }
  const std::string program = std::string("mambarium ") + version;
  const std::vector<std::byte> weights_file = safetensors_bytes(
      weights, {{"program", program}, {"revision", revision}, {"config", config_text(config)}, {"step", step}});
  const std::vector<std::byte> state_file =
      safetensors_bytes(moments, {{"program", program},
                                  {"step", step},
                                  {"train_loss_sum", text(progress.loss_sum)},
                                  {"train_loss_count", std::to_string(progress.loss_count)},
                                  {"last_train_loss", text(progress.last_loss)},
                                  {"weights_checksum", std::to_string(checksum(weights_file))}});
  write_whole_file(checkpoint_path(run, progress.step), weights_file);
  write_whole_file(state_path(run, progress.step), state_file);
}

TrainingProgress read_checkpoint_files(const std::filesystem::path& run, std::int64_t step, SequenceModel& model,
                                       AdamW& optimiser) {
  std::vector<Parameter>& parameters = model.parameters();
  const CheckpointFiles files = read_both_files(run, step);
  const auto weights = all_weights(files.weights, files.weights_path, parameters);
  std::vector<std::pair<std::span<const std::byte>, std::span<float>>> copies;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::vector<std::int64_t> shape = shape_of(parameters[i].tensor);
    const auto moment = [&](const char* prefix) {
      return expected_data(files.state, files.state_path, prefix + parameters[i].name, shape);
    };
    copies.emplace_back(moment(first_moment_prefix), optimiser.first_moment(i));
    copies.emplace_back(moment(second_moment_prefix), optimiser.second_moment(i));
  }
  copy_weights(parameters, weights);
  for (const auto& [from, to] : copies) std::memcpy(to.data(), from.data(), from.size());
  return files.progress;
}

void read_shared_weights(const std::filesystem::path& run, std::int64_t step, SequenceModel& model, AdamW& optimiser) {
  const CheckpointFiles files = read_both_files(run, step);
  std::vector<std::pair<std::vector<std::byte>, std::span<float>>> copies;
  for (std::size_t i = 0; i < model.parameters().size(); ++i) {
    const Parameter& parameter = model.parameters()[i];
    const auto known = files.weights.tensors().find(parameter.name);
    if (known == files.weights.tensors().end() || !is_shared(known->second, parameter)) continue;
    const std::span<float> values(parameter.tensor.data_ptr<float>(),
                                  static_cast<std::size_t>(parameter.tensor.numel()));
    const std::vector<std::int64_t>& of_file = known->second.shape;
    const auto moment = [&](const char* prefix) {
      return shared_data(files.state, files.state_path, prefix + parameter.name, of_file, parameter);
    };
    copies.emplace_back(shared_data(files.weights, files.weights_path, parameter.name, of_file, parameter), values);
    copies.emplace_back(moment(first_moment_prefix), optimiser.first_moment(i));
    copies.emplace_back(moment(second_moment_prefix), optimiser.second_moment(i));
  }
  for (const auto& [from, to] : copies) std::memcpy(to.data(), from.data(), from.size());
}

}  // namespace mambarium
