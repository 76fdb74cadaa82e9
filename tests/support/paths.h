// Where the tests find the program and their golden files. Known to one source only, so that no
// other is compiled again in another folder.
#pragma once

namespace heed {

extern const char* const program_path;
extern const char* const golden_folder;

}  // namespace heed
