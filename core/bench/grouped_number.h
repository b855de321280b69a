// 1234567.8 -> "1,234,568": numbers of a table that are read, not computed with. Not negative.
#pragma once

#include <string>

namespace mambarium {

std::string grouped(double number);

}  // namespace mambarium
