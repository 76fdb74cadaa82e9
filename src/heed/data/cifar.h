// The binary version of CIFAR-10: colour images of 32 x 32 pixels in 10 classes, in the files
//
//   data_batch_1.bin ... data_batch_5.bin  test_batch.bin  batches.meta.txt
//
// A record is a byte for the class, then 1024 bytes each of red, green and blue, row by row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/image.h"

namespace heed::data {

struct CifarBatch {
  ImageArray images;
  std::vector<std::uint8_t> classes;  // from 0 to 9
};

// Whether it has the first file of either part.
bool is_cifar_folder(const std::string& folder);

// The paths of the five batches to train on, and that of the one to test with.
std::vector<std::string> cifar_training_batches(const std::string& folder);
std::string cifar_test_batch(const std::string& folder);

// Refuses (ErrorKind::data), with the path: a file that is missing, empty or larger than 1 GiB, one
// that is not made of whole records, and a class above 9.
CifarBatch read_cifar_batch(const std::string& path);

// The lines of batches.meta.txt, or the numbers from 0 to 9 where that file is missing. Refuses
// (ErrorKind::data) more or fewer than 10 names.
std::vector<std::string> read_cifar_labels(const std::string& folder);

}  // namespace heed::data
