#include "heed/explore/training_watch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/explore/training_events.h"
#include "heed/io/files.h"
#include "heed/text/lines.h"
#include "heed/train/metrics_log.h"
#include "heed/train/snapshots.h"
#include "heed/train/training.h"
#include "train/toy_training.h"

namespace heed::explore {
namespace {

using nlohmann::json;
using train::ToyTraining;

// Looks after every update, as a page does that is open beside a run.
struct Spectator : train::TrainingObserver {
  explicit Spectator(const std::string& folder, Index stop_after = -1)
      : watch(folder), stop_after(stop_after) {}

  bool should_stop() override { return stop_after >= 0 && num_updates >= stop_after; }
  void on_update(const train::UpdateReport&) override {
    ++num_updates;
    for (TrainingEvent& event : watch.look()) events.push_back(std::move(event));
  }
  std::vector<std::string> named(const std::string& name) const {
    std::vector<std::string> found;
    for (const TrainingEvent& event : events) {
      if (event.name == name) found.push_back(event.data);
    }
    return found;
  }

  TrainingWatch watch;
  Index stop_after;
  Index num_updates = 0;
  std::vector<TrainingEvent> events;
};

train::Training kept_training(const ToyTraining& toy, const std::string& name) {
  auto training = toy.training(name);
  training.recipe.training.keep = 4;
  return training;
}

// The lines of one kind in the log of a run.
std::vector<json> logged(const train::Training& training, const std::string& kind) {
  std::vector<json> lines;
  for (const std::string& line :
       text::read_lines(train::TrainingFolder(training.model_folder).metrics())) {
    const json parsed = json::parse(line);
    if (parsed["kind"] == kind) lines.push_back(parsed);
  }
  return lines;
}

TEST(TrainingWatch, TellsOfARunWhileItGoesOn) {
  const ToyTraining toy;
  const train::Training training = kept_training(toy, "model");
  Spectator spectator(training.model_folder);
  train::train_model(training, spectator);

  const std::vector<json> updates = logged(training, "update");
  const std::vector<std::string> told = spectator.named("update");
  ASSERT_EQ(told.size(), updates.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    const json point = json::parse(told[i]);
    EXPECT_EQ(point["update"], updates[i]["update"]);
    EXPECT_EQ(point["loss"], updates[i]["loss"]);
    EXPECT_EQ(point["gradient_norm"], updates[i]["gradient_norm"]);
  }
  EXPECT_EQ(spectator.named("live"), std::vector<std::string>{R"({"is_live":true})"});
  EXPECT_EQ(json::parse(spectator.named("validation").front()), logged(training, "validation")[0]);
  EXPECT_EQ(json::parse(spectator.named("checkpoints").front()), (json{{"updates", {0}}}));

  spectator.events = spectator.watch.look();  // what came after the last update
  EXPECT_EQ(spectator.named("live"), std::vector<std::string>{R"({"is_live":false})"});
}

TEST(TrainingWatch, HasTheWholeHistoryLater) {
  const ToyTraining toy;
  const train::Training training = kept_training(toy, "model");
  Spectator spectator(training.model_folder);
  train::train_model(training, spectator);
  spectator.watch.look();

  TrainingWatch later(training.model_folder);
  later.look();
  const json history = later.history();
  EXPECT_EQ(history, spectator.watch.history());
  EXPECT_EQ(history["is_live"], false);
  EXPECT_EQ(history["updates"]["update"].size(), 16u);
  EXPECT_EQ(history["validations"], json(logged(training, "validation")));
  EXPECT_EQ(history["checkpoints"], json(saved_checkpoints(training.model_folder)));
  EXPECT_EQ(history["checkpoints"].front(), 0);
}

// What a crash leaves: a log that is newer than the checkpoint. The run that resumes truncates it.
TEST(TrainingWatch, ForgetsWhatARunThatGoesOnTakesBack) {
  const ToyTraining toy;
  const train::Training training = toy.training("model");
  Spectator first(training.model_folder, /*stop_after=*/4);
  train::train_model(training, first);
  {
    train::MetricsLog log(train::TrainingFolder(training.model_folder).metrics(), 4, 0);
    log.add(train::UpdateReport{.update = 5});
  }
  TrainingWatch watch(training.model_folder);
  watch.look();
  EXPECT_EQ(watch.history()["updates"]["update"].back(), 5);

  Spectator second(training.model_folder, /*stop_after=*/2);
  train::train_model(training, second);
  const std::vector<TrainingEvent> events = watch.look();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].name, "history");
  EXPECT_EQ(json::parse(events[0].data)["updates"]["update"], json({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(json::parse(events[0].data), watch.history());
}

TEST(TrainingWatch, AFolderWithoutARunHasNoHistory) {
  const TemporaryFolder folder;
  TrainingWatch watch(folder.path());
  EXPECT_TRUE(watch.look().empty());
  EXPECT_EQ(watch.history()["updates"]["loss"], json::array());
  EXPECT_EQ(watch.history()["is_live"], false);
  EXPECT_TRUE(saved_checkpoints(folder.path()).empty());
}

// Keeps what it is sent.
class Listener : public serve::EventStream {
 public:
  bool send(std::string_view name, std::string_view data) override {
    const std::lock_guard lock(mutex_);
    events_.push_back({std::string(name), std::string(data)});
    changed_.notify_all();
    return is_open_;
  }
  bool is_open() const override { return is_open_; }
  void close() { is_open_ = false; }

  // The event with this number, when it has come.
  TrainingEvent wait_for(std::size_t number) {
    std::unique_lock lock(mutex_);
    const bool has_come =
        changed_.wait_for(lock, std::chrono::seconds(20), [&] { return events_.size() > number; });
    if (!has_come) ADD_FAILURE() << "event " << number << " did not come";
    return has_come ? events_[number] : TrainingEvent{};
  }
  std::size_t num_events() {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<TrainingEvent> events_;
  std::atomic<bool> is_open_ = true;
};

// Waits in the middle of the run until somebody has heard of it.
struct Patient : train::TrainingObserver {
  explicit Patient(std::shared_ptr<Listener> listener) : listener(std::move(listener)) {}
  void on_update(const train::UpdateReport&) override { listener->wait_for(1); }
  std::shared_ptr<Listener> listener;
};

// The page's own way, but for the socket: a run trains here while its events are listened to.
TEST(TrainingEvents, TellOfARunWhileItGoesOn) {
  const ToyTraining toy;
  const train::Training training = kept_training(toy, "model");
  TrainingEvents events(training.model_folder, std::chrono::milliseconds(1));
  const auto listener = std::make_shared<Listener>();
  events.add(listener);
  ASSERT_EQ(listener->wait_for(0).name, "history");  // of nothing
  Patient observer(listener);
  train::train_model(training, observer);

  std::vector<json> updates;
  bool was_live = false, has_ended = false;
  for (std::size_t number = 1; !has_ended && !HasFailure(); ++number) {
    const TrainingEvent event = listener->wait_for(number);
    const json data = event.data.empty() ? json() : json::parse(event.data);
    if (event.name == "update") updates.push_back(data["update"]);
    if (event.name == "history") updates = data["updates"]["update"];
    if (event.name == "live" && data["is_live"] == true) was_live = true;
    if (event.name == "live" && data["is_live"] == false) has_ended = true;
  }
  EXPECT_TRUE(was_live);
  ASSERT_EQ(updates.size(), logged(training, "update").size());
  EXPECT_EQ(updates.back(), logged(training, "update").back()["update"]);
}

// The page loads it as one event of its stream.
TEST(TrainingWatch, TheHistoryOfALongRunIsOfBoundedSize) {
  const TemporaryFolder folder;
  const train::TrainingFolder files(folder.path());
  io::create_folder(files.snapshots());
  const std::string sentence(300, 'x');
  std::string log;
  for (int update = 1; update <= 6000; ++update) {
    log +=
        json{{"kind", "validation"},
             {"update", update},
             {"loss", 1.0 / update},
             {"samples", {{{"source", sentence}, {"output", sentence}, {"reference", sentence}}}}}
            .dump() +
        '\n';
  }
  io::write_file_atomically(files.metrics(), log);
  TrainingWatch watch(folder.path());
  watch.look();
  const json history = watch.history();
  EXPECT_LT(history.dump().size(), 2u << 20);
  EXPECT_GE(history["validations"].size(), 1000u);
  EXPECT_EQ(history["validations"].back()["samples"][0]["output"], sentence);
}

TEST(TrainingEvents, EveryListenerGetsTheHistoryAndThenTheNews) {
  const TemporaryFolder folder;
  const train::TrainingFolder files(folder.path());
  io::create_folder(files.snapshots());
  train::MetricsLog log(files.metrics(), 0, 0);
  log.add(train::UpdateReport{.update = 1});

  TrainingEvents events(folder.path(), std::chrono::milliseconds(5));
  const auto early = std::make_shared<Listener>(), late = std::make_shared<Listener>();
  events.add(early);
  EXPECT_EQ(early->wait_for(0).name, "history");
  EXPECT_EQ(json::parse(early->wait_for(0).data)["updates"]["update"], json({1}));
  log.add(train::UpdateReport{.update = 2});
  EXPECT_EQ(early->wait_for(1).name, "update");
  EXPECT_EQ(json::parse(early->wait_for(1).data)["update"], 2);

  events.add(late);
  EXPECT_EQ(json::parse(late->wait_for(0).data)["updates"]["update"], json({1, 2}));
  early->close();
  log.add(train::UpdateReport{.update = 3});
  EXPECT_EQ(json::parse(late->wait_for(1).data)["update"], 3);
  log.add(train::UpdateReport{.update = 4});
  EXPECT_EQ(json::parse(late->wait_for(2).data)["update"], 4);
  EXPECT_LE(early->num_events(), 3u);  // closed streams are dropped after the next look
}

}  // namespace
}  // namespace heed::explore
