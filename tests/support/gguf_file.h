// Reads GGUF files back, by the layout that its specification gives: for tests of what we write.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "heed/base/half.h"

namespace heed {

struct GgufTensor {
  std::vector<std::uint64_t> sizes;  // the contiguous axis first
  std::uint32_t type = 0;            // 0 f32, 1 f16, 8 q8_0
  std::vector<float> values;
};

struct GgufFile {
  using Value = std::variant<std::uint32_t, float, bool, std::string, std::vector<std::string>,
                             std::vector<float>, std::vector<std::int32_t>>;
  std::map<std::string, Value> metadata;
  std::map<std::string, GgufTensor> tensors;

  template <typename Type>
  Type get(const std::string& key) const {
    return std::get<Type>(metadata.at(key));
  }
};

class GgufReader {
 public:
  explicit GgufReader(std::string bytes) : bytes_(std::move(bytes)) {}

  GgufFile read() {
    EXPECT_EQ(bytes_.substr(0, 4), "GGUF");
    at_ = 4;
    EXPECT_EQ(number<std::uint32_t>(), 3u);
    const auto num_tensors = number<std::uint64_t>(), num_keys = number<std::uint64_t>();
    GgufFile file;
    for (std::uint64_t i = 0; i < num_keys; ++i) {
      const std::string key = text();
      EXPECT_TRUE(file.metadata.emplace(key, value()).second) << key;
    }
    std::map<std::string, std::uint64_t> offsets;
    for (std::uint64_t i = 0; i < num_tensors; ++i) {
      const std::string name = text();
      GgufTensor& tensor = file.tensors[name];
      tensor.sizes.resize(number<std::uint32_t>());
      for (std::uint64_t& size : tensor.sizes) size = number<std::uint64_t>();
      tensor.type = number<std::uint32_t>();
      offsets[name] = number<std::uint64_t>();
    }
    const std::size_t data = (at_ + 31) / 32 * 32;
    for (auto& [name, tensor] : file.tensors) {
      EXPECT_EQ(offsets[name] % 32, 0u) << name;
      at_ = data + offsets[name];
      read_values(tensor);
    }
    return file;
  }

 private:
  template <typename Number>
  Number number() {
    Number value{};
    EXPECT_LE(at_ + sizeof value, bytes_.size());
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }

  std::string text() {
    const auto size = number<std::uint64_t>();
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }

  template <typename Number>
  std::vector<Number> numbers(std::uint64_t count) {
    std::vector<Number> values;
    for (std::uint64_t i = 0; i < count; ++i) values.push_back(number<Number>());
    return values;
  }

  GgufFile::Value value() {
    switch (const auto type = number<std::uint32_t>()) {
      case 4:
        return number<std::uint32_t>();
      case 6:
        return number<float>();
      case 7:
        return number<std::uint8_t>() != 0;
      case 8:
        return text();
      case 9:
        return array();
      default:
        ADD_FAILURE() << "unexpected type " << type;
        return false;
    }
  }

  GgufFile::Value array() {
    const auto type = number<std::uint32_t>();
    const auto count = number<std::uint64_t>();
    if (type == 5) return numbers<std::int32_t>(count);
    if (type == 6) return numbers<float>(count);
    EXPECT_EQ(type, 8u);
    std::vector<std::string> texts;
    for (std::uint64_t i = 0; i < count; ++i) texts.push_back(text());
    return texts;
  }

  void read_values(GgufTensor& tensor) {
    std::uint64_t count = 1;
    for (const std::uint64_t size : tensor.sizes) count *= size;
    if (tensor.type == 0) tensor.values = numbers<float>(count);
    if (tensor.type == 1) {
      for (const auto half : numbers<std::uint16_t>(count)) {
        tensor.values.push_back(float16_to_float(half));
      }
    }
    if (tensor.type != 8) return;
    for (std::uint64_t block = 0; block < count / 32; ++block) {
      const float scale = float16_to_float(number<std::uint16_t>());
      for (int i = 0; i < 32; ++i) {
        tensor.values.push_back(scale * static_cast<float>(number<std::int8_t>()));
      }
    }
  }

  std::string bytes_;
  std::size_t at_ = 0;
};

}  // namespace heed
