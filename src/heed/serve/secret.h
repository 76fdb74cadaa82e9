// Random words that nobody can guess, and how they are compared.
#pragma once

#include <string>
#include <string_view>

namespace heed::serve {

// 32 bytes from the system's source of randomness, in the letters of base64url: 43 characters.
std::string make_secret();

// Takes as long wherever the first difference lies, so that the time tells a guesser nothing.
bool is_same_secret(std::string_view expected, std::string_view found);

}  // namespace heed::serve
