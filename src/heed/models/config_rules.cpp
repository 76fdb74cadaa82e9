#include <algorithm>
#include <set>

#include "heed/base/printable.h"
#include "heed/models/config_fields.h"
#include "heed/models/transformer_config.h"
#include "heed/nn/transformer_block.h"
#include "heed/text/label.h"

namespace heed::models {
namespace {

constexpr std::size_t max_labels = 1 << 20;
// Of all heads: products with the width and with the number of layers fit an Index.
constexpr Index max_heads_width = 1 << 24;

// Rules that tie settings together.
class Validator {
 public:
  Validator(const TransformerConfig& config, std::string_view what, ErrorKind kind)
      : config_(config), what_(what), kind_(kind) {}

  void check_kind() const {
    if (has_text(config_.kind))
      require(config_.vocabulary > 0, "expected a vocabulary of at least 1, found 0");
    check_layers("encoder layers", config_.encoder_layers, has_encoder(config_.kind));
    check_layers("decoder layers", config_.decoder_layers, has_decoder(config_.kind));
    require(config_.weights == WeightFormat::f32 || has_decoder(config_.kind),
            "expected weights of f32 for ", name_of(config_.kind), ", found ",
            name_of(config_.weights));
  }

  void check_attention() const {
    const Index dim = config_.model_dim, heads = config_.num_heads;
    const Index key_value_heads = ops::num_key_value_heads(config_);
    const Index head_dim = config_.head_dim > 0 ? config_.head_dim : dim / heads;
    check_heads(heads, key_value_heads);
    if (config_.decoder_heads > 0) {
      require(has_encoder(config_.kind) && has_decoder(config_.kind),
              "expected no heads of a decoder's own for ", name_of(config_.kind), ", found ",
              config_.decoder_heads);
      const Index given = config_.num_key_value_heads;
      check_heads(config_.decoder_heads, given > 0 ? given : config_.decoder_heads);
    }
    require(head_dim <= max_heads_width / std::max(heads, config_.decoder_heads),
            "expected heads of a width of at most ", max_heads_width, " together, found ", heads,
            " of ", head_dim);
    check_rotary(head_dim);
    require(config_.guided_alignment == 0 || config_.similarity == ops::Similarity::scaled_dot,
            "expected scaled dot products for guided alignment, found ",
            name_of(config_.similarity));
  }

  void check_blocks() const {
    const bool is_parallel = config_.block_form != BlockForm::sequential;
    require(!is_parallel || config_.norm_place == NormPlace::before,
            "expected norms before parallel sub-layers, found ", name_of(config_.norm_place));
    require(!is_parallel || config_.kind != ModelKind::translation,
            "expected sequential sub-layers for cross-attention, found ",
            name_of(config_.block_form));
    require(!config_.has_layer_scale || !config_.has_shared_layers,
            "expected layers of their own for a scale by layer, found shared ones");
    if (config_.relative_buckets > 0) {
      if (has_encoder(config_.kind)) check_buckets(2);
      if (has_decoder(config_.kind)) check_buckets(1);
    }
  }

  void check_embeddings() const {
    const bool is_encoder = has_text(config_.kind) && !has_decoder(config_.kind);
    const Index its_own = config_.embedding_dim;
    const bool is_sum = config_.embedding_projection == EmbeddingProjection::sum;
    require(config_.token_types == 0 || is_encoder, "expected no token types for ",
            name_of(config_.kind), ", found ", config_.token_types);
    require(its_own == 0 || (is_sum ? is_encoder : config_.kind == ModelKind::language),
            "expected embeddings of the width for ", name_of(config_.kind), " with the projection ",
            name_of(config_.embedding_projection), ", found ", its_own);
    require(its_own == 0 || !is_sum || config_.kind != ModelKind::masked ||
                config_.has_output_transform || config_.tying == Tying::none,
            "expected an output transform to embeddings of ", its_own, ", found none");
    require(config_.source_vocabulary == 0 ||
                (config_.kind == ModelKind::translation && config_.tying != Tying::all),
            "expected one vocabulary for ", name_of(config_.kind), " with the tied embeddings ",
            name_of(config_.tying), ", found ", config_.source_vocabulary, " tokens of the source");
  }

  void check_output() const {
    const bool has_projection = has_output_projection(config_.kind);
    require(
        has_projection ||
            (!config_.has_output_bias && config_.output_scale == 1 && config_.logit_softcap == 0),
        "expected no settings of an output projection for ", name_of(config_.kind), ", found some");
    require(!config_.has_output_transform || config_.kind == ModelKind::masked,
            "expected no output transform for ", name_of(config_.kind), ", found one");
    require(config_.head_layer == HeadLayer::none || has_classes(config_.kind),
            "expected no layer before classes for ", name_of(config_.kind), ", found ",
            name_of(config_.head_layer));
    require(config_.kind != ModelKind::encoder || config_.pooling != Pooling::attention,
            "expected a pooling without parameters for ", name_of(config_.kind), ", found ",
            name_of(config_.pooling));
    require(!config_.normalizes || config_.kind == ModelKind::encoder,
            "expected vectors of any length for ", name_of(config_.kind), ", found unit vectors");
    require(!puts_begin_first(config_) ||
                (config_.tokens.begin >= 0 && config_.tokens.begin < config_.vocabulary),
            "expected a begin token of the vocabulary for the pooling first, found ",
            config_.tokens.begin);
  }

  void check_images() const {
    require(!config_.has_class_token || !has_text(config_.kind), "expected no class token for ",
            name_of(config_.kind), ", found one");
    if (has_text(config_.kind)) return;
    const Index height = config_.image_height, width = config_.image_width;
    require(config_.image_channels != 2, "expected 1 or 3 image channels, found 2");
    require(height % config_.patch_side == 0 && width % config_.patch_side == 0,
            "expected a patch side that divides an image of ", width, " x ", height, ", found ",
            config_.patch_side);
    require(config_.pooling != Pooling::first || config_.has_class_token,
            "expected the pooling mean or attention for images without a class token, found first");
  }

  void check_problem() const {
    const bool is_regression = config_.problem_type == ProblemType::regression;
    require(config_.problem_type == ProblemType::single_label || is_text_classifier(config_.kind),
            "expected the problem type ", name_of(ProblemType::single_label), " for ",
            name_of(config_.kind), ", found ", name_of(config_.problem_type));
    require(!config_.text_pairs || is_text_classifier(config_.kind), "expected single texts for ",
            name_of(config_.kind), ", found pairs");
    require(!is_regression || config_.labels.size() <= 1,
            "expected one label for regression, the name of the number, found ",
            config_.labels.size());
    require(!is_regression || config_.label_smoothing == 0,
            "expected no label smoothing for regression, found ", config_.label_smoothing);
  }

  void check_labels() const {
    require(config_.labels.size() <= max_labels, "expected at most ", max_labels, " labels, found ",
            config_.labels.size());
    std::set<std::string_view> labels;
    for (const std::string& label : config_.labels) {
      text::check_label(label, what_, kind_);
      require(labels.insert(label).second, "expected labels that differ, found ", excerpt(label),
              " twice");
    }
  }

 private:
  void check_layers(std::string_view name, Index layers, bool exist) const {
    if (exist) return require(layers > 0, "expected ", name, " of at least 1, found ", layers);
    require(layers == 0, "expected no ", name, " for ", name_of(config_.kind), ", found ", layers);
  }
  void check_heads(Index heads, Index key_value_heads) const {
    require(config_.head_dim > 0 || config_.model_dim % heads == 0,
            "expected heads that divide the width ", config_.model_dim, ", found ", heads);
    require(heads % key_value_heads == 0, "expected key/value heads that divide the ", heads,
            " heads, found ", key_value_heads);
  }
  void check_rotary(Index head_dim) const {
    const ops::RotaryFrequencies& rotary = config_.rotary;
    const Index dim = rotary.dim > 0 ? rotary.dim : head_dim;
    require(dim <= head_dim, "expected a rotary width within the ", head_dim, " of a head, found ",
            dim);
    if (config_.positions != Positions::rotary) return;
    require(dim % 2 == 0, "expected heads of an even width for rotary positions, found ", dim);
    require(
        rotary.scaling != ops::RotaryScaling::longrope || std::ssize(rotary.divisors) == dim / 2,
        "expected ", dim / 2, " rotary divisors, found ", rotary.divisors.size());
    const bool is_by_length =
        rotary.scaling == ops::RotaryScaling::llama3 || rotary.scaling == ops::RotaryScaling::yarn;
    require(!is_by_length || rotary.original_positions > 0,
            "expected the original positions of the rotary scaling ", name_of(rotary.scaling),
            ", found 0");
  }
  void check_buckets(Index num_sides) const {
    const Index buckets = config_.relative_buckets, exact = buckets / num_sides / 2;
    require(exact > 0 && buckets % num_sides == 0 && config_.relative_max_distance > exact,
            "expected relative buckets for ", num_sides, " sides and distances beyond ", exact,
            ", found ", buckets, " up to ", config_.relative_max_distance);
  }
  template <typename... Parts>
  void require(bool ok, const Parts&... parts) const {
    check_as(kind_, ok, what_, ": ", parts...);
  }

  const TransformerConfig& config_;
  std::string_view what_;
  ErrorKind kind_;
};

}  // namespace

void validate(const TransformerConfig& config, std::string_view what, ErrorKind kind) {
  check_ranges(config, what, kind);
  const Validator validator(config, what, kind);
  validator.check_kind();
  validator.check_attention();
  validator.check_blocks();
  validator.check_embeddings();
  validator.check_output();
  validator.check_images();
  validator.check_problem();
  validator.check_labels();
}

}  // namespace heed::models
