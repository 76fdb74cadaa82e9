// The explorer's page, as it was built into the program.
#pragma once

#include "heed/serve/static_files.h"

namespace heed::explore {

// Empty when the program was built without it (HEED_BUILD_WEB=OFF). CMake writes the source of
// this: cmake/page.cmake.
serve::StaticFiles page_files();

}  // namespace heed::explore
