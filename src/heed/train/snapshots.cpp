#include "heed/train/snapshots.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/train/weights.h"

namespace heed::train {
namespace {

constexpr std::string_view file_prefix = "weights-";
constexpr std::string_view file_suffix = ".safetensors";

// The update of a snapshot's file; nothing for files that are none.
std::optional<Index> update_of(std::string_view name) {
  if (!name.starts_with(file_prefix) || !name.ends_with(file_suffix)) return std::nullopt;
  if (name.size() <= file_prefix.size() + file_suffix.size()) return std::nullopt;
  name.remove_prefix(file_prefix.size());
  name.remove_suffix(file_suffix.size());
  Index update = 0;
  const auto [end, error] = std::from_chars(name.begin(), name.end(), update);
  if (error != std::errc() || end != name.end() || update < 0) return std::nullopt;
  return update;
}

// Sums in double, one value per weight.
using Sums = std::vector<std::vector<double>>;

void add_to(Sums& sums, const Weights& weights) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto values = weights[i].value.values();
    sums[i].resize(values.size(), 0.0);
    for (std::size_t j = 0; j < values.size(); ++j) sums[i][j] += values[j];
  }
}

}  // namespace

std::string snapshot_path(const std::string& folder, Index update) {
  return folder + '/' + std::string(file_prefix) + std::to_string(update) +
         std::string(file_suffix);
}

bool SnapshotUpdates::contains(Index update) const {
  return std::ranges::count(averaged, update) + std::ranges::count(kept, update) > 0;
}

Snapshots::Snapshots(std::string folder, SnapshotCounts counts, SnapshotUpdates updates)
    : folder_(std::move(folder)), counts_(counts), updates_(std::move(updates)) {
  thin_updates(updates_.kept, counts_.kept);  // `keep` may be smaller than before
}

void Snapshots::add(Index update, const Weights& weights) {
  keep(update, weights);
  if (counts_.averaged == 0 || is_averaged(update)) return;
  write(update, weights);
  updates_.averaged.push_back(update);
  if (std::ssize(updates_.averaged) > counts_.averaged) {
    updates_.averaged.erase(updates_.averaged.begin());
  }
}

void Snapshots::keep(Index update, const Weights& weights) {
  if (counts_.kept == 0 || std::ranges::count(updates_.kept, update) > 0) return;
  write(update, weights);
  updates_.kept.push_back(update);
  thin_updates(updates_.kept, counts_.kept);
}

void Snapshots::write(Index update, const Weights& weights) const {
  if (updates_.contains(update)) return;
  WeightsWriter writer;
  writer.add("", weights);
  writer.write(snapshot_path(folder_, update), {{"update", std::to_string(update)}});
}

bool Snapshots::is_averaged(Index update) const {
  return std::ranges::count(updates_.averaged, update) > 0;
}

bool Snapshots::has_averaged_before(Index update) const {
  return std::ssize(updates_.averaged) > (is_averaged(update) ? 1 : 0);
}

Weights Snapshots::average(Index update, const Weights& weights) const {
  const std::vector<Index>& updates = updates_.averaged;
  const Index from_memory = is_averaged(update) ? 0 : 1;
  const Index from_files = std::min(std::ssize(updates), counts_.averaged - from_memory);
  Weights mean = copy_weights(weights);
  Sums sums(mean.size());
  for (auto i = updates.end() - from_files; i != updates.end(); ++i) {
    read_weights(load_checked(snapshot_path(folder_, *i)), "", mean);
    add_to(sums, mean);
  }
  if (from_memory > 0) add_to(sums, weights);

  const auto count = static_cast<double>(from_files + from_memory);
  for (std::size_t i = 0; i < mean.size(); ++i) {
    std::ranges::transform(sums[i], mean[i].value.data(),
                           [count](double sum) { return static_cast<float>(sum / count); });
  }
  return mean;
}

void Snapshots::delete_unlisted(const std::vector<Index>& others) const {
  for (const Index update : stored_snapshots(folder_)) {
    const bool is_listed = updates_.contains(update) || std::ranges::count(others, update) > 0;
    if (is_listed) continue;
    const std::string path = snapshot_path(folder_, update);
    std::error_code error;
    std::filesystem::remove(path, error);
    check(!error, path, ": cannot be removed: ", error.message());
  }
}

void thin_updates(std::vector<Index>& updates, Index count) {
  while (std::ssize(updates) > count) {
    auto dropped = updates.begin();  // when only the first and the last are left
    for (auto i = updates.begin() + 1; i < updates.end() - 1; ++i) {
      const bool is_closer = dropped == updates.begin() || i[1] - i[-1] < dropped[1] - dropped[-1];
      if (is_closer) dropped = i;
    }
    updates.erase(dropped);
  }
}

std::vector<Index> stored_snapshots(const std::string& folder) {
  std::vector<Index> updates;
  if (!io::is_folder(folder)) return updates;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (const auto update = update_of(entry.path().filename().string())) updates.push_back(*update);
  }
  std::ranges::sort(updates);
  return updates;
}

void read_snapshot(const std::string& folder, Index update, Weights& weights) {
  const std::string path = snapshot_path(folder, update);
  check_as(ErrorKind::model, io::is_file(path, ErrorKind::model), path,
           ": expected the weights of update ", update, ", found nothing");
  const io::SafetensorsFile file = load_checked(path);
  Weights stored;
  for (const nn::NamedTensor& weight : weights) {
    if (file.find(weight.name)) stored.push_back(weight);
  }
  check_as(ErrorKind::model, stored.size() == file.tensors().size(), path,
           ": expected weights of the model beside it, found those of another");
  read_weights(file, "", stored);
}

}  // namespace heed::train
