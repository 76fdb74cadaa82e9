#include "heed/io/sha256.h"

#include <gtest/gtest.h>

namespace heed::io {
namespace {

std::string sha256(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.hex_digest();
}

// The examples that NIST publishes for FIPS 180-4.
TEST(Sha256, GivesThePublishedHashes) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesOfAnySizeGiveTheHashOfTheWhole) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
  for (std::size_t piece = 1; piece <= 150; ++piece) {
    Sha256 hash;
    for (std::size_t i = 0; i < text.size(); i += piece) {
      hash.update(std::string_view(text).substr(i, piece));
    }
    ASSERT_EQ(hash.hex_digest(), sha256(text)) << piece;
  }
}

TEST(Sha256, MoreMayFollowADigest) {
  Sha256 hash;
  hash.update("a");
  hash.hex_digest();
  hash.update("bc");
  EXPECT_EQ(hash.hex_digest(), sha256("abc"));
}

}  // namespace
}  // namespace heed::io
