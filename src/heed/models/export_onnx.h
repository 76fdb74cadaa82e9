// Encoders as ONNX files, which ONNX Runtime and others run: classifiers of text and of images, and
// encoders of sentences.
//
// Texts: input_ids and attention_mask [batch, sequence], int64, and token_type_ids for models with
// token types. 1 in the mask is a token, 0 is padding, which changes nothing. The ids are those of
// `heed tokenize`, special tokens included, except the begin token that a model of ours prepends
// itself. Images: pixel_values [batch, channels, height, width], floats as the model was trained
// with: from 0 to 1 unless a preprocessor says otherwise.
//
// Outputs: logits [batch, classes], of a regression the number; or embeddings [batch, width].
#pragma once

#include <string>

#include "heed/base/weight_format.h"

namespace heed::models {

class Classifier;
class Encoder;
class ImageClassifier;

// Replaces `path` in one step. Matrices in f32 or f16; what is computed is f32. Refuses
// (ErrorKind::model) other formats, and settings that have no form here, by name.
void export_onnx(const Classifier& model, const std::string& path,
                 WeightFormat weights = WeightFormat::f32);
void export_onnx(const Encoder& model, const std::string& path,
                 WeightFormat weights = WeightFormat::f32);
void export_onnx(const ImageClassifier& model, const std::string& path,
                 WeightFormat weights = WeightFormat::f32);

}  // namespace heed::models
