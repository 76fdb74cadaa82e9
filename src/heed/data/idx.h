// IDX, the format of MNIST: big-endian sizes, then bytes. Plain or compressed by gzip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/image.h"

namespace heed::data {

// Grey images, and labels. Both refuse (ErrorKind::data), with the path: a file that does not start
// with the magic number of its kind (2051 for images, 2049 for labels), that holds nothing, or
// fewer or more bytes than its sizes say, or more than 4 GiB of images. They take no more memory
// than the file has bytes for.
ImageArray read_idx_images(const std::string& path);
std::vector<std::uint8_t> read_idx_labels(const std::string& path);

}  // namespace heed::data
