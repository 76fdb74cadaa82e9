#include "heed/io/compressed_file.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

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
constexpr std::string_view zstd_magic = "\x28\xb5\x2f\xfd";
// Frames without text, which some programs write between the others: 0x184d2a50 to 0x184d2a5f.
constexpr std::string_view skippable_magic_end = "\x2a\x4d\x18";
// 2^27 bytes, as much as the program zstd takes without being asked.
constexpr int max_window_log = 27;

bool is_gzip(std::string_view bytes) { return bytes.starts_with(gzip_magic); }
bool is_zstd(std::string_view bytes) {
  if (bytes.starts_with(zstd_magic)) return true;
  return bytes.size() >= zstd_magic.size() && (bytes[0] & 0xf0) == 0x50 &&
         bytes.substr(1).starts_with(skippable_magic_end);
}

}  // namespace

// The bytes of the file as they are, through a buffer.
class CompressedFile::Source {
 public:
  Source(const std::string& path, std::string_view what) : path_(path) {
    const bool is_standard_input = path == "-";
    check_as(ErrorKind::data, is_standard_input || !is_folder(path, ErrorKind::data), path,
             ": expected ", what, ", found a directory");
    if (is_standard_input) path_ = "standard input";
    descriptor_ = Descriptor(is_standard_input ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                               : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    check_as(ErrorKind::data, descriptor_.is_open(), path_, ": cannot open: ", reason(errno));
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

// Decompresses frame after frame.
class CompressedFile::Decoder {
 public:
  struct Step {
    std::size_t consumed = 0, produced = 0;
    bool is_at_end = false;  // of a frame
    bool is_damaged = false;
  };
  Decoder() = default;
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  virtual bool starts_frame(std::string_view bytes) const = 0;
  virtual void start_frame() = 0;
  // No input: the file has ended.
  virtual Step decode(std::string_view input, std::span<char> output) = 0;
};

// Members of a gzip file, one after another. zlib's own reader of files would pass over whatever
// follows the last of them.
class CompressedFile::GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    constexpr int gzip_format = 16;
    if (inflateInit2(&stream_, gzip_format + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }

  bool starts_frame(std::string_view bytes) const override { return is_gzip(bytes); }
  void start_frame() override { inflateReset(&stream_); }

  Step decode(std::string_view input, std::span<char> output) override {
    constexpr std::size_t most = std::numeric_limits<uInt>::max();
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(std::min(output.size(), most));
    const std::size_t room = stream_.avail_out;
    const int result = ::inflate(&stream_, Z_NO_FLUSH);
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    return {input.size() - stream_.avail_in, room - stream_.avail_out, result == Z_STREAM_END,
            result != Z_OK && result != Z_STREAM_END};
  }

 private:
  z_stream stream_{};
};

class CompressedFile::ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : context_(ZSTD_createDCtx()) {
    if (!context_) throw std::bad_alloc();
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, max_window_log);
  }

  bool starts_frame(std::string_view bytes) const override { return is_zstd(bytes); }
  void start_frame() override { ZSTD_DCtx_reset(context_.get(), ZSTD_reset_session_only); }

  Step decode(std::string_view input, std::span<char> output) override {
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{output.data(), output.size(), 0};
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    const bool is_cut_short = result != 0 && input.empty() && out.pos == 0;
    return {in.pos, out.pos, result == 0, ZSTD_isError(result) != 0 || is_cut_short};
  }

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

CompressedFile::CompressedFile(const std::string& path, std::string_view what)
    : source_(std::make_unique<Source>(path, what)) {
  const std::string_view first = source_->peek(zstd_magic.size());
  if (is_gzip(first)) decoder_ = std::make_unique<GzipDecoder>();
  if (is_zstd(first)) decoder_ = std::make_unique<ZstdDecoder>();
}

CompressedFile::~CompressedFile() = default;

std::size_t CompressedFile::read(std::span<char> bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::span<char> rest = bytes.subspan(done);
    const std::size_t count = decoder_ ? read_compressed(rest) : source_->read(rest);
    if (count == 0) break;
    done += count;
  }
  return done;
}

std::size_t CompressedFile::read_compressed(std::span<char> bytes) {
  for (;;) {
    if (is_between_frames_) {
      const std::string_view next = source_->peek(zstd_magic.size());
      if (next.empty()) return 0;
      check_as(ErrorKind::data, decoder_->starts_frame(next), source_->path(),
               ": expected nothing after the compressed data, found other bytes");
      decoder_->start_frame();
    }
    const Decoder::Step step = decoder_->decode(source_->peek(1), bytes);
    source_->skip(step.consumed);
    is_between_frames_ = step.is_at_end;
    check_as(ErrorKind::data, !step.is_damaged, source_->path(),
             ": cannot read: the compressed data is damaged or cut short");
    if (step.produced > 0) return step.produced;
  }
}

}  // namespace heed::io
