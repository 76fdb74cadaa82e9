// What trainings on a single text share: the text, what is held out, and their hash.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heed/train/recipe.h"
#include "heed/train/text_task_maker.h"
#include "heed/train/training_kind.h"

namespace heed::train {

struct OneText {
  std::vector<std::string> training;
  std::optional<std::vector<std::string>> validation;
};

// The files of a role and of "valid-" and the role, which may be missing.
OneText read_one_text(const FilePaths& files, const std::string& role);

class OneTextMaker : public TextTaskMaker {
 public:
  OneTextMaker(OneText text, const Recipe& recipe, const std::string& from)
      : TextTaskMaker(from), text_(std::move(text)), recipe_(recipe) {}

  std::string data_hash() const override;

 protected:
  OneText text_;
  Recipe recipe_;
};

}  // namespace heed::train
