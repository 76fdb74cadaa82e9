// Models whose config.json or generation_config.json is wrong: refused with exit code 4 and a
// message that names the field, what was expected and what was found.
#include <nlohmann/json.hpp>

#include "reliability/expect_refused.h"

namespace heed {
namespace {

using models::ModelKind;
using nlohmann::ordered_json;

constexpr const char* missing = nullptr;

// The file of a tiny model with one field set to a JSON value, or without it.
void expect_field_refused(ModelKind kind, const std::string& file, const std::string& field,
                          const char* value, const std::string& message) {
  SCOPED_TRACE(field + " = " + (value ? value : "nothing"));
  ModelFiles model = tiny_model(kind);
  ordered_json json = ordered_json::parse(model[file]);
  if (value == missing) {
    json.erase(field);
  } else {
    json[field] = ordered_json::parse(value);
  }
  model[file] = json.dump();
  expect_refused(model, message);
}

void expect_config_refused(ModelKind kind, const std::string& field, const char* value,
                           const std::string& message) {
  expect_field_refused(kind, "config.json", field, value, message);
}

TEST(BadConfig, SizesThatAreNoIntegersOfTheirRange) {
  struct Size {
    ModelKind kind;
    const char* field;
    const char* range;
    const char* too_large;
  };
  constexpr Size sizes[]{
      {ModelKind::translation, "vocab_size", "from 0 to 16777216", "16777217"},
      {ModelKind::translation, "d_model", "from 1 to 16777216", "16777217"},
      {ModelKind::translation, "encoder_layers", "from 0 to 1024", "1025"},
      {ModelKind::translation, "decoder_layers", "from 0 to 1024", "1025"},
      {ModelKind::translation, "ffn_dim", "from 1 to 16777216", "16777217"},
      {ModelKind::translation, "attention_heads", "from 1 to 16777216", "16777217"},
      {ModelKind::translation, "key_value_heads", "from 0 to 16777216", "16777217"},
      {ModelKind::translation, "max_position_embeddings", "from 1 to 16777216", "16777217"},
      {ModelKind::image_classifier, "image_height", "from 1 to 8192", "8193"},
      {ModelKind::image_classifier, "image_width", "from 1 to 8192", "8193"},
      {ModelKind::image_classifier, "num_channels", "from 1 to 3", "4"},
      {ModelKind::image_classifier, "patch_size", "from 1 to 8192", "8193"},
  };
  for (const Size& size : sizes) {
    const std::string expected =
        std::string("config.json: ") + size.field + ": expected an integer " + size.range;
    for (const char* value : {"-1", size.too_large, "9223372036854775807", "18446744073709551615",
                              "1.5", "\"2\"", "true", "[2]"}) {
      expect_config_refused(size.kind, size.field, value, expected + ", found " + value);
    }
  }
}

TEST(BadConfig, RequiredFieldsThatAreMissingOrNull) {
  for (const char* field : {"model_type", "vocab_size", "d_model", "encoder_layers",
                            "decoder_layers", "ffn_dim", "attention_heads"}) {
    for (const char* value : {missing, "null"}) {
      expect_config_refused(
          ModelKind::translation, field, value,
          std::string("config.json: ") + field + ": expected this field, found none");
    }
  }
  for (const char* field :
       {"image_height", "image_width", "num_channels", "patch_size", "labels"}) {
    expect_config_refused(
        ModelKind::image_classifier, field, missing,
        std::string("config.json: ") + field + ": expected this field, found none");
  }
}

TEST(BadConfig, ProbabilitiesOutsideOfTheirRange) {
  struct Probability {
    const char* field;
    const char* noun;
  };
  for (const auto& [field, noun] :
       {Probability{"dropout", "dropout"}, Probability{"attention_dropout", "attention dropout"},
        Probability{"activation_dropout", "activation dropout"},
        Probability{"label_smoothing", "label smoothing"}}) {
    for (const char* value : {"-0.25", "1.5", "1e300", "\"0.1\"", "false", "{}"}) {
      expect_config_refused(
          ModelKind::translation, field, value,
          std::string("config.json: ") + field + ": expected a number from 0 to 1, found ");
    }
    expect_config_refused(
        ModelKind::translation, field, "1",
        std::string("config.json: expected ") + noun + " of at least 0 and below 1, found 1");
  }
  for (const char* value : {"-1", "1001", "\"1\""}) {
    expect_config_refused(ModelKind::translation, "guided_alignment", value,
                          "config.json: guided_alignment: expected a number from 0 to 1000, found");
  }
}

TEST(BadConfig, NamesThatAreUnknown) {
  struct Names {
    ModelKind kind;
    const char* field;
    const char* expected;
  };
  constexpr Names all[]{
      {ModelKind::translation, "similarity", "dot, cosine, scaled-dot"},
      {ModelKind::translation, "norm_place", "before, after, around"},
      {ModelKind::translation, "norm_kind", "layer, rms"},
      {ModelKind::translation, "positions", "sinusoidal, learned, rotary, alibi, none"},
      {ModelKind::translation, "activation_function",
       "relu, gelu, swiglu, gelu_tanh, quick_gelu, silu"},
      {ModelKind::translation, "tied_embeddings", "none, target, all, inputs"},
      {ModelKind::translation, "weights", "f32, f16, bf16, int8, int4"},
      {ModelKind::classifier, "pooling", "first, mean, attention, last, max"},
      {ModelKind::classifier, "problem_type",
       "single_label_classification, multi_label_classification, regression"},
  };
  // The names of all families are many; what was found stands first.
  expect_config_refused(ModelKind::translation, "model_type", "\"other\"",
                        "config.json: model_type: other is not supported; supported are albert, ");
  expect_config_refused(ModelKind::translation, "model_type", "\"other\"", "t5, vit, xlm-roberta");
  for (const Names& names : all) {
    const std::string place = std::string("config.json: ") + names.field;
    for (const char* name : {"", "other", "F32 "}) {
      expect_config_refused(names.kind, names.field, ordered_json(name).dump().c_str(),
                            place + ": expected one of " + names.expected + ", found " + name);
    }
    for (const char* value : {"5", "[]"}) {
      expect_config_refused(names.kind, names.field, value,
                            place + ": expected a string, found " + value);
    }
  }
}

struct BadField {
  ModelKind kind;
  const char* field;
  const char* value;
  const char* message;
};

TEST(BadConfig, SettingsThatContradictEachOther) {
  constexpr BadField rows[]{
      {ModelKind::translation, "vocab_size", "0",
       "config.json: expected a vocabulary of at least 1, found 0"},
      {ModelKind::translation, "attention_heads", "3",
       "config.json: expected heads that divide the width 2, found 3"},
      {ModelKind::translation, "key_value_heads", "2",
       "config.json: expected key/value heads that divide the 1 heads, found 2"},
      {ModelKind::translation, "encoder_layers", "0",
       "config.json: expected encoder layers of at least 1, found 0"},
      {ModelKind::translation, "decoder_layers", "0",
       "config.json: expected decoder layers of at least 1, found 0"},
      {ModelKind::language, "encoder_layers", "1",
       "config.json: expected no encoder layers for heed-language, found 1"},
      {ModelKind::classifier, "decoder_layers", "1",
       "config.json: expected no decoder layers for heed-classifier, found 1"},
      {ModelKind::masked, "decoder_layers", "2",
       "config.json: expected no decoder layers for heed-masked, found 2"},
      {ModelKind::image_classifier, "decoder_layers", "1",
       "config.json: expected no decoder layers for heed-image-classifier, found 1"},
      {ModelKind::image_classifier, "num_channels", "2",
       "config.json: expected 1 or 3 image channels, found 2"},
      {ModelKind::image_classifier, "patch_size", "3",
       "config.json: expected a patch side that divides an image of 2 x 2, found 3"},
      {ModelKind::image_classifier, "pooling", "\"first\"",
       "config.json: expected the pooling mean or attention for images without a class token, "
       "found first"},
      {ModelKind::translation, "model_type", "\"heed-language\"",
       "config.json: expected no encoder layers for heed-language, found 1"},
      {ModelKind::language, "model_type", "\"heed-translation\"",
       "config.json: expected encoder layers of at least 1, found 0"},
      {ModelKind::classifier, "problem_type", "\"regression\"",
       "config.json: expected one label for regression, the name of the number, found 2"},
      {ModelKind::classifier, "text_pairs", "1",
       "config.json: text_pairs: expected true or false, found 1"},
      {ModelKind::classifier, "score_scale", "0",
       "config.json: score_scale: expected a number from 1e-30 to 1e+18, found 0"},
      {ModelKind::classifier, "model_type", "\"heed-masked\"",
       "model.safetensors: expected the parameters of the model, found also head.bias"},
      {ModelKind::masked, "model_type", "\"heed-classifier\"",
       "config.json: labels: expected this field, found none"},
  };
  for (const BadField& row : rows) {
    expect_config_refused(row.kind, row.field, row.value, row.message);
  }
  for (ModelFiles model : {tiny_translation()}) {
    ordered_json json = ordered_json::parse(model["config.json"]);
    json["d_model"] = 3;
    json["positions"] = "rotary";
    model["config.json"] = json.dump();
    expect_refused(model,
                   "config.json: expected heads of an even width for rotary positions, found 3");
    json["d_model"] = 2;
    json["guided_alignment"] = 0.5;
    json["similarity"] = "dot";
    model["config.json"] = json.dump();
    expect_refused(model,
                   "config.json: expected scaled dot products for guided alignment, found dot");
  }
}

TEST(BadConfig, SizesThatTheWeightsDoNotHave) {
  constexpr BadField rows[]{
      {ModelKind::translation, "d_model", "4",
       "model.safetensors: embedding.weight: expected the shape [8, 4], found [8, 2]"},
      {ModelKind::translation, "d_model", "16777216", "numbers of config.json, found"},
      {ModelKind::translation, "ffn_dim", "16777216", "numbers of config.json, found"},
      {ModelKind::translation, "ffn_dim", "1",
       "encoder.0.feed_forward.hidden.weight: expected the shape [1, 2], found [2, 2]"},
      {ModelKind::translation, "vocab_size", "7",
       "model.safetensors: embedding.weight: expected the shape [7, 2], found [8, 2]"},
      {ModelKind::translation, "vocab_size", "16777216",
       "model.safetensors: embedding.weight: expected the shape [16777216, 2], found [8, 2]"},
      {ModelKind::translation, "encoder_layers", "2",
       "model.safetensors: expected a tensor named encoder.1.self_attention.query.weight, found"},
      {ModelKind::translation, "decoder_layers", "1024",
       "model.safetensors: expected a tensor named decoder.1.self_attention.query.weight, found"},
      {ModelKind::translation, "norm_kind", "\"rms\"",
       "model.safetensors: expected the parameters of the model, found also"},
      {ModelKind::translation, "norm_place", "\"before\"",
       "model.safetensors: expected a tensor named encoder.norm.gain, found none"},
      {ModelKind::translation, "positions", "\"learned\"",
       "model.safetensors: expected a tensor named encoder.positions.weight, found none"},
      {ModelKind::translation, "activation_function", "\"swiglu\"",
       "model.safetensors: expected a tensor named encoder.0.feed_forward.gate.weight, found none"},
      {ModelKind::translation, "tied_embeddings", "\"none\"",
       "model.safetensors: expected a tensor named source_embedding.weight, found none"},
      {ModelKind::translation, "tied_embeddings", "\"target\"",
       "model.safetensors: expected a tensor named source_embedding.weight, found none"},
      {ModelKind::translation, "weights", "\"int8\"",
       "embedding.weight: expected I8 for weights of int8, found F32"},
      {ModelKind::translation, "weights", "\"int4\"",
       "embedding.weight: expected the shape [8, 1], found [8, 2]"},
      {ModelKind::translation, "weights", "\"f16\"",
       "embedding.weight: expected F16 for weights of f16, found F32"},
      {ModelKind::translation, "weights", "\"bf16\"",
       "embedding.weight: expected BF16 for weights of bf16, found F32"},
      {ModelKind::classifier, "pooling", "\"attention\"",
       "model.safetensors: expected a tensor named pooling.query, found none"},
      {ModelKind::image_classifier, "num_channels", "3",
       "embedding.projection.weight: expected the shape [2, 3], found [2, 1]"},
      {ModelKind::image_classifier, "patch_size", "2",
       "embedding.projection.weight: expected the shape [2, 4], found [2, 1]"},
  };
  for (const BadField& row : rows) {
    expect_config_refused(row.kind, row.field, row.value, row.message);
  }
}

TEST(BadConfig, LabelsThatAreNone) {
  const std::string long_label = '"' + std::string(1001, 'x') + '"';
  const std::string with_long_label = "[\"a\", " + long_label + "]";
  const BadField rows[]{
      {ModelKind::classifier, "labels", missing, "labels: expected this field, found none"},
      {ModelKind::classifier, "labels", "[]", "labels: expected the names of classes, found none"},
      {ModelKind::classifier, "labels", "\"a\"", "labels: expected a list, found \"a\""},
      {ModelKind::classifier, "labels", "{\"a\": 1}", "labels: expected a list, found {\"a\":1}"},
      {ModelKind::classifier, "labels", "[1, 2]", "labels: expected a list of strings, found 1"},
      {ModelKind::classifier, "labels", "[\"a\", null]",
       "labels: expected a list of strings, found null"},
      {ModelKind::classifier, "labels", "[\"a\", \"a\"]", "expected labels that differ, found a"},
      {ModelKind::classifier, "labels", "[\"a\"]",
       "model.safetensors: head.weight: expected the shape [1, 2], found [2, 2]"},
      {ModelKind::classifier, "labels", "[\"a\", \"b\", \"c\"]",
       "model.safetensors: head.weight: expected the shape [3, 2], found [2, 2]"},
      {ModelKind::classifier, "labels", R"(["a", "b\nc"])",
       "expected a label on one line, without control characters, found \"b\\nc\""},
      {ModelKind::classifier, "labels", R"(["a", "b\tc"])",
       "expected a label on one line, without control characters, found \"b\\tc\""},
      {ModelKind::classifier, "labels", R"(["a", "\u001b[31m"])",
       "expected a label on one line, without control characters, found \"\\x1b[31m\""},
      {ModelKind::classifier, "labels", with_long_label.c_str(),
       "expected a label of at most 1000 bytes, found one of 1001"},
      {ModelKind::image_classifier, "labels", "[\"a\", \"a\"]",
       "expected labels that differ, found a"},
      {ModelKind::image_classifier, "labels", "[]",
       "labels: expected the names of classes, found none"},
  };
  for (const BadField& row : rows) {
    expect_config_refused(row.kind, row.field, row.value, row.message);
  }
}

struct BadText {
  std::string text;
  const char* message;
};

// A JSON text that no parser takes, and some that only a careless one takes.
std::vector<BadText> bad_json() {
  const std::string deep(200'000, '[');
  return {
      {"", "expected JSON, found a mistake at byte 1"},
      {" ", "expected JSON, found a mistake at byte 2"},
      {"{", "expected JSON, found a mistake at byte 2"},
      {"{}}", "expected JSON, found a mistake at byte 3"},
      {"{\"a\": 1,}", "expected JSON, found a mistake at byte 9"},
      {"{'a': 1}", "expected JSON, found a mistake at byte 2"},
      {"{\n\"a\": 1\n\"b\": 2}", "expected JSON, found a mistake in line 3, byte 12"},
      {"{\"a\": NaN}", "expected JSON, found a mistake at byte 7"},
      {"{\"a\": 1e999}", "expected JSON, found a number that is too large"},
      {"{\"a\": \"\xff\"}", "expected JSON, found a mistake at byte 8"},
      {"{\"a\": \"\x01\"}", "expected JSON, found a mistake at byte 8"},
      {"{\"a\": 1, \"a\": 2}", "expected each key once, found \"a\" twice"},
      {"{\"a\": {\"b\": 1, \"b\": 1}}", "expected each key once, found \"b\" twice"},
      {"{\"a\": " + deep, "expected at most 64 levels of JSON, found more"},
      {std::string("{}\0", 3), "expected JSON, found a mistake at byte 3"},
      {"null", "expected a JSON object, found null"},
      {"[]", "expected a JSON object, found []"},
      {"5", "expected a JSON object, found 5"},
      {"\"config\"", "expected a JSON object, found \"config\""},
      {"\x1f\x8b\x08", "expected JSON, found a mistake at byte 1"},
  };
}

TEST(BadConfig, TextThatIsNoJsonObject) {
  for (const BadText& row : bad_json()) {
    SCOPED_TRACE(row.text.substr(0, 40));
    ModelFiles model = tiny_translation();
    model["config.json"] = row.text;
    expect_refused(model, std::string("config.json: ") + row.message);
  }
}

TEST(BadGenerationConfig, TextThatIsNoJsonObject) {
  for (const BadText& row : bad_json()) {
    SCOPED_TRACE(row.text.substr(0, 40));
    ModelFiles model = tiny_translation();
    model["generation_config.json"] = row.text;
    expect_refused(model, std::string("generation_config.json: ") + row.message);
  }
}

TEST(BadGenerationConfig, NumbersOutsideOfTheirRange) {
  struct Field {
    const char* name;
    std::vector<const char*> values;
    const char* expected;
  };
  const Field fields[]{
      {"num_beams",
       {"0", "-1", "1001", "2147483648", "4611686018427387904", "2.5", "\"5\"", "[]"},
       "an integer from 1 to 1000"},
      {"max_length",
       {"-1", "1048577", "9223372036854775807", "0.5", "\"9\"", "true"},
       "an integer from 0 to 1048576"},
      {"length_penalty", {"-10.5", "100", "1e300", "\"1\"", "{}"}, "a number from -10 to 10"},
  };
  for (const Field& field : fields) {
    for (const char* value : field.values) {
      expect_field_refused(ModelKind::translation, "generation_config.json", field.name, value,
                           std::string("generation_config.json: ") + field.name + ": expected " +
                               field.expected + ", found ");
    }
  }
}

}  // namespace
}  // namespace heed
