#include "heed/explore/metrics_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace heed::explore {
namespace {

std::string read_from(int descriptor, Index offset) {
  std::string text;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::pread(descriptor, buffer.data(), buffer.size(),
                                  static_cast<off_t>(offset + std::ssize(text)));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::vector<std::string> whole_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
    lines.push_back(text.substr(begin, end - begin));
  }
  return lines;
}

}  // namespace

MetricsTail::MetricsTail(std::string path) : path_(std::move(path)) {}

MetricsTail::~MetricsTail() { close(); }

MetricsTail::News MetricsTail::read() {
  News news;
  if (descriptor_ >= 0 && !is_same_file()) {
    news.is_rewritten = true;
    close();
  }
  if (descriptor_ < 0) open();
  if (descriptor_ < 0) return news;
  news.lines = whole_lines(read_from(descriptor_, offset_));
  for (const std::string& line : news.lines) offset_ += std::ssize(line) + 1;
  return news;
}

bool MetricsTail::is_same_file() const {
  struct stat ours {
  }, now{};
  return ::fstat(descriptor_, &ours) == 0 && ::stat(path_.c_str(), &now) == 0 &&
         ours.st_dev == now.st_dev && ours.st_ino == now.st_ino && now.st_size >= offset_;
}

// A pipe would be waited for.
void MetricsTail::open() {
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  offset_ = 0;
  struct stat info {};
  if (descriptor_ >= 0 && (::fstat(descriptor_, &info) != 0 || !S_ISREG(info.st_mode))) close();
}

void MetricsTail::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

}  // namespace heed::explore
