#include "heed/train/trainer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/error.h"
#include "heed/base/memory.h"
#include "heed/core/storage.h"
#include "heed/io/files.h"
#include "heed/ops/elementwise.h"
#include "heed/text/lines.h"
#include "heed/train/batch_task.h"
#include "heed/train/training.h"
#include "support/full_disk.h"
#include "support/temporary_folder.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Point {
  float x = 1;
};
BatchSize batch_size(const Point&) { return {1, 0}; }

// Moves towards the points. Beyond `edge` its loss is not a number, so that large steps make it
// diverge, and small ones do not.
struct Walker {
  Tensor place = Tensor::zeros({1});
  Tensor bystander = Tensor::zeros({3, 1});
  float edge = infinity;

  explicit Walker(float edge_of_ground) : edge(edge_of_ground) {
    place.require_gradient();
    bystander.require_gradient();
  }
  void visit_parameters(nn::ParameterVisitor& visitor) {
    visitor.parameter("bystander", bystander);
    visitor.parameter("place", place);
  }
  Tensor loss(const Point& point, nn::ForwardContext&) const {
    const Tensor difference = ops::add(place, Tensor::full({1}, -point.x));
    const Tensor loss = ops::add(ops::sum(ops::multiply(difference, difference)),
                                 ops::scale(ops::sum(bystander), 0.01f));
    return place.values()[0] > edge ? ops::scale(loss, std::nanf("")) : loss;
  }
};

struct Recorder : TrainingObserver {
  Index stop_after = -1;
  std::function<void()> after_update = [] {};
  std::function<void()> after_rollback = [] {};
  std::function<void()> after_warning = [] {};
  std::vector<UpdateReport> updates;
  std::vector<ValidationReport> validations;
  std::vector<RollbackReport> rollbacks;
  std::vector<std::string> warnings;

  bool should_stop() override { return stop_after >= 0 && std::ssize(updates) >= stop_after; }
  void on_update(const UpdateReport& report) override {
    updates.push_back(report);
    after_update();
  }
  void on_validation(const ValidationReport& report) override { validations.push_back(report); }
  void on_rollback(const RollbackReport& report) override {
    rollbacks.push_back(report);
    after_rollback();
  }
  void on_warning(const std::string& message) override {
    warnings.push_back(message);
    after_warning();
  }
};

// 24 updates of a run with a checkpoint after every fourth.
TrainingOptions options_with_rate(double rate) {
  TrainingOptions options;
  options.schedule = {.kind = ScheduleKind::constant, .peak = rate, .warm_up = 0};
  options.after = updates(24);
  options.save_every = updates(4);
  options.validate_every = updates(6);
  options.save_minutes = 0;
  options.write_retry = {.interval = std::chrono::milliseconds(1),
                         .limit = std::chrono::milliseconds(5)};
  return options;
}

class TrainerTest : public testing::Test {
 protected:
  TrainingResult run(const std::string& name, TrainingObserver& observer) {
    BatchTask task(Walker(edge), std::vector<Point>(5), {.validation = {Point{}}});
    return train(task, folder.file(name), options, observer);
  }
  TrainingResult run(const std::string& name) {
    TrainingObserver nobody;
    return run(name, nobody);
  }
  TrainingFolder files(const std::string& name) const { return TrainingFolder(folder.file(name)); }

  std::string error_of(const std::string& name, ErrorKind kind, TrainingObserver& observer) {
    try {
      run(name, observer);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      return error.what();
    }
    ADD_FAILURE() << "expected an error";
    return "";
  }
  std::string error_of(const std::string& name, ErrorKind kind) {
    TrainingObserver nobody;
    return error_of(name, kind, nobody);
  }

  // Everything but times.
  std::vector<std::string> log_of(const std::string& name) const {
    std::vector<std::string> lines;
    for (const std::string& line : text::read_lines(files(name).metrics())) {
      auto entry = nlohmann::json::parse(line);
      entry.erase("seconds");
      lines.push_back(entry.dump());
    }
    return lines;
  }
  static std::string tensors_of(const std::string& path) {
    std::string bytes;
    const auto file = load_checked(path);
    for (const io::TensorRecord& record : file.tensors()) {
      bytes += record.name;
      bytes.append(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
    }
    return bytes;
  }
  void expect_same_run(const std::string& a, const std::string& b) const {
    EXPECT_EQ(io::read_file(files(a).model() + "/model.safetensors"),
              io::read_file(files(b).model() + "/model.safetensors"));
    EXPECT_EQ(tensors_of(files(a).checkpoint()), tensors_of(files(b).checkpoint()));
    EXPECT_EQ(tensors_of(files(a).previous_checkpoint()),
              tensors_of(files(b).previous_checkpoint()));
    EXPECT_EQ(stored_snapshots(files(a).snapshots()), stored_snapshots(files(b).snapshots()));
    EXPECT_EQ(log_of(a), log_of(b));
  }

  TemporaryFolder folder;
  TrainingOptions options = options_with_rate(0.2);
  float edge = infinity;
};

TEST_F(TrainerTest, EachUpdateSaysWhichShareOfTheRunIsDone) {
  Recorder by_updates;
  run("updates", by_updates);
  ASSERT_EQ(by_updates.updates.size(), 24u);
  for (std::size_t i = 0; i < 24; ++i) {
    EXPECT_DOUBLE_EQ(by_updates.updates[i].share_done, static_cast<double>(i + 1) / 24);
  }

  options.after = parse_run_length("3e", "after");  // of five batches
  Recorder by_epochs;
  run("epochs", by_epochs);
  ASSERT_EQ(by_epochs.updates.size(), 15u);
  for (std::size_t i = 0; i < 15; ++i) {
    EXPECT_DOUBLE_EQ(by_epochs.updates[i].share_done, static_cast<double>(i + 1) / 15);
  }
}

TEST_F(TrainerTest, AValidationMeasuresTheLatestWeightsAndTheirAverageAndTakesTheBetterOnes) {
  options.average = 2;
  options.keep = 7;
  options.validate_every = options.save_every;
  Recorder recorder;
  run("model", recorder);

  struct Place {
    double bystander, place;
    double loss() const { return (place - 1) * (place - 1) + 0.03 * bystander; }
  };
  const auto place_after = [&](Index update) {
    Weights weights{{"bystander", Tensor::zeros({3, 1})}, {"place", Tensor::zeros({1})}};
    read_snapshot(files("model").snapshots(), update, weights);
    return Place{weights[0].value.values()[0], weights[1].value.values()[0]};
  };
  std::set<bool> choices;
  ASSERT_EQ(recorder.validations.size(), 6u);
  for (const ValidationReport& report : recorder.validations) {
    if (report.update == 4) continue;  // nothing to average yet
    SCOPED_TRACE(report.update);
    const Place before = place_after(report.update - 4), latest = place_after(report.update);
    const Place average{(before.bystander + latest.bystander) / 2,
                        (before.place + latest.place) / 2};
    EXPECT_NEAR(report.latest_loss, latest.loss(), 1e-5);
    EXPECT_NEAR(report.loss, std::min(latest.loss(), average.loss()), 1e-5);
    EXPECT_EQ(report.is_average, average.loss() < latest.loss());
    choices.insert(report.is_average);
  }
  EXPECT_EQ(choices, (std::set<bool>{false, true})) << "both are worth a test";
}

// --- Divergence ---

TEST_F(TrainerTest, ADivergedRunGoesBackToItsLastGoodCheckpointWithHalfTheRate) {
  edge = 1.3f;
  Recorder recorder;
  EXPECT_EQ(run("model", recorder).end, RunEnd::finished);
  ASSERT_EQ(recorder.rollbacks.size(), 1u);
  const RollbackReport& rollback = recorder.rollbacks[0];
  EXPECT_EQ(rollback.update, 13);
  // Not to 8, whose weights are beyond the edge already.
  EXPECT_EQ(rollback.restored, 4);
  EXPECT_EQ(rollback.rate_scale, 0.5);
  EXPECT_EQ(recorder.updates.back().learning_rate, 0.1);

  const auto log = log_of("model");
  for (const std::string& line : log) EXPECT_EQ(line.find("\"applied\":false"), line.npos);
  EXPECT_EQ(log.size(), 24u + 4u);
  EXPECT_EQ(Checkpoint::load(files("model").checkpoint()).run().state.rate_scale, 0.5);
}

TEST_F(TrainerTest, ASkippedUpdateNamesTheGradientsAndTheBatch) {
  edge = 1.3f;
  Recorder recorder;
  run("model", recorder);
  const UpdateReport& skipped = recorder.updates.at(8);
  EXPECT_FALSE(skipped.is_applied);
  EXPECT_EQ(skipped.problem,
            "loss nan, gradient norm nan, not finite in bystander, place; batch 4 of epoch 2");
  EXPECT_EQ(recorder.rollbacks[0].reason,
            "training diverged: expected a usable loss and gradient, found none in the 5 updates "
            "up to 13: loss nan, gradient norm nan, not finite in bystander, place; batch 3 of "
            "epoch 3");
}

TEST_F(TrainerTest, ASkippedUpdateNamesTheFirstThreeBatchesThatItAccumulated) {
  edge = -1;  // from the beginning
  options.accumulate = 4;
  Recorder recorder;
  error_of("model", ErrorKind::diverged, recorder);
  EXPECT_TRUE(recorder.updates.at(0).problem.ends_with(
      "; batch 1 of epoch 1; batch 2 of epoch 1; batch 3 of epoch 1"))
      << recorder.updates[0].problem;
  EXPECT_TRUE(recorder.updates.at(1).problem.ends_with("place; batch 5 of epoch 1"))
      << recorder.updates[1].problem;
}

struct Trouble {
  double rate;
  float edge;
  std::size_t num_rollbacks;
};

void PrintTo(const Trouble& trouble, std::ostream* out) {
  *out << "rate " << trouble.rate << ", edge " << trouble.edge;
}

class Rollback : public TrainerTest, public testing::WithParamInterface<Trouble> {
 protected:
  Rollback() {
    options = options_with_rate(GetParam().rate);
    options.average = 2;
    options.keep = 3;
    edge = GetParam().edge;
  }
};

TEST_P(Rollback, OfAnInterruptedRunGivesTheBitsOfAnUninterruptedOne) {
  Recorder recorder;
  ASSERT_EQ(run("whole", recorder).end, RunEnd::finished);
  EXPECT_EQ(recorder.rollbacks.size(), GetParam().num_rollbacks);
  for (const Index stop : {1, 2, 5, 9, 11, 13}) {
    SCOPED_TRACE(stop);
    const std::string name = "stopped-" + std::to_string(stop);
    RunEnd end = RunEnd::interrupted;
    for (int tries = 0; end == RunEnd::interrupted && tries < 100; ++tries) {
      Recorder stopping;
      stopping.stop_after = stop;
      end = run(name, stopping).end;
    }
    ASSERT_EQ(end, RunEnd::finished);
    expect_same_run(name, "whole");
  }
}

TEST_P(Rollback, OfARunThatWasKilledGivesTheBitsOfAnUninterruptedOne) {
  // What is in the folder at an instant is what a process leaves that is killed then.
  std::vector<std::string> copies;
  const auto copy = [&] {
    copies.push_back("copy-" + std::to_string(copies.size()));
    fs::copy(folder.file("whole"), folder.file(copies.back()), fs::copy_options::recursive);
  };
  Recorder recorder;
  recorder.after_update = recorder.after_rollback = copy;
  ASSERT_EQ(run("whole", recorder).end, RunEnd::finished);
  EXPECT_GE(copies.size(), 24u + GetParam().num_rollbacks);
  for (const std::string& name : copies) {
    SCOPED_TRACE(name);
    EXPECT_EQ(run(name).end, RunEnd::finished);
    expect_same_run(name, "whole");
  }
}

TEST_P(Rollback, DoesNotDependOnCheckpointsThatTheClockAsksFor) {
  run("whole");
  options.save_minutes = 1e-9;  // after every update
  run("saved");
  expect_same_run("saved", "whole");
}

INSTANTIATE_TEST_SUITE_P(Troubles, Rollback,
                         testing::Values(Trouble{0.2, 1.3f, 1}, Trouble{0.2, 1.2f, 2},
                                         Trouble{0.3, 1.2f, 3}, Trouble{0.4, 1.3f, 2},
                                         Trouble{0.2, infinity, 0}),
                         [](const auto& info) { return "number" + std::to_string(info.index); });

TEST_F(TrainerTest, ADivergedRunThatDoesNotGetOnEndsWithItsLastCheckpointIntact) {
  edge = -1;  // not even the initial weights will do
  options.average = 2;
  Recorder recorder;
  const std::string message = error_of("model", ErrorKind::diverged, recorder);
  EXPECT_EQ(std::ssize(recorder.rollbacks), max_rollbacks);
  EXPECT_NE(message.find("; try a lower `learning_rate`"), message.npos) << message;
  const std::string path = files("model").checkpoint();
  EXPECT_TRUE(message.ends_with("; " + path + " holds the run as it was after update 0"))
      << message;
  EXPECT_EQ(Checkpoint::load(path).run().state.rate_scale, 0.125);
  EXPECT_FALSE(io::is_file(folder.file("model/model.safetensors")));
  // The same command again does not begin to halve the rate once more.
  Recorder again;
  error_of("model", ErrorKind::diverged, again);
  EXPECT_EQ(again.rollbacks.size(), 0u);
}

TEST_F(TrainerTest, AStrictRunStopsWhereItDiverges) {
  edge = 1.3f;
  options.strict = true;
  Recorder recorder;
  error_of("model", ErrorKind::diverged, recorder);
  EXPECT_EQ(recorder.rollbacks.size(), 0u);
  EXPECT_EQ(recorder.updates.back().update, 13);
  EXPECT_NO_THROW(Checkpoint::load(files("model").checkpoint()));
  options.strict = false;  // may be given up later
  EXPECT_EQ(run("model").end, RunEnd::finished);
}

TEST_F(TrainerTest, WeightsThatAreNotFiniteAreNeverWritten) {
  // The step is finite, the weights after it are not.
  options = options_with_rate(1e6);
  options.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 1e3};
  options.strict = true;
  options.ema = 0.9;
  options.keep = 3;
  for (const Index save_every : {1, 3, 100}) {
    SCOPED_TRACE(save_every);
    options.save_every = updates(save_every);
    options.validate_every = updates(save_every);
    options.after = updates(save_every == 100 ? 8 : 24);
    const std::string name = "model-" + std::to_string(save_every);
    error_of(name, ErrorKind::diverged);
    for (const auto& entry : fs::recursive_directory_iterator(folder.file(name))) {
      if (entry.path().extension() != ".safetensors") continue;
      const auto file = io::SafetensorsFile::load(entry.path());
      for (const io::TensorRecord& record : file.tensors()) {
        for (const float value : file.to_floats(record)) {
          EXPECT_TRUE(std::isfinite(value)) << entry.path() << ' ' << record.name;
        }
      }
    }
  }
}

TEST_F(TrainerTest, ARunWhoseLastUpdateWasSkippedDoesNotFinish) {
  edge = 1.3f;
  options.after = updates(10);  // the last two are skipped
  options.validate_every = updates(100);
  const std::string message = error_of("model", ErrorKind::diverged);
  EXPECT_NE(message.find("in the last update, found none in the 2 up to 10"), message.npos)
      << message;
  EXPECT_FALSE(io::is_file(folder.file("model/model.safetensors")));
}

TEST_F(TrainerTest, AnInterruptedRunDoesNotSaveWeightsThatAreNotFinite) {
  options = options_with_rate(1e6);
  options.optimizer = {.kind = OptimizerKind::adamw, .weight_decay = 1e3};
  Recorder recorder;
  recorder.stop_after = 7;  // 1e9^5 is too large for a float
  EXPECT_EQ(run("model", recorder).end, RunEnd::interrupted);
  EXPECT_LT(Checkpoint::load(files("model").checkpoint()).run().state.update, 7);
}

// --- Checkpoints ---

TEST_F(TrainerTest, TheCheckpointBeforeTheNewestIsKept) {
  run("model");
  EXPECT_EQ(Checkpoint::load(files("model").checkpoint()).run().state.update, 24);
  EXPECT_EQ(Checkpoint::load(files("model").previous_checkpoint()).run().state.update, 20);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(files("model").training())) {
    names.insert(entry.path().filename());
  }
  EXPECT_EQ(names, (std::set<std::string>{"checkpoint.safetensors", "checkpoints",
                                          "checkpoint.previous.safetensors", "metrics.jsonl"}));
}

TEST_F(TrainerTest, ADamagedCheckpointIsNamedAndThePreviousOneGivesTheSameBits) {
  options.average = 3;
  options.keep = 4;
  run("whole");
  for (const Index stop : {9, 14, 16, 24}) {
    SCOPED_TRACE(stop);
    const std::string name = "model-" + std::to_string(stop);
    Recorder recorder;
    recorder.stop_after = stop;
    run(name, recorder);
    const std::string path = files(name).checkpoint();
    std::string bytes = io::read_file(path);
    bytes[bytes.size() - 5] ^= 4;
    io::write_file_atomically(path, bytes);
    const std::string message = error_of(name, ErrorKind::model);
    EXPECT_TRUE(message.starts_with(path)) << message;
    EXPECT_TRUE(message.ends_with("; `resume_previous` takes the checkpoint before it")) << message;
    restore_previous_checkpoint(folder.file(name));
    EXPECT_EQ(run(name).end, RunEnd::finished);
    expect_same_run(name, "whole");
  }
}

TEST_F(TrainerTest, APreviousCheckpointThatIsDamagedOrMissingChangesNothing) {
  run("model");
  const std::string newest = io::read_file(files("model").checkpoint());
  io::write_file_atomically(files("model").previous_checkpoint(), "damaged");
  EXPECT_THROW(restore_previous_checkpoint(folder.file("model")), Error);
  EXPECT_EQ(io::read_file(files("model").checkpoint()), newest);
  fs::remove(files("model").previous_checkpoint());
  EXPECT_THROW(restore_previous_checkpoint(folder.file("model")), Error);
  EXPECT_TRUE(run("model").was_finished);  // as in a folder of an older version
  EXPECT_THROW(restore_previous_checkpoint(folder.file("nowhere")), Error);
}

// A process may die after the newest checkpoint was renamed and before the next one is in its
// place.
TEST_F(TrainerTest, ARunWithoutItsNewestCheckpointResumesFromTheOneBeforeIt) {
  run("whole");
  Recorder recorder;
  recorder.stop_after = 12;
  run("model", recorder);
  fs::remove(files("model").checkpoint());
  EXPECT_TRUE(files("model").has_checkpoint());
  EXPECT_EQ(saved_run(folder.file("model"))->state.update, 8);
  EXPECT_EQ(run("model").end, RunEnd::finished);
  expect_same_run("model", "whole");
}

TEST_F(TrainerTest, ACheckpointIsSavedAfterSomeMinutesAtTheLatest) {
  options.save_every = options.validate_every = epochs(100);
  run("whole");
  options.save_minutes = 1e-9;
  Recorder recorder;
  std::vector<Index> saved;
  recorder.after_update = [&] {
    saved.push_back(Checkpoint::load(files("model").checkpoint()).run().state.update);
  };
  run("model", recorder);
  EXPECT_EQ(saved.at(10), 10);  // while update 11 is reported
  EXPECT_EQ(log_of("model"), log_of("whole"));
  EXPECT_EQ(tensors_of(files("model").checkpoint()), tensors_of(files("whole").checkpoint()));
}

// Writes the checkpoint of a run again, with its checksum, and other values in its metadata.
void change_metadata(const std::string& path, const std::string& part, const std::string& field,
                     const nlohmann::json& value) {
  const auto file = load_checked(path);
  Weights weights;
  for (const io::TensorRecord& record : file.tensors()) {
    weights.push_back({record.name, Tensor::empty(Shape(record.shape))});
  }
  read_weights(file, "", weights);
  io::Metadata metadata = file.metadata();
  auto object = nlohmann::json::parse(metadata.at(part));
  object[field] = value;
  metadata[part] = object.dump();
  metadata.erase("sha256");
  WeightsWriter writer;
  writer.add("", weights);
  writer.write(path, metadata);
}

TEST_F(TrainerTest, AStateThatNoRunCanHaveIsRefused) {
  Recorder recorder;
  recorder.stop_after = 14;
  run("model", recorder);
  const std::string path = files("model").checkpoint();
  const std::string good = io::read_file(path);
  const Index huge = Index{1} << 62;
  std::vector<Index> many(100'000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<Index>(i);
  const std::vector<std::pair<std::string, nlohmann::json>> cases{
      {"batch", 1'000'000},
      {"batch", 5},
      {"update", huge},
      {"epoch", huge},
      {"epoch", 15},
      {"optimizer_steps", huge},
      {"target_tokens", huge},
      {"validated_update", 15},
      {"skipped_in_a_row", 6},
      {"rate_scale", 0},
      {"rate_scale", 2},
      {"rollbacks", 4},
      {"kept", many},
      {"snapshots", nlohmann::json::array({8, 4})},
      {"snapshots", nlohmann::json::array({15})}};
  for (const auto& [field, value] : cases) {
    io::write_file_atomically(path, good);
    change_metadata(path, "state", field, value);
    const std::string message = error_of("model", ErrorKind::model);
    EXPECT_TRUE(message.starts_with(path + ": state: " + field)) << field << ' ' << message;
  }
  io::write_file_atomically(path, good);
  EXPECT_EQ(run("model").end, RunEnd::finished);
}

TEST_F(TrainerTest, ARunThatResumesElsewhereSaysThatItsBitsMayDiffer) {
  Recorder first;
  first.stop_after = 14;
  run("model", first);
  Recorder same;
  same.stop_after = 2;
  run("model", same);
  EXPECT_EQ(same.warnings, std::vector<std::string>{});

  change_metadata(files("model").checkpoint(), "environment", "instruction_set", "AVX-9000");
  Recorder other;
  other.stop_after = 1;
  run("model", other);
  ASSERT_EQ(other.warnings.size(), 1u);
  EXPECT_NE(other.warnings[0].find(", AVX-9000, "), std::string::npos) << other.warnings[0];
  EXPECT_NE(other.warnings[0].find(to_string(current_environment())), std::string::npos);
  Recorder last;
  EXPECT_EQ(run("model", last).end, RunEnd::finished);
  EXPECT_EQ(last.warnings, std::vector<std::string>{});  // it was saved here
}

// --- Memory ---

TEST_F(TrainerTest, RunningOutOfMemoryIsAnErrorWithTheSizeOfTheTensors) {
  struct HugeTask : BatchTask<Walker, Point> {
    using BatchTask<Walker, Point>::BatchTask;
    BatchLoss loss(Index, Index, nn::ForwardContext&) override {
      const Tensor activations = Tensor::empty({75'000'000});  // freed before anybody can count it
      throw std::bad_alloc();
    }
  } task(Walker(edge), std::vector<Point>(5));
  TrainingObserver nobody;
  try {
    train(task, folder.file("model"), options, nobody);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_GE(peak_tensor_bytes(), 300'000'000);
    EXPECT_TRUE(message.starts_with("training: out of memory in update 1: tensors took up to " +
                                    in_gigabytes(peak_tensor_bytes()) +
                                    "; try a smaller `batch_tokens`"))
        << message;
  }
}

TEST_F(TrainerTest, ABatchThatIsTooLargeForTheMemoryIsRefusedBeforeAnythingIsWritten) {
  struct HugeTask : BatchTask<Walker, Point> {
    using BatchTask<Walker, Point>::BatchTask;
    Index activation_bytes(Index, Index) override { return Index{1} << 60; }
  } task(Walker(edge), std::vector<Point>(5));
  try {
    train(task, folder.file("model"), options);
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::failed);
    const std::string message = error.what();
    EXPECT_TRUE(
        message.starts_with("training: expected 1152921504.6 GB of memory for the "
                            "activations of a batch (a smaller `batch_tokens` needs less)"))
        << message;
  }
  EXPECT_EQ(folder.num_files(), 0u);
}

// --- Disks ---

TEST_F(TrainerTest, AFullDiskIsWaitedForAndChangesNothing) {
  options.average = 2;
  run("whole");
  // In the middle of a line of the log, of a checkpoint, and of everything.
  for (const rlim_t bytes : {rlim_t{1000}, rlim_t{2000}, rlim_t{0}}) {
    for (const std::size_t begin : {std::size_t{2}, std::size_t{3}, std::size_t{5}}) {
      SCOPED_TRACE(std::to_string(bytes) + ' ' + std::to_string(begin));
      const std::string name = "model-" + std::to_string(bytes) + '-' + std::to_string(begin);
      std::optional<FullDisk> disk;
      Recorder recorder;
      recorder.after_update = [&] {
        if (recorder.updates.size() == begin) disk.emplace(bytes);
      };
      recorder.after_warning = [&] { disk.reset(); };
      EXPECT_EQ(run(name, recorder).end, RunEnd::finished);
      ASSERT_EQ(recorder.warnings.size(), 1u);
      EXPECT_NE(recorder.warnings[0].find(": cannot be written: File too large; trying again"),
                std::string::npos)
          << recorder.warnings[0];
      expect_same_run(name, "whole");
    }
  }
}

TEST_F(TrainerTest, ADiskThatStaysFullEndsTheRunWithTheNameOfTheGoodCheckpoint) {
  run("whole");
  std::optional<FullDisk> disk;
  Recorder recorder;
  recorder.after_update = [&] {
    if (recorder.updates.size() == 6) disk.emplace(10);
  };
  const std::string message = error_of("model", ErrorKind::failed, recorder);
  disk.reset();
  EXPECT_EQ(recorder.warnings.size(), 1u);
  EXPECT_TRUE(message.ends_with("cannot be written: File too large; " +
                                files("model").checkpoint() +
                                " holds the run as it was after update 4"))
      << message;
  EXPECT_EQ(run("model").end, RunEnd::finished);
  expect_same_run("model", "whole");
}

TEST_F(TrainerTest, AnObserverThatStopsEndsTheWait) {
  options.write_retry = {.interval = std::chrono::hours(1), .limit = std::chrono::hours(9)};
  std::optional<FullDisk> disk;
  Recorder recorder;
  recorder.after_update = [&] {
    if (recorder.updates.size() == 6) disk.emplace(10);
  };
  recorder.after_warning = [&] { recorder.stop_after = 0; };
  error_of("model", ErrorKind::failed, recorder);
}

TEST_F(TrainerTest, AFolderThatIsGoneIsNotWaitedFor) {
  options.write_retry = {.interval = std::chrono::hours(1), .limit = std::chrono::hours(9)};
  Recorder recorder;
  recorder.after_update = [&] {
    if (recorder.updates.size() == 6) fs::rename(folder.file("model"), folder.file("moved"));
  };
  const std::string message = error_of("model", ErrorKind::failed, recorder);
  EXPECT_EQ(message.find("holds the run"), message.npos) << "no checkpoint is there: " << message;
  EXPECT_EQ(recorder.warnings.size(), 0u);
}

}  // namespace
}  // namespace heed::train
