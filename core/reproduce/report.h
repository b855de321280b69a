// The report of a reproduction: every claim with the paper's value, the measured one with its interval, and what that
// decides; then every figure with its picture, its numbers, and the runs to look at. Comparisons also have the p of a
// paired t-test, and beside it what Holm's correction makes of it among all comparisons of the figure that are tested;
// where all seeds differ by the same there is no test, and the report says that instead. As Markdown and as one HTML
// page.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/reproduce/claim.h"
#include "core/reproduce/figure_file.h"

namespace mambarium {

struct ReportHead {
  std::string version, machine, date, budget, duration;
};

// One figure's outcome. Paths are relative to the report.
struct ReportedFigure {
  const ReproducedFigure* figure = nullptr;
  std::vector<DecidedClaim> claims;   // one per claim of the figure; empty when its sweeps are not complete
  std::vector<std::string> numbers;   // the files of results
  std::vector<std::string> pictures;  // SVG files
  std::vector<std::string> troubles;  // sentences: what failed
  std::string runs;                   // the folder of runs
};

std::string report_markdown(const ReportHead& head, std::span<const ReportedFigure> figures);
std::string report_html(const ReportHead& head, std::span<const ReportedFigure> figures);

}  // namespace mambarium
