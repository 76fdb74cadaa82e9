#include "heed/train/batch_hash.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "heed/models/classifier.h"
#include "heed/models/image_classifier.h"
#include "heed/models/language_model.h"
#include "heed/models/masked_model.h"
#include "heed/models/tagger.h"
#include "heed/models/translation_model.h"

namespace heed::train {
namespace {

template <typename Batch>
std::string hash_of(const Batch& batch) {
  BatchHash hash;
  hash_batch(hash, batch);
  return hash.hex_digest();
}

// Each change of the batch, alone, makes another hash.
template <typename Batch>
void expect_all_count(const Batch& batch, const std::vector<std::function<void(Batch&)>>& changes) {
  EXPECT_EQ(hash_of(Batch(batch)), hash_of(batch));
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Batch changed = batch;
    changes[i](changed);
    EXPECT_NE(hash_of(changed), hash_of(batch)) << "change " << i;
  }
}

models::PackedIds pack(const std::vector<std::vector<int>>& lines) { return models::pack(lines); }

TEST(BatchHash, CountsEveryPartOfATranslationBatch) {
  using Batch = models::TranslationBatch;
  expect_all_count<Batch>(
      {pack({{4, 5}, {6}}), pack({{2, 7}, {2}}), {7, 3, 3}, {{0, 1}}},
      {[](Batch& b) { b.source.ids[0] = 6; },
       [](Batch& b) {
         b.source = pack({{4}, {5, 6}});
       },
       [](Batch& b) { b.target_input.ids[1] = 8; }, [](Batch& b) { b.target_output[0] = 8; },
       [](Batch& b) { b.links[0].key = 0; }, [](Batch& b) { b.links = {}; }});
}

TEST(BatchHash, CountsEveryPartOfALanguageBatch) {
  using Batch = models::LanguageBatch;
  expect_all_count<Batch>({pack({{4, 5}}), {5, 6}},
                          {[](Batch& b) { b.input.ids[0] = 6; }, [](Batch& b) { b.next[1] = 7; }});
  expect_all_count<Batch>({pack({{4, 5, 6}}), {5, 6}, {0, 1}},
                          {[](Batch& b) { b.next[1] = 7; }, [](Batch& b) { b.places[1] = 2; },
                           [](Batch& b) { b.places = {}; }});
}

TEST(BatchHash, CountsEveryPartOfAMaskedBatch) {
  using Batch = models::MaskedBatch;
  expect_all_count<Batch>({pack({{4, 5, 3}}), {1}, {6}},
                          {[](Batch& b) { b.input.ids[0] = 6; }, [](Batch& b) { b.places[0] = 0; },
                           [](Batch& b) { b.hidden[0] = 7; }});
}

TEST(BatchHash, CountsEveryPartOfATaggerBatch) {
  using Batch = models::TaggerBatch;
  expect_all_count<Batch>({pack({{4, 5, 3}}), {0, 1}, {6, 2}},
                          {[](Batch& b) { b.input.ids[0] = 6; }, [](Batch& b) { b.places[1] = 2; },
                           [](Batch& b) { b.tags[0] = 7; }});
}

TEST(BatchHash, CountsEveryPartOfAClassifierBatch) {
  using Batch = models::ClassifierBatch;
  expect_all_count<Batch>({pack({{4, 5}, {6}}), {0, 1}}, {[](Batch& b) { b.input.ids[2] = 4; },
                                                          [](Batch& b) {
                                                            b.classes = {1, 0};
                                                          }});
}

TEST(BatchHash, CountsTheTargetsOfAClassifierBatch) {
  using Batch = models::ClassifierBatch;
  expect_all_count<Batch>({pack({{4, 5}, {6}}), {}, Tensor::from({0, 1}, {2, 1})},
                          {[](Batch& b) {
                             b.targets = Tensor::from({1, 0}, {2, 1});
                           },
                           [](Batch& b) {
                             b.targets = Tensor::from({0, 1}, {1, 2});
                           }});
}

TEST(BatchHash, CountsEveryPartOfAnImageBatch) {
  using Batch = models::ImageBatch;
  const Tensor patches = Tensor::from({0, 1, 0.5f, 0.25f}, {2, 2});
  expect_all_count<Batch>({patches, {0, 1}},
                          {[](Batch& b) {
                             b.patches = Tensor::from({0, 1, 0.5f, 0.75f}, {2, 2});
                           },
                           [](Batch& b) {
                             b.patches = Tensor::from({0, 1, 0.5f, 0.25f}, {4, 1});
                           },
                           [](Batch& b) { b.classes[0] = 1; }});
}

}  // namespace
}  // namespace heed::train
