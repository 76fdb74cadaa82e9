#include "heed/models/image_preprocessor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/io/files.h"
#include "heed/io/json_fields.h"

namespace heed::models {
namespace {

using io::JsonFields;

std::string path_in(const std::string& folder) {
  return folder + '/' + ImagePreprocessor::file_name;
}

// The numbers of Pillow's filters.
constexpr int bilinear = 2, bicubic = 3;

void read_resampling(const JsonFields& json, ImagePreprocessor& preprocessor) {
  const auto resample = json.integer_or("resample", bilinear);
  check_as(ErrorKind::model, resample == bilinear || resample == bicubic, json.place("resample"),
           ": expected 2 (bilinear) or 3 (bicubic), found ", resample);
  preprocessor.is_bicubic = resample == bicubic;
}

// Older files have one number for a square.
void check_size(const JsonFields& json, const TransformerConfig& config) {
  if (!json.has("size") || !json.boolean_or("do_resize", true)) return;
  const auto check_side = [](const JsonFields& fields, const char* name, Index expected) {
    const auto found = fields.integer(name);
    check_as(ErrorKind::model, found == expected, fields.place(name), ": expected the ", expected,
             " pixels of config.json, found ", found);
  };
  if (json.json().at("size").is_number()) {
    check_side(json, "size", config.image_height);
    return check_side(json, "size", config.image_width);
  }
  check_side(json.object("size"), "height", config.image_height);
  check_side(json.object("size"), "width", config.image_width);
}

constexpr double max_number = 1e6;

void read_rescaling(const JsonFields& json, ImagePreprocessor& preprocessor) {
  preprocessor.rescale = !json.boolean_or("do_rescale", true)
                             ? 1
                             : json.number_or("rescale_factor", preprocessor.rescale,
                                              {.min = 1 / max_number, .max = max_number});
}

// A number for each channel.
std::array<float, 3> read_channels(const JsonFields& json, const char* name, Index channels,
                                   io::NumberRange range) {
  std::array<float, 3> numbers;
  numbers.fill(0.5F);
  if (!json.has(name)) return numbers;
  const std::vector<double> found = json.numbers(name, range);
  check_as(ErrorKind::model, std::ssize(found) == channels, json.place(name), ": expected ",
           channels, " numbers, one for each channel, found ", found.size());
  std::ranges::transform(found, numbers.begin(),
                         [](double number) { return static_cast<float>(number); });
  return numbers;
}

void read_normalization(const JsonFields& json, Index channels, ImagePreprocessor& preprocessor) {
  if (!json.boolean_or("do_normalize", true)) return;
  preprocessor.mean =
      read_channels(json, "image_mean", channels, {.min = -max_number, .max = max_number});
  preprocessor.deviation =
      read_channels(json, "image_std", channels, {.min = 1 / max_number, .max = max_number});
}

void check_no_crop(const JsonFields& json) {
  for (const char* name : {"do_center_crop", "do_pad"}) {
    check_as(ErrorKind::model, !json.boolean_or(name, false), json.place(name),
             ": expected false, found true");
  }
}

}  // namespace

ImagePreprocessor load_image_preprocessor(const std::string& folder,
                                          const TransformerConfig& config) {
  ImagePreprocessor preprocessor;
  const std::string path = path_in(folder);
  if (!io::is_there(path, ErrorKind::model)) return preprocessor;
  preprocessor.json = io::read_file(path, ErrorKind::model, io::max_config_bytes);
  const auto json = JsonFields::parse(preprocessor.json, path);
  check_no_crop(json);
  check_size(json, config);
  read_resampling(json, preprocessor);
  read_rescaling(json, preprocessor);
  read_normalization(json, config.image_channels, preprocessor);
  return preprocessor;
}

void save_image_preprocessor(const std::string& folder, const ImagePreprocessor& preprocessor) {
  if (!preprocessor.json.empty()) io::write_file_atomically(path_in(folder), preprocessor.json);
}

}  // namespace heed::models
