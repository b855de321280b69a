// Sweeps made from formulas, for tests of their figures.
#pragma once

#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "ui/plots/sweep_data.h"

namespace mambarium::fake {

SweepAxis axis(const std::string& name, const std::string& title, std::vector<std::string> labels,
               std::vector<double> numbers = {});

// Seeds 0, 1, 2; `gap` of a position, to which every seed adds -0.002, 0 or 0.002. Only the first `done` models are
// there (all of them when negative). With curves the gap falls from twice that to it over 100 steps.
std::shared_ptr<const SweepData> sweep(std::vector<SweepAxis> axes,
                                       const std::function<double(const std::vector<std::size_t>&)>& gap, int done = -1,
                                       bool curves = false);

std::shared_ptr<const SweepData> orderAndWindow(int done = -1, bool curves = false);  // 4 x 5, both of numbers
std::shared_ptr<const SweepData> widths();                                            // width, doubling, by three cases
std::shared_ptr<const SweepData> parts(int done = -1);                                // three parts, in and out

// The sweep's folder as the worker leaves it: results.json, or plan.json and points; and metrics.csv of every run that
// has a curve.
void writeFolder(const SweepData& data, const QString& folder);

}  // namespace mambarium::fake
