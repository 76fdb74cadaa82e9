// Averages of a model's weights over time; they translate better than the last weights do.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "heed/train/weights.h"

namespace heed::train {

// A moving average that forgets: after each update, average = d average + (1 - d) weights. The
// decay d is `decay` in the long run and smaller at first, (1 + t) / (10 + t), so that the average
// is not held back by the random weights that training began with.
class MovingAverage {
 public:
  MovingAverage(const Weights& weights, double decay);

  void update(const Weights& weights, Index num_updates);
  Weights& weights() { return average_; }
  const Weights& weights() const { return average_; }

 private:
  Weights average_;
  double decay_;
};

// The weights at the last few checkpoints, one file each, so that memory and checkpoints stay
// small.
class Snapshots {
 public:
  // Keeps `capacity` of them in the folder, which exists; 0 keeps none. `updates` are those that a
  // checkpoint lists.
  Snapshots(std::string folder, Index capacity, std::vector<Index> updates = {});

  // Writes the weights of this update; forgets the oldest when there are too many.
  void add(Index update, const Weights& weights);
  bool has(Index update) const;
  const std::vector<Index>& updates() const { return updates_; }  // oldest first

  // The mean of the last `capacity` snapshots, in double, oldest first. When the weights of
  // `update` are not among them, they count as the newest.
  Weights average(Index update, const Weights& weights) const;

  // Deletes the files of snapshots that are forgotten: when no checkpoint lists them any more.
  void delete_forgotten() const;

 private:
  std::string path(Index update) const;

  std::string folder_;
  Index capacity_;
  std::vector<Index> updates_;
};

}  // namespace heed::train
