// Runs and answers as a worker would give them, made from formulas: for tests of panels and figures only.
#pragma once

#include <QString>

#include "core/contract/coupling_inspection.h"
#include "core/contract/decoding_inspection.h"
#include "core/contract/inspection.h"
#include "ui/plots/panel_data.h"

namespace mambarium::fake {

// A run whose gap falls from about 0.2 to `plateau`; rows every `every` steps up to `last_step` of 2,000.
RunSeries run(const std::string& title, int style, double plateau, std::int64_t last_step = 1240,
              std::int64_t every = 40);

// Full, without convolution, and with a window of 2: colours and markers 0, 1, 2.
PanelData threeRuns();
PanelData oneRun();
PanelData seedsAndAnother();  // three seeds of one experiment, the last one behind, and a run of another experiment

PredictionData prediction(std::int64_t length, std::int64_t states);
DecayData decay(std::int64_t length, std::int64_t layers, std::int64_t heads);
FilterData filters(std::int64_t layers, std::int64_t window);

// The counts of a chain, in a state that is a tenth of them; the read-out is off by a little.
StateData state(std::int64_t length, std::int64_t states, std::int64_t order);
InnerProductData innerProducts(std::int64_t states, std::int64_t window);  // of a model that counts order 1
QuantisationData quantisation();  // a gap that falls with the bits to 0.0007, once by chance below zero
TheoremData theorem(double epsilon = 0.01, double beta = 1);

// A stable system of n states that meet in r numbers, driven by two inputs in turn, and its exact trajectory.
FlowData flow(std::int64_t n, std::int64_t r, int length);
ReconstructionData reconstruction(int length, int states);  // of channel 5; exact, but for errors of 1e-16 t

// A coupling of 16 states in which 9 send to 4 others (36 of 560 triples for each receiver: 021U) and 3 stand apart,
// and what a census says of it; asked for is 021U with a share of 0.25.
CircuitData circuit(bool causal = false);
CircuitData circuitOf(std::int64_t states, const std::vector<float>& coupling);  // with that M and no target
PanelData circuitRun(const CircuitData& answer);  // of Mamba-1 with that answer, the motif's R^2 in its rows
// Right at lengths up to `reach` tokens, then less and less; trained at 256 of 64 to 4,096 tokens.
ExtrapolationData extrapolation(double reach);
PanelData inductionRuns(int count);  // the last one is current, the others have been

// Reaches to eight targets, 300 windows of each, or the cursor's position and velocity along them: what a model
// decodes of them (the better the larger `skill`, from 0 to 1), and the ideal decoder. Listed are 12 trials of 11
// windows, 37 bins apart.
DecodingData decodedDirections(double skill);
DecodingData decodedOutputs(double skill);
PanelData decodingRuns(int count, bool outputs);  // the last one is current, the others have been

// One run with an answer.
template <typename Answer>
PanelData inspected(const Answer& answer) {
  PanelData data = oneRun();
  data.inspected = nlohmann::json(answer);
  return data;
}

// What the panel `id` shows; `rich`: several runs, layers, heads, tokens.
PanelData panelData(const QString& id, bool rich = false);

}  // namespace mambarium::fake
