// Writes the seeds of all harnesses: small valid inputs, from which libFuzzer makes others.
//
//   make_seeds FOLDER    FOLDER/NAME/SEED for NAME_fuzzer
//
// The same files every time. Inputs that were findings once are in the corpora too, and stay.
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "heed/models/lora_adapter.h"
#include "heed/train/checkpoint.h"
#include "reliability/tiny_models.h"
#include "support/gzip.h"
#include "support/image_files.h"
#include "support/zstd.h"
#include "text/lower_case_tokenizer.h"

using namespace heed;
using models::ModelKind, models::WeightFormat;

namespace {

class Seeds {
 public:
  explicit Seeds(std::string folder) : folder_(std::move(folder)) {}

  void add(const std::string& harness, const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(folder_ + '/' + harness);
    std::ofstream(folder_ + '/' + harness + '/' + name, std::ios::binary) << bytes;
  }

 private:
  std::string folder_;
};

// Without its checksum, so that changes get further than that.
std::string without_checksum(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  auto header = nlohmann::ordered_json::parse(bytes.substr(sizeof length, length));
  header["__metadata__"].erase("heed.xxh3");
  const std::string text = header.dump();
  const std::uint64_t size = text.size();
  return std::string(reinterpret_cast<const char*>(&size), sizeof size) + text +
         bytes.substr(sizeof length + length);
}

void add_models(const Seeds& seeds) {
  const auto add = [&](const std::string& name, ModelFiles model) {
    const std::string weights = without_checksum(model["model.safetensors"]);
    seeds.add("model_folder", name, model["config.json"] + '\0' + weights);
    seeds.add("safetensors", name, weights);
    seeds.add("model_config", name, model["config.json"]);
  };
  add("translation", tiny_translation());
  add("language", tiny_model(ModelKind::language));
  add("classifier", tiny_model(ModelKind::classifier));
  add("masked", tiny_model(ModelKind::masked));
  add("image_classifier", tiny_model(ModelKind::image_classifier));
  add("tagger", tiny_model(ModelKind::tagger));
  add("encoder", tiny_model(ModelKind::encoder));
  for (const WeightFormat format :
       {WeightFormat::f16, WeightFormat::bf16, WeightFormat::int8, WeightFormat::int4}) {
    add("language_" + std::string(name_of(format)), tiny_model(ModelKind::language, format));
  }
  seeds.add("safetensors", "with_checksum", tiny_model(ModelKind::language)["model.safetensors"]);
  seeds.add("generation_config", "all", tiny_translation()["generation_config.json"]);
  seeds.add("generation_config", "empty", "{}");
}

void add_training(const Seeds& seeds) {
  models::LanguageModel model(tiny_config(ModelKind::language), /*seed=*/1);
  const TemporaryFolder folder;
  const std::string base = models::weights_hash(models::parameters(model));
  const std::string name = "decoder.0.self_attention.output.";
  models::save_adapter(
      folder.file("adapter"),
      {.base = base,
       .scale = 0.5f,
       .matrices = {{name + "weight", Tensor::zeros({2, 1}), Tensor::zeros({1, 2})}},
       .replaced = {{name + "bias", Tensor::zeros({2})}}});
  seeds.add("adapter", "lora", without_checksum(io::read_file(folder.file("adapter"))));

  train::Optimizer optimizer(nn::named_parameters(model), {});
  train::RunDescription run{.state = {.update = 3, .snapshots = {{1, 2}, {3}}},
                            .recipe = train::recipe_preset("demo"),
                            .files = {{{"text", "corpus.txt"}}, "0"}};
  run.state.stopping.best = 1.5;
  train::save_checkpoint(folder.file("checkpoint"), run, optimizer, nullptr);
  const auto file = io::SafetensorsFile::load(folder.file("checkpoint"));
  seeds.add("checkpoint", "file", io::read_file(folder.file("checkpoint")));
  seeds.add("checkpoint", "metadata",
            file.metadata().at("state") + '\n' + file.metadata().at("recipe") + '\n' +
                file.metadata().at("texts"));
}

void add_tokenizers(const Seeds& seeds) {
  const std::vector<std::string> lines{"the bat sleeps in the cave", "the bat hits the ball",
                                       "a racket lies beside the bat"};
  const std::string line = "the ball";
  for (const Choice<text::Subwords>& subwords : choices<text::Subwords>()) {
    const auto tokenizer =
        text::Tokenizer::train(lines, {.vocabulary = 24, .subwords = subwords.value});
    seeds.add("tokenizer", std::string(subwords.name),
              static_cast<char>(line.size()) + line + tokenizer.bytes());
  }
  seeds.add("tokenizer", "charsmap",
            static_cast<char>(line.size()) + line + text::lower_case_tokenizer());
  seeds.add("encode", "words", "the bat sleeps, beside the cave");
  seeds.add("encode", "spaces", "  a \xe2\x96\x81 b\t\n  ");
  seeds.add("encode", "unicode", "H\xc3\xb6hle \xf0\x9f\xa6\x87 \xe2\x81\x87 </s><unk><mask>");
}

void add_json_tokenizers(const Seeds& seeds) {
  const std::string line = "The b\xc3\xa9t<s> 12!";
  const auto add = [&](const std::string& name, const std::string& file) {
    seeds.add("tokenizer_json", name, static_cast<char>(line.size()) + line + file);
  };
  add("byte_level",
      R"({"added_tokens": [{"id": 6, "content": "<s>", "special": true, "lstrip": true}],
"normalizer": {"type": "NFC"},
"pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
"post_processor": {"type": "RobertaProcessing", "sep": ["<s>", 6], "cls": ["<s>", 6], "trim_offsets": true, "add_prefix_space": true},
"decoder": {"type": "ByteLevel"},
"model": {"type": "BPE", "vocab": {"t": 0, "h": 1, "e": 2, "he": 3, "the": 4, "\u0120": 5}, "merges": ["h e", "t he"]}})");
  add("word_piece",
      R"({"truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0, "direction": "Right"},
"padding": {"strategy": {"Fixed": 5}, "direction": "Left", "pad_id": 0, "pad_token": "[PAD]"},
"normalizer": {"type": "BertNormalizer", "lowercase": true}, "pre_tokenizer": {"type": "BertPreTokenizer"},
"post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
"pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
"special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [1], "tokens": ["[CLS]"]}}},
"decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
"model": {"type": "WordPiece", "unk_token": "[UNK]", "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "[CLS]": 1, "the": 2, "b": 3, "##e": 4, "##t": 5}}})");
  add("unigram",
      R"({"normalizer": {"type": "Sequence", "normalizers": [{"type": "NFKC"}, {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}, {"type": "Strip", "strip_left": true, "strip_right": true}]},
"pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true}, {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": true}]},
"decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "_"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
"model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["<unk>", 0], ["_", -2], ["_the", -3.5], ["b", -3], ["t", -3]]}})");
  add("split",
      R"({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s+"}, "behavior": "Isolated", "invert": false},
"model": {"vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}})");
}

void add_corpora(const Seeds& seeds) {
  const std::string tsv = "label\ttext\ngood\tthe bat\nbad\tthe ball\n";
  const std::string csv = "text,label\n\"the \"\"bat\"\",\nand ball\",good\nthe ball , bad\n";
  const std::string jsonl =
      "{\"label\": \"good\", \"text\": \"a\\nb\"}\n{\"label\": 1, \"text\": \"b\"}\n";
  seeds.add("records", "tsv", '\0' + tsv);
  seeds.add("records", "csv", '\1' + csv);
  seeds.add("records", "jsonl", '\2' + jsonl);
  seeds.add("records", "gzip", '\0' + gzip(tsv));
  const std::string rows = "-DOCSTART- -X- O\n\nAda NNP B-PER\nwas VBD O\n\nLondon NNP B-LOC\n";
  const std::string objects =
      "{\"tokens\": [\"Ada\", \"was\"], \"ner_tags\": [\"B-PER\", \"O\"]}\n";
  seeds.add("tagged", "rows", '\0' + rows);
  seeds.add("tagged", "objects", '\1' + objects);
  seeds.add("tagged", "gzip", '\0' + gzip(rows));
  seeds.add("lines", "plain", "\xef\xbb\xbfone\r\ntwo\n\nthr\xc3\xa9\xc3\xa9");
  seeds.add("lines", "gzip", gzip("one\ntwo\n"));
  seeds.add("lines", "zstd", zstd("one\ntwo\n"));
  seeds.add("lines", "members", gzip("one\n") + gzip("two\n"));
  seeds.add("alignment", "links", "0-0 1-2 12-3\n\n0?1 2-2\n");
}

void add_images(const Seeds& seeds) {
  const data::Image grey{{4, 4, 1}, std::vector<std::uint8_t>(16, 128)};
  const data::Image colour{{2, 3, 3}, std::vector<std::uint8_t>(18, 200)};
  seeds.add("png", "grey", png_bytes(grey));
  seeds.add("png", "colour", png_bytes(colour));
  seeds.add("png", "palette", png_palette_bytes(2, 2, {0, 1, 1, 0}));
  seeds.add("png", "transparent", png_transparent_bytes(1, 2, {10, 20, 30, 40}));
  seeds.add("png", "sixteen_bits", png_16_bit_bytes(1, 2, {1000, 60000}));
  seeds.add("jpeg", "grey", jpeg_bytes(grey));
  seeds.add("jpeg", "colour", jpeg_bytes(colour, 50));
  seeds.add("jpeg", "four_inks", jpeg_of_four_inks(2, 2));
  seeds.add("cifar", "one", cifar_record(3, 10, 20, 30));
  seeds.add("cifar", "two", cifar_record(0, 1, 2, 3) + cifar_record(9, 4, 5, 6));
  seeds.add("idx", "images", idx_bytes(2051, {2, 1, 2}, {1, 2, 3, 4}));
  seeds.add("idx", "labels", idx_bytes(2049, {3}, {0, 1, 2}));
  seeds.add("idx", "gzip", gzip(idx_bytes(2049, {3}, {0, 1, 2})));
}

void add_requests(const Seeds& seeds) {
  const std::string host = "Host: 127.0.0.1:80\r\n";
  const std::string json = "Content-Type: application/json\r\nOrigin: http://127.0.0.1:80\r\n";
  seeds.add("http_target", "path", "/api/trace/12/cell?site=encoder.0.self_attention&head=1&key=2");
  seeds.add("http_target", "escapes", "/a%2Fb+c?d=%20e+f&g&=h&i=");
  seeds.add("http_connection", "get", "GET / HTTP/1.1\r\n" + host + "\r\n");
  seeds.add("http_connection", "pipelined",
            "GET /echo/1 HTTP/1.1\r\n" + host + "\r\nGET /echo/x?a=b HTTP/1.0\r\n" + host + "\r\n");
  seeds.add("http_connection", "post",
            "POST /echo HTTP/1.1\r\n" + host + json + "Content-Length: 8\r\n\r\n{\"a\": 1}");
  seeds.add("http_connection", "chunked",
            "POST /echo HTTP/1.1\r\n" + host + json +
                "Transfer-Encoding: chunked\r\n\r\n3\r\n{\"a\r\n5\r\n\": 1}\r\n0\r\n\r\n");
  seeds.add("http_connection", "events",
            "GET /events HTTP/1.1\r\n" + host + "Cookie: heed_80=x; a=b\r\n\r\n");
  seeds.add("http_connection", "token", "GET /?token=abc HTTP/1.1\r\n" + host + "\r\n");
}

void add_explorer(const Seeds& seeds) {
  const char* const sites[] = {"decoder.0.cross_attention", "decoder.0.self_attention",
                               "encoder.1.self_attention", "encoder.0.self_attention"};
  for (char kind = 0; kind < 4; ++kind) {
    const std::string name(1, static_cast<char>('0' + kind)), site = sites[static_cast<int>(kind)];
    const std::string text = kind == 3 ? "the <mask> hits" : "the bat hits";
    const std::string interventions = R"({"head_scales": [{"site": ")" + site +
                                      R"(", "head": 0, "scale": 0.5}], "knockouts": [{"site": ")" +
                                      site +
                                      R"(", "query": 0, "key": 0}], "replacements": [{"word": 1, )"
                                      R"("text": "ball"}], "similarity": "dot"})";
    seeds.add("explorer_run", "plain" + name, kind + ("{\"text\": \"" + text + "\", \"beam\": 2}"));
    seeds.add("explorer_run", "interventions" + name,
              kind + ("{\"text\": \"" + text + "\", \"interventions\": " + interventions + "}"));
    seeds.add("explorer_run", "target" + name,
              kind + ("{\"text\": \"" + text + "\", \"target\": \"the ball\"}"));
    seeds.add(
        "explorer_next", "text" + name,
        kind +
            ("{\"text\": \"" + text +
             R"(", "target": "the", "temperature": 0.5, "top_k": 3, "top_p": 0.9, "min_p": 0.1})"));
    seeds.add("explorer_trace", "weights" + name,
              kind + ("weights?site=" + site + "&words=1&special=0"));
    seeds.add("explorer_trace", "scores" + name, kind + ("scores?site=" + site));
    seeds.add("explorer_trace", "cell" + name,
              kind + ("cell?site=" + site + "&head=1&query=1&key=1"));
    seeds.add("explorer_trace", "paths" + name, kind + std::string("paths"));
    seeds.add("explorer_trace", "attribution" + name,
              kind + std::string("attribution?target=1&token=5"));
    seeds.add("explorer_trace", "beam" + name, kind + std::string("beam?size=3"));
  }
  seeds.add("explorer_words", "two",
            R"({"words": [{"name": "a", "vector": [1, 0]}, {"name": "b", "vector": [0.5, -2]}],
 "similarity": "scaled-dot", "heads": [{"query": [[1, 0], [0, 1]], "key": null, "value": [[2, 0], [0, 2]]}],
 "output": [[1, 0], [0, 1]], "mask": [[true, false], [true, true]]})");
  seeds.add(
      "training_log", "updates",
      R"({"kind": "update", "update": 1, "loss": 5.5, "learning_rate": 0.1, "gradient_norm": 2, "source_tokens": 10, "target_tokens": 12, "seconds": 0.5}
{"kind": "validation", "update": 1, "loss": 5, "bleu": 1.5, "samples": [{"source": "a", "output": "b", "reference": "c"}], "seconds": 0.6}
)");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: make_seeds FOLDER\n", stderr);
    return 2;
  }
  const Seeds seeds(arguments[1]);
  add_models(seeds);
  add_training(seeds);
  add_tokenizers(seeds);
  add_json_tokenizers(seeds);
  add_corpora(seeds);
  add_images(seeds);
  add_requests(seeds);
  add_explorer(seeds);
  return 0;
}
