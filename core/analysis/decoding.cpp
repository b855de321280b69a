#include "core/analysis/decoding.h"

#include <algorithm>
#include <stdexcept>

#include "core/training/decoded_test.h"

namespace mambarium {

namespace {

Tensor first_rows(std::span<const float> values, std::int64_t rows, std::int64_t columns) {
  const auto kept = values.first(static_cast<std::size_t>(rows * columns));
  return {{rows, columns}, {kept.begin(), kept.end()}};
}

// What is listed of classes or outputs, whichever are decoded.
Tensor trace_of(const std::vector<std::int32_t>& labels, const std::vector<float>& outputs, std::int64_t rows,
                std::int64_t outputs_a_row) {
  if (!outputs.empty()) return first_rows(outputs, rows, outputs_a_row);
  return first_rows(std::vector<float>(labels.begin(), labels.end()), rows, 1);
}

DecodingData::Quality quality_of(const DecodedTest& test, const DecodingShape& shape, std::int64_t stretch) {
  DecodingData::Quality quality;
  quality.loss = test.loss;
  quality.trace = trace_of(test.labels, test.outputs, stretch, shape.answers);
  if (shape.outputs) {
    quality.r_squared = test.r_squared;
    quality.r_squared_of_all = test.r_squared_of_all;
  } else {
    quality.accuracy = test.classes.accuracy;
    quality.macro_f1 = test.classes.macro_f1;
    quality.confusion = {{shape.answers, shape.answers},
                         {test.classes.confusion.begin(), test.classes.confusion.end()}};
  }
  return quality;
}

}  // namespace

DecodingData inspect_decoding(SequenceModel& model, const ExperimentConfig& config, std::int64_t step) {
  if (!is_decoder(config)) throw std::invalid_argument("only a decoder has a recording to be judged by");
  return inspect_decoding(model, DecodingTask(config), step);
}

DecodingData inspect_decoding(SequenceModel& model, const DecodingTask& task, std::int64_t step,
                              std::int64_t longest_stretch) {
  const DecodingShape& shape = task.shape();
  const DecodingWindows& windows = task.windows();
  DecodingData data{.step = step,
                    .outputs = shape.outputs,
                    .windows = task.test_windows(),
                    .uniform_loss = uninformed_loss(task),
                    .bin_seconds = task.bin_seconds()};
  if (shape.outputs) data.output_names = task.output_names();
  const auto day_of = [&](std::int64_t window) { return windows.day[static_cast<std::size_t>(window)]; };
  for (const std::int64_t window : task.split().test) {
    if (std::ssize(data.bins) == longest_stretch || day_of(window) != day_of(task.split().test.front())) break;
    data.bins.push_back(windows.first_bin[static_cast<std::size_t>(window)] + windows.bins - 1);
  }
  const std::int64_t stretch = std::ssize(data.bins);
  data.truth = shape.outputs ? trace_of({}, test_outputs(task), stretch, shape.answers)
                             : trace_of(test_labels(task), {}, stretch, shape.answers);
  data.model = quality_of(decode_test(model, task), shape, stretch);
  if (!task.ideal().empty()) data.ideal = quality_of(decode_test_ideally(task), shape, stretch);
  return data;
}

}  // namespace mambarium
