// MAT-files of version 7.3, for mat_struct.h: HDF5 files in which a struct is a group, every array lies transposed and
// names its class in the attribute MATLAB_class, a cell array holds references, and a text is UTF-16.
#pragma once

#include "core/decoding/mat_struct.h"

namespace mambarium {

// The file exists and is HDF5. Throws as open_mat_struct.
std::unique_ptr<MatStruct> open_mat_v73(const std::filesystem::path& path, const std::string& variable);

}  // namespace mambarium
