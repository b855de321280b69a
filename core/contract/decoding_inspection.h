// What a panel can ask about a decoder (task.kind decoding): how good it is on the test part of its recording, beside
// the ideal decoder where there is one. See inspection.h.
//
// K answers: classes or outputs; n windows of the stretch that is shown. NaN (JSON null), or no numbers at all, where
// something is not known: everything ideal of a recording from files, accuracies of outputs, R^2 of directions.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/contract/tensor.h"

namespace mambarium {

struct DecodingData {
  // Of the model, and the same of the ideal decoder.
  struct Quality {
    double loss = std::numeric_limits<double>::quiet_NaN();  // nats per window; of outputs mean squared deviations
    double accuracy = std::numeric_limits<double>::quiet_NaN(), macro_f1 = std::numeric_limits<double>::quiet_NaN();
    Tensor confusion = {{0, 0}, {}};                                     // [K, K] windows: truth, answer
    std::vector<double> r_squared = {};                                  // [K] of each output
    double r_squared_of_all = std::numeric_limits<double>::quiet_NaN();  // multivariate
    Tensor trace = {{0, 0}, {}};  // [n, 1] classes, or [n, K] outputs as recorded: the answers along the stretch
  };
  std::int64_t step = 0;
  bool outputs = false;                        // else directions
  std::int64_t windows = 0;                    // of the test part
  double uniform_loss = 0;                     // of answering the same to every window
  double bin_seconds = 0;                      // 0: not known
  std::vector<std::string> output_names = {};  // K of outputs
  std::vector<std::int64_t> bins = {};         // [n] the last bin of each window; rises
  Tensor truth = {{0, 0}, {}};                 // as Quality::trace
  Quality model = {}, ideal = {};
};

void to_json(nlohmann::json&, const DecodingData&);
void from_json(const nlohmann::json&, DecodingData&);

}  // namespace mambarium
