#pragma once

namespace heed::train {

// What to do with the run that a model folder holds.
enum class RunMode {
  start_or_resume,  // resume it; start one where there is none
  resume,           // resume it; refuse a folder without one
  overwrite,        // start another one in its place
};

}  // namespace heed::train
