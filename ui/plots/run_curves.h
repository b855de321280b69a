// RunCurves: what the panels over training draw of several runs. Each run by itself, or runs that differ in nothing but
// their seed as one mean; as they are, or less a chosen run. Pure functions of the data.
//
// A mean has a row at every step that all its runs have evaluated, and none elsewhere: a run that is behind ends the
// mean, it does not bend it. Beside it stands the standard deviation over the runs (n - 1 in the denominator; NaN of
// one run). A difference is taken row by row, at the steps that both have; in the view of means it is against the mean
// of the chosen run's group. Every loss and gap of a row, and the training losses, go through the same arithmetic.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ui/plots/panel_data.h"

namespace mambarium {

// The same experiment but for training.seed and where and how it runs (run.*).
bool differInSeedOnly(const ExperimentConfig& one, const ExperimentConfig& other);
// Indices of runs in groups of equal experiments, in the order of their first members. A fork is no run from the start:
// it stands with forks of the same parent only.
std::vector<std::vector<std::size_t>> seedGroups(const std::vector<RunSeries>& runs);

struct RunCurve {
  const RunSeries* run = nullptr;      // rows and training losses as drawn; title, look and configuration
  std::vector<MetricsRow> deviations;  // as long as run->rows in the view of means, else empty
  std::vector<std::size_t> members;    // indices of the runs behind it
};

class RunCurves {
 public:
  struct View {
    bool means = false;
    std::string minus;  // folder of the run to subtract; "" or one that is not shown: none
    bool operator==(const View&) const = default;
  };

  // `runs` must outlive the curves: those that need no arithmetic are not copied.
  void update(const std::vector<RunSeries>& runs, const View& view);
  const std::vector<RunCurve>& curves() const { return curves_; }
  const RunSeries* reference() const {
    return reference_ ? &*reference_ : nullptr;
  }                                                // what was subtracted, if anything
  const RunCurve* curveOf(std::size_t run) const;  // nullptr when it has none: it is what was subtracted

 private:
  RunCurve meanOf(const std::vector<RunSeries>& runs, const std::vector<std::size_t>& members);

  std::vector<RunCurve> curves_;
  std::deque<RunSeries> derived_;
  std::optional<RunSeries> reference_;
};

}  // namespace mambarium
