// Tiny models of Hugging Face's families with random weights and tokenizers of their own, for tests
// of fine-tuning, and data that they can learn.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/models/model_kinds.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/tokenizer.h"
#include "heed/train/base_model.h"
#include "heed/train/fine_tuning.h"
#include "heed/train/task_types.h"
#include "heed/train/training.h"
#include "train/toy_classes.h"
#include "train/toy_training.h"

namespace heed::train {

class OtherFamilies {
 public:
  OtherFamilies() {
    std::ofstream text(file("text.txt"));
    for (int i = 0; i < 60; ++i) text << "red green blue\nblack white grey\n";
  }

  std::string file(const std::string& name) const { return pairs.file(name); }

  // GPT-2, with a token for each byte: learned positions, one matrix for query, key and value.
  std::string gpt2() const {
    write_bytes_tokenizer("gpt2");
    return make("gpt2", {{"model_type", "gpt2"},
                         {"architectures", nlohmann::json::array({"GPT2LMHeadModel"})},
                         {"vocab_size", 260},
                         {"n_embd", 16},
                         {"n_layer", 2},
                         {"n_head", 2},
                         {"n_positions", 48},
                         {"bos_token_id", 256},
                         {"eos_token_id", 256}});
  }

  std::string llama() const {
    write_bytes_tokenizer("llama");
    return make("llama", {{"model_type", "llama"},
                          {"architectures", nlohmann::json::array({"LlamaForCausalLM"})},
                          {"vocab_size", 257},
                          {"hidden_size", 16},
                          {"intermediate_size", 24},
                          {"num_hidden_layers", 2},
                          {"num_attention_heads", 4},
                          {"num_key_value_heads", 2},
                          {"max_position_embeddings", 4096},
                          {"bos_token_id", 256},
                          {"eos_token_id", 256}});
  }

  std::string bert() const {
    io::create_folder(file("bert"));
    std::ofstream vocabulary(file("bert/vocab.txt"));
    for (const char* token : {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "red", "green", "blue",
                              "the", "a", "in", "black", "white", "grey"}) {
      vocabulary << token << '\n';
    }
    vocabulary.close();
    return make("bert", {{"model_type", "bert"},
                         {"architectures", nlohmann::json::array({"BertForMaskedLM"})},
                         {"vocab_size", 14},
                         {"hidden_size", 16},
                         {"num_hidden_layers", 2},
                         {"num_attention_heads", 2},
                         {"intermediate_size", 24},
                         {"max_position_embeddings", 20},
                         {"type_vocab_size", 2},
                         {"pad_token_id", 0}});
  }

  // The words of ToyTraining, from SentencePiece models as opus-mt has them.
  std::string marian() const {
    io::create_folder(file("marian"));
    const std::vector<std::string> lines{"red green blue black white grey"};
    const auto pieces = text::Tokenizer::train(lines, {.vocabulary = 60, .fit_vocabulary = true});
    nlohmann::ordered_json vocabulary{{"</s>", 0}, {"<unk>", 1}};
    for (int id = 4; id < pieces.size(); ++id) vocabulary[pieces.piece(id)] = vocabulary.size();
    const auto pad = static_cast<int>(vocabulary.size());
    vocabulary["<pad>"] = pad;
    io::write_file_atomically(file("marian/source.spm"), pieces.bytes());
    io::write_file_atomically(file("marian/target.spm"), pieces.bytes());
    io::write_file_atomically(file("marian/vocab.json"), vocabulary.dump());
    const nlohmann::json generation{
        {"decoder_start_token_id", pad}, {"eos_token_id", 0}, {"pad_token_id", pad},
        {"bad_words_ids", {{pad}}},      {"max_length", 24},  {"num_beams", 2}};
    io::write_file_atomically(file("marian/generation_config.json"), generation.dump());
    return make("marian", {{"model_type", "marian"},
                           {"architectures", nlohmann::json::array({"MarianMTModel"})},
                           {"vocab_size", pad + 1},
                           {"d_model", 16},
                           {"encoder_layers", 1},
                           {"decoder_layers", 1},
                           {"encoder_attention_heads", 2},
                           {"decoder_attention_heads", 2},
                           {"encoder_ffn_dim", 32},
                           {"decoder_ffn_dim", 32},
                           {"activation_function", "swish"},
                           {"scale_embedding", true},
                           {"max_position_embeddings", 64},
                           {"pad_token_id", pad},
                           {"eos_token_id", 0},
                           {"decoder_start_token_id", pad}});
  }

  // A run as `heed train --from` starts it, with short batches and a rate for random weights.
  Training from(const std::string& base, const FilePaths& files, const std::string& model) const {
    Training training{file(model), files, {}};
    training.files[base_model_role] = base;
    const TaskType& type = task_type_of(training.files);
    training.recipe = recipe_preset(type.preset);
    training.recipe.model.kind = type.model;
    copy_architecture(training.recipe, base);
    fit_to_fine_tuning(training.recipe, /*with_lora=*/false);
    TrainingOptions& options = training.recipe.training;
    options.max_length = 20;
    options.batch_tokens = 96;
    options.schedule.peak = 0.01;
    options.after = parse_run_length("16u", "");
    options.validate_every = options.save_every = parse_interval("5u", "");
    return training;
  }

  FilePaths translation() const { return pairs.training("").files; }
  FilePaths language() const {
    return {{"text", file("text.txt")}, {"valid-text", file("text.txt")}};
  }
  FilePaths labelled() const { return classes.classes("").files; }
  FilePaths masked() const { return classes.masked("").files; }

  ToyTraining pairs;
  ToyClasses classes;

 private:
  // Random weights for the network that config.json describes.
  std::string make(const std::string& name, const nlohmann::ordered_json& config) const {
    const std::string folder = file(name);
    io::create_folder(folder);
    io::write_file_atomically(folder + "/config.json", config.dump());
    const models::TransformerConfig network = models::load_config(folder);
    models::with_model_class(network.kind, [&]<typename Model>(std::type_identity<Model>) {
      models::save_model(folder, Model(network, 5));
    });
    return folder;
  }

  void write_bytes_tokenizer(const std::string& name) const {
    nlohmann::ordered_json vocabulary;
    for (int byte = 0; byte < 256; ++byte) {
      vocabulary[std::string(text::character_of_byte(static_cast<unsigned char>(byte)))] = byte;
    }
    vocabulary["<|endoftext|>"] = 256;
    const nlohmann::ordered_json tokenizer{
        {"version", "1.0"},
        {"added_tokens",
         {{{"id", 256},
           {"content", "<|endoftext|>"},
           {"single_word", false},
           {"lstrip", false},
           {"rstrip", false},
           {"normalized", false},
           {"special", true}}}},
        {"normalizer", nullptr},
        {"pre_tokenizer",
         {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
        {"post_processor", nullptr},
        {"decoder", {{"type", "ByteLevel"}}},
        {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::json::array()}}}};
    io::create_folder(file(name));
    io::write_file_atomically(file(name) + "/tokenizer.json", tokenizer.dump());
  }
};

}  // namespace heed::train
