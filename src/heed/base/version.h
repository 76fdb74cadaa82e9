// The version of the library and of the program; CMakeLists.txt says the same.
#pragma once

namespace heed {

inline constexpr const char* version = "0.2.0";

}  // namespace heed
