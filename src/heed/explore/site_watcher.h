// A watcher of one attention layer in one pass.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "heed/nn/forward_context.h"

namespace heed::explore {

struct SiteWatcher : nn::Watcher {
  explicit SiteWatcher(const std::string& site) : site(site) {}
  ops::AttentionView* watch(std::string_view name) override {
    return name == site ? &view : nullptr;
  }
  void see(std::string_view name, const Tensor& values) override {
    if (name.starts_with(site + '.')) seen[std::string(name.substr(site.size() + 1))] = values;
  }
  std::string site;
  ops::AttentionView view;
  std::map<std::string, Tensor> seen;  // input, queries, keys, values, mixed, output
};

}  // namespace heed::explore
