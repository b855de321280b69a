// What `evaluate` says of an induction head: test loss and share of right answers, and this share by length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/service/loaded_run.h"
#include "core/service/picard_report.h"

namespace mambarium {

struct AnswersOptions {
  std::int64_t sequences = 0;                  // of the test set
  std::optional<std::string> lengths;          // "64,256,1024"; none: usual_lengths()
  std::optional<std::int64_t> at_each_length;  // sequences; none: about 2^17 tokens, at least 32 sequences
  std::optional<PicardComparison> picard;
  bool as_json = false;
};

// Prints it, and while it measures how far it is, on a terminal's standard error; what it returns is the exit code.
// Throws CommandError (bad input).
int report_answers(const LoadedRun& run, const AnswersOptions& options);

}  // namespace mambarium
