#include "heed/train/training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/infer/alignment.h"
#include "heed/io/files.h"
#include "heed/models/model_folder.h"
#include "heed/models/translation_model.h"
#include "heed/text/lines.h"
#include "heed/train/snapshots.h"
#include "heed/train/training_folder.h"
#include "heed/train/weights.h"
#include "support/expect_error.h"
#include "train/toy_training.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

// Remembers everything, and stops after an update or in the middle of a validation.
struct Recorder : TrainingObserver {
  Index stop_after = -1;             // updates
  Index stop_in_validation_of = -1;  // this update
  RunStart start;
  std::vector<UpdateReport> updates;
  std::vector<ValidationReport> validations;
  bool is_validating = false;

  bool should_stop() override {
    const Index update = updates.empty() ? start.update : updates.back().update;
    if (is_validating) return update == stop_in_validation_of;
    return stop_after >= 0 && update >= stop_after;
  }
  void on_start(const RunStart& report) override { start = report; }
  void on_update(const UpdateReport& report) override { updates.push_back(report); }
  void on_validation_start(Index) override { is_validating = true; }
  void on_validation(const ValidationReport& report) override {
    validations.push_back(report);
    is_validating = false;
  }
};

TrainingResult run(const Training& training) { return train_model(training); }

TrainingResult run_until(const Training& training, Index update) {
  Recorder recorder;
  recorder.stop_after = update;
  return train_model(training, recorder);
}

// The log without times.
std::vector<std::string> log_of(const Training& training) {
  std::vector<std::string> lines;
  for (const std::string& line :
       text::read_lines(TrainingFolder(training.model_folder).metrics())) {
    auto entry = nlohmann::json::parse(line);
    entry.erase("seconds");
    lines.push_back(entry.dump());
  }
  return lines;
}

// All numbers of the last checkpoint, byte for byte.
std::string checkpoint_bytes(const Training& training) {
  std::string bytes;
  const auto file = load_checked(TrainingFolder(training.model_folder).checkpoint());
  for (const io::TensorRecord& record : file.tensors()) {
    bytes += record.name;
    bytes.append(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
  }
  return bytes;
}

// The files of the weights that were kept, by name.
std::map<std::string, std::string> snapshot_bytes(const Training& training) {
  std::map<std::string, std::string> files;
  for (const auto& entry :
       fs::directory_iterator(TrainingFolder(training.model_folder).snapshots())) {
    files[entry.path().filename()] = io::read_file(entry.path());
  }
  return files;
}

void expect_same_run(const Training& a, const Training& b) {
  EXPECT_EQ(io::read_file(a.model_folder + "/model.safetensors"),
            io::read_file(b.model_folder + "/model.safetensors"));
  EXPECT_EQ(checkpoint_bytes(a), checkpoint_bytes(b));
  EXPECT_EQ(log_of(a), log_of(b));
  EXPECT_EQ(snapshot_bytes(a), snapshot_bytes(b));
}

ErrorKind kind_of_error(const Training& training, std::string* message = nullptr) {
  try {
    run(training);
  } catch (const Error& error) {
    if (message) *message = error.what();
    return error.kind();
  }
  ADD_FAILURE() << "expected an error";
  return ErrorKind::failed;
}

using Change = void (*)(Training&);

struct Variant {
  const char* name;
  Change change;
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

class Resume : public testing::TestWithParam<Variant> {};

TEST_P(Resume, GivesTheBitsOfTheRunThatWasNeverStopped) {
  const ToyTraining toy;
  auto whole = toy.training("whole");
  GetParam().change(whole);
  const TrainingResult expected = run(whole);
  EXPECT_EQ(expected.end, RunEnd::finished);

  for (const Index stop : {0, 1, 6, 11}) {
    SCOPED_TRACE(stop);
    auto stopped = whole;
    stopped.model_folder = toy.file("stopped-" + std::to_string(stop));
    ASSERT_EQ(run_until(stopped, stop).end, RunEnd::interrupted);
    ASSERT_EQ(run_until(stopped, stop + 2).end, RunEnd::interrupted);
    const TrainingResult result = run(stopped);
    EXPECT_EQ(result.end, RunEnd::finished);
    EXPECT_EQ(result.weights_hash, expected.weights_hash);
    expect_same_run(stopped, whole);
  }
}

void accumulated(Training& training) { training.recipe.training.accumulate = 3; }

void moving_average(Training& training) { training.recipe.training.ema = 0.9; }

// Without validation data the average is the model, whether it is better or not.
void averaged(Training& training) {
  training.files.erase("valid-source");
  training.files.erase("valid-target");
  training.recipe.training.average = 3;
  training.recipe.training.save_every = parse_interval("2u", "");
  training.recipe.training.validate_every = parse_interval("5u", "");
}

void kept(Training& training) {
  training.recipe.training.keep = 4;
  training.recipe.training.average = 2;
  training.recipe.training.save_every = parse_interval("3u", "");
}

void cosine(Training& training) {
  training.recipe.training.schedule.kind = ScheduleKind::cosine;
  training.recipe.training.after = parse_run_length("3e", "");
}

// Six epochs of four updates, so that the runs are stopped within epochs and between them.
void bpe_dropout(Training& training) {
  training.recipe.tokenizer = {.vocabulary = 40, .subwords = text::Subwords::bpe};
  training.recipe.training.bpe_dropout = 0.2;
  training.recipe.training.batch_tokens = 192;
  training.recipe.training.schedule.kind = ScheduleKind::linear;
  training.recipe.training.after = parse_run_length("6e", "");
}

void early_stopping(Training& training) {
  training.recipe.training.early_stopping = "loss";
  training.recipe.training.patience = 20;
  training.recipe.training.validate_every = parse_interval("1u", "");
  training.recipe.training.validation_metrics = "none";
}

INSTANTIATE_TEST_SUITE_P(
    Variants, Resume,
    testing::Values(Variant{"plain", [](Training&) {}}, Variant{"accumulated", accumulated},
                    Variant{"moving_average", moving_average}, Variant{"averaged", averaged},
                    Variant{"kept", kept}, Variant{"cosine", cosine},
                    Variant{"bpe_dropout", bpe_dropout}, Variant{"early_stopping", early_stopping}),
    [](const auto& info) { return info.param.name; });

TEST(Training, KeepingWeightsForLookingBackChangesNoWeight) {
  const ToyTraining toy;
  auto plain = toy.training("plain");
  plain.recipe.training.save_every = parse_interval("2u", "");
  auto kept = plain;
  kept.model_folder = toy.file("kept");
  kept.recipe.training.keep = 5;
  EXPECT_EQ(run(plain).weights_hash, run(kept).weights_hash);
  EXPECT_EQ(checkpoint_bytes(plain), checkpoint_bytes(kept));

  const std::string folder = TrainingFolder(kept.model_folder).snapshots();
  EXPECT_EQ(stored_snapshots(TrainingFolder(plain.model_folder).snapshots()), std::vector<Index>{});
  const std::vector<Index> updates = stored_snapshots(folder);
  EXPECT_EQ(updates.size(), 5u);
  EXPECT_EQ(updates.front(), 0);
  EXPECT_EQ(updates.back(), 16);
  Weights last = models::load_parameters(kept.model_folder);
  const Weights exported = copy_weights(last);
  read_snapshot(folder, 0, last);
  EXPECT_NE(models::weights_hash(last), models::weights_hash(exported));
  read_snapshot(folder, 16, last);
  EXPECT_EQ(models::weights_hash(last), models::weights_hash(exported));
}

TEST(Training, StoppedInAValidationItResumesWithTheSameBits) {
  const ToyTraining toy;
  auto whole = toy.training("whole");
  whole.recipe.training.validate_every = parse_interval("4u", "");
  whole.recipe.training.save_every = parse_interval("4u", "");
  whole.recipe.training.average = 2;
  run(whole);
  auto stopped = whole;
  stopped.model_folder = toy.file("stopped");
  Recorder recorder;
  recorder.stop_in_validation_of = 8;
  EXPECT_EQ(train_model(stopped, recorder).end, RunEnd::interrupted);
  EXPECT_EQ(recorder.validations.size(), 1u);
  run(stopped);
  expect_same_run(stopped, whole);
}

// The state on disk is what a crash leaves: newer snapshots, log lines and model than checkpoint.
TEST(Training, AfterACrashItResumesFromTheLastCheckpoint) {
  const ToyTraining toy;
  auto whole = toy.training("whole");
  whole.recipe.training.save_every = parse_interval("4u", "");
  whole.recipe.training.validate_every = parse_interval("2u", "");
  whole.recipe.training.average = 2;
  run(whole);
  auto crashed = whole;
  crashed.model_folder = toy.file("crashed");
  run_until(crashed, 5);
  const TrainingFolder folder(crashed.model_folder);
  const std::string old_checkpoint = io::read_file(folder.checkpoint());
  run_until(crashed, 7);
  io::write_file_atomically(folder.checkpoint(), old_checkpoint);
  run(crashed);
  expect_same_run(crashed, whole);
}

TEST(Training, IsTheSameToTheBitForAnyNumberOfThreads) {
  const ToyTraining toy;
  const int before = num_threads();
  std::vector<Training> trainings;
  for (const int threads : {1, 2, 3}) {
    set_num_threads(threads);
    trainings.push_back(toy.training("threads-" + std::to_string(threads)));
    trainings.back().recipe.training.ema = 0.9;
    run(trainings.back());
  }
  set_num_threads(before);
  expect_same_run(trainings[0], trainings[1]);
  expect_same_run(trainings[0], trainings[2]);
}

TEST(Training, IsTheSameForAnyNumberOfThreadsWithBpeDropoutToo) {
  const ToyTraining toy;
  const int before = num_threads();
  std::vector<Training> trainings;
  for (const int threads : {1, 2}) {
    set_num_threads(threads);
    trainings.push_back(toy.training("threads-" + std::to_string(threads)));
    bpe_dropout(trainings.back());
    run(trainings.back());
  }
  set_num_threads(before);
  expect_same_run(trainings[0], trainings[1]);
}

TEST(Training, BpeDropoutCutsTheTrainingTextAnewInEveryEpochAndNothingElse) {
  const ToyTraining toy;
  const auto tokens_of_epochs = [&](double dropout, Recorder& recorder) {
    auto training = toy.training("dropout-" + std::to_string(dropout));
    bpe_dropout(training);
    training.recipe.training.bpe_dropout = dropout;
    training.recipe.training.schedule.peak = 0;
    train_model(training, recorder);
    std::vector<Index> tokens(6);
    for (const UpdateReport& update : recorder.updates) {
      tokens[update.epoch] += update.source_tokens + update.target_tokens;
    }
    return tokens;
  };
  Recorder plain, dropped;
  const auto plain_tokens = tokens_of_epochs(0, plain);
  const auto dropped_tokens = tokens_of_epochs(0.2, dropped);
  for (std::size_t epoch = 0; epoch < 6; ++epoch) {
    EXPECT_EQ(plain_tokens[epoch], plain_tokens[0]);
    EXPECT_GT(dropped_tokens[epoch], plain_tokens[0]);
  }
  EXPECT_NE(dropped_tokens[1], dropped_tokens[0]);
  EXPECT_EQ(plain.validations.front().loss, dropped.validations.front().loss);
  EXPECT_EQ(plain.start.data.num_examples, dropped.start.data.num_examples);
}

// How many words of the validation sentences the first head looks at when it should: the toy
// sentences come out in reverse, so that word i belongs to word n - 1 - i.
Index num_right_looks(const ToyTraining& toy, const Training& training) {
  const auto loaded = models::load_model_folder<models::TranslationModel>(training.model_folder);
  const auto lines = text::read_parallel_lines(toy.file("valid.en"), toy.file("valid.de"));
  Index right = 0;
  for (std::size_t i = 0; i < lines.source.size(); ++i) {
    const std::vector<std::vector<int>> source{loaded.tokenizer.encode(lines.source[i])};
    const std::vector<std::vector<int>> target{loaded.tokenizer.encode(lines.target[i])};
    const Tensor weights = infer::cross_attention_weights(loaded.model, source, target, 0)[0];
    const Index num_words = std::ssize(source[0]);  // and an end token
    for (Index word = 0; word < num_words; ++word) {
      const auto row = weights.values().subspan(word * (num_words + 1), num_words + 1);
      right += std::ranges::max_element(row) - row.begin() == num_words - 1 - word;
    }
  }
  return right;
}

TEST(Training, GuidedAlignmentLeadsAHeadToTheRightWords) {
  const ToyTraining toy;
  std::ofstream links(toy.file("links"));
  for (const std::string& line : text::read_lines(toy.file("train.en"))) {
    const auto num_words = std::ranges::count(line, ' ') + 1;
    for (Index i = 0; i < num_words; ++i) links << i << '-' << num_words - 1 - i << ' ';
    links << '\n';
  }
  links.close();
  auto free = toy.training("free");
  free.recipe.training.after = parse_run_length("150u", "");
  auto guided = free;
  guided.model_folder = toy.file("guided");
  guided.files["guided-alignment"] = toy.file("links");
  EXPECT_EQ(kind_of_error(guided), ErrorKind::usage) << "a weight is needed";
  guided.recipe.model.guided_alignment = 0.5f;
  run(free);
  run(guided);
  EXPECT_EQ(models::load_config(guided.model_folder).guided_alignment, 0.5f);
  const Index right = num_right_looks(toy, guided);  // of 44
  EXPECT_GE(right, 28);
  EXPECT_GE(right, num_right_looks(toy, free) + 10);
}

TEST(Training, AnotherSeedGivesOtherWeights) {
  const ToyTraining toy;
  auto other = toy.training("other");
  other.recipe.training.seed = 2;
  EXPECT_NE(run(toy.training("one")).weights_hash, run(other).weights_hash);
}

TEST(Training, LearnsTheToyTask) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.after = parse_run_length("40e", "");
  training.recipe.training.validate_every = parse_interval("20e", "");
  training.recipe.training.batch_tokens = 128;
  training.recipe.model.dropout = 0;
  Recorder recorder;
  train_model(training, recorder);
  EXPECT_LT(recorder.updates.back().likelihood_loss,
            0.6 * recorder.updates.front().likelihood_loss);
  ASSERT_EQ(recorder.validations.size(), 2u);
  EXPECT_LT(recorder.validations[1].loss, recorder.validations[0].loss);
  EXPECT_NEAR(recorder.validations[1].perplexity, std::exp(recorder.validations[1].loss), 1e-9);
  EXPECT_EQ(recorder.validations[1].samples.size(), 3u);
  EXPECT_TRUE(recorder.validations[1].score("bleu").has_value());
}

TEST(Training, ValidationsReportTheScoresThatWereAskedFor) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.validation_metrics = "exact-match,rouge";
  training.recipe.training.early_stopping = "exact-match";
  training.recipe.training.patience = 1;
  training.recipe.training.schedule.peak = 0;  // nothing ever gets better
  training.recipe.training.validate_every = parse_interval("2u", "");
  training.recipe.training.after = parse_run_length("100u", "");
  Recorder recorder;
  EXPECT_EQ(train_model(training, recorder).update, 4);
  std::vector<std::string> names;
  for (const Score& score : recorder.validations.at(0).scores) names.push_back(score.name);
  EXPECT_EQ(names, (std::vector<std::string>{"exact_match", "rouge1", "rouge2", "rougeL"}));
}

TEST(Training, EarlyStoppingTakesTheScoresOfTheValidationOnly) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.validation_metrics = "exact-match";
  training.recipe.training.early_stopping = "bleu";
  expect_error(ErrorKind::usage,
               "`early_stopping`: expected none, loss or exact-match for this task, found bleu",
               [&] { run(training); });
}

TEST(Training, TheLossIsPerTokenWhateverIsAccumulated) {
  const ToyTraining toy;
  Recorder recorder;
  auto training = toy.training("model");
  training.recipe.training.accumulate = 4;
  training.recipe.training.after = parse_run_length("1u", "");
  training.recipe.model.label_smoothing = 0;
  train_model(training, recorder);
  const UpdateReport& first = recorder.updates.at(0);
  EXPECT_GT(first.target_tokens, 3 * 40);
  // Random weights guess among about ten pieces: log(10) and a bit.
  EXPECT_GT(first.loss, 1.5);
  EXPECT_LT(first.loss, 5.0);
  EXPECT_NEAR(first.loss, first.likelihood_loss, 1e-4);
}

TEST(Training, EarlyStoppingKeepsTheBestModel) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.schedule.peak = 0;  // nothing ever gets better
  training.recipe.training.early_stopping = "loss";
  training.recipe.training.patience = 2;
  training.recipe.training.validate_every = parse_interval("3u", "");
  training.recipe.training.after = parse_run_length("100u", "");
  Recorder recorder;
  const TrainingResult result = train_model(training, recorder);
  EXPECT_EQ(result.end, RunEnd::stopped_early);
  EXPECT_EQ(result.update, 9);
  EXPECT_TRUE(recorder.validations[0].is_best);
  EXPECT_FALSE(recorder.validations[1].is_best);
  EXPECT_TRUE(run(training).was_finished);
}

TEST(Training, AnAverageThatIsWorseThanTheLatestWeightsIsNotExported) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.ema = 0.999;
  Recorder recorder;
  train_model(training, recorder);
  const ValidationReport& last = recorder.validations.back();
  EXPECT_LE(last.loss, last.latest_loss);
  EXPECT_EQ(last.is_average, last.loss != last.latest_loss);
}

TEST(Training, AFinishedRunHasNothingLeftToDo) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  const TrainingResult first = run(training);
  const TrainingResult second = run(training);
  EXPECT_FALSE(first.was_finished);
  EXPECT_TRUE(second.was_finished);
  EXPECT_EQ(first.weights_hash, second.weights_hash);
}

TEST(Training, AFinishedRunResumesWithALongerLength) {
  const ToyTraining toy;
  auto longer = toy.training("longer");
  auto extended = toy.training("extended");
  extended.recipe.training.after = parse_run_length("9u", "");
  run(extended);
  extended.recipe.training.after = longer.recipe.training.after;
  EXPECT_EQ(run(extended).weights_hash, run(longer).weights_hash);
}

TEST(Training, StopsWhenTheTimeIsOver) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.after = parse_run_length("0.0001m,1000000u", "");
  const TrainingResult result = run(training);
  EXPECT_EQ(result.end, RunEnd::finished);
  EXPECT_LT(result.update, 1000000);
}

TEST(Training, ByTheClockTheRateFallsToZeroOverTheTime) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.files.erase("valid-source");
  training.files.erase("valid-target");
  training.recipe.training.schedule.kind = ScheduleKind::linear;
  training.recipe.training.after = parse_run_length("10m", "");
  const auto rate_at = [](double seconds) { return 0.01 * (1 - seconds / 600); };

  Recorder recorder;
  for (const Index stop : {8, 16}) {  // the time before the break counts too
    recorder.stop_after = stop;
    ASSERT_EQ(train_model(training, recorder).end, RunEnd::interrupted);
  }
  ASSERT_EQ(recorder.updates.size(), 16u);
  // The clock of the rate is read between the report before and the update's own report.
  for (std::size_t i = 4; i < recorder.updates.size(); ++i) {
    EXPECT_LE(recorder.updates[i].learning_rate, rate_at(recorder.updates[i - 1].seconds));
    EXPECT_GE(recorder.updates[i].learning_rate, rate_at(recorder.updates[i].seconds));
  }
}

TEST(Training, TheModelCanBeUsedAfterEveryValidation) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  run_until(training, 8);  // one epoch and a bit
  EXPECT_NO_THROW(models::load_model_folder<models::TranslationModel>(training.model_folder));
}

TEST(Training, WorksWithoutValidationData) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.files.erase("valid-source");
  training.files.erase("valid-target");
  training.recipe.training.average = 2;
  EXPECT_EQ(run(training).end, RunEnd::finished);
}

TEST(Training, ReportsWhatItLeavesOut) {
  const ToyTraining toy;
  std::ofstream(toy.file("train.en"), std::ios::app) << "\nred\n";
  std::ofstream(toy.file("train.de"), std::ios::app) << "red\n" << std::string(400, 'x') << '\n';
  auto training = toy.training("model");
  training.recipe.training.max_length = 7;
  Recorder recorder;
  train_model(training, recorder);
  EXPECT_EQ(recorder.start.data.num_blank, 1);
  EXPECT_EQ(recorder.start.data.num_examples + recorder.start.data.num_blank +
                recorder.start.data.num_too_long,
            62);
}

TEST(Training, DivergenceIsAnErrorOfItsOwn) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.schedule = {.kind = ScheduleKind::constant, .peak = 1e6, .warm_up = 0};
  training.recipe.training.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 1e3};
  EXPECT_EQ(kind_of_error(training), ErrorKind::diverged);
}

TEST(Training, BadTextsLeaveNothingBehind) {
  const ToyTraining toy;
  const auto expect_refused = [&](const Training& training) {
    EXPECT_EQ(kind_of_error(training), ErrorKind::data);
    EXPECT_FALSE(fs::exists(training.model_folder));
  };
  auto training = toy.training("model");
  training.files["source"] = toy.file("missing");
  expect_refused(training);

  training = toy.training("model");
  training.files["target"] = toy.file("valid.de");
  expect_refused(training);

  std::ofstream(toy.file("bad.en")) << "good\nb\xff"
                                       "d\n";
  std::ofstream(toy.file("bad.de")) << "gut\nschlecht\n";
  training.files["source"] = toy.file("bad.en");
  training.files["target"] = toy.file("bad.de");
  expect_refused(training);

  std::ofstream(toy.file("empty"));
  training.files["source"] = training.files["target"] = toy.file("empty");
  expect_refused(training);

  training = toy.training("model");
  training.recipe.tokenizer = {.vocabulary = 10000, .subwords = text::Subwords::bpe};
  expect_refused(training);
}

// Does something at the n-th call of should_stop, counted from 1, and stops then if told to.
struct AtPoll : TrainingObserver {
  AtPoll(
      Index when, bool stops, std::function<void()> work = [] {})
      : poll(when), stops(stops), action(std::move(work)) {}

  bool should_stop() override {
    if (++polls == poll) action();
    return stops && polls >= poll;
  }

  Index poll, polls = 0;
  bool stops;
  std::function<void()> action;
};

// Every file and folder below this one, with its contents.
std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = fs::relative(entry.path(), folder);
    contents[name] = entry.is_regular_file() ? io::read_file(entry.path()) : "a folder";
  }
  return contents;
}

TEST(Training, InterruptedAnywhereInItsPreparationItLeavesNothing) {
  const ToyTraining toy;
  auto training = toy.training("new/model");
  cosine(training);  // counts the batches of all epochs
  const auto before = contents_of(toy.file(""));
  Index poll = 1;
  for (bool is_saved = false; !is_saved; poll += 3) {
    SCOPED_TRACE(poll);
    AtPoll observer(poll, /*stops=*/true);
    const TrainingResult result = train_model(training, observer);
    ASSERT_EQ(result.end, RunEnd::interrupted);
    is_saved = result.is_saved;
    if (is_saved) {
      EXPECT_TRUE(TrainingFolder(training.model_folder).has_checkpoint());
    } else {
      ASSERT_EQ(contents_of(toy.file("")), before);
    }
  }
  EXPECT_GT(poll, 10) << "reading, hashing, the tokenizer, encoding, epochs";
}

TEST(Training, InterruptedBeforeItResumesItChangesNothing) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  run_until(training, 3);
  const auto before = contents_of(training.model_folder);
  Index poll = 0;
  for (bool is_saved = false; !is_saved;) {
    SCOPED_TRACE(++poll);
    AtPoll observer(poll, /*stops=*/true);
    is_saved = train_model(training, observer).is_saved;
    if (!is_saved) {
      ASSERT_EQ(contents_of(training.model_folder), before);
    }
  }
  EXPECT_GT(poll, 5);
}

TEST(Training, TheFolderIsLockedBeforeTheDataAreRead) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  AtPoll observer(1, /*stops=*/false, [&] {
    EXPECT_TRUE(is_training_in(TrainingFolder(training.model_folder)));
    auto late = training;
    late.files["source"] = toy.file("missing");
    EXPECT_EQ(kind_of_error(late), ErrorKind::failed);
    EXPECT_TRUE(fs::exists(TrainingFolder(training.model_folder).snapshots()));
  });
  EXPECT_EQ(train_model(training, observer).end, RunEnd::finished);
  EXPECT_GT(observer.polls, 1);
}

TEST(Training, WhatOthersPutIntoTheFolderStaysWhenTheRunFails) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  AtPoll observer(5, /*stops=*/true,
                  [&] { std::ofstream(training.model_folder + "/thesis.txt") << "precious"; });
  EXPECT_FALSE(train_model(training, observer).is_saved);
  EXPECT_EQ(contents_of(training.model_folder),
            (std::map<std::string, std::string>{{"thesis.txt", "precious"}}));
}

TEST(Training, AFailureRightAfterTheFirstCheckpointLeavesARunThatCanBeResumed) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.recipe.training.write_retry = {.interval = std::chrono::milliseconds(1),
                                          .limit = std::chrono::milliseconds(2)};
  const TrainingFolder folder(training.model_folder);
  // No snapshot of the run, and not to be removed as one.
  const std::string obstacle = snapshot_path(folder.snapshots(), 7);
  struct Obstructor : TrainingObserver {
    std::string path;
    void on_start(const RunStart&) override { fs::create_directories(path + "/full"); }
  } observer;
  observer.path = obstacle;
  expect_error(ErrorKind::failed,
               obstacle + ": cannot be removed: Directory not empty; " + folder.checkpoint() +
                   " holds the run as it was after update 0",
               [&] { train_model(training, observer); });
  fs::remove_all(obstacle);
  const std::string hash = run(training).weights_hash;
  EXPECT_EQ(hash, run(toy.training("whole")).weights_hash);
}

TEST(Training, WhatStandsInThePlaceOfAMovedFolderIsLeftAlone) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  const std::map<std::string, std::string> others{{"config.json", "precious"},
                                                  {"tokenizer.model", "precious"}};
  const auto move_away = [&] {
    fs::rename(training.model_folder, toy.file("moved"));
    fs::create_directory(training.model_folder);
    for (const auto& [name, text] : others) {
      std::ofstream(training.model_folder + '/' + name) << text;
    }
  };
  AtPoll early(5, /*stops=*/false, move_away);
  EXPECT_THROW(train_model(training, early), Error);
  EXPECT_EQ(contents_of(training.model_folder), others);

  // After the first checkpoint, before the model is saved.
  fs::remove_all(training.model_folder);
  fs::remove_all(toy.file("moved"));
  struct Mover : TrainingObserver {
    std::function<void()> move;
    void on_validation_start(Index) override { move(); }
  } late;
  late.move = move_away;
  EXPECT_THROW(train_model(training, late), Error);
  EXPECT_EQ(contents_of(training.model_folder), others);
  EXPECT_TRUE(TrainingFolder(toy.file("moved")).has_checkpoint());
}

TEST(Training, ARunThatLosesItsCheckpointKeepsItsModel) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  struct Remover : TrainingObserver {
    std::string folder;
    void on_validation(const ValidationReport&) override { fs::remove_all(folder); }
  } observer;
  observer.folder = TrainingFolder(training.model_folder).training();
  EXPECT_THROW(train_model(training, observer), Error);
  EXPECT_NO_THROW(models::load_model_folder<models::TranslationModel>(training.model_folder));
}

TEST(Training, TemporaryFilesOfKilledProcessesAreRemoved) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  run_until(training, 3);
  const TrainingFolder folder(training.model_folder);
  for (const std::string& path : {folder.model(), folder.training(), folder.snapshots()}) {
    std::ofstream(path + "/weights.safetensors.12-3.heed-tmp") << "half";
  }
  run(training);
  for (const auto& [name, text] : contents_of(training.model_folder)) {
    EXPECT_FALSE(name.ends_with(".heed-tmp")) << name;
  }
}

void remove_checkpoints(const TrainingFolder& folder) {
  for (const auto& entry : fs::directory_iterator(folder.training())) {
    if (entry.path().extension() == ".safetensors") fs::remove(entry.path());
  }
}

TEST(Training, RefusesAModelWithoutACheckpoint) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  run(training);
  remove_checkpoints(TrainingFolder(training.model_folder));
  for (const bool has_training : {true, false}) {
    if (!has_training) fs::remove_all(TrainingFolder(training.model_folder).training());
    const auto before = contents_of(training.model_folder);
    std::string message;
    EXPECT_EQ(kind_of_error(training, &message), ErrorKind::usage);
    EXPECT_EQ(message,
              training.model_folder +
                  ": expected a checkpoint to resume from, found a model without one; "
                  "move it away, fine-tune it with `from`, or replace it with `overwrite`");
    EXPECT_EQ(contents_of(training.model_folder), before);
  }
}

TEST(Training, OverwritingStartsOverAndKeepsTheFilesOfOthers) {
  const ToyTraining toy;
  auto old = toy.training("model");
  old.recipe.training.keep = 3;
  run(old);
  std::ofstream(old.model_folder + "/thesis.txt") << "precious";
  auto fresh = toy.training("fresh");
  fresh.recipe.model.model_dim = 24;
  fresh.recipe.training.seed = 9;
  run(fresh);
  auto replaced = fresh;
  replaced.model_folder = old.model_folder;
  EXPECT_EQ(kind_of_error(replaced), ErrorKind::usage);
  replaced.mode = RunMode::overwrite;
  run(replaced);
  expect_same_run(replaced, fresh);
  EXPECT_EQ(io::read_file(old.model_folder + "/thesis.txt"), "precious");

  // The model alone, without the run that made it.
  fs::remove_all(TrainingFolder(old.model_folder).training());
  run(replaced);
  expect_same_run(replaced, fresh);
}

TEST(Training, UntilItIsPreparedAnOverwritingRunReplacesNothing) {
  const ToyTraining toy;
  auto training = toy.training("model");
  run(training);
  const auto before = contents_of(training.model_folder);
  training.mode = RunMode::overwrite;
  AtPoll observer(8, /*stops=*/true);
  EXPECT_FALSE(train_model(training, observer).is_saved);
  training.files["source"] = toy.file("missing");
  EXPECT_EQ(kind_of_error(training), ErrorKind::data);
  EXPECT_EQ(contents_of(training.model_folder), before);
}

TEST(Training, OverwritingIsForModelsOfOursOnly) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.mode = RunMode::overwrite;
  fs::create_directory(training.model_folder);
  std::ofstream(training.model_folder + "/model.safetensors") << "precious";
  std::ofstream(training.model_folder + "/config.json") << R"({"model_type": "marian"})";
  const auto before = contents_of(training.model_folder);
  EXPECT_EQ(kind_of_error(training), ErrorKind::usage);
  EXPECT_EQ(contents_of(training.model_folder), before);
}

TEST(Training, ToResumeThereMustBeARun) {
  const ToyTraining toy;
  auto training = toy.training("model");
  training.mode = RunMode::resume;
  EXPECT_EQ(kind_of_error(training), ErrorKind::usage);
  EXPECT_FALSE(fs::exists(training.model_folder));
}

TEST(Training, RefusesFoldersOfOthers) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  fs::create_directory(training.model_folder);
  std::ofstream(training.model_folder + "/thesis.txt") << "precious";
  EXPECT_EQ(kind_of_error(training), ErrorKind::usage);
  EXPECT_EQ(io::read_file(training.model_folder + "/thesis.txt"), "precious");
  EXPECT_EQ(std::distance(fs::directory_iterator(training.model_folder), {}), 1);

  std::ofstream(toy.file("file")) << "precious";
  EXPECT_EQ(kind_of_error(toy.training("file")), ErrorKind::usage);
}

TEST(Training, AnEmptyFolderWillDo) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  fs::create_directory(training.model_folder);
  EXPECT_EQ(run(training).end, RunEnd::finished);
}

TEST(Training, ResumesWithTheSameSettingsAndTextsOnly) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  run_until(training, 3);
  auto other = training;
  other.recipe.model.model_dim = 32;
  std::string message;
  EXPECT_EQ(kind_of_error(other, &message), ErrorKind::usage);
  EXPECT_EQ(message, "`width`: expected 16, with which this run was started, found 32");

  std::ofstream(toy.file("train.en"), std::ios::app) << "red\n";
  std::ofstream(toy.file("train.de"), std::ios::app) << "red\n";
  EXPECT_EQ(kind_of_error(training), ErrorKind::usage);
}

TEST(Training, RefusesADamagedCheckpoint) {
  const ToyTraining toy;
  const auto training = toy.training("model");
  run_until(training, 3);
  const std::string path = TrainingFolder(training.model_folder).checkpoint();
  std::string bytes = io::read_file(path);
  bytes[bytes.size() / 2] ^= 4;
  io::write_file_atomically(path, bytes);
  EXPECT_EQ(kind_of_error(training), ErrorKind::model);
}

TEST(Training, ThePreviousCheckpointOfNoRunIsRefusedAndNothingIsMade) {
  const TemporaryFolder folder;
  const std::string model = folder.file("model");
  try {
    restore_previous_checkpoint(model);
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(error.what(), model + ": expected a training run to resume, found none");
  }
  EXPECT_EQ(folder.num_files(), 0u);
}

}  // namespace
}  // namespace heed::train
