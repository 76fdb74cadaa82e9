#include "heed/cli/convert_command.h"

#include <fmt/format.h>

#include <iostream>
#include <memory>

#include "heed/models/convert_weights.h"

namespace heed::cli {

int convert(const ConvertOptions& options, std::ostream& out) {
  const auto format = parse_choice<models::WeightFormat>(options.weights, "--weights");
  const models::ConvertedSizes sizes =
      models::convert_weights(options.model, options.output, format, options.adapter);
  out << fmt::format("before  {:>13} bytes\nafter   {:>13} bytes, {:.1f}%\n", sizes.before,
                     sizes.after,
                     100.0 * static_cast<double>(sizes.after) / static_cast<double>(sizes.before));
  return 0;
}

Command convert_command() {
  auto options = std::make_shared<ConvertOptions>();
  Command command("convert", "Quantize the weights of a model, or merge a LoRA adapter into it.",
                  "heed convert my-model my-model-int8 --weights int8");
  command.option("model", options->model, "model folder")->required()->type_name("FOLDER");
  command.option("output", options->output, "new folder for the converted model")
      ->required()
      ->type_name("FOLDER");
  command.group("Conversion");
  command.option("--weights", options->weights,
                 "weight format: " + choice_names<models::WeightFormat>() +
                     "; all but f32 are for inference only");
  command
      .option("--adapter", options->adapter,
              "LoRA adapter to merge first: adapter.safetensors of `heed train --lora`, or a "
              "folder of PEFT's")
      ->type_name("PATH");
  command.run([options] { return convert(*options, std::cout); });
  return command;
}

}  // namespace heed::cli
