#include "heed/text/byte_alphabet.h"

#include <array>

#include "heed/text/code_points.h"

namespace heed::text {
namespace {

constexpr int num_bytes = 256;
constexpr char32_t first_stand_in = 0x100, num_stand_ins = 68;

bool stands_for_itself(int byte) {
  return (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct Alphabet {
  Alphabet() {
    char32_t next = first_stand_in;
    for (int byte = 0; byte < num_bytes; ++byte) {
      const char32_t character = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
      characters[static_cast<std::size_t>(byte)] = to_utf8(character);
      bytes[character] = byte;
    }
  }

  std::array<std::string, num_bytes> characters;
  std::array<int, first_stand_in + num_stand_ins> bytes = [] {
    std::array<int, first_stand_in + num_stand_ins> none{};
    none.fill(-1);
    return none;
  }();
};

const Alphabet& alphabet() {
  static const Alphabet alphabet;
  return alphabet;
}

}  // namespace

std::string_view character_of_byte(unsigned char byte) { return alphabet().characters[byte]; }

std::optional<char> byte_of_character(char32_t character) {
  const auto& bytes = alphabet().bytes;
  if (character >= bytes.size() || bytes[character] < 0) return std::nullopt;
  return static_cast<char>(static_cast<unsigned char>(bytes[character]));
}

void append_byte_characters(AlignedText& to, const AlignedText& from, std::size_t begin,
                            std::size_t end) {
  const auto& characters = alphabet().characters;
  for (std::size_t at = begin; at < end; ++at) {
    to.append(characters[static_cast<unsigned char>(from.bytes[at])], from.sources[at]);
  }
}

}  // namespace heed::text
