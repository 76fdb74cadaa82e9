// Makes tasks that read text: with a tokenizer of their own, or that of the model they begin with.
#pragma once

#include <string>

#include "heed/models/model_folder.h"
#include "heed/train/training_run.h"

namespace heed::train {

class TextTaskMaker : public TaskMaker {
 public:
  // `from`: the folder of a model to begin with, or empty.
  explicit TextTaskMaker(std::string from) : from_(std::move(from)) {}

  std::unique_ptr<TrainingTask> begin() const final {
    return make(from_.empty() ? train_tokenizer() : models::load_tokenizer(from_));
  }
  std::unique_ptr<TrainingTask> go_on(const TrainingFolder& folder) const final {
    return make(models::load_tokenizer(folder.model()));
  }

 protected:
  virtual text::Tokenizer train_tokenizer() const = 0;
  virtual std::unique_ptr<TrainingTask> make(const text::Tokenizer& tokenizer) const = 0;

 private:
  std::string from_;
};

}  // namespace heed::train
