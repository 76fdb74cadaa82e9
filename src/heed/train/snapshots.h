// Weights of a run at some of its checkpoints, one file each: the last few for their average, and
// some that are kept, spread over the whole run, to look at later.
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

// The most that a run may ask for, of each.
inline constexpr Index max_snapshots = 1000;

class Snapshots {
 public:
  // In the folder, which exists. `updates` are those that a checkpoint lists.
  Snapshots(std::string folder, SnapshotCounts counts, SnapshotUpdates updates = {});

  // Writes the weights of this update, for both uses. Beyond the counts, the average drops the
  // oldest, and what is kept is thinned out.
  void add(Index update, const Weights& weights);
  // For the second use only.
  void keep(Index update, const Weights& weights);
  const SnapshotUpdates& updates() const { return updates_; }

  // Is there one, besides that of this update, to take the average with?
  bool has_averaged_before(Index update) const;
  // The mean of the last snapshots, in double, oldest first. When the weights of `update` are not
  // among them, they count as the newest.
  Weights average(Index update, const Weights& weights) const;

  // Deletes the files that neither updates() nor `others` lists. For after a checkpoint is written.
  void delete_unlisted(const std::vector<Index>& others = {}) const;

 private:
  void write(Index update, const Weights& weights) const;
  bool is_averaged(Index update) const;

  std::string folder_;
  SnapshotCounts counts_;
  SnapshotUpdates updates_;
};

// Drops updates until `count` are left: the one whose neighbours are closest to each other, the
// earliest of equal ones. The first and the last stay, so what is left spans the run. A function of
// the list alone, so a resumed run keeps what an uninterrupted one keeps.
void thin_updates(std::vector<Index>& updates, Index count);

// The path of the snapshot of this update in a folder of snapshots.
std::string snapshot_path(const std::string& folder, Index update);

// The updates of the snapshots in a folder, oldest first; nothing when there is no folder.
std::vector<Index> stored_snapshots(const std::string& folder);
// Overwrites those weights that the snapshot of this update has; a fine-tuning run may have frozen
// the others. Refuses (ErrorKind::model) a snapshot that is not
// there or damaged, or has other names or shapes.
void read_snapshot(const std::string& folder, Index update, Weights& weights);

}  // namespace heed::train
