// Models whose model.safetensors, adapter or tokenizer.model is wrong: refused with exit code 4 and
// a message that names the file, what was expected and what was found.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/models/lora_adapter.h"
#include "reliability/expect_refused.h"

namespace heed {
namespace {

using models::ModelKind, models::WeightFormat;
using nlohmann::ordered_json;

// The parts of a safetensors file, to be changed and put together again. Without the checksum of
// its contents, which no change would pass.
struct Weights {
  ordered_json header;
  std::string data;

  explicit Weights(const std::string& bytes) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    header = ordered_json::parse(bytes.substr(sizeof length, length));
    header["__metadata__"].erase("heed.xxh3");
    data = bytes.substr(sizeof length + length);
  }

  static std::string join(const std::string& header, const std::string& data) {
    const std::uint64_t length = header.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + data;
  }
  std::string bytes() const { return join(header.dump(), data); }
};

using Change = std::function<void(Weights&)>;

struct BadWeights {
  Change change;
  std::string message;  // after the name of the file
};

// Sets a value in the header: set("/head.bias/dtype", "5"). "/" within names is not needed.
Change set(const std::string& pointer, const std::string& value) {
  return [=](Weights& weights) {
    weights.header[ordered_json::json_pointer(pointer)] = ordered_json::parse(value);
  };
}

Change erase(const std::string& tensor, const std::string& field) {
  return [=](Weights& weights) { weights.header[tensor].erase(field); };
}

// Writes numbers over the data of a tensor.
template <typename Number>
Change overwrite(const std::string& tensor, std::size_t index, Number number) {
  return [=](Weights& weights) {
    const std::size_t begin = weights.header[tensor]["data_offsets"][0];
    std::memcpy(weights.data.data() + begin + index * sizeof number, &number, sizeof number);
  };
}

void expect_weights_refused(ModelFiles model, const BadWeights& row) {
  SCOPED_TRACE(row.message);
  Weights weights(model["model.safetensors"]);
  row.change(weights);
  model["model.safetensors"] = weights.bytes();
  expect_refused(model, "model.safetensors: " + row.message);
}

TEST(BadWeights, TensorsWhoseEntryIsWrong) {
  const std::string dtypes = "dtype: expected F32, F16, BF16, F64, BOOL or an integer type, found ";
  const std::string integers = "expected integers of at least 0, found ";
  const BadWeights rows[]{
      {set("/head.bias", "5"), "head.bias: expected an object, found 5"},
      {set("/head.bias", "[]"), "head.bias: expected an object, found []"},
      {set("/head.bias", "null"), "head.bias: expected an object, found null"},
      {erase("head.bias", "dtype"), "head.bias: dtype: expected it, found {"},
      {erase("head.bias", "shape"), "head.bias: shape: expected it, found {"},
      {erase("head.bias", "data_offsets"), "head.bias: data_offsets: expected it, found {"},
      {set("/head.bias/dtype", "\"F31\""), "head.bias: " + dtypes + "\"F31\""},
      {set("/head.bias/dtype", "\"f32\""), "head.bias: " + dtypes + "\"f32\""},
      {set("/head.bias/dtype", "\"\""), "head.bias: " + dtypes + "\"\""},
      {set("/head.bias/dtype", "32"), "head.bias: " + dtypes + "32"},
      {set("/head.bias/dtype", "null"), "head.bias: " + dtypes + "null"},
      {set("/head.bias/shape", "2"), "head.bias: shape: expected a list, found 2"},
      {set("/head.bias/shape", "\"[2]\""), "head.bias: shape: expected a list, found \"[2]\""},
      {set("/head.bias/shape", "[-2]"), "head.bias: shape: " + integers + "-2"},
      {set("/head.bias/shape", "[2.0]"), "head.bias: shape: " + integers + "2.0"},
      {set("/head.bias/shape", "[\"2\"]"), "head.bias: shape: " + integers + "\"2\""},
      {set("/head.bias/shape", "[null]"), "head.bias: shape: " + integers + "null"},
      {set("/head.bias/shape", "[true]"), "head.bias: shape: " + integers + "true"},
      {set("/head.bias/shape", "[18446744073709551615]"),
       "head.bias: expected a size of at most 9223372036854775807, found 18446744073709551615"},
      {set("/head.bias/shape", "[9223372036854775807, 3]"),
       "head.bias: expected a size that fits 64 bits, found "},
      {set("/head.bias/shape", "[4294967296, 4294967296]"),
       "head.bias: expected a size that fits 64 bits, found "},
      {set("/head.bias/shape", "[3]"), "head.bias: expected 12 bytes for its shape, found 8"},
      {set("/head.bias/shape", "[]"), "head.bias: expected 4 bytes for its shape, found 8"},
      {set("/head.bias/shape", "[0]"), "head.bias: expected 0 bytes for its shape, found 8"},
      {set("/head.bias/dtype", "\"F64\""), "head.bias: expected 16 bytes for its shape, found 8"},
      {set("/head.bias/dtype", "\"BOOL\""), "head.bias: expected 2 bytes for its shape, found 8"},
      {set("/head.bias/data_offsets", "8"),
       "head.bias: data_offsets: expected a begin and an end, found 8"},
      {set("/head.bias/data_offsets", "[0]"),
       "head.bias: data_offsets: expected a begin and an end, found [0]"},
      {set("/head.bias/data_offsets", "[0, 4, 8]"),
       "head.bias: data_offsets: expected a begin and an end, found [0,4,8]"},
      {set("/head.bias/data_offsets", "[-8, 0]"), "head.bias: data_offsets: " + integers + "-8"},
      {set("/head.bias/data_offsets", "[0.0, 8.0]"),
       "head.bias: data_offsets: " + integers + "0.0"},
      {set("/head.bias/data_offsets", "[8, 0]"),
       "head.bias: data_offsets: expected begin <= end, found 8 and 0"},
      {set("/head.bias/data_offsets", "[0, 18446744073709551615]"),
       "head.bias: data_offsets: expected an end within the"},
      {set("/head.bias/data_offsets", "[18446744073709551608, 18446744073709551615]"),
       "head.bias: data_offsets: expected an end within the"},
  };
  const ModelFiles model = tiny_model(ModelKind::classifier);
  for (const BadWeights& row : rows) expect_weights_refused(model, row);
}

// A surplus tensor of no numbers keeps the layout as it was.
const char* const empty_tensor = R"({"dtype": "F32", "shape": [0], "data_offsets": [0, 0]})";

TEST(BadWeights, TensorsThatOverlapOrLeaveHoles) {
  const std::string place = "data_offsets: expected to begin where the tensor before ends, at ";
  const BadWeights rows[]{
      {set("/head.bias/data_offsets", "[0, 8]"), "embedding.weight: " + place + "8, found 0"},
      {set("/embedding.weight/data_offsets", "[4, 68]"),
       "embedding.weight: " + place + "0, found 4"},
      {[](Weights& w) { w.header.erase("embedding.weight"); },
       "encoder.0.feed_forward.hidden.bias: " + place + "0, found 64"},
      {[](Weights& w) { w.header.erase("head.weight"); },
       "expected 248 bytes of data as the header says, found 264"},
      {[](Weights& w) { w.header = ordered_json::object(); },
       "expected 0 bytes of data as the header says, found 264"},
      {[](Weights& w) { w.data += "more"; },
       "expected 264 bytes of data as the header says, found 268"},
      {[](Weights& w) { w.data.pop_back(); },
       "head.weight: data_offsets: expected an end within the 263 bytes of data, found 264"},
      {[](Weights& w) { w.data.clear(); },
       "embedding.weight: data_offsets: expected an end within the 0 bytes of data, found 64"},
      {set("/again", R"({"dtype": "F32", "shape": [16], "data_offsets": [0, 64]})"),
       "again: " + place + "64, found 0"},
  };
  const ModelFiles model = tiny_model(ModelKind::classifier);
  for (const BadWeights& row : rows) expect_weights_refused(model, row);
}

// The other name sorts to another place, but the data stay where they are.
Change rename(const std::string& from, const std::string& to) {
  return [=](Weights& weights) {
    const ordered_json entry = weights.header[from];
    weights.header.erase(from);
    weights.header[to] = entry;
  };
}

TEST(BadWeights, TensorsThatAreNotThoseOfTheModel) {
  const BadWeights rows[]{
      {rename("head.bias", "head.bia"), "expected a tensor named head.bias, found none"},
      {rename("head.bias", "Head.bias"), "expected a tensor named head.bias, found none"},
      {rename("embedding.weight", "embeddings.weight"),
       "expected a tensor named embedding.weight, found none"},
      {rename("encoder.0.self_attention.query.weight", "encoder.00.self_attention.query.weight"),
       "expected a tensor named encoder.0.self_attention.query.weight, found none"},
      {set("/surplus", empty_tensor), "expected the parameters of the model, found also surplus"},
      {set("/head.bias.scale", empty_tensor),
       "expected the parameters of the model, found also head.bias.scale"},
      {set("/head.weight.lora_up", empty_tensor),
       "expected the parameters of the model, found also head.weight.lora_up"},
      {set("/", empty_tensor), "expected the parameters of the model, found also "},
      {set("/line\nbreak", empty_tensor),
       "line\\nbreak: expected a name without control characters"},
      {set("/escape\x1b[31m", empty_tensor),
       "escape\\x1b[31m: expected a name without control characters"},
      {set("/" + std::string(100'000, 'x'), empty_tensor),
       "expected the parameters of the model, found also xxxxx"},
      {set("/head.weight/shape", "[4]"), "head.weight: expected the shape [2, 2], found [4]"},
      {set("/head.weight/shape", "[4, 1]"), "head.weight: expected the shape [2, 2], found [4, 1]"},
      {set("/head.weight/shape", "[1, 4]"), "head.weight: expected the shape [2, 2], found [1, 4]"},
      {set("/head.weight/shape", "[2, 2, 1]"),
       "head.weight: expected the shape [2, 2], found [2, 2, 1]"},
      {set("/head.weight/shape", "[2, 2, 1, 1, 1, 1, 1, 1, 1]"),
       "head.weight: expected at most 6 axes, found 9"},
      {set("/embedding.weight/shape", "[2, 8]"),
       "embedding.weight: expected the shape [8, 2], found [2, 8]"},
      {set("/head.weight/dtype", "\"I32\""),
       "head.weight: expected floating-point numbers, found I32"},
      {set("/head.weight/dtype", "\"U32\""),
       "head.weight: expected floating-point numbers, found U32"},
  };
  const ModelFiles model = tiny_model(ModelKind::classifier);
  for (const BadWeights& row : rows) expect_weights_refused(model, row);
}

TEST(BadWeights, MetadataThatAreNoStrings) {
  const BadWeights rows[]{
      {set("/__metadata__", "5"), "__metadata__: expected an object, found 5"},
      {set("/__metadata__", "[]"), "__metadata__: expected an object, found []"},
      {set("/__metadata__", "null"), "__metadata__: expected an object, found null"},
      {set("/__metadata__/format", "5"), "__metadata__: format: expected a string, found 5"},
      {set("/__metadata__/format", "{}"), "__metadata__: format: expected a string, found {}"},
      {set("/__metadata__/format", "null"), "__metadata__: format: expected a string, found null"},
      {set("/__metadata__/heed.xxh3", "\"0\""), "expected contents of the checksum 0, found "},
      {set("/__metadata__/heed.xxh3", "\"\""), "expected contents of the checksum , found "},
      {set("/__metadata__/heed.xxh3", "\"00000000000000000000000000000000\""),
       "expected contents of the checksum 00000000000000000000000000000000, found"},
  };
  const ModelFiles model = tiny_model(ModelKind::classifier);
  for (const BadWeights& row : rows) expect_weights_refused(model, row);
}

TEST(BadWeights, NumbersThatAreNotFinite) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const BadWeights rows[]{
      {overwrite("head.bias", 1, std::nanf("")),
       "head.bias[1]: expected a finite weight, found nan"},
      {overwrite("head.bias", 0, infinity), "head.bias[0]: expected a finite weight, found inf"},
      {overwrite("head.weight", 3, -infinity),
       "head.weight[3]: expected a finite weight, found -inf"},
      {overwrite("embedding.weight", 15, std::nanf("")),
       "embedding.weight[15]: expected a finite weight, found nan"},
      {overwrite("encoder.0.feed_forward.hidden.weight", 2, infinity),
       "encoder.0.feed_forward.hidden.weight[2]: expected a finite weight, found inf"},
      {overwrite("encoder.0.feed_forward_norm.gain", 0, std::nanf("")),
       "encoder.0.feed_forward_norm.gain[0]: expected a finite weight, found nan"},
  };
  const ModelFiles model = tiny_model(ModelKind::classifier);
  for (const BadWeights& row : rows) expect_weights_refused(model, row);
}

TEST(BadWeights, FilesThatAreNoSafetensors) {
  struct BadBytes {
    std::string bytes;
    const char* message;
  };
  const std::string whole = tiny_model(ModelKind::classifier)["model.safetensors"];
  const auto with_header = [](const std::string& header) { return Weights::join(header, ""); };
  std::string huge = whole, largest = whole, longer = whole;
  huge[5] = 1;
  std::memset(largest.data(), 0xff, 8);
  longer[2] = 1;
  const std::string deep = "{\"a\": " + std::string(100'000, '[') + "}";
  const BadBytes rows[]{
      {"", "expected at least 8 bytes of header length, found 0"},
      {"1234567", "expected at least 8 bytes of header length, found 7"},
      {std::string(8, '\0'), "expected a header that starts with {, found nothing"},
      {huge, "expected a header of at most 100000000 bytes, found 10"},
      {largest, "expected a header of at most 100000000 bytes, found 18446744073709551615"},
      {longer, "expected a header that ends inside the file of"},
      {whole.substr(0, 100), "expected a header that ends inside the file of 100 bytes"},
      {with_header("[]"), "expected a header that starts with {, found \"[\""},
      {with_header(" {}"), "expected a header that starts with {, found \" \""},
      {with_header("{} x"), "expected a header that ends with } and spaces, found \"x\""},
      {with_header("{}\n"), "expected a header that ends with } and spaces, found"},
      {with_header("{"), "expected a header that ends with } and spaces, found \"{\""},
      {with_header("{a}"), "header: expected JSON, found a mistake at byte 2"},
      {with_header("{\"a\": }"), "header: expected JSON, found a mistake at byte 7"},
      {with_header("{\"a\xff\": 1}"), "expected a header in UTF-8, found other bytes"},
      {with_header("{\"a\": {}, \"a\": {}}"), "header: expected each key once, found \"a\" twice"},
      {with_header("{\"a\": {\"shape\": [], \"shape\": []}}"),
       "header: expected each key once, found \"shape\" twice"},
      {with_header(deep), "header: expected at most 3 levels of JSON, found more"},
      {with_header("{\"a\": {\"shape\": [[1]]}}"), "header: expected at most 3 levels of JSON"},
      {with_header("{\"a\": 1e999}"), "header: expected JSON, found a number that is too large"},
      {"PK\x03\x04" + std::string(60, '\0'), "expected a header"},
      {"\x80\x02}q\x01.PYTORCH" + std::string(60, '\0'), "expected a header of at most"},
      {std::string(4096, '\0'), "expected a header that starts with {, found nothing"},
      {with_header("{}"), "expected a tensor named embedding.weight, found none"},
  };
  ModelFiles model = tiny_model(ModelKind::classifier);
  for (const BadBytes& row : rows) {
    SCOPED_TRACE(row.message);
    model["model.safetensors"] = row.bytes;
    expect_refused(model, std::string("model.safetensors: ") + row.message);
  }
}

TEST(BadWeights, QuantizedWeightsWhoseScalesDoNotFit) {
  struct BadQuantized {
    WeightFormat format;
    BadWeights row;
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const std::string name = "encoder.0.self_attention.query.weight", scale = name + ".scale";
  const std::uint16_t f16_nan = 0x7e00, f16_infinity = 0xfc00, bf16_nan = 0x7fc0;
  const BadQuantized rows[]{
      {WeightFormat::int8, {rename(scale, name + ".scales"), "expected a tensor named " + scale}},
      {WeightFormat::int8,
       {set("/" + scale + "/shape", "[1, 2]"), scale + ": expected the shape [2], found [1, 2]"}},
      {WeightFormat::int8,
       {set("/" + scale + "/dtype", "\"I32\""),
        scale + ": expected floating-point numbers, found I32"}},
      {WeightFormat::int8,
       {set("/" + name + "/dtype", "\"U8\""),
        name + ": expected I8 for weights of int8, found U8"}},
      {WeightFormat::int8,
       {set("/" + name + "/shape", "[4, 1]"), name + ": expected the shape [2, 2], found [4, 1]"}},
      {WeightFormat::int8,
       {overwrite(scale, 1, std::nanf("")), scale + "[1]: expected a finite weight, found nan"}},
      {WeightFormat::int8,
       {overwrite(scale, 0, infinity), scale + "[0]: expected a finite weight, found inf"}},
      {WeightFormat::int4, {rename(scale, "other"), "expected a tensor named " + scale}},
      {WeightFormat::int4,
       {set("/" + scale + "/shape", "[2]"), scale + ": expected the shape [2, 1], found [2]"}},
      {WeightFormat::int4,
       {set("/" + name + "/dtype", "\"I8\""),
        name + ": expected U8 for weights of int4, found I8"}},
      {WeightFormat::int4,
       {set("/" + name + "/shape", "[1, 2]"), name + ": expected the shape [2, 1], found [1, 2]"}},
      {WeightFormat::int4,
       {overwrite(scale, 0, -infinity), scale + "[0]: expected a finite weight, found -inf"}},
      {WeightFormat::f16,
       {set("/" + name + "/dtype", "\"BF16\""),
        name + ": expected F16 for weights of f16, found BF16"}},
      {WeightFormat::f16,
       {overwrite(name, 3, f16_nan), name + "[3]: expected a finite weight, found nan"}},
      {WeightFormat::f16,
       {overwrite(name, 0, f16_infinity), name + "[0]: expected a finite weight, found -inf"}},
      {WeightFormat::bf16,
       {overwrite(name, 1, bf16_nan), name + "[1]: expected a finite weight, found nan"}},
      {WeightFormat::bf16,
       {set("/" + name + "/dtype", "\"F16\""),
        name + ": expected BF16 for weights of bf16, found F16"}},
      {WeightFormat::bf16,
       {set("/" + name + ".scale", empty_tensor),
        "expected the parameters of the model, found also " + name + ".scale"}},
  };
  for (const BadQuantized& bad : rows) {
    expect_weights_refused(tiny_model(ModelKind::translation, bad.format), bad.row);
  }
}

// An adapter of the output of a tiny language model's first attention.
constexpr const char* adapted = "decoder.0.self_attention.output.weight";

struct Adapted {
  models::LanguageModel model{tiny_config(ModelKind::language), /*seed=*/1};
  std::vector<nn::NamedTensor> parameters = models::parameters(model);
  models::LoraAdapter adapter{
      .base = models::weights_hash(parameters),
      .scale = 2,
      .matrices = {{adapted, Tensor::zeros({2, 1}), Tensor::zeros({1, 2})}},
      .replaced = {{"decoder.0.self_attention.output.bias", Tensor::zeros({2})}}};
  std::string bytes() const {
    const TemporaryFolder folder;
    models::save_adapter(folder.file("a"), adapter);
    return io::read_file(folder.file("a"));
  }
};

TEST(BadAdapter, MetadataMatricesAndShapes) {
  const std::string name = adapted, up = name + ".lora_up", down = name + ".lora_down";
  const std::string bias = "decoder.0.self_attention.output.bias";
  const Change no_base = [](Weights& w) { w.header["__metadata__"].erase("base"); };
  const Change no_scale = [](Weights& w) { w.header["__metadata__"].erase("scale"); };
  const Change no_metadata = [](Weights& w) { w.header.erase("__metadata__"); };
  const std::string scale = "scale: expected a finite number, found ";
  const BadWeights rows[]{
      {no_metadata, "expected format in the metadata of an adapter, found none"},
      {set("/__metadata__/format", "\"pt\""), "expected heed-adapter, found pt"},
      {no_base, "expected base in the metadata of an adapter, found none"},
      {set("/__metadata__/base", "\"\""),
       "base: expected the hash of the base model's weights, found none"},
      {no_scale, "expected scale in the metadata of an adapter, found none"},
      {set("/__metadata__/scale", "\"abc\""), scale + "abc"},
      {set("/__metadata__/scale", "\"\""), scale},
      {set("/__metadata__/scale", "\"1x\""), scale + "1x"},
      {set("/__metadata__/scale", "\"nan\""), scale + "nan"},
      {set("/__metadata__/scale", "\"inf\""), scale + "inf"},
      {set("/__metadata__/scale", "\"1e99\""), scale + "1e99"},
      {rename(down, "x"), "expected a tensor named " + down + ", found none"},
      {rename(up, "x"), "expected a tensor named " + up + ", found none"},
      {set("/" + up + "/shape", "[2]"), name + ": expected matrices [O, R] and [R, I], found [2]"},
      {set("/" + up + "/shape", "[1, 2]"),
       name + ": expected matrices [O, R] and [R, I], found [1, 2] and [1, 2]"},
      {set("/" + down + "/shape", "[2, 1]"),
       name + ": expected matrices [O, R] and [R, I], found [2, 1] and [2, 1]"},
      {set("/" + up + "/shape", "[2, 1, 1, 1, 1, 1, 1]"),
       up + ": expected at most 6 axes, found 7"},
      {set("/" + up + "/dtype", "\"I32\""), up + ": expected floating-point numbers, found I32"},
      {overwrite(up, 1, std::nanf("")), up + "[1]: expected a finite weight, found nan"},
      {overwrite(down, 0, std::numeric_limits<float>::infinity()),
       down + "[0]: expected a finite weight, found inf"},
      {overwrite(bias, 1, std::nanf("")), bias + "[1]: expected a finite weight, found nan"},
  };
  const std::string bytes = Adapted().bytes();
  for (const BadWeights& row : rows) {
    SCOPED_TRACE(row.message);
    const TemporaryFolder folder;
    Weights weights(bytes);
    row.change(weights);
    const std::string path = folder.write("adapter.safetensors", weights.bytes());
    expect_refused(folder.path(), bad_model, "adapter.safetensors: " + row.message,
                   [&] { models::load_adapter(path); });
  }
}

TEST(BadAdapter, OfAnotherModel) {
  struct Mismatch {
    std::function<void(models::LoraAdapter&)> change;
    const char* message;
  };
  const Mismatch rows[]{
      {[](auto& a) { a.base = "sha256:0"; },
       "expected the weights sha256:0 that it was learned for"},
      {[](auto& a) { a.matrices[0].name = "no"; },
       "expected a parameter no in the model, found none"},
      {[](auto& a) { a.matrices[0].name = "embedding.weight"; },
       "embedding.weight: expected the shape [8, 2], found [2, 2]"},
      {[](auto& a) { a.replaced[0].name = "no"; },
       "expected a parameter no in the model, found none"},
      {[](auto& a) { a.replaced[0].name = "embedding.weight"; },
       "embedding.weight: expected the shape [8, 2], found [2]"},
  };
  for (const Mismatch& row : rows) {
    Adapted base;
    row.change(base.adapter);
    expect_refused("adapter: ", bad_model, row.message,
                   [&] { models::merge(base.adapter, base.parameters); });
  }
}

TEST(BadTokenizer, FilesThatAreNoTokenizerOfTheModel) {
  struct BadBytes {
    std::string bytes;
    const char* message;
  };
  const std::string whole = tiny_tokenizer().bytes();
  const auto trained = [](const char* line, text::TokenizerOptions options) {
    return text::Tokenizer::train(std::vector<std::string>{line}, options).bytes();
  };
  const auto characters = text::Subwords::character;
  const BadBytes rows[]{
      {"", "not a SentencePiece model"},
      {"\n", "not a SentencePiece model"},
      {"not a tokenizer", "not a SentencePiece model"},
      {std::string(100, '\0'), "not a SentencePiece model"},
      {std::string(100, '\xff'), "not a SentencePiece model"},
      {"{\"model\": {\"type\": \"BPE\"}}", "not a SentencePiece model"},
      {whole.substr(0, 1), "not a SentencePiece model"},
      {whole.substr(0, whole.size() / 2), "not a SentencePiece model"},
      {whole.substr(1), "not a SentencePiece model"},
      {whole + "\x0a", "not a SentencePiece model"},
      {whole + "\x0a\x7f", "not a SentencePiece model"},
      {whole + std::string("\x0a\x03\x0a\x01\x61", 5), "not a SentencePiece model"},  // a twice
      {whole + std::string("\x0a\x04\x0a\x02\0z", 6),  // a piece with a zero byte
       "expected the 8 pieces of config.json, found 9"},
      {trained("ab", {.vocabulary = 16, .subwords = characters}),
       "expected the 8 pieces of config.json, found 7"},
      {trained("abc", {.vocabulary = 16, .subwords = characters, .with_mask = true}),
       "expected the 8 pieces of config.json, found 9"},
      {trained("ab", {.subwords = text::Subwords::byte}),
       "expected the 8 pieces of config.json, found 260"},
  };
  ModelFiles model = tiny_translation();
  for (const BadBytes& row : rows) {
    SCOPED_TRACE(row.message);
    model["tokenizer.model"] = row.bytes;
    expect_refused(model, std::string("tokenizer.model: ") + row.message);
  }
  ModelFiles masked = tiny_model(ModelKind::masked);
  masked["tokenizer.model"] = trained("abc", {.vocabulary = 16, .subwords = characters});
  expect_refused(masked, "tokenizer.model: expected a piece <mask>, found none");
}

TEST(BadModel, FilesThatAreNotThere) {
  const std::map<const char*, const char*> expected{
      {"config.json", "config.json"},
      {"model.safetensors", "model.safetensors"},
      {"tokenizer.model",
       "one of tokenizer.model, source.spm, tokenizer.json, spiece.model, merges.txt, vocab.txt"}};
  for (const auto& [file, names] : expected) {
    ModelFiles model = tiny_translation();
    model.files.erase(file);
    expect_refused(model, std::string("expected a model folder with ") + names + ", found none");
  }
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  expect_refused(folder.path(), bad_model, "/none: expected a model folder, found nothing",
                 [&] { load_and_run(folder.file("none")); });
  expect_refused(folder.path(), bad_model, "/file: expected a model folder, found a file",
                 [&] { load_and_run(file); });
}

TEST(BadModel, FoldersInPlaceOfFiles) {
  for (const char* file :
       {"config.json", "model.safetensors", "tokenizer.model", "generation_config.json"}) {
    ModelFiles model = tiny_translation();
    model.files.erase(file);
    const TemporaryFolder folder;
    model.write_to(folder.path());
    std::filesystem::create_directory(folder.file(file));
    expect_refused(folder.path(), bad_model,
                   std::string(file) + ": expected a file, found a folder",
                   [&] { load_and_run(folder.path()); });
  }
}

}  // namespace
}  // namespace heed
