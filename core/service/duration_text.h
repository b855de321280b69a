// Durations, speeds and counts as people read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mambarium {

std::string clock_text(double seconds);                            // "0:07", "12:30", "2:05:00"; negative: "unknown"
std::string rate_text(double per_second);                          // "850", "36.2 k", "2.10 M"
std::string count_text(std::size_t count, std::string_view what);  // "1 run", "3 runs"

}  // namespace mambarium
