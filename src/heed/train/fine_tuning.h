// Training only a part of a model that has learned before, or only low-rank changes of it.
#pragma once

#include <memory>

#include "heed/train/recipe.h"
#include "heed/train/training_task.h"

namespace heed::train {

// Whether a run needs the model that it began with to the end, because no checkpoint holds the
// parts that are not trained.
bool needs_beginning(const TrainingOptions& options);

// The same task, but what TrainingOptions::freeze names stays as it is, and with
// TrainingOptions::lora the matrices of attention and feed-forward learn low-rank changes, a head
// learns, and all else stays. The model that is saved has the changes in its weights; an adapter
// beside it holds them alone. The task as it is when neither is asked for. Refuses
// (ErrorKind::usage) a name to freeze that no parameter has, and freezing all.
std::unique_ptr<TrainingTask> fine_tuned(std::unique_ptr<TrainingTask> task,
                                         const TrainingOptions& options);

}  // namespace heed::train
