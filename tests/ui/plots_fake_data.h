// Runs and answers as a worker would give them, made from formulas: for tests of panels and figures only.
#pragma once

#include "core/contract/inspection.h"
#include "ui/plots/panel_data.h"

namespace mambarium::fake {

// A run whose gap falls from about 0.2 to `plateau`; rows every `every` steps up to `last_step` of 2,000.
RunSeries run(const std::string& title, int style, double plateau, std::int64_t last_step = 1240,
              std::int64_t every = 40);

// Full, without convolution, and with a window of 2: colours and markers 0, 1, 2.
PanelData threeRuns();
PanelData oneRun();

PredictionData prediction(std::int64_t length, std::int64_t states);
DecayData decay(std::int64_t length, std::int64_t layers, std::int64_t heads);
FilterData filters(std::int64_t layers, std::int64_t window);

// One run with an answer.
template <typename Answer>
PanelData inspected(const Answer& answer) {
  PanelData data = oneRun();
  data.inspected = nlohmann::json(answer);
  return data;
}

}  // namespace mambarium::fake
