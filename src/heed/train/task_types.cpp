#include "heed/train/task_types.h"

#include <algorithm>
#include <string_view>

#include "heed/base/error.h"
#include "heed/train/classification_task.h"
#include "heed/train/image_task.h"
#include "heed/train/language_task.h"
#include "heed/train/masked_task.h"
#include "heed/train/prompt_task.h"
#include "heed/train/tagging_task.h"
#include "heed/train/translation_task.h"

namespace heed::train {
namespace {

using models::ModelKind;

template <typename SomeTask>
std::unique_ptr<Task> make(const FilePaths& files, const Recipe& recipe) {
  return std::make_unique<SomeTask>(files, recipe);
}

constexpr bool is_optional = false;  // for FileRole::is_required

const std::vector<TaskType>& table() {
  static const FileRole base_model{base_model_role,
                                   "pretrained model to initialise from; its tokenizer is used too",
                                   is_optional};
  static const FileRole alignment{
      TranslationTask::alignment_role,
      "word alignment of the training text for guided alignment, lines like 0-0 1-2", is_optional};
  static const std::vector<TaskType> types{
      {"translation",
       ModelKind::translation,
       {{"source", "source text, one sentence per line"},
        {"target", "target text, one line for each source line"},
        {"valid-source", "validation source text", is_optional},
        {"valid-target", "validation target text", is_optional},
        alignment,
        base_model},
       "tiny",
       make<TranslationTask>},
      {"translation from one file",
       ModelKind::translation,
       {{"pairs", "source and target in one file: .tsv, .csv or .jsonl"},
        {"valid-pairs", "validation pairs", is_optional},
        alignment,
        base_model},
       "tiny",
       make<TranslationTask>},
      {"language modelling",
       ModelKind::language,
       {{"text", "running text"}, {"valid-text", "validation text", is_optional}, base_model},
       "gpt-mini",
       make<LanguageTask>},
      {"answers to prompts",
       ModelKind::language,
       {{"prompts", "prompt and answer of each example: .tsv, .csv or .jsonl"},
        {"valid-prompts", "validation prompts", is_optional},
        base_model},
       "prompts",
       make<PromptTask>},
      {"classification",
       ModelKind::classifier,
       {{"labelled", "lines with a label: .tsv, .csv or .jsonl",
         /*is_required=*/true, "labeled"},
        {"valid-labelled", "validation lines with labels", is_optional, "valid-labeled"},
        base_model},
       "classes",
       make<ClassificationTask>},
      {"tagging",
       ModelKind::tagger,
       {{"tagged", "words with a tag: one word a line as in CoNLL files, or .jsonl"},
        {"valid-tagged", "validation words with tags", is_optional},
        base_model},
       "tags",
       make<TaggingTask>},
      {"masked language modelling",
       ModelKind::masked,
       {{"masked", "text, one sentence per line"},
        {"valid-masked", "validation text", is_optional},
        base_model},
       "masked",
       make<MaskedTask>},
      {"image classification",
       ModelKind::image_classifier,
       {{"images", "folder of PNG or JPEG images, one subfolder per class, of MNIST or CIFAR-10"},
        {"valid-images", "validation images; of MNIST and CIFAR-10, the test set", is_optional},
        base_model},
       "images",
       make<ImageTask>}};
  return types;
}

std::string join(const std::vector<std::string>& names, std::string_view separator) {
  std::string all;
  for (const std::string& name : names) all.append(all.empty() ? "" : separator).append(name);
  return all;
}

// "`source` and `target`"
std::string required_files(const TaskType& type) {
  std::vector<std::string> names;
  for (const FileRole& role : type.files) {
    if (role.is_required) names.push_back(quote(role.name));
  }
  return join(names, " and ");
}

bool has_any(const TaskType& type, const FilePaths& files) {
  return std::ranges::any_of(type.files, [&](const FileRole& role) {
    return role.is_required && files.contains(role.name);
  });
}

void check_files(const TaskType& type, const FilePaths& files) {
  for (const FileRole& role : type.files) {
    check_as(ErrorKind::usage, !role.is_required || files.contains(role.name),
             "training files: expected ", required_files(type), ", found no ", quote(role.name));
  }
  for (const auto& [name, paths] : files) {
    check_as(ErrorKind::usage, std::ranges::count(type.files, name, &FileRole::name) == 1,
             quote(name), ": cannot be combined with ", required_files(type));
    check_as(ErrorKind::usage, !paths.empty(), quote(name), ": expected a file, found none");
  }
}

}  // namespace

std::span<const TaskType> task_types() { return table(); }

const TaskType& task_type_of(const FilePaths& files) {
  const auto type = std::ranges::find_if(
      task_types(), [&](const TaskType& type) { return has_any(type, files); });
  if (type == task_types().end()) {
    std::vector<std::string> all;
    for (const TaskType& other : task_types()) all.push_back(required_files(other));
    fail(ErrorKind::usage, "training files: expected ", join(all, ", or "), ", found none of them");
  }
  check_files(*type, files);
  return *type;
}

}  // namespace heed::train
