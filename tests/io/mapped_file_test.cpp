#include "heed/io/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string>

#include "support/temporary_folder.h"

namespace heed::io {
namespace {

const std::size_t page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

std::string letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 23);
  return text;
}

// A mapped file, from its byte `begin` to its end.
struct Mapped {
  TemporaryFolder folder;
  std::string text;
  std::string path;
  std::optional<MappedFile> file;

  Mapped(std::size_t size, std::size_t begin)
      : text(letters(size)),
        path(folder.write("mapped", text)),
        file(MappedFile::map(Descriptor(::open(path.c_str(), O_RDONLY)), begin, size - begin)) {}

  std::string found() const {
    const std::span<const std::byte> bytes = file->bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
};

TEST(MappedFile, HasTheBytesOfTheFileFromAnyPlaceOn) {
  for (const std::size_t begin : {std::size_t{0}, std::size_t{100}, page, 2 * page + 7}) {
    const Mapped mapped(3 * page + 11, begin);
    ASSERT_TRUE(mapped.file);
    EXPECT_EQ(mapped.found(), mapped.text.substr(begin)) << begin;
    EXPECT_TRUE(mapped.file->is_intact());
  }
}

TEST(MappedFile, ReleasedBytesLeaveMemoryAndCanBeReadAgain) {
  const Mapped mapped(64 * page, 0);
  ASSERT_TRUE(mapped.file);
  EXPECT_EQ(mapped.found(), mapped.text);
  const std::span<const std::byte> bytes = mapped.file->bytes();
  mapped.file->release(bytes.subspan(10, 20 * page));  // the page of byte 10 stays, 19 go
  mapped.file->release(bytes.subspan(30 * page, 5));   // no whole page
  EXPECT_EQ(mapped.found(), mapped.text);
  EXPECT_TRUE(mapped.file->is_intact());
}

TEST(MappedFile, AFileThatIsCutReadsAsZerosAndIsDamaged) {
  const Mapped mapped(5 * page, page);
  ASSERT_TRUE(mapped.file);
  std::filesystem::resize_file(mapped.path, 2 * page);
  EXPECT_FALSE(mapped.file->is_intact());
  EXPECT_EQ(mapped.found(), mapped.text.substr(page, page) + std::string(3 * page, '\0'));
  std::filesystem::resize_file(mapped.path, 5 * page);
  EXPECT_FALSE(mapped.file->is_intact());
}

TEST(MappedFile, AFileThatIsCutWithinAPageIsDamagedToo) {
  const Mapped mapped(page + 100, 0);
  ASSERT_TRUE(mapped.file);
  std::filesystem::resize_file(mapped.path, page + 50);
  EXPECT_EQ(mapped.found(), mapped.text.substr(0, page + 50) + std::string(50, '\0'));
  EXPECT_FALSE(mapped.file->is_intact());
}

TEST(MappedFile, OneDamagedFileLeavesTheOthersAlone) {
  const Mapped whole(3 * page, 0), cut(3 * page, 0);
  ASSERT_TRUE(whole.file && cut.file);
  std::filesystem::resize_file(cut.path, 0);
  EXPECT_EQ(cut.found(), std::string(3 * page, '\0'));
  EXPECT_EQ(whole.found(), whole.text);
  EXPECT_TRUE(whole.file->is_intact());
  EXPECT_FALSE(cut.file->is_intact());
}

TEST(MappedFile, WhatCannotBeMappedIsNot) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Descriptor other(ends[1]);
  EXPECT_FALSE(MappedFile::map(Descriptor(ends[0]), 0, 10));
  EXPECT_FALSE(MappedFile::map(Descriptor(), 0, 10));
}

void (*handler())(int) {
  struct sigaction action {};
  ::sigaction(SIGBUS, nullptr, &action);
  return action.sa_handler;
}

TEST(MappedFile, TheHandlerOfTheSignalGoesWithTheLastFile) {
  const auto before = handler();
  {
    Mapped one(page, 0);
    const auto ours = handler();
    EXPECT_NE(ours, before);
    const Mapped two(page, 0);
    one.file.reset();
    EXPECT_EQ(handler(), ours);
  }
  EXPECT_EQ(handler(), before);
}

void die_of_a_signal_that_was_sent() {
  ::signal(SIGBUS, SIG_DFL);
  const Mapped mapped(page, 0);
  std::cerr << "mapped" << std::endl;
  ::raise(SIGBUS);
}

void die_of_a_mapping_that_is_not_ours() {
  ::signal(SIGBUS, SIG_DFL);
  const Mapped mapped(page, 0), other(page, 0);
  std::filesystem::resize_file(other.path, 0);
  const Descriptor file(::open(other.path.c_str(), O_RDONLY));
  void* unknown = ::mmap(nullptr, page, PROT_READ, MAP_PRIVATE, file.number(), 0);
  std::cerr << "mapped" << std::endl;
  ::_exit(static_cast<const volatile char*>(unknown)[0]);
}

TEST(MappedFileDeathTest, ASignalOfAnotherCauseStillEndsTheProgram) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(die_of_a_signal_that_was_sent(), testing::KilledBySignal(SIGBUS), "mapped");
  EXPECT_EXIT(die_of_a_mapping_that_is_not_ours(), testing::KilledBySignal(SIGBUS), "mapped");
}

}  // namespace
}  // namespace heed::io
