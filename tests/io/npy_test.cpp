#include "heed/io/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "support/temporary_folder.h"

namespace heed::io {
namespace {

TEST(Npy, HasTheHeaderThatNumpyReadsAndTheFloatsBehindIt) {
  const TemporaryFolder folder;
  const std::vector<float> values{1, -2.5f, 3, 4, 5, 6};
  write_npy(folder.file("a.npy"), values, 2, 3);
  const std::string bytes = read_file(folder.file("a.npy"));
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t length = static_cast<unsigned char>(bytes[8]) +
                             256 * static_cast<std::size_t>(static_cast<unsigned char>(bytes[9]));
  EXPECT_EQ((10 + length) % 64, 0u);
  const std::string header = bytes.substr(10, length);
  EXPECT_TRUE(header.starts_with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  EXPECT_EQ(header.back(), '\n');
  ASSERT_EQ(bytes.size(), 10 + length + values.size() * sizeof(float));
  EXPECT_EQ(std::memcmp(bytes.data() + 10 + length, values.data(), values.size() * sizeof(float)),
            0);
}

TEST(Npy, RefusesOtherSizes) {
  const TemporaryFolder folder;
  EXPECT_THROW(write_npy(folder.file("a.npy"), std::vector<float>{1, 2}, 2, 3), Error);
  EXPECT_EQ(folder.num_files(), 0u);
}

}  // namespace
}  // namespace heed::io
