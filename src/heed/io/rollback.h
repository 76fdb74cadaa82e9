// Undoing the making of files and folders when what they were made for fails.
#pragma once

#include <string>
#include <vector>

#include "heed/io/descriptor.h"

namespace heed::io {

// Its destructor removes the files and folders that were made through it, unless they are kept.
// It never removes anything else: a folder that something else is in, a file that was there before,
// or whatever stands in the place of a folder that was moved away.
class Rollback {
 public:
  Rollback() = default;
  ~Rollback();
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;

  // Makes the folder and its parents where they are missing.
  void create_folder(const std::string& path);
  // Says that a file is about to be made. Its folder exists.
  void add_file(const std::string& path);
  void keep();

 private:
  // Open, so that no other folder can get its inode.
  struct Folder {
    std::string path;
    Descriptor descriptor;
  };
  static Folder open_folder(const std::string& path);

  struct File {
    std::string name;
    Folder folder;
  };

  std::vector<Folder> folders_;  // outermost first
  std::vector<File> files_;
};

}  // namespace heed::io
