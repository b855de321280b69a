#include "core/service/duration_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace mambarium {

std::string clock_text(double seconds) {
  constexpr double longest = 1e9;
  if (!(seconds >= 0 && seconds < longest)) return "unknown";
  const auto whole = static_cast<std::int64_t>(std::ceil(seconds));
  const auto hours = whole / 3600, minutes = whole / 60 % 60;
  if (hours > 0) return fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60);
  return fmt::format("{}:{:02}", minutes, whole % 60);
}

std::string rate_text(double per_second) {
  if (per_second >= 1e6) return fmt::format("{:.2f} M", per_second / 1e6);
  if (per_second >= 1e4) return fmt::format("{:.1f} k", per_second / 1e3);
  return fmt::format("{:.0f}", per_second);
}

std::string count_text(std::size_t count, std::string_view what) {
  return std::to_string(count).append(" ").append(what).append(count == 1 ? "" : "s");
}

}  // namespace mambarium
