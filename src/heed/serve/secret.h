// Random secrets, and their comparison in constant time.
#pragma once

#include <string>
#include <string_view>

namespace heed::serve {

// 32 bytes from the system's source of randomness, in the letters of base64url: 43 characters.
std::string make_secret();

// In constant time: the duration does not depend on the position of the first difference.
bool is_same_secret(std::string_view expected, std::string_view given);

}  // namespace heed::serve
