#include "heed/io/gzip_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <new>
#include <system_error>

#include "heed/base/cancellation.h"
#include "heed/base/error.h"
#include "heed/io/descriptor.h"
#include "heed/io/files.h"

namespace heed::io {
namespace {

constexpr std::string_view gzip_magic = "\x1f\x8b";

}  // namespace

// The bytes of the file as they are, through a buffer.
class GzipFile::Source {
 public:
  Source(const std::string& path, std::string_view what) : path_(path) {
    check_as(ErrorKind::data, !is_folder(path, ErrorKind::data), path, ": expected ", what,
             ", found a directory");
    descriptor_ = Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    check_as(ErrorKind::data, descriptor_.is_open(), path, ": cannot open: ", reason(errno));
  }

  const std::string& path() const { return path_; }

  // What is next, at least `count` bytes of it unless the file ends before.
  std::string_view peek(std::size_t count) {
    while (end_ - begin_ < count && fill()) {
    }
    return {buffer_.data() + begin_, end_ - begin_};
  }
  void skip(std::size_t count) { begin_ += count; }
  std::size_t read(std::span<char> bytes) {  // 0: the end
    const std::string_view next = peek(1).substr(0, bytes.size());
    std::ranges::copy(next, bytes.begin());
    skip(next.size());
    return next.size();
  }

 private:
  bool fill() {
    std::copy(buffer_.begin() + begin_, buffer_.begin() + end_, buffer_.begin());
    end_ -= begin_;
    begin_ = 0;
    for (;;) {
      wait_for_bytes();
      const ssize_t count =
          ::read(descriptor_.number(), buffer_.data() + end_, buffer_.size() - end_);
      if (count < 0 && errno == EINTR) continue;
      check_as(ErrorKind::data, count >= 0, path_, ": cannot read: ", reason(errno));
      end_ += static_cast<std::size_t>(count);
      return count > 0;
    }
  }
  // A pipe may be silent for long; the work can be cancelled meanwhile.
  void wait_for_bytes() const {
    constexpr int milliseconds = 100;
    pollfd pipe{descriptor_.number(), POLLIN, 0};
    do {
      check_cancelled();
    } while (::poll(&pipe, 1, milliseconds) == 0);
  }
  static std::string reason(int error) { return std::generic_category().message(error); }

  std::string path_;
  Descriptor descriptor_;
  std::array<char, 1 << 16> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what was read and not yet used
};

// Members of a gzip file, one after another. zlib's own reader of files would pass over whatever
// follows the last of them.
class GzipFile::Inflater {
 public:
  Inflater() {
    constexpr int gzip_format = 16;
    if (inflateInit2(&stream_, gzip_format + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  bool is_at_end_of_member() const { return is_at_end_; }
  void start_member() {
    inflateReset(&stream_);
    is_at_end_ = false;
  }

  struct Step {
    std::size_t consumed = 0, produced = 0;
    bool is_damaged = false;
  };
  Step inflate(std::string_view input, std::span<char> output) {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(std::min(output.size(), most));
    const std::size_t room = stream_.avail_out;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    is_at_end_ = result == Z_STREAM_END;
    return {input.size() - stream_.avail_in, room - stream_.avail_out,
            result != Z_OK && result != Z_STREAM_END};
  }

 private:
  z_stream stream_{};
  bool is_at_end_ = false;
};

GzipFile::GzipFile(const std::string& path, std::string_view what)
    : source_(std::make_unique<Source>(path, what)) {
  if (source_->peek(gzip_magic.size()).starts_with(gzip_magic)) {
    inflater_ = std::make_unique<Inflater>();
  }
}

GzipFile::~GzipFile() = default;

std::size_t GzipFile::read(std::span<char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::span<char> rest = bytes.subspan(done);
    const std::size_t count = inflater_ ? read_compressed(rest) : source_->read(rest);
    if (count == 0) break;
    done += count;
  }
  return done;
}

std::size_t GzipFile::read_compressed(std::span<char> bytes) {
  for (;;) {
    if (inflater_->is_at_end_of_member()) {
      const std::string_view next = source_->peek(gzip_magic.size());
      if (next.empty()) return 0;
      check_as(ErrorKind::data, next.starts_with(gzip_magic), source_->path(),
               ": expected nothing after the compressed data, found other bytes");
      inflater_->start_member();
    }
    const Inflater::Step step = inflater_->inflate(source_->peek(1), bytes);
    source_->skip(step.consumed);
    check_as(ErrorKind::data, !step.is_damaged, source_->path(),
             ": cannot read: the compressed data is damaged or cut short");
    if (step.produced > 0) return step.produced;
  }
}

}  // namespace heed::io
