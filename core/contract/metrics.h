// MetricsRow: one evaluation of a run, one line of metrics.csv. Losses and gaps are in the task's loss_unit()
// (yardsticks.h): nats per token, of an induction head per answer, of a decoder of directions per window; where outputs
// are decoded they are no nats but mean squared deviations over the variance of each output.
//
// gap_add_beta = test_loss - add_beta_loss (goes to 0 when the model has learned the estimator);
// gap_oracle = test_loss - oracle_loss (what the paper plots; its floor is the price of not knowing the kernel).
// Where switches begin new chains the estimator is the Bayes predictor. Of an induction head both estimators are
// recall, of a decoder the ideal decoder (NaN where the recording has none); a decoder's tokens are bins. `seconds` is
// the only column that may differ between two equal runs. A run has further columns where its settings give them a
// meaning (MetricsForm); elsewhere these numbers are NaN.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

struct MetricsRow {
  std::int64_t step = 0;    // optimiser steps taken
  std::int64_t tokens = 0;  // training tokens seen
  double seconds = 0;       // of training, pauses and evaluation not counted
  double train_loss = 0;    // mean over the steps since the row before (at step 0: NaN, written as an empty field)
  double test_loss = 0;
  double add_beta_loss = 0;
  double oracle_loss = 0;
  double gap_add_beta = 0;
  double gap_oracle = 0;
  double learning_rate = 0;
  double accuracy = std::numeric_limits<double>::quiet_NaN();    // share of the scored targets that came out on top
  double r_squared = std::numeric_limits<double>::quiet_NaN();   // multivariate, of decoded outputs
  double motif_loss = std::numeric_limits<double>::quiet_NaN();  // before it is multiplied with lambda
  double motif_r_squared = std::numeric_limits<double>::quiet_NaN();  // of the shares against those asked for
};

struct MetricsForm {
  bool accuracy = false;   // scores_one_token(), or directions are decoded
  bool r_squared = false;  // outputs are decoded
  bool motif = false;      // a motif is asked for
};
MetricsForm metrics_form(const ExperimentConfig& config);

std::string metrics_header(MetricsForm form = {});
// Shortest text that reads back to the same double; no newline.
std::string to_csv_line(const MetricsRow& row, MetricsForm form = {});

struct ParsedMetrics {
  std::vector<MetricsRow> rows;
  std::vector<Problem> problems;
  std::size_t complete_bytes =
      0;  // up to the last whole line: a line cut by a power failure is not a problem, it is left out
};
ParsedMetrics metrics_from_csv(std::string_view text, const std::string& path_for_messages);

void to_json(nlohmann::json& document, const MetricsRow& row);
void from_json(const nlohmann::json& document, MetricsRow& row);

}  // namespace mambarium
