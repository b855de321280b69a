// SweepResult: what a sweep found, as results.json in the sweep's folder has it. The window, the command line and a
// spreadsheet (results.csv, the same rows) read the same numbers.
//
// A sweep trains one experiment for every combination of positions along its axes, and that for every seed. A row is
// one trained model; a cell is one combination of positions, with its rows summed up over the seeds. Rows and cells
// stand in the order of the axes (the last axis fastest, then the seed) and hold no times, paths or hosts.
//
// results.json has the fields of these structs by the same names, but values, standard_errors and summaries are maps by
// the measure's name and settings a map by the key. NaN (a measure that a model does not have, an error over one seed)
// is null. Reading throws nothing: a broken file is one Problem with the path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "core/contract/experiment_config.h"

namespace mambarium {

// One thing that varies: a setting, settings that vary together, or named cases.
struct SweepAxis {
  std::string name;                 // "task.order", "model.d_model+model.d_state", "case"
  std::string title;                // as a person reads it: "Order k", "Width d_model = State size d_state", "Case"
  std::vector<std::string> keys;    // the settings that vary along it, in the property table's order
  std::vector<std::string> labels;  // one per position: "2", "x,B,C", "no convolution"
  std::vector<double> numbers;      // values of the first key, for a continuous axis; empty where they are no numbers
  bool operator==(const SweepAxis&) const = default;
};

struct SweepMeasure {
  std::string name;   // "gap_add_beta": the column in results.csv
  std::string label;  // "Gap to the best predictor"
  std::string unit;   // "nats per token", or ""; of a loss it is the task's, so it tells no measures apart
  bool operator==(const SweepMeasure& other) const { return name == other.name && label == other.label; }
};

// What sweeps measure, in order: gap_add_beta, gap_oracle, model_loss, add_beta_loss, oracle_loss, uniform_loss,
// train_loss (in the task's loss_unit(), yardsticks.h), total_variation (half the L1 distance of the model's
// probabilities from the best predictor's, mean over positions), decay_ordinary and decay_switch (mean a_t at ordinary
// and at switch tokens), read_out_state and read_out_tokens (core/analysis/state_read_out.h), inner_product_leak
// (core/analysis/inner_products.h), accuracy and accuracy_x4, _x16 and _x64 (shares of right answers of an induction
// head, at the trained length and that many times it; of a decoder accuracy alone), accuracy_below_ideal (how far a
// decoder's is below the ideal decoder's), r_squared of decoded outputs, of couplings with a motif motif_warm_up_steps
// and motif_warm_up_reached (WarmUpRecord), motif_hard_share and motif_soft_share, of all couplings cycle_hard_share
// (core/analysis/coupling_census.h), parameter_count. Files name their own, so one of another version can be read.
const std::vector<SweepMeasure>& sweep_measures();  // losses in nats per token
// The same with losses in another unit; "" where a sweep's tasks differ in it.
std::vector<SweepMeasure> sweep_measures_in(const std::string& loss_unit);

// One trained model, at its end.
struct SweepRow {
  std::string point;                    // the id: its run is runs/<point>, its measures are in points/<point>.json
  std::vector<std::size_t> position;    // along each axis, from 0
  std::int64_t seed = 0;                // training.seed
  std::vector<std::string> settings;    // one per SweepResult::keys, as set_from_string() reads them
  std::vector<double> values;           // one per measure
  std::vector<double> standard_errors;  // one per measure: over test sequences; NaN where there is none
};

// One measure of a cell, over the seeds that have it.
struct SweepSummary {
  double mean = 0;
  double standard_error = 0;  // over seeds; NaN for one seed
  std::int64_t n = 0;         // seeds
  double low = 0, high = 0;   // the 95 % interval of the mean by Student's t; NaN for one seed
};

// Of the values that are not NaN.
SweepSummary summarised(std::span<const double> values);

struct SweepCell {
  std::vector<std::size_t> position;    // along each axis, from 0
  std::vector<SweepSummary> summaries;  // one per measure
};

struct SweepResult {
  std::string name, title;  // of the sweep's file; the name is one word, fit for a folder
  std::vector<SweepAxis> axes;
  std::vector<std::int64_t> seeds;
  std::vector<std::string> keys;  // every setting that varies, but the seed
  std::vector<SweepMeasure> measures;
  ExperimentConfig base;       // what all points share; settings that vary have the first point's values
  std::vector<SweepRow> rows;  // all of them: a result is written when every point is there
  std::vector<SweepCell> cells;

  // The place of a measure, and the cell at a position (one index per axis, the last fastest). Out of range:
  // std::out_of_range.
  std::size_t measure(const std::string& measure_name) const;
  const SweepCell& cell(const std::vector<std::size_t>& position) const;
};
void summarise(SweepResult& result);  // makes the cells anew, from rows that are in order
void to_json(nlohmann::json&, const SweepResult&);
void from_json(const nlohmann::json&, SweepResult&);  // std::invalid_argument with one sentence on anything malformed

struct ReadSweepResult {
  SweepResult result;
  std::vector<Problem> problems;  // empty: all of it was read
};
ReadSweepResult read_sweep_result(const std::filesystem::path& path);  // results.json, or the folder it is in

}  // namespace mambarium
