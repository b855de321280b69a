#include "core/training/decoded_test.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/training/sequence_tensors.h"

namespace mambarium {
namespace {

constexpr std::int64_t windows_at_once = 128;

double mean_square(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return sum / static_cast<double>(a.size());
}

std::vector<float> column(std::span<const float> rows, std::size_t columns, std::size_t number) {
  std::vector<float> values;
  for (std::size_t i = number; i < rows.size(); i += columns) values.push_back(rows[i]);
  return values;
}

double r_squared_or_nan(std::span<const float> y, std::span<const float> predicted, std::int64_t columns) {
  try {
    return multivariate_r2(y, predicted, columns);
  } catch (const std::invalid_argument&) {  // it does not change in the test part
    return std::numeric_limits<double>::quiet_NaN();
  }
}

void score(const DecodingTask& task, DecodedTest& test) {
  if (!task.shape().outputs) {
    test.classes = class_score(test_labels(task), test.labels, task.shape().answers);
    return;
  }
  const std::vector<float> truth = test_outputs(task);
  const auto columns = static_cast<std::size_t>(task.shape().answers);
  for (std::size_t k = 0; k < columns; ++k)
    test.r_squared.push_back(r_squared_or_nan(column(truth, columns, k), column(test.outputs, columns, k), 1));
  test.r_squared_of_all = r_squared_or_nan(truth, test.outputs, task.shape().answers);
}

}  // namespace

std::vector<std::int32_t> test_labels(const DecodingTask& task) {
  std::vector<std::int32_t> labels;
  for (const std::int64_t window : task.split().test)
    labels.push_back(task.windows().label[static_cast<std::size_t>(window)]);
  return labels;
}

std::vector<float> test_outputs(const DecodingTask& task) {
  std::vector<float> outputs;
  const auto columns = static_cast<std::int64_t>(task.output_names().size());
  for (const std::int64_t window : task.split().test) {
    const auto first = task.windows().target.begin() + window * columns;
    outputs.insert(outputs.end(), first, first + columns);
  }
  return outputs;
}

DecodedTest decode_test(SequenceModel& model, const DecodingTask& task) {
  const torch::NoGradGuard no_gradients;
  DecodedTest test;
  SequenceBatch batch;
  double loss = 0;
  for (std::int64_t first = 0; first < task.test_windows(); first += windows_at_once) {
    task.test(first, std::min(windows_at_once, task.test_windows() - first), batch);
    const auto [inputs, wanted] = sequence_tensors(batch, 0, batch.batch);
    const auto answers = model.log_probabilities(inputs);
    const double windows = static_cast<double>(batch.batch);
    if (task.shape().outputs) {
      loss += torch::mse_loss(answers, wanted).item<double>() * windows;
      const auto rows = answers.contiguous();
      test.outputs.insert(test.outputs.end(), rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel());
    } else {
      loss += torch::nll_loss(answers, wanted).item<double>() * windows;
      const auto labels = answers.argmax(-1).to(torch::kInt32).contiguous();
      test.labels.insert(test.labels.end(), labels.data_ptr<std::int32_t>(),
                         labels.data_ptr<std::int32_t>() + labels.numel());
    }
  }
  test.loss = loss / static_cast<double>(task.test_windows());
  if (std::isfinite(test.loss)) {
    test.outputs = task.as_recorded(test.outputs);
    score(task, test);
  }
  return test;
}

DecodedTest decode_test_ideally(const DecodingTask& task) {
  if (task.ideal().empty()) throw std::invalid_argument("nobody knows the ideal decoder of a recording from files");
  DecodedTest test;
  if (task.shape().outputs) {
    for (const IdealAnswer& answer : task.ideal())
      for (const double output : answer.outputs) test.outputs.push_back(static_cast<float>(output));
    test.loss = mean_square(task.on_scale(test.outputs), task.on_scale(test_outputs(task)));
  } else {
    const std::vector<std::int32_t> truth = test_labels(task);
    for (std::size_t i = 0; i < truth.size(); ++i) {
      test.labels.push_back(task.ideal()[i].direction());
      // A posterior can round to 0 where the truth is all but impossible.
      const double probability = task.ideal()[i].posterior[static_cast<std::size_t>(truth[i])];
      test.loss -=
          std::log(std::max(probability, std::numeric_limits<double>::min())) / static_cast<double>(truth.size());
    }
  }
  score(task, test);
  return test;
}

double uninformed_loss(const DecodingTask& task) {
  if (!task.shape().outputs) return std::log(static_cast<double>(task.shape().answers));
  const std::vector<float> truth = task.on_scale(test_outputs(task));
  return mean_square(truth, std::vector<float>(truth.size(), 0));
}

}  // namespace mambarium
