// A watcher that keeps whatever it is shown.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "heed/nn/forward_context.h"

namespace heed::nn {

struct KeepingWatcher : Watcher {
  std::map<std::string, ops::AttentionView> views;
  std::map<std::string, Tensor> seen;
  std::vector<std::string> order;  // of the names that were seen

  ops::AttentionView* watch(std::string_view name) override { return &views[std::string(name)]; }
  void see(std::string_view name, const Tensor& values) override {
    seen[std::string(name)] = values.detach();
    order.emplace_back(name);
  }
};

}  // namespace heed::nn
