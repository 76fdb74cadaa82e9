#include "heed/cli/convert_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>

#include "heed/models/convert_weights.h"

namespace heed::cli {

namespace {

models::ConvertedSizes convert_to(models::ModelFormat to, const ConvertOptions& options,
                                  std::vector<std::string>& notes) {
  const auto format = parse_choice<models::WeightFormat>(options.weights, "--weights");
  switch (to) {
    case models::ModelFormat::gguf:
      return models::convert_to_gguf(options.model, options.output, format, options.adapter, notes);
    case models::ModelFormat::onnx:
      return models::convert_to_onnx(options.model, options.output, format, options.adapter);
    case models::ModelFormat::hf:
      return models::convert_to_family(options.model, options.output, format, options.adapter);
    case models::ModelFormat::heed:
      break;
  }
  return models::convert_weights(options.model, options.output, format, options.adapter);
}

}  // namespace

int convert(const ConvertOptions& options, std::ostream& out, std::ostream& log) {
  std::vector<std::string> notes;
  const auto sizes =
      convert_to(parse_choice<models::ModelFormat>(options.to, "--to"), options, notes);
  for (const std::string& note : notes) log << "note: " << note << '\n';
  out << fmt::format("before  {:>13} bytes\nafter   {:>13} bytes, {:.1f}%\n", sizes.before,
                     sizes.after,
                     100.0 * static_cast<double>(sizes.after) /
                         static_cast<double>(std::max<std::int64_t>(sizes.before, 1)));
  return 0;
}

Command convert_command() {
  auto options = std::make_shared<ConvertOptions>();
  Command command("convert",
                  "Quantize the weights of a model, merge a LoRA adapter into it, or export it to "
                  "other programs.",
                  "heed convert my-model my-model-int8 --weights int8");
  command.option("model", options->model, "model folder")->required()->type_name("FOLDER");
  command
      .option("output", options->output, "new folder for the converted model; for gguf a new file")
      ->required()
      ->type_name("PATH");
  command.group("Conversion");
  command.option("--to", options->to,
                 "format: " + choice_names<models::ModelFormat>() +
                     "; gguf for llama.cpp, onnx for ONNX Runtime, hf for the layout of "
                     "transformers");
  command.option("--weights", options->weights,
                 "weight format: " + choice_names<models::WeightFormat>() +
                     "; all but f32 are for inference only. For gguf f32, f16, or int8, "
                     "which is Q8_0");
  command
      .option("--adapter", options->adapter,
              "LoRA adapter to merge first: adapter.safetensors of `heed train --lora`, or a "
              "folder of PEFT's")
      ->type_name("PATH");
  command.run([options] { return convert(*options, std::cout, std::cerr); });
  return command;
}

}  // namespace heed::cli
