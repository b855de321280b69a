// SweepSlice: how a sweep lies in a picture. One axis runs along x; every combination of the other axes is a series.
// All cells are in the picture, whatever is chosen: nothing is averaged over and nothing left out.
#pragma once

#include <QString>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/sweep_result.h"

namespace mambarium {

enum class SweepChartKind { heat, lines, dots, curves, matrix };

// What a person chose; "" is the choice that follows from the axes.
struct SweepChoice {
  std::string chart;      // "heat", "lines", "dots", "curves", "matrix"
  std::string measure;    // SweepMeasure::name
  std::string x;          // SweepAxis::name
  std::string by;         // SweepAxis::name: the series' first axis, the others follow in their order
  std::string reference;  // a label of the axis "case": its series are drawn as reference lines
  bool log = false;       // axis, or colours, of the measure
  bool operator==(const SweepChoice&) const = default;
};
nlohmann::json to_options(const SweepChoice& choice);  // by the members' names, as SweepPanel::setOptions reads them

class SweepSlice {
 public:
  // Throws std::invalid_argument with one sentence for a choice that the result does not have. `result` must outlive
  // the slice.
  SweepSlice(const SweepResult& result, const SweepChoice& choice);

  // Two axes of numbers: a heat map. One: lines. Several axes without any: a matrix. Else dots.
  SweepChartKind chart() const { return chart_; }
  const SweepResult& result() const { return *result_; }
  const SweepMeasure& measure() const { return result_->measures[measure_]; }
  const SweepAxis* x() const { return x_ ? &result_->axes[*x_] : nullptr; }  // nullptr for a sweep of seeds alone
  std::vector<const SweepAxis*> by() const;
  bool log() const { return log_; }

  std::size_t positions() const;  // along x
  std::size_t series() const;
  std::size_t cell(std::size_t series, std::size_t position) const;  // in the result's order
  bool isReference(std::size_t series) const;

  const SweepSummary& summary(std::size_t cell) const;
  std::span<const SweepRow> rows(std::size_t cell) const;  // one per seed
  std::vector<double> values(std::size_t cell) const;      // one per seed
  QString cellLabel(std::size_t cell) const;               // "Order k 2, Window w 3"

  QString seriesTitle() const;                    // "Order k", "Order k · Case"; "" when there is one series
  QString seriesName(std::size_t series) const;   // "Order k 2, no gate"
  QString seriesLabel(std::size_t series) const;  // "2", "2 · no gate"
  QString positionLabel(std::size_t position) const;

 private:
  std::vector<std::size_t> indices(std::size_t series, std::size_t position) const;  // along the result's axes

  const SweepResult* result_;
  SweepChartKind chart_ = SweepChartKind::dots;
  std::size_t measure_ = 0;
  std::optional<std::size_t> x_;
  std::vector<std::size_t> by_;
  std::optional<std::pair<std::size_t, std::size_t>> reference_;  // axis and position
  bool log_;
};

QString labelled(const SweepAxis& axis, std::size_t position);  // "Order k 2"; a case's label alone
bool isContinuous(const SweepAxis& axis);                       // numbers along it, at least two different ones

}  // namespace mambarium
