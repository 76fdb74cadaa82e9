# The headers that are installed. scripts/check_public_headers says whether the two lists are complete.

# What users include; heed/heed.h includes all of them.
set(HEED_PUBLIC_HEADERS
  heed/heed.h
  heed/base/error.h
  heed/base/index.h
  heed/base/parallel.h
  heed/base/random.h
  heed/base/version.h
  heed/core/shape.h
  heed/core/spans.h
  heed/core/tensor.h
  heed/ops/attention.h
  heed/ops/cross_entropy.h
  heed/ops/elementwise.h
  heed/ops/embedding.h
  heed/ops/matmul.h
  heed/ops/norm.h
  heed/ops/operators.h
  heed/ops/ops.h
  heed/ops/pooling.h
  heed/ops/softmax.h
  heed/nn/attention.h
  heed/nn/attention_hook.h
  heed/nn/embedding.h
  heed/nn/feed_forward.h
  heed/nn/forward_context.h
  heed/nn/interventions.h
  heed/nn/linear.h
  heed/nn/module.h
  heed/nn/norm.h
  heed/nn/transformer_block.h
  heed/nn/transformer_stack.h
  heed/text/tokenizer.h
  heed/metrics/bleu.h
  heed/metrics/chrf.h
  heed/models/classifier.h
  heed/models/image_classifier.h
  heed/models/language_model.h
  heed/models/masked_model.h
  heed/models/model_folder.h
  heed/models/packed_ids.h
  heed/models/presets.h
  heed/models/translation_model.h
  heed/infer/fill_mask.h
  heed/infer/image_labeller.h
  heed/infer/line_classifier.h
  heed/infer/sentence_encoder.h
  heed/infer/text_generator.h
  heed/infer/translator.h
  heed/train/batch_task.h
  heed/train/optimizer.h
  heed/train/schedule.h
  heed/train/training.h)

# What those include in turn. Installed, but no promise: they may move in any version.
set(HEED_SUPPORT_HEADERS
  heed/base/choices.h
  heed/data/image.h
  heed/data/line_corpus.h
  heed/data/patches.h
  heed/data/shuffled_range.h
  heed/data/translation_corpus.h
  heed/infer/alignment.h
  heed/infer/beam.h
  heed/infer/beam_search.h
  heed/infer/class_probabilities.h
  heed/infer/constraints.h
  heed/infer/line_batches.h
  heed/infer/sampling.h
  heed/infer/top_tokens.h
  heed/io/dtype.h
  heed/io/files.h
  heed/io/safetensors.h
  heed/io/sha256.h
  heed/kernels/log_probabilities.h
  heed/kernels/weight_format.h
  heed/metrics/bleu_tokenizers.h
  heed/metrics/word_alignment.h
  heed/models/class_head.h
  heed/models/model.h
  heed/models/text_encoder.h
  heed/models/transformer_config.h
  heed/nn/initializer.h
  heed/nn/key_value_cache.h
  heed/nn/output_projection.h
  heed/nn/packing.h
  heed/nn/patch_embedding.h
  heed/nn/positions.h
  heed/nn/residual.h
  heed/nn/stack_cache.h
  heed/nn/transformer_options.h
  heed/nn/weight.h
  heed/ops/alignment_loss.h
  heed/ops/argmax_projection.h
  heed/ops/linear.h
  heed/ops/packed_matrix.h
  heed/ops/positions.h
  heed/ops/projection_cross_entropy.h
  heed/ops/quantized_matrix.h
  heed/ops/similarity.h
  heed/train/averaging.h
  heed/train/checkpoint.h
  heed/train/early_stopping.h
  heed/train/environment.h
  heed/train/memory_need.h
  heed/train/model_task.h
  heed/train/recipe.h
  heed/train/run_length.h
  heed/train/snapshots.h
  heed/train/task.h
  heed/train/training_files.h
  heed/train/training_folder.h
  heed/train/training_observer.h
  heed/train/weights.h
  heed/train/write_retry.h)

set(headers ${HEED_PUBLIC_HEADERS} ${HEED_SUPPORT_HEADERS})
list(TRANSFORM headers PREPEND src/)
target_sources(heed PUBLIC FILE_SET HEADERS BASE_DIRS src FILES ${headers})
# Building `check_headers` compiles every one of them alone.
set_target_properties(heed PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
add_custom_target(check_headers DEPENDS heed_verify_interface_header_sets)
