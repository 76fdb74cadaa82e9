#include "heed/explore/recording.h"

#include <gtest/gtest.h>

#include "explore/small_folders.h"
#include "nn/keeping_watcher.h"
#include "support/same_bits.h"

namespace heed::explore {
namespace {

PassInput input_of(const SmallFolder& folder, const std::string& source,
                   const std::string& target) {
  PassInput input{folder.tokenizer().encode(source), folder.tokenizer().encode(target)};
  input.source.push_back(text::own_tokens::end);
  input.target.insert(input.target.begin(), text::own_tokens::end);
  return input;
}

TEST(Recording, KeepsWhatAWatcherOfTheSamePassSees) {
  const SmallFolder folder;
  const auto session = folder.session();
  const PassInput input = input_of(folder, "the bat sleeps", "a racket");
  const Recording recording(session, input);
  const NoGrad no_grad;
  nn::KeepingWatcher watcher;
  auto watched = nn::ForwardContext::inference(&watcher), plain = nn::ForwardContext::inference();
  EXPECT_TRUE(same_bits(recording.logits(), teacher_forced_logits(*session, input, watched)));
  EXPECT_TRUE(same_bits(recording.logits(), teacher_forced_logits(*session, input, plain)));
  for (const Site& site : session->sites()) {
    const SiteView view = recording.view(site.name);
    EXPECT_TRUE(same_bits(view.weights, watcher.views.at(site.name).weights.at(0)));
    EXPECT_TRUE(same_bits(view.scores, watcher.views.at(site.name).masked.at(0)));
    EXPECT_EQ(recording.head_facts(site.name).size(), 2u);
  }
  for (const char* stage : {"encoder.words", "encoder.embedded", "encoder.1.after_feed_forward",
                            "decoder.0.after_cross_attention", "decoder.final"}) {
    EXPECT_TRUE(same_bits(recording.stage(stage), watcher.seen.at(stage))) << stage;
  }
  EXPECT_THROW(recording.stage("encoder.7.after_feed_forward"), Error);
  EXPECT_THROW(recording.view("encoder.7.self_attention"), Error);
}

// Long texts have more weights than are kept; they are made again when they are asked for.
TEST(Recording, MakesViewsAgainThatItDidNotKeep) {
  models::TransformerConfig config = models::small_config(models::ModelKind::language);
  config.num_heads = 16;  // so that one layer's views fit into memory, and two do not
  const SmallFolder folder(config);
  const auto session = folder.session();
  PassInput input;
  while (input.source.size() < 500) {
    for (const int id : folder.tokenizer().encode("the bat sleeps in the cave ")) {
      input.source.push_back(id);
    }
  }
  input.source.resize(500);
  const Recording recording(session, input);
  const NoGrad no_grad;
  nn::KeepingWatcher watcher;
  auto context = nn::ForwardContext::inference(&watcher);
  teacher_forced_logits(*session, input, context);
  for (const Site& site : session->sites()) {
    EXPECT_TRUE(
        same_bits(recording.view(site.name).weights, watcher.views.at(site.name).weights.at(0)));
  }
}

TEST(Recording, CountsTheTensorsThatItKeeps) {
  const SmallFolder folder;
  const PassInput input = input_of(folder, "the bat sleeps", "a racket");
  const Recording recording(folder.session(), input);
  nn::KeepingWatcher watcher;
  const NoGrad no_grad;
  auto context = nn::ForwardContext::inference(&watcher);
  teacher_forced_logits(recording.session(), input, context);
  Index num_floats = 0;
  for (const Site& site : recording.session().sites()) {
    num_floats += 2 * recording.view(site.name).weights.size();
  }
  for (const auto& [name, values] : watcher.seen) {
    if (recording.has_stage(name)) num_floats += values.size();
  }
  EXPECT_EQ(recording.num_bytes(), 4 * num_floats);
}

TEST(Recording, HasItsChangesInIt) {
  const SmallFolder folder;
  const PassInput input = input_of(folder, "the bat sleeps", "a racket");
  nn::Interventions interventions;
  interventions.knockouts = {{"decoder.1.cross_attention", 0, 1, 2}};
  const Recording plain(folder.session(), input), changed(folder.session(), input, interventions);
  EXPECT_FALSE(same_bits(plain.logits(), changed.logits()));
  const Tensor weights = changed.view("decoder.1.cross_attention").weights;
  EXPECT_EQ(weights.values()[1 * weights.dim(2) + 2], 0.0f);
}

TEST(Recording, PredictsWhatStandsBehindAndAtTheEndTheMostLikely) {
  const SmallFolder folder;
  const PassInput input = input_of(folder, "the bat sleeps", "a racket");
  const Recording recording(folder.session(), input);
  for (std::size_t row = 0; row + 1 < input.target.size(); ++row) {
    EXPECT_EQ(recording.predictions()[row].token, input.target[row + 1]);
  }
  const Tensor all = recording.logits();
  const auto last = all.values().last(static_cast<std::size_t>(all.dim(1)));
  ASSERT_EQ(std::ssize(recording.predictions()), all.dim(0));
  EXPECT_EQ(last[recording.predictions().back().token], *std::ranges::max_element(last));
}

}  // namespace
}  // namespace heed::explore
