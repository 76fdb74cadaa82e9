#include "support/paths.h"

namespace heed {

const char* const program_path = HEED_PROGRAM;
const char* const golden_folder = HEED_TEST_DATA;

}  // namespace heed
