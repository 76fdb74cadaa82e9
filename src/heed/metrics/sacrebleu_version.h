// The version of sacreBLEU whose scores ours equal.
#pragma once

namespace heed::metrics {

// Stands in the signatures. The suffix says that the number did not come from sacreBLEU itself.
inline constexpr char sacrebleu_version[] = "2.3.1-heed";

}  // namespace heed::metrics
