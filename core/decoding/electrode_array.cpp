#include "core/decoding/electrode_array.h"

#include <algorithm>
#include <vector>

#include "core/contract/text.h"

namespace mambarium {
namespace {

std::size_t index(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

std::optional<std::int64_t> whole_number(std::string_view digits) {
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return integer_from(digits);
}

}  // namespace

std::optional<std::int64_t> electrode_of(std::string_view name) {
  constexpr std::string_view prefix = "elec";
  const auto same_letter = [](char a, char b) { return (a | 0x20) == b; };
  if (name.size() <= prefix.size() || !std::ranges::equal(name.substr(0, prefix.size()), prefix, same_letter))
    return std::nullopt;
  const std::string_view rest = name.substr(prefix.size());
  const std::size_t end = std::min(rest.find('_'), rest.size());
  const auto electrode = whole_number(rest.substr(0, end));
  if (!electrode || *electrode < 1 || *electrode > electrode_count) return std::nullopt;
  if (end < rest.size() && !whole_number(rest.substr(end + 1))) return std::nullopt;
  return electrode;
}

DecodingSession by_electrode(const DecodingSession& session) {
  std::vector<std::int64_t> channel_of(index(electrode_count), -1);
  for (std::int64_t c = 0; c < session.channels; ++c) {
    const auto electrode = electrode_of(session.channel_names[index(c)]);
    if (!electrode || channel_of[index(*electrode - 1)] >= 0) return session;
    channel_of[index(*electrode - 1)] = c;
  }
  DecodingSession out = session;
  out.channels = electrode_count;
  out.counts.assign(index(session.bins * electrode_count), 0);
  out.channel_names.clear();
  for (std::int64_t e = 0; e < electrode_count; ++e) {
    const std::int64_t c = channel_of[index(e)];
    out.channel_names.push_back(c < 0 ? "elec" + std::to_string(e + 1) : session.channel_names[index(c)]);
    if (c < 0) continue;
    for (std::int64_t bin = 0; bin < session.bins; ++bin)
      out.counts[index(bin * electrode_count + e)] = session.counts[index(bin * session.channels + c)];
  }
  return out;
}

}  // namespace mambarium
