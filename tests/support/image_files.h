// Small images in files, written by the libraries that all programs write them with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/data/image.h"

namespace heed {

std::string png_bytes(const data::Image& image);
// A palette of two colours, red and blue: pixels are 0 or 1.
std::string png_palette_bytes(Index height, Index width, const std::vector<std::uint8_t>& pixels);
// Grey with a channel of opacity behind each pixel.
std::string png_transparent_bytes(Index height, Index width,
                                  const std::vector<std::uint8_t>& pixels);
std::string png_16_bit_bytes(Index height, Index width, const std::vector<std::uint16_t>& pixels);

std::string jpeg_bytes(const data::Image& image, int quality = 95);
std::string jpeg_of_four_inks(Index height, Index width);

// A record of CIFAR-10's binary version: all its pixels have the same colour.
std::string cifar_record(std::uint8_t label, std::uint8_t red, std::uint8_t green,
                         std::uint8_t blue);

// MNIST's format: a magic number, sizes, bytes.
std::string idx_bytes(std::uint32_t magic, const std::vector<std::uint32_t>& sizes,
                      const std::vector<std::uint8_t>& bytes);

}  // namespace heed
