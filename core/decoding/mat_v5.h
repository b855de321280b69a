// MAT-files of version 5, for mat_struct.h.
#pragma once

#include "core/decoding/mat_struct.h"

namespace mambarium {

// The file exists and begins with a header of version 5. Its elements are checked first: each must lie within the file,
// and what is packed must unpack to the end with the right checksum. Throws as open_mat_struct.
std::unique_ptr<MatStruct> open_mat_v5(const std::filesystem::path& path, const std::string& variable);

}  // namespace mambarium
