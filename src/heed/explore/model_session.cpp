#include "heed/explore/model_session.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/nn/packing.h"
#include "heed/nn/transformer_block.h"
#include "heed/train/snapshots.h"
#include "heed/train/training_folder.h"

namespace heed::explore {
namespace {

using models::ModelKind;

constexpr std::size_t max_sessions = 4;

std::string snapshots_of(const std::string& folder) {
  return train::TrainingFolder(folder).snapshots();
}

std::string weights_path(const std::string& folder, std::optional<Index> checkpoint) {
  if (!checkpoint) return models::weights_path(folder);
  return train::snapshot_path(snapshots_of(folder), *checkpoint);
}

// Another file, or a file that was written to, has another stamp: files are replaced, never
// changed.
std::string stamp_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return "";
  return fmt::format("{}:{}:{}.{}", info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

// The folder's model, with the weights of a checkpoint instead of its final ones.
// The first checkpoints of a run come before its first model.
template <typename Model, typename Load>
Model load_weights(const std::string& folder, const models::TransformerConfig& config,
                   std::optional<Index> checkpoint, Load load) {
  if (!checkpoint) return load(folder);
  const bool has_model = io::is_file(weights_path(folder, std::nullopt));
  Model model = has_model ? load(folder) : models::uninitialized<Model>(config);
  train::Weights weights = nn::named_parameters(model);
  train::read_snapshot(snapshots_of(folder), *checkpoint, weights);
  return model;
}

// Without its tokenizer.
template <typename Model>
Model load_alone(const std::string& folder) {
  return models::load_model<Model>(folder);
}
models::Classifier load_classifier(const std::string& folder) {
  return models::load_model_folder<models::Classifier>(folder).model;
}
models::MaskedModel load_masked_model(const std::string& folder) {
  return models::load_model_folder<models::MaskedModel>(folder).model;
}

models::Tagger load_tagger(const std::string& folder) {
  return models::load_model_folder<models::Tagger>(folder).model;
}

models::Encoder load_encoder(const std::string& folder) {
  return models::load_model_folder<models::Encoder>(folder).model;
}

std::optional<text::Tokenizer> tokenizer_of(const std::string& folder,
                                            const models::TransformerConfig& config) {
  if (config.kind == ModelKind::image_classifier) return std::nullopt;
  return models::load_tokenizer(folder);
}

std::string self_attention(std::string_view stack, Index layer) {
  return fmt::format("{}.{}.self_attention", stack, layer);
}

}  // namespace

std::vector<Site> attention_sites(const models::TransformerConfig& config) {
  std::vector<Site> sites;
  const bool has_two = config.kind == ModelKind::translation;
  const std::string own = has_two ? "target" : "source";
  for (Index layer = 0; layer < config.encoder_layers; ++layer) {
    sites.push_back({self_attention("encoder", layer), "encoder", layer, config.num_heads, "source",
                     "source", /*is_causal=*/false});
  }
  const Index decoder_heads = models::decoder_options(config).num_heads;
  for (Index layer = 0; layer < config.decoder_layers; ++layer) {
    sites.push_back({self_attention("decoder", layer), "decoder", layer, decoder_heads, own, own,
                     /*is_causal=*/true});
    if (!has_two) continue;
    sites.push_back({fmt::format("decoder.{}.cross_attention", layer), "cross", layer,
                     decoder_heads, "target", "source", /*is_causal=*/false});
  }
  return sites;
}

// Uses what was set before: the configuration, the checkpoint and the tokenizer.
ModelSession::AnyModel ModelSession::load(const std::string& folder) const {
  const auto load = [&]<typename Model>(Model (*of_folder)(const std::string&)) {
    return load_weights<Model>(folder, config_, checkpoint_, of_folder);
  };
  switch (config_.kind) {
    case ModelKind::image_classifier:
      return load(&load_alone<models::ImageClassifier>);
    case ModelKind::language:
      return infer::TextGenerator(models::pack(load(&load_alone<models::LanguageModel>)),
                                  tokenizer(), models::load_generation_config(folder));
    case ModelKind::classifier: {
      models::Classifier model = load(&load_classifier);
      nn::pack_weights(model);
      return Classes{model, {model, tokenizer()}};
    }
    case ModelKind::masked: {
      models::MaskedModel model = load(&load_masked_model);
      nn::pack_weights(model);
      return MaskedLm{model, {model, tokenizer()}};
    }
    case ModelKind::tagger: {
      models::Tagger model = load(&load_tagger);
      nn::pack_weights(model);
      return Tags{model, {model, tokenizer()}};
    }
    case ModelKind::encoder: {
      models::Encoder model = load(&load_encoder);
      nn::pack_weights(model);
      return Vectors{model, {model, tokenizer()}};
    }
    default:
      return infer::Translator(models::pack(load(&load_alone<models::TranslationModel>)),
                               tokenizer(), models::load_generation_config(folder));
  }
}

ModelSession::ModelSession(const std::string& folder, std::optional<Index> checkpoint)
    : config_(models::load_config(folder)),
      checkpoint_(checkpoint),
      tokenizer_(tokenizer_of(folder, config_)),
      model_(load(folder)),
      sites_(attention_sites(config_)) {
  const auto keep = [this](const auto& model) {
    for (nn::NamedTensor& parameter : models::parameters(model)) {
      parameters_[parameter.name] = parameter.value.detach();
    }
  };
  if (translation()) keep(*translation());
  if (language()) keep(*language());
  if (classifier()) keep(*classifier());
  if (masked()) keep(*masked());
  if (tagger()) keep(*tagger());
  if (encoder()) keep(*encoder());
}

const text::Tokenizer& ModelSession::tokenizer() const {
  check_as(ErrorKind::usage, tokenizer_.has_value(),
           "explore: expected a model that reads text, found one for images");
  return *tokenizer_;
}

const infer::Translator* ModelSession::translator() const {
  return std::get_if<infer::Translator>(&model_);
}
const infer::TextGenerator* ModelSession::text_generator() const {
  return std::get_if<infer::TextGenerator>(&model_);
}
const infer::LineClassifier* ModelSession::line_classifier() const {
  const Classes* classes = std::get_if<Classes>(&model_);
  return classes ? &classes->lines : nullptr;
}
const infer::FillMask* ModelSession::fill_mask() const {
  const MaskedLm* masks = std::get_if<MaskedLm>(&model_);
  return masks ? &masks->filler : nullptr;
}
const infer::LineTagger* ModelSession::line_tagger() const {
  const Tags* tags = std::get_if<Tags>(&model_);
  return tags ? &tags->lines : nullptr;
}

const infer::SentenceEncoder* ModelSession::sentence_encoder() const {
  const Vectors* vectors = std::get_if<Vectors>(&model_);
  return vectors ? &vectors->lines : nullptr;
}

const models::TranslationModel* ModelSession::translation() const {
  return translator() ? &translator()->model() : nullptr;
}
const models::LanguageModel* ModelSession::language() const {
  return text_generator() ? &text_generator()->model() : nullptr;
}
const models::Classifier* ModelSession::classifier() const {
  const Classes* classes = std::get_if<Classes>(&model_);
  return classes ? &classes->model : nullptr;
}
const models::MaskedModel* ModelSession::masked() const {
  const MaskedLm* masks = std::get_if<MaskedLm>(&model_);
  return masks ? &masks->model : nullptr;
}
const models::Tagger* ModelSession::tagger() const {
  const Tags* tags = std::get_if<Tags>(&model_);
  return tags ? &tags->model : nullptr;
}

const models::Encoder* ModelSession::encoder() const {
  const Vectors* vectors = std::get_if<Vectors>(&model_);
  return vectors ? &vectors->model : nullptr;
}

std::string ModelSession::column_name(Index column) const {
  if (encoder()) return fmt::format("number {} of the vector", column);
  if (!config_.labels.empty()) return config_.labels[static_cast<std::size_t>(column)];
  return tokenizer().piece(static_cast<int>(column));
}

const Site& ModelSession::site(const std::string& name) const {
  const auto site = std::ranges::find(sites_, name, &Site::name);
  check_as(ErrorKind::usage, site != sites_.end(), "site: expected one like ", sites_.front().name,
           ", found ", name);
  return *site;
}

Tensor ModelSession::parameter(const std::string& name) const {
  const auto entry = parameters_.find(name);
  return entry == parameters_.end() ? Tensor() : entry->second;
}

const std::string& SessionStore::folder() const {
  check_as(ErrorKind::usage, folder_.has_value(), "explore: expected a model, found none");
  return *folder_;
}

bool SessionStore::has_model() const {
  return folder_ && io::is_file(*folder_ + "/config.json") &&
         (io::is_file(weights_path(*folder_, std::nullopt)) || !checkpoints().empty());
}

std::vector<Index> SessionStore::checkpoints() const {
  return folder_ ? train::stored_snapshots(snapshots_of(*folder_)) : std::vector<Index>{};
}

std::shared_ptr<const ModelSession> SessionStore::session(std::optional<Index> checkpoint) {
  check_as(ErrorKind::usage, has_model(), folder(),
           ": expected a model with weights, found none yet");
  if (!checkpoint && !io::is_file(weights_path(*folder_, std::nullopt))) {
    checkpoint = checkpoints().back();
  }
  const std::string stamp = stamp_of(weights_path(*folder_, checkpoint));
  check_as(ErrorKind::usage, !stamp.empty(), folder(), ": expected the checkpoint ",
           checkpoint.value_or(0), ", found none");
  const auto match = std::ranges::find_if(cache_, [&](const CachedSession& cached) {
    return cached.checkpoint == checkpoint && cached.stamp == stamp;
  });
  if (match != cache_.end()) {
    std::rotate(match, match + 1, cache_.end());
    return cache_.back().session;
  }
  auto session = std::make_shared<const ModelSession>(*folder_, checkpoint);
  if (cache_.size() >= max_sessions) cache_.erase(cache_.begin());
  cache_.push_back({checkpoint, stamp, session});
  return session;
}

}  // namespace heed::explore
