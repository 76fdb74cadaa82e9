// Images that a model learns in a second, for tests: light on the left or on the right.
#pragma once

#include <filesystem>
#include <string>

#include "heed/base/random.h"
#include "heed/train/training.h"
#include "support/image_files.h"
#include "support/temporary_folder.h"

namespace heed::train {

class ToyImages {
 public:
  ToyImages() {
    write("train", 60, 1);
    write("test", 16, 2);
  }

  std::string file(const std::string& name) const { return folder_.file(name); }
  std::string images() const { return file("images"); }

  // An image of 8 x 8 pixels that is light on one side, with noise all over.
  static data::Image image(bool is_right, Rng& rng) {
    data::Image image{{8, 8, 1}, {}};
    for (Index i = 0; i < 64; ++i) {
      const bool is_light = (i % 8 >= 4) == is_right;
      image.pixels.push_back(static_cast<std::uint8_t>((is_light ? 150 : 30) + rng.below(60)));
    }
    return image;
  }

  // Half of the images are light on the right.
  void write(const std::string& part, int count, std::uint64_t key) const {
    Rng rng(key);
    for (int i = 0; i < count; ++i) {
      const bool is_right = i % 2 == 1;
      const std::string folder = "images/" + part + (is_right ? "/right" : "/left");
      std::filesystem::create_directories(file(folder));
      folder_.write(folder + "/" + std::to_string(i) + ".png", png_bytes(image(is_right, rng)));
    }
  }

  Training training(const std::string& model) const {
    Training training{
        file(model), {{"images", images()}, {"valid-images", images()}}, recipe_preset("images")};
    training.recipe.model.image_height = training.recipe.model.image_width = 8;
    training.recipe.model.patch_side = 4;
    training.recipe.model.encoder_layers = 1;
    training.recipe.model.model_dim = 16;
    training.recipe.model.feed_forward_dim = 24;
    training.recipe.model.num_heads = 2;
    training.recipe.training.batch_tokens = 4 * 16;
    training.recipe.training.shift = 1;
    training.recipe.training.schedule.warm_up = 4;
    training.recipe.training.schedule.peak = 0.02;
    training.recipe.training.validate_every = parse_interval("7u", "");
    training.recipe.training.save_every = parse_interval("5u", "");
    training.recipe.training.after = parse_run_length("24u", "");
    return training;
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace heed::train
