// Where the files that ship with the program lie: presets/ and whatever else resources/ holds.
//
// The directory is ../share/mambarium as seen from the running program. An installed program has its data there; in a
// build folder that path is a link to the source tree's resources/, so both find them by the same rule.
#pragma once

#include <filesystem>

namespace mambarium {

std::filesystem::path data_directory();

}  // namespace mambarium
