#include "heed/train/averaging.h"

#include <algorithm>
#include <filesystem>

#include "heed/base/parallel.h"
#include "heed/kernels/adam.h"
#include "heed/train/weights_file.h"

namespace heed::train {
namespace {

constexpr Index piece_size = 32768;
constexpr std::string_view file_prefix = "weights-";
constexpr std::string_view file_suffix = ".safetensors";

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

MovingAverage::MovingAverage(const Weights& weights, double decay)
    : average_(copy_weights(weights)), decay_(decay) {}

void MovingAverage::update(const Weights& weights, Index num_updates) {
  const auto t = static_cast<double>(num_updates);
  const auto keep = static_cast<float>(std::min(decay_, (1 + t) / (10 + t)));
  for (std::size_t i = 0; i < weights.size(); ++i) {
    float* average = average_[i].value.data();
    const Tensor& weight = weights[i].value;
    parallel_ranges(weight.size(), piece_size, [&](Index begin, Index end) {
      kernels::move_average(average + begin, weight.data() + begin, end - begin, keep);
    });
  }
}

Snapshots::Snapshots(std::string folder, Index capacity, std::vector<Index> updates)
    : folder_(std::move(folder)), capacity_(capacity), updates_(std::move(updates)) {}

void Snapshots::add(Index update, const Weights& weights) {
  if (capacity_ == 0 || has(update)) return;
  WeightsWriter writer;
  writer.add("", weights);
  writer.write(path(update), {{"update", std::to_string(update)}});
  updates_.push_back(update);
  if (static_cast<Index>(updates_.size()) > capacity_) updates_.erase(updates_.begin());
}

bool Snapshots::has(Index update) const { return std::ranges::count(updates_, update) > 0; }

Weights Snapshots::average(Index update, const Weights& weights) const {
  const bool is_newest_missing = !has(update);
  const Index from_files =
      std::min<Index>(static_cast<Index>(updates_.size()), capacity_ - (is_newest_missing ? 1 : 0));
  Weights mean = copy_weights(weights);
  Sums sums(mean.size());
  for (auto i = updates_.end() - from_files; i != updates_.end(); ++i) {
    read_weights(load_checked(path(*i)), "", mean);
    add_to(sums, mean);
  }
  if (is_newest_missing) add_to(sums, weights);

  const auto count = static_cast<double>(from_files + (is_newest_missing ? 1 : 0));
  for (std::size_t i = 0; i < mean.size(); ++i) {
    std::ranges::transform(sums[i], mean[i].value.data(),
                           [count](double sum) { return static_cast<float>(sum / count); });
  }
  return mean;
}

void Snapshots::delete_forgotten() const {
  std::vector<std::filesystem::path> forgotten;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename();
    const bool is_snapshot = name.starts_with(file_prefix) && name.ends_with(file_suffix);
    const auto is_its_name = [&](Index update) { return entry.path() == path(update); };
    if (is_snapshot && std::ranges::none_of(updates_, is_its_name)) forgotten.push_back(entry);
  }
  for (const auto& file : forgotten) std::filesystem::remove(file);
}

std::string Snapshots::path(Index update) const {
  return folder_ + '/' + std::string(file_prefix) + std::to_string(update) +
         std::string(file_suffix);
}

}  // namespace heed::train
