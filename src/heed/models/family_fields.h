// Rows for the table of a family's configuration. A key that config.json lacks has the default of
// the class that wrote it; null is a value of its own where the class has one.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heed/models/family.h"

namespace heed::models::families {

using Config = TransformerConfig;

// What the networks of most families have, and Heed's own have not: embeddings as they are, no
// label smoothing, no dropout but what config.json says, no gradient for looked-up padding.
Config network_of(Config config);

using FamilyFields = std::vector<FamilyField>;
FamilyFields join(FamilyFields a, const FamilyFields& b);

FamilyField size(std::string key, Index Config::*member, Index missing);
// null is 0, which stands for a size that follows from another.
FamilyField size_or_null(std::string key, Index Config::*member, Index missing = 0);
// Of embeddings; 0 where it is the width.
FamilyField embedding_size(const std::string& key, Index missing);
// max_position_embeddings, where positions begin after the id of the padding and count from 0.
// After the special tokens.
FamilyField positions_after_pad(Index missing);
FamilyField number(std::string key, float Config::*member, float missing);
FamilyField number_or_null(std::string key, float Config::*member, float missing);  // null: 0
FamilyField probability(std::string key, float Config::*member, float missing);
FamilyField flag(std::string key, bool Config::*member, bool missing);
// A setting of which only this value is supported. It is not written.
FamilyField only(std::string key, nlohmann::json value);
FamilyField activation(std::string key, std::string missing,
                       Activation Config::*member = &Config::activation);
// tie_word_embeddings. What the file of tensors holds decides in the end.
FamilyField tied(bool missing, Tying untied = Tying::none);
// scale_embedding: by the square root of the width.
FamilyField scaled_embedding(bool missing);
FamilyField attention_bias(std::string key, bool missing, AttentionBias with,
                           AttentionBias without = AttentionBias::none);

// The ids of special tokens where config.json does not say.
struct MissingTokens {
  static constexpr int none = text::SpecialTokens::none;

  int pad = none;
  int begin = none;
  int end = none;
  int decoder_start = none;
};
// pad_token_id, bos_token_id, eos_token_id (one or a list), decoder_start_token_id.
FamilyField special_tokens(const MissingTokens& missing = {});

FamilyField labels();  // id2label and problem_type

struct RotaryKeys {
  std::string base = "rope_theta", part = "partial_rotary_factor";  // the older ones
  double missing_part = 1;
};
// rope_parameters, or rope_theta and rope_scaling. After the sizes.
FamilyField rotary(const RotaryKeys& keys = {});

// Which layers have the window where layer_types does not say.
using HasWindow = bool (*)(const io::JsonFields&, Index layer);
bool in_every_layer(const io::JsonFields&, Index layer);
// sliding_window of the decoder, by layer. After the sizes. `switch_key`: of a flag without which
// there is no window.
FamilyField windows(std::optional<Index> missing, HasWindow has_window = in_every_layer,
                    const std::string& switch_key = {});

Index head_dim(const Config& config);

}  // namespace heed::models::families
