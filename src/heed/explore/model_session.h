// A model in the explorer, with the weights of one checkpoint: runs inputs and shows its parts.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "heed/infer/fill_mask.h"
#include "heed/infer/line_classifier.h"
#include "heed/infer/line_tagger.h"
#include "heed/infer/sentence_encoder.h"
#include "heed/infer/text_generator.h"
#include "heed/infer/translator.h"
#include "heed/models/classifier.h"
#include "heed/models/encoder.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"

namespace heed::explore {

// One attention layer of a model.
struct Site {
  std::string name;  // encoder.0.self_attention
  std::string part;  // encoder, decoder or cross
  Index layer = 0;
  Index heads = 0;
  std::string queries;  // whose tokens they are: source or target
  std::string keys;
  bool is_causal = false;  // a query sees no later keys
};

// In the order of a pass. The only sequence of a model that has one is called source.
std::vector<Site> attention_sites(const models::TransformerConfig& config);

class ModelSession {
 public:
  // The folder's weights, or those of a checkpoint of its training: the update that it was kept
  // after. Refuses what model folders refuse.
  explicit ModelSession(const std::string& folder, std::optional<Index> checkpoint = std::nullopt);

  models::ModelKind kind() const { return config_.kind; }
  const models::TransformerConfig& config() const { return config_; }
  // Refused (ErrorKind::usage) for images, which have none.
  const text::Tokenizer& tokenizer() const;
  std::optional<Index> checkpoint() const { return checkpoint_; }

  // The model, with packed, frozen weights; null unless it is of that kind.
  const models::TranslationModel* translation() const;
  const models::LanguageModel* language() const;
  const models::Classifier* classifier() const;
  const models::MaskedModel* masked() const;
  const models::Tagger* tagger() const;
  const models::Encoder* encoder() const;

  // The same as the command line runs it; null in the same way.
  const infer::Translator* translator() const;
  const infer::TextGenerator* text_generator() const;
  const infer::LineClassifier* line_classifier() const;
  const infer::FillMask* fill_mask() const;
  const infer::LineTagger* line_tagger() const;
  const infer::SentenceEncoder* sentence_encoder() const;

  // What a column of the logits stands for: a token, a class or a tag; of an encoder, a number of
  // its vector.
  std::string column_name(Index column) const;

  const std::vector<Site>& sites() const { return sites_; }
  const Site& site(const std::string& name) const;  // refuses (ErrorKind::usage) other names

  // A parameter by its name in the model's file, dequantized if it is quantized. Undefined when the
  // model has no such parameter.
  Tensor parameter(const std::string& name) const;
  Index num_parameters() const { return models::num_parameters(config_); }

 private:
  struct Classes {
    models::Classifier model;
    infer::LineClassifier lines;
  };
  struct MaskedLm {
    models::MaskedModel model;
    infer::FillMask filler;
  };
  struct Tags {
    models::Tagger model;
    infer::LineTagger lines;
  };
  struct Vectors {
    models::Encoder model;
    infer::SentenceEncoder lines;
  };
  using AnyModel = std::variant<models::ImageClassifier, infer::Translator, infer::TextGenerator,
                                Classes, MaskedLm, Tags, Vectors>;
  AnyModel load(const std::string& folder) const;

  models::TransformerConfig config_;
  std::optional<Index> checkpoint_;
  std::optional<text::Tokenizer> tokenizer_;  // none of a model that reads images
  AnyModel model_;
  std::vector<Site> sites_;
  std::map<std::string, Tensor> parameters_;
};

// The sessions of one model folder, which a training run may be writing to meanwhile.
class SessionStore {
 public:
  // Without a folder there is no model.
  explicit SessionStore(std::optional<std::string> folder) : folder_(std::move(folder)) {}

  bool has_folder() const { return folder_.has_value(); }
  const std::string& folder() const;  // refuses (ErrorKind::usage) when there is none

  // Whether there are weights to look at now; a run that has just started has none.
  bool has_model() const;
  // The updates whose weights are kept beside the model's own, in order.
  std::vector<Index> checkpoints() const;

  // The weights of the moment, or those of a checkpoint. Weights that have changed on disk are read
  // again; otherwise a recently used session is the same object. Refuses
  // (ErrorKind::usage) when there is no model, or no such checkpoint.
  std::shared_ptr<const ModelSession> session(std::optional<Index> checkpoint = std::nullopt);

 private:
  struct CachedSession {
    std::optional<Index> checkpoint;
    std::string stamp;  // of the file of weights
    std::shared_ptr<const ModelSession> session;
  };

  std::optional<std::string> folder_;
  std::vector<CachedSession> cache_;  // the most recently used last
};

}  // namespace heed::explore
