#include "heed/serve/static_files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/error.h"

namespace heed::serve {
namespace {

std::string_view content_type_of(std::string_view path) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> types{{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".json", "application/json"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
  }};
  const auto entry =
      std::ranges::find_if(types, [&](const auto& type) { return path.ends_with(type.first); });
  return entry == types.end() ? "application/octet-stream" : entry->second;
}

// gzip among the encodings, unless its weight is 0: "gzip, deflate;q=0.5".
bool takes_gzip(const Request& request) {
  const std::string accepted = request.header("accept-encoding").value_or("");
  const std::size_t begin = accepted.find("gzip");
  if (begin == std::string::npos) return false;
  const std::string weight = accepted.substr(begin + 4, accepted.find(',', begin) - begin - 4);
  const std::size_t q = weight.find("q=");
  return q == std::string::npos || weight.find_first_of("123456789", q) != std::string::npos;
}

std::string gunzip(std::string_view gzip) {
  z_stream stream{};
  constexpr int gzip_format = 16;  // as zlib counts: window bits + 16
  check(inflateInit2(&stream, MAX_WBITS + gzip_format) == Z_OK, "gzip: out of memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  std::string result;
  int status = Z_OK;
  for (std::array<char, 1 << 14> block; status == Z_OK;) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = block.size();
    status = inflate(&stream, Z_NO_FLUSH);
    result.append(block.data(), block.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  check(status == Z_STREAM_END, "gzip: expected a whole file, found a broken one");
  return result;
}

}  // namespace

std::optional<Response> StaticFiles::find(const Request& request) const {
  if (request.method != "GET") return std::nullopt;
  const std::string path = request.path == "/" ? "/index.html" : request.path;
  const auto file = std::ranges::find(files_, std::string_view(path), &StaticFile::path);
  if (file == files_.end()) return std::nullopt;
  Response response{200, std::string(content_type_of(path)), {{"Vary", "Accept-Encoding"}}, {}};
  if (takes_gzip(request)) {
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = file->gzip;
  } else {
    response.body = gunzip(file->gzip);
  }
  return response;
}

}  // namespace heed::serve
