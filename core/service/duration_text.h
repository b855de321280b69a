// Durations and speeds as people read them.
#pragma once

#include <string>

namespace mambarium {

std::string clock_text(double seconds);    // "0:07", "12:30", "2:05:00"; negative: "unknown"
std::string rate_text(double per_second);  // "850", "36.2 k", "2.10 M"

}  // namespace mambarium
