// Reads the arrays of NumPy that reference results are in: version 1.0, C order, <f4, <f8 or |u1.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace heed {

struct NpyArray {
  std::vector<std::int64_t> shape;
  std::vector<double> values;

  std::int64_t rows_of(std::size_t axes) const {  // the product of the first axes
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) product *= shape[axis];
    return product;
  }
};

namespace detail {

template <typename Number>
std::vector<double> numbers_of(const std::string& bytes, std::size_t begin, std::size_t count) {
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    Number number;
    std::memcpy(&number, bytes.data() + begin + i * sizeof(Number), sizeof(Number));
    values[i] = static_cast<double>(number);
  }
  return values;
}

}  // namespace detail

inline NpyArray read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  const std::string bytes = all.str();
  if (bytes.size() < 10) throw std::runtime_error(path + ": no array");
  const auto length = static_cast<std::size_t>(static_cast<unsigned char>(bytes[8])) +
                      256U * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  NpyArray array;
  std::stringstream axes(header.substr(header.find('(') + 1));
  for (std::int64_t axis = 0; axes >> axis;) {
    array.shape.push_back(axis);
    axes.ignore(1);
  }
  const auto count = static_cast<std::size_t>(array.rows_of(array.shape.size()));
  if (header.find("<f4") != std::string::npos) {
    array.values = detail::numbers_of<float>(bytes, 10 + length, count);
  } else if (header.find("<f8") != std::string::npos) {
    array.values = detail::numbers_of<double>(bytes, 10 + length, count);
  } else {
    array.values = detail::numbers_of<std::uint8_t>(bytes, 10 + length, count);
  }
  return array;
}

}  // namespace heed
