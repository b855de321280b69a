// Channels in the order of an array's electrodes, so that the days of one array share their columns although not every
// electrode is there every day.
//
// XDS files name what was recorded by its electrode: "elec12", or "elec12_1" for the first unit that was sorted out of
// it. Arrays have 96 electrodes (Ma et al., eLife 2023, e84296), and electrodes that are missing count nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/decoding/session.h"

namespace mambarium {

inline constexpr std::int64_t electrode_count = 96;

// 1 .. electrode_count; nothing for a name that tells no such number. Case does not matter.
std::optional<std::int64_t> electrode_of(std::string_view name);

// The session with electrode_count channels: channel e - 1 is what electrode e recorded, under its name in the file, or
// zeros, named "elec<e>". The session as it is where a name tells no electrode, or two the same one: sorted units,
// whose sum would be less than they are.
DecodingSession by_electrode(const DecodingSession& session);

}  // namespace mambarium
