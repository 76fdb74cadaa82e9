// A file descriptor that is closed when its owner is destroyed.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace heed::io {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  // Errors of close() do not matter: who writes has synced before.
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

  // Whether the path still leads to the open file or folder, not to another one in its place.
  bool is_at(const std::string& path) const {
    struct stat ours {
    }, theirs{};
    return is_open() && ::fstat(number_, &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 &&
           ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
  }

 private:
  int number_;
};

}  // namespace heed::io
