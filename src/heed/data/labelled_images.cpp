#include "heed/data/labelled_images.h"

#include <algorithm>
#include <filesystem>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/base/printable.h"
#include "heed/data/cifar.h"
#include "heed/data/idx.h"
#include "heed/data/image_file.h"
#include "heed/io/checked_size.h"
#include "heed/io/files.h"
#include "heed/io/require_memory.h"
#include "heed/text/label.h"

namespace heed::data {
namespace {

namespace fs = std::filesystem;

constexpr Index images_per_piece = 16;

// MNIST's file, as it is or compressed; "" when there is neither.
std::string idx_file(const std::string& folder, ImagePart part, const std::string& rest) {
  std::string path = folder + (part == ImagePart::train ? "/train-" : "/t10k-") + rest;
  if (io::is_file(path)) return path;
  return io::is_file(path + ".gz") ? path + ".gz" : "";
}

constexpr const char* idx_images = "images-idx3-ubyte";
constexpr const char* idx_labels = "labels-idx1-ubyte";

// The entries of a folder, sorted: systems list them in different orders. Hidden
// files are none of ours.
std::vector<fs::path> list_entries(const std::string& folder, bool wants_folders) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const bool is_hidden = entry->path().filename().string().starts_with('.');
    if (!is_hidden && io::is_folder(entry->path().string()) == wants_folders) {
      paths.push_back(entry->path());
    }
  }
  check_as(ErrorKind::data, !error, folder, ": cannot be read: ", error.message());
  std::ranges::sort(paths);
  return paths;
}

Index median(std::vector<ImageShape>& shapes, Index ImageShape::*size) {
  const auto middle = shapes.begin() + std::ssize(shapes) / 2;
  std::ranges::nth_element(shapes, middle, {}, size);
  return (*middle).*size;
}

}  // namespace

LabelledImages LabelledImages::read(const std::string& folder, ImagePart part,
                                    const ImageShape& shape, std::vector<std::string> labels,
                                    Resampling resampling) {
  io::require_folder(folder, "a folder of images", ErrorKind::data);
  LabelledImages images;
  images.shape_ = shape;
  images.resampling_ = resampling;
  images.labels_ = std::move(labels);
  const std::string part_folder = folder + (part == ImagePart::train ? "/train" : "/test");
  if (!idx_file(folder, part, idx_images).empty()) {
    images.read_idx(folder, part);
  } else if (is_cifar_folder(folder)) {
    images.read_cifar(folder, part);
  } else {
    images.read_folders(io::is_folder(part_folder) ? part_folder : folder);
  }
  images.check_complete(folder);
  return images;
}

void LabelledImages::read_idx(const std::string& folder, ImagePart part) {
  const std::string images_path = idx_file(folder, part, idx_images);
  const std::string labels_path = idx_file(folder, part, idx_labels);
  check_as(ErrorKind::data, !labels_path.empty(), images_path,
           ": expected the labels beside it in a file of ", idx_labels, ", found none");
  const ImageArray images = read_idx_images(images_path);
  const std::vector<std::uint8_t> numbers = read_idx_labels(labels_path);
  check_as(ErrorKind::data, std::ssize(numbers) == images.count, labels_path, ": expected ",
           images.count, " labels, one for each image, found ", numbers.size());
  if (labels_.empty()) {
    for (int number = 0; number <= std::ranges::max(numbers); ++number) {
      labels_.push_back(std::to_string(number));
    }
  }
  for (const std::uint8_t number : numbers) {
    classes_.push_back(class_of_label(std::to_string(number), labels_path));
  }
  append(images, images_path);
}

void LabelledImages::read_cifar(const std::string& folder, ImagePart part) {
  const std::vector<std::string> names = read_cifar_labels(folder);
  if (labels_.empty()) labels_ = names;
  const std::vector<std::string> paths = part == ImagePart::train
                                             ? cifar_training_batches(folder)
                                             : std::vector{cifar_test_batch(folder)};
  for (const std::string& path : paths) {
    const CifarBatch batch = read_cifar_batch(path);
    for (const std::uint8_t number : batch.classes) {
      classes_.push_back(class_of_label(names[number], path));
    }
    append(batch.images, path);
  }
}

void LabelledImages::append(const ImageArray& images, const std::string& where) {
  const auto begin_of_new = std::ssize(pixels_);
  original_shape_ = images.shape;
  take_memory(images.count, where);
  cancellable_ranges(images.count, images_per_piece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const auto first = images.pixels.begin() + i * images.shape.size();
      const Image image{images.shape, {first, first + images.shape.size()}};
      std::ranges::copy(with_shape(image, shape_, resampling_).pixels,
                        pixels_.begin() + begin_of_new + i * shape_.size());
    }
  });
}

void LabelledImages::take_memory(Index num_images, const std::string& where) {
  const auto size =
      io::CheckedSize(static_cast<std::uint64_t>(num_images), where, ErrorKind::data) *
          static_cast<std::uint64_t>(shape_.size()) +
      pixels_.size();
  const auto what = [&] {
    return std::to_string(num_images) + " images of " + std::to_string(shape_.size()) + " bytes";
  };
  io::require_memory(ErrorKind::data, where, what, [&] { pixels_.resize(size.as<std::size_t>()); });
}

void LabelledImages::read_folders(const std::string& folder) {
  const std::vector<fs::path> folders = list_entries(folder, /*wants_folders=*/true);
  check_as(ErrorKind::data, !folders.empty(), folder,
           ": expected a folder for each class, or files of MNIST or CIFAR-10, found neither");
  if (labels_.empty()) {
    for (const fs::path& one : folders) {
      labels_.push_back(one.filename().string());
      text::check_label(labels_.back(), folder, ErrorKind::data);
    }
  }
  std::vector<fs::path> files;
  for (const fs::path& one : folders) {
    const std::vector<fs::path> of_class = list_entries(one.string(), /*wants_folders=*/false);
    check_as(ErrorKind::data, !of_class.empty(), one.string(), ": expected images, found none");
    files.insert(files.end(), of_class.begin(), of_class.end());
    classes_.resize(files.size(), class_of_label(one.filename().string(), folder));
  }
  take_memory(std::ssize(files), folder);
  std::vector<ImageShape> shapes(files.size());
  cancellable_ranges(std::ssize(files), images_per_piece, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Image image = read_image(files[static_cast<std::size_t>(i)].string());
      shapes[static_cast<std::size_t>(i)] = image.shape;
      std::ranges::copy(with_shape(image, shape_, resampling_).pixels,
                        pixels_.begin() + i * shape_.size());
    }
  });
  original_shape_ = {median(shapes, &ImageShape::height), median(shapes, &ImageShape::width),
                     std::ranges::max(shapes, {}, &ImageShape::channels).channels};
}

int LabelledImages::class_of_label(const std::string& label, const std::string& where) const {
  const auto position = std::ranges::find(labels_, label);
  check_as(ErrorKind::data, position != labels_.end(), where, ": expected one of the ",
           labels_.size(), " classes, found '", excerpt(label), "'");
  return static_cast<int>(position - labels_.begin());
}

void LabelledImages::check_complete(const std::string& folder) const {
  check_as(ErrorKind::data, labels_.size() > 1, folder,
           ": expected images of at least 2 classes, found ", labels_.size());
}

}  // namespace heed::data
