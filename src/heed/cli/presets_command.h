// heed presets: the settings that training starts from.
#pragma once

#include <iosfwd>
#include <string>

#include "heed/cli/command.h"

namespace heed::cli {

struct PresetsOptions {
  std::string preset = {};  // empty: a line for each
  bool json = false;
};

// A table of all presets, or the settings of one as lines `name = value`, which --config of heed
// train reads. As JSON: one object per preset and line.
int presets(const PresetsOptions& options, std::ostream& out);

Command presets_command();

}  // namespace heed::cli
