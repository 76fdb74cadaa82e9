// The weights of a run at some of its checkpoints, one file each, so that memory and checkpoints
// stay small: the last few for their average, and some spread over the whole run for looking back.
#pragma once

#include <string>
#include <vector>

#include "heed/train/weights.h"

namespace heed::train {

// How many there may be of each; 0: none.
struct SnapshotCounts {
  Index averaged = 0;
  Index kept = 0;
};

// After which updates they were taken, oldest first. One file serves both.
struct SnapshotUpdates {
  std::vector<Index> averaged = {};
  std::vector<Index> kept = {};

  bool contains(Index update) const;
};

class Snapshots {
 public:
  // In the folder, which exists. `updates` are those that a checkpoint lists.
  Snapshots(std::string folder, SnapshotCounts counts, SnapshotUpdates updates = {});

  // Writes the weights of this update, for both uses. When there are too many, the average forgets
  // the oldest, and what is kept is thinned.
  void add(Index update, const Weights& weights);
  // Only for looking back.
  void keep(Index update, const Weights& weights);
  const SnapshotUpdates& updates() const { return updates_; }

  // Is there one, besides that of this update, to take the average with?
  bool has_averaged_before(Index update) const;
  // The mean of the last snapshots, in double, oldest first. When the weights of `update` are not
  // among them, they count as the newest.
  Weights average(Index update, const Weights& weights) const;

  // Deletes the files of snapshots that are forgotten: when no checkpoint lists them any more.
  void delete_forgotten() const;

 private:
  void write(Index update, const Weights& weights) const;
  bool is_averaged(Index update) const;

  std::string folder_;
  SnapshotCounts counts_;
  SnapshotUpdates updates_;
};

// Drops updates until `count` are left: the one whose neighbours are closest to each other, the
// earliest of equal ones. The first and the last stay, so what is left spans the run. A function of
// the list alone, so a run that goes on from a checkpoint keeps what an uninterrupted one keeps.
void thin_updates(std::vector<Index>& updates, Index count);

// Where in a folder of snapshots that of this update lies.
std::string snapshot_path(const std::string& folder, Index update);

// What lies in a folder of snapshots, by update, oldest first; nothing when there is no folder.
std::vector<Index> stored_snapshots(const std::string& folder);
// Overwrites the values of those weights that the snapshot of this update has; a run that began
// with another model may have frozen the others. Refuses (ErrorKind::model) a snapshot that is not
// there or damaged, or has other names or shapes.
void read_snapshot(const std::string& folder, Index update, Weights& weights);

}  // namespace heed::train
