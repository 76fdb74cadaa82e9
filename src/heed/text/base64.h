// Base64 (RFC 4648), the standard alphabet.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed::text {

// Nothing when the text is not base64 with its padding.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace heed::text
