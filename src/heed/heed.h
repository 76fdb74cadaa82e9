// Heed: attention and Transformers on CPUs. This header is the whole public interface:
//
//   #include <heed/heed.h>
//   using namespace heed;
//
//   const Tensor y = ops::attention(q, k, v, {.num_heads = 8, .causal = true});
//   backward(ops::sum(y * y));
//
//   std::cout << infer::Translator::load("my-model").translate("A bat lives in the cave.");
//
// Every folder is a namespace, except base and core, which are heed itself. Errors are exceptions
// of type heed::Error. docs/api.md has a line about each header, and examples/ has whole programs.
// A program that cares about compile time includes only what it uses.
#pragma once

// Errors, threads and random numbers.
#include "heed/base/error.h"
#include "heed/base/parallel.h"  // set_num_threads
#include "heed/base/random.h"
#include "heed/base/version.h"

// Tensors, gradients, and the differentiable functions, which ops.h lists.
#include "heed/core/spans.h"
#include "heed/core/tensor.h"
#include "heed/ops/ops.h"

// Layers, from a matrix to a stack of Transformer blocks; how to watch a forward pass, and how to
// intervene in it.
#include "heed/nn/attention.h"
#include "heed/nn/embedding.h"
#include "heed/nn/feed_forward.h"
#include "heed/nn/forward_context.h"
#include "heed/nn/interventions.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/nn/transformer_block.h"
#include "heed/nn/transformer_stack.h"

// Models: their configurations, their networks, and their folders on disk.
#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/model_folder.h"
#include "heed/models/presets.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"
#include "heed/text/json_tokenizer.h"
#include "heed/text/sequence_template.h"
#include "heed/text/tokenizer.h"

// Inference: text or images in, answers out.
#include "heed/infer/fill_mask.h"
#include "heed/infer/image_labeller.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/line_tagger.h"
#include "heed/infer/sentence_encoder.h"
#include "heed/infer/text_generator.h"
#include "heed/infer/translator.h"
#include "heed/metrics/answers.h"
#include "heed/metrics/bleu.h"
#include "heed/metrics/chrf.h"
#include "heed/metrics/multi_label.h"
#include "heed/metrics/regression.h"
#include "heed/metrics/rouge.h"
#include "heed/metrics/sequence_labels.h"

// Training: an optimizer and a schedule for a loop of your own, or the trainer.
#include "heed/train/batch_task.h"
#include "heed/train/optimizer.h"
#include "heed/train/schedule.h"
#include "heed/train/training.h"
