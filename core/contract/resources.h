// Where the data files lie: presets, and what `reproduce` trains.
//
// The first of these that is a directory: the environment variable MAMBARIUM_RESOURCES; ../share/mambarium beside the
// directory of the program (an installed tree); resources/ of the source tree this program was built from.
#pragma once

#include <filesystem>

namespace mambarium {

std::filesystem::path resource_directory();  // empty when there is none
std::filesystem::path preset_directory();    // <resources>/presets

}  // namespace mambarium
