// Conversion of a model folder to another format of weights, or to a format of other programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/models/transformer_config.h"

namespace heed::models {

// A folder of ours; a GGUF file; a folder with an ONNX file; a folder of a Hugging Face family.
enum class ModelFormat { heed, gguf, onnx, hf };

struct ConvertedSizes {
  std::int64_t before = 0, after = 0;  // of the weights' file, in bytes
};

// Writes the model in folder `from` to a new or empty folder `to`: all of it, or on Error nothing.
// Refuses a `to` that holds anything, and converts int8 and int4 to nothing but f32: rounding twice
// would add up the errors.
// `adapter`: the path of a LoRA adapter that is merged first, Heed's file or PEFT's folder, or
// empty.
ConvertedSizes convert_weights(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter = {});

// Writes the language model in folder `from` to the GGUF file `to`, which must not exist yet:
// all of it, or on Error nothing. Refuses what convert_weights and export_gguf refuse. `notes` gets
// what the user should know about the file.
ConvertedSizes convert_to_gguf(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter, std::vector<std::string>& notes);

// Writes the encoder in folder `from` to a new or empty folder `to`: model.onnx, with config.json
// and the files of its tokenizer beside it. All of it, or on Error nothing. Refuses what
// convert_weights and export_onnx refuse.
ConvertedSizes convert_to_onnx(const std::string& from, const std::string& to, WeightFormat format,
                               const std::string& adapter);

// Writes the model in folder `from` to a new or empty folder `to` in the layout of the family of
// Hugging Face that fits, with the tokenizer's and the generation's files: all of it, or on Error
// nothing. Refuses what convert_weights, family_form and family_tokenizer_files refuse, and formats
// other than f32, f16 and bf16. A model of another family stays one of it.
ConvertedSizes convert_to_family(const std::string& from, const std::string& to,
                                 WeightFormat format, const std::string& adapter = {});

}  // namespace heed::models

namespace heed {
template <>
std::span<const Choice<models::ModelFormat>> choices();  // heed, gguf, onnx, hf
}  // namespace heed
