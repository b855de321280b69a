// What `evaluate` says of an induction head: test loss and share of right answers, and this share by length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/service/loaded_run.h"
#include "core/service/picard_report.h"

namespace mambarium {

struct AnswersOptions {
  std::int64_t sequences = 0;          // of the test set
  std::optional<std::string> lengths;  // "64,256,1024"; none: usual_lengths()
  std::int64_t tokens = 1 << 17;       // about how many are read at each length
  std::optional<PicardComparison> picard;
  bool as_json = false;
};

// Prints it; what it returns is the exit code. Throws CommandError (bad input).
int report_answers(const LoadedRun& run, const AnswersOptions& options);

}  // namespace mambarium
