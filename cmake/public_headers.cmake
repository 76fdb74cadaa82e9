# The headers that are installed; the others are internal. scripts/check_public_headers says whether
# the two lists are right.

# The public interface. heed/heed.h brings in all of it, and docs/api.md has a line about each.
set(HEED_PUBLIC_HEADERS
  heed/heed.h
  heed/base/choices.h
  heed/base/error.h
  heed/base/index.h
  heed/base/parallel.h
  heed/base/problem_type.h
  heed/base/random.h
  heed/base/version.h
  heed/base/weight_format.h
  heed/core/shape.h
  heed/core/spans.h
  heed/core/tensor.h
  heed/ops/attention.h
  heed/ops/binary_cross_entropy.h
  heed/ops/cross_entropy.h
  heed/ops/elementwise.h
  heed/ops/embedding.h
  heed/ops/linear.h
  heed/ops/matmul.h
  heed/ops/norm.h
  heed/ops/operators.h
  heed/ops/ops.h
  heed/ops/packed_matrix.h
  heed/ops/pooling.h
  heed/ops/positions.h
  heed/ops/similarity.h
  heed/ops/softmax.h
  heed/nn/attention.h
  heed/nn/attention_hook.h
  heed/nn/block_form.h
  heed/nn/embedding.h
  heed/nn/feed_forward.h
  heed/nn/forward_context.h
  heed/nn/initializer.h
  heed/nn/interventions.h
  heed/nn/linear.h
  heed/nn/module.h
  heed/nn/norm.h
  heed/nn/positions.h
  heed/nn/stack_cache.h
  heed/nn/transformer_block.h
  heed/nn/transformer_stack.h
  heed/nn/weight.h
  heed/text/encoding.h
  heed/text/json_tokenizer.h
  heed/text/sequence_template.h
  heed/text/special_tokens.h
  heed/text/tokenizer.h
  heed/metrics/answers.h
  heed/metrics/bleu.h
  heed/metrics/chrf.h
  heed/metrics/multi_label.h
  heed/metrics/precision_recall.h
  heed/metrics/regression.h
  heed/metrics/rouge.h
  heed/metrics/sequence_labels.h
  heed/metrics/word_alignment.h
  heed/models/classifier.h
  heed/models/encoder.h
  heed/models/image_classifier.h
  heed/models/language_model.h
  heed/models/masked_model.h
  heed/models/model.h
  heed/models/model_folder.h
  heed/models/packed_ids.h
  heed/models/presets.h
  heed/models/tagger.h
  heed/models/transformer_config.h
  heed/models/translation_model.h
  heed/infer/class_probabilities.h
  heed/infer/constraints.h
  heed/infer/decoding.h
  heed/infer/fill_mask.h
  heed/infer/image_labeller.h
  heed/infer/line_classifier.h
  heed/infer/line_options.h
  heed/infer/line_tagger.h
  heed/infer/sentence_encoder.h
  heed/infer/text_generator.h
  heed/infer/translator.h
  heed/train/batch_hash.h
  heed/train/batch_task.h
  heed/train/file_paths.h
  heed/train/model_task.h
  heed/train/optimizer.h
  heed/train/recipe.h
  heed/train/run_length.h
  heed/train/schedule.h
  heed/train/task.h
  heed/train/training.h
  heed/train/training_observer.h)

# What private members and templates of public classes need. Installed, but no promise: they may change
# in any version.
set(HEED_SUPPORT_HEADERS
  heed/nn/output_projection.h
  heed/nn/patch_embedding.h
  heed/nn/relative_position_bias.h
  heed/models/class_head.h
  heed/models/class_logits.h
  heed/models/text_encoder.h
  heed/train/data_size.h)

set(headers ${HEED_PUBLIC_HEADERS} ${HEED_SUPPORT_HEADERS})
list(TRANSFORM headers PREPEND src/)
target_sources(heed PUBLIC FILE_SET HEADERS BASE_DIRS src FILES ${headers})
# Building `check_headers` compiles every one of them alone.
set_target_properties(heed PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
add_custom_target(check_headers DEPENDS heed_verify_interface_header_sets)
