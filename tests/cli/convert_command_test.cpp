#include "heed/cli/convert_command.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "heed/cli/inspect_command.h"
#include "heed/infer/translator.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace heed::cli {
namespace {

// A folder with a small model of floats in `model`.
struct Folders {
  TemporaryFolder folder;

  Folders() {
    const std::vector<std::string> lines{"a bat lives in the cave"};
    const auto tokenizer =
        text::Tokenizer::train(lines, {.vocabulary = 40, .subwords = text::Subwords::character});
    models::TransformerConfig config;
    config.vocabulary = tokenizer.size();
    config.encoder_layers = config.decoder_layers = 1;
    config.model_dim = 32;
    config.feed_forward_dim = 64;
    config.num_heads = 2;
    models::save_model_folder(model(), models::TranslationModel(config, 1), tokenizer);
  }
  std::string model() const { return folder.file("model"); }
  std::string output() const { return folder.file("output"); }
};

std::uintmax_t weights_size(const std::string& folder) {
  return std::filesystem::file_size(folder + "/model.safetensors");
}

TEST(ConvertCommand, TellsTheSizesAndInspectTellsTheFormat) {
  const Folders folders;
  std::ostringstream out, log, report;
  EXPECT_EQ(convert({folders.model(), folders.output(), "int8"}, out, log), 0);
  for (const std::string& folder : {folders.model(), folders.output()}) {
    EXPECT_NE(out.str().find(' ' + std::to_string(weights_size(folder)) + " bytes"),
              std::string::npos)
        << out.str();
  }
  inspect({.model = folders.output()}, report);
  EXPECT_NE(report.str().find("  weights                          int8\n"), std::string::npos)
      << report.str();
}

TEST(ConvertCommand, RefusesAnotherFormatBeforeItWritesAnything) {
  const Folders folders;
  std::ostringstream out, log;
  expect_error(ErrorKind::usage,
               "--weights: expected one of f32, f16, bf16, int8, int4, found int3", [&] {
                 convert({folders.model(), folders.output(), "int3"}, out, log);
               });
  EXPECT_FALSE(std::filesystem::exists(folders.output()));
  EXPECT_EQ(out.str(), "");
}

TEST(ConvertCommand, RefusesToExportWhatHasNoFormThere) {
  const Folders folders;
  std::ostringstream out, log;
  const auto convert_to = [&](const std::string& to) {
    convert({.model = folders.model(), .output = folders.output(), .to = to}, out, log);
  };
  expect_error(ErrorKind::model,
               folders.model() + ": expected a model of type heed-language, found heed-translation",
               [&] { convert_to("gguf"); });
  expect_error(ErrorKind::usage, "--to: expected one of heed, gguf, onnx, hf, found tflite",
               [&] { convert_to("tflite"); });
  EXPECT_FALSE(std::filesystem::exists(folders.output()));
}

std::string greedy(const std::string& folder, const std::vector<std::string>& lines) {
  infer::TranslationOptions options;
  options.search.beam_size = 1;
  options.search.max_length = 20;
  std::string texts;
  const auto translator = infer::Translator::load(folder);
  for (const infer::Translation& one : translator.translate(lines, options)) {
    texts += one.text() + '\n';
  }
  return texts;
}

TEST(ConvertCommand, ATranslatorInMariansLayoutTranslatesTheSame) {
  const Folders folders;
  std::ostringstream out, log;
  convert({.model = folders.model(), .output = folders.output(), .to = "hf"}, out, log);
  EXPECT_EQ(models::load_config(folders.output()).family, "marian");
  const std::vector<std::string> lines{"a bat", "the cave lives", "in the cave a bat lives"};
  EXPECT_EQ(greedy(folders.output(), lines), greedy(folders.model(), lines));
}

}  // namespace
}  // namespace heed::cli
