// A corpus of images, each with its class.
//
// It is a folder of one of three kinds: with the four files of MNIST,
//
//   train-images-idx3-ubyte  train-labels-idx1-ubyte  t10k-images-idx3-ubyte t10k-labels-idx1-ubyte
//
// each of them plain or with .gz; with the files of CIFAR-10 (cifar.h); or with one folder for each
// class, named as the class, that holds PNG and JPEG images. These folders may be in folders
// `train` and `test`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/data/image.h"

namespace heed::data {

enum class ImagePart { train, test };

class LabelledImages {
 public:
  // All images of a part, with this shape. A folder without parts is the same for both. `labels`,
  // if given, are the only classes there may be; otherwise they are those of the folder: the
  // numbers from 0 on with MNIST's files, the names that CIFAR-10 gives, the sorted names of the
  // folders.
  // Refuses (ErrorKind::data): a folder of no such kind, a class without images or one class alone,
  // a file that is no image, and labels that are more or fewer than the images.
  static LabelledImages read(const std::string& folder, ImagePart part, const ImageShape& shape,
                             std::vector<std::string> labels = {},
                             Resampling resampling = Resampling::bilinear);

  Index size() const { return std::ssize(classes_); }
  const ImageShape& shape() const { return shape_; }
  // Before they were resized: the median height and width, and 3 channels if any has colour.
  const ImageShape& original_shape() const { return original_shape_; }
  const std::vector<std::string>& labels() const { return labels_; }

  // [height, width, channels]
  std::span<const std::uint8_t> pixels(Index image) const {
    const auto size = static_cast<std::size_t>(shape_.size());
    return std::span(pixels_).subspan(static_cast<std::size_t>(image) * size, size);
  }
  int class_of(Index image) const { return classes_[static_cast<std::size_t>(image)]; }

 private:
  void read_idx(const std::string& folder, ImagePart part);
  void read_cifar(const std::string& folder, ImagePart part);
  void read_folders(const std::string& folder);
  // Resized; `where` is the start of a message.
  void append(const ImageArray& images, const std::string& where);
  // For the pixels of so many images more.
  void take_memory(Index num_images, const std::string& where);
  int class_of_label(const std::string& label, const std::string& where) const;
  void check_complete(const std::string& folder) const;

  ImageShape shape_;
  Resampling resampling_ = Resampling::bilinear;
  ImageShape original_shape_;
  std::vector<std::uint8_t> pixels_;  // all images, end to end
  std::vector<int> classes_;
  std::vector<std::string> labels_;
};

}  // namespace heed::data
