// One case of a folder of hf/models: its inputs as Heed takes them, and what the reference gave.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "heed/core/tensor.h"
#include "heed/models/packed_ids.h"
#include "support/npy.h"

namespace heed::models {

using nlohmann::json;

inline std::filesystem::path hugging_face_folder() {
  const char* data = std::getenv("HEED_DATA");
  return data == nullptr ? std::filesystem::path() : std::filesystem::path(data) / "hf" / "models";
}

// The names of all folders, or one empty name.
inline std::vector<std::string> hugging_face_names() {
  std::vector<std::string> names;
  if (std::filesystem::is_directory(hugging_face_folder())) {
    for (const auto& entry : std::filesystem::directory_iterator(hugging_face_folder())) {
      if (std::filesystem::exists(entry.path() / "expected.json")) {
        names.push_back(entry.path().filename());
      }
    }
  }
  std::ranges::sort(names);
  if (names.empty()) names.emplace_back();
  return names;
}

inline json read_json(const std::filesystem::path& path) {
  std::ifstream file(path);
  return json::parse(file);
}

// Rows of padded arrays [B, T, ...] that packed rows are, in their order.
struct PaddedRows {
  std::vector<std::size_t> rows;  // b * T + t
  Spans spans;
};

// Places where `counts(b, t)` says so.
template <typename Counts>
PaddedRows padded_rows(const json& table, Counts&& counts) {
  PaddedRows padded;
  std::vector<Index> lengths;
  for (std::size_t b = 0; b < table.size(); ++b) {
    Index length = 0;
    for (std::size_t t = 0; t < table[b].size(); ++t) {
      if (!counts(b, t)) continue;
      padded.rows.push_back(b * table[b].size() + t);
      ++length;
    }
    lengths.push_back(length);
  }
  padded.spans = Spans::of_lengths(lengths);
  return padded;
}

inline std::vector<int> gather(const json& table, const PaddedRows& padded) {
  std::vector<int> values;
  for (const std::size_t row : padded.rows) {
    values.push_back(table[row / table[0].size()][row % table[0].size()].get<int>());
  }
  return values;
}

class HuggingFaceCase {
 public:
  HuggingFaceCase(std::filesystem::path folder, json fields)
      : folder_(std::move(folder)), fields_(std::move(fields)) {}

  std::string name() const { return fields_.at("name"); }
  bool has(const std::string& field) const { return fields_.contains(field); }
  const json& operator[](const std::string& field) const { return fields_.at(field); }
  bool has_array(const std::string& array) const {
    return has("arrays") && fields_["arrays"].contains(array);
  }
  NpyArray array(const std::string& name) const { return read(fields_["arrays"].at(name)); }
  NpyArray read(const std::string& path) const { return read_npy(folder_ / path); }

  PaddedRows input_rows() const {
    const json& mask = fields_.at("attention_mask");
    return padded_rows(mask, [&](std::size_t b, std::size_t t) { return mask[b][t] == 1; });
  }
  PackedIds input() const {
    const PaddedRows padded = input_rows();
    PackedIds packed{gather(fields_.at("input_ids"), padded), padded.spans};
    if (has("token_type_ids")) packed.types = gather(fields_["token_type_ids"], padded);
    return packed;
  }
  // Of an encoder-decoder: as many as there are labels, which end with padding.
  PaddedRows target_rows() const {
    const json& labels = fields_.at("labels");
    return padded_rows(labels, [&](std::size_t b, std::size_t t) { return labels[b][t] != -100; });
  }
  // The image rows, columns and channels of pixel values [B, C, H, W] as patches of Heed.
  Tensor patches(Index side) const {
    const NpyArray pixels = array("pixel_values");
    const Index images = pixels.shape[0], channels = pixels.shape[1];
    const Index height = pixels.shape[2], width = pixels.shape[3];
    std::vector<float> values;
    for (Index b = 0; b < images; ++b) {
      for (Index top = 0; top < height; top += side) {
        for (Index left = 0; left < width; left += side) {
          for (Index pixel = 0; pixel < side * side * channels; ++pixel) {
            const Index y = top + pixel / channels / side, x = left + pixel / channels % side;
            const Index c = pixel % channels;
            const Index place = ((b * channels + c) * height + y) * width + x;
            values.push_back(static_cast<float>(pixels.values[static_cast<std::size_t>(place)]));
          }
        }
      }
    }
    const Index patch_dim = side * side * channels;
    return Tensor::from(values, {std::ssize(values) / patch_dim, patch_dim});
  }

 private:
  std::filesystem::path folder_;
  json fields_;
};

}  // namespace heed::models
