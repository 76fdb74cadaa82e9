#include "heed/io/mapped_file.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <limits>
#include <mutex>
#include <system_error>

namespace heed::io {
namespace {

const std::size_t page_size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

std::uintptr_t number_of(const void* place) { return reinterpret_cast<std::uintptr_t>(place); }
void* place_of(std::uintptr_t number) { return reinterpret_cast<void*>(number); }

// What the signal handler knows of a mapping: it may lock nothing. The place is taken while `end`
// is not 0.
struct Slot {
  std::atomic<std::uintptr_t> begin{0}, end{0};
  std::atomic<bool> is_intact{true};
};
constexpr std::size_t max_mapped = 1024;  // files at one time; others are read
std::array<Slot, max_mapped> slots;

std::mutex mutex;  // of all that follows, and of changes of `slots`
std::size_t num_mapped = 0;
struct sigaction action_before;

// Puts zeros from the page at fault to the end of its mapping.
bool replace_pages(std::uintptr_t fault) {
  for (Slot& slot : slots) {
    const std::uintptr_t begin = slot.begin, end = slot.end;
    if (fault < begin || fault >= end) continue;
    slot.is_intact = false;
    const std::uintptr_t page = fault / page_size * page_size;
    return ::mmap(place_of(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
                  -1, 0) != MAP_FAILED;
  }
  return false;
}

// A signal of any other cause gets what it would have got without us.
void on_bus_error(int number, siginfo_t* info, void*) {
  const int error = errno;
  const bool is_a_fault = info->si_code > 0;
  if (!is_a_fault || !replace_pages(number_of(info->si_addr))) {
    ::sigaction(number, &action_before, nullptr);
    ::raise(number);
  }
  errno = error;
}

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &action_before);
}

// Unless somebody has put another in its place.
void remove_handler() {
  struct sigaction now {};
  ::sigaction(SIGBUS, nullptr, &now);
  const bool is_ours = (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_bus_error;
  if (is_ours) ::sigaction(SIGBUS, &action_before, nullptr);
}

std::optional<std::size_t> take_slot(std::uintptr_t begin, std::uintptr_t end) {
  const std::lock_guard lock(mutex);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].end != 0) continue;
    slots[i].is_intact = true;
    slots[i].begin = begin;  // before the end, which makes it count
    slots[i].end = end;
    if (num_mapped++ == 0) install_handler();
    return i;
  }
  return std::nullopt;
}

void give_back_slot(std::size_t i) {
  const std::lock_guard lock(mutex);
  slots[i].end = 0;
  if (--num_mapped == 0) remove_handler();
}

}  // namespace

std::optional<MappedFile> MappedFile::map(Descriptor file, std::uint64_t begin,
                                          std::uint64_t size) {
  const std::uint64_t skipped = begin % page_size;
  if (size > std::numeric_limits<std::size_t>::max() - 2 * page_size) return std::nullopt;
  const std::size_t length = (skipped + size + page_size - 1) / page_size * page_size;
  void* mapped = ::mmap(nullptr, length, PROT_READ, MAP_PRIVATE, file.number(),
                        static_cast<off_t>(begin - skipped));
  if (mapped == MAP_FAILED) return std::nullopt;
  const std::optional<std::size_t> slot = take_slot(number_of(mapped), number_of(mapped) + length);
  if (!slot) {
    ::munmap(mapped, length);
    return std::nullopt;
  }
  const std::span pages(static_cast<const std::byte*>(mapped), length);
  return MappedFile(std::move(file), begin + size, *slot, pages, pages.subspan(skipped, size));
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : file_(std::move(other.file_)),
      end_(other.end_),
      slot_(other.slot_),
      pages_(std::exchange(other.pages_, {})),
      bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (pages_.empty()) return;
  give_back_slot(slot_);
  ::munmap(const_cast<std::byte*>(pages_.data()), pages_.size());
}

// A file that was cut within its last page has zeros there, without a signal.
bool MappedFile::is_intact() const {
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0) {
    throw std::system_error(errno, std::generic_category());
  }
  return slots[slot_].is_intact && static_cast<std::uint64_t>(status.st_size) >= end_;
}

void MappedFile::release(std::span<const std::byte> part) const {
  const std::uintptr_t begin = (number_of(part.data()) + page_size - 1) / page_size * page_size;
  const std::uintptr_t end = (number_of(part.data()) + part.size()) / page_size * page_size;
  if (begin < end) ::madvise(place_of(begin), end - begin, MADV_DONTNEED);
}

}  // namespace heed::io
