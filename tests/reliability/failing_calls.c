// A library for LD_PRELOAD: the n-th call of a function fails if it concerns a file below a folder.
//
//   FAULT_FOLDER  the folder, an absolute path
//   FAULT_LOG     gets the path of the call that failed, and at the end how often each was called
//   FAULT_CALL    one of `names` below; `change` is any call that changes a file or a folder
//   FAULT_FIRST   which call of it, from 1
//   FAULT_ERROR   the number of the error
//   FAULT_MODE    once: this call fails; ever: all from this one on; half: this write writes half
//   of
//                 its bytes, and all after it fail; kill: the process is killed before this call
//
// Without FAULT_CALL calls are only counted. Nothing sleeps: a program that waits until a disk is
// no longer full does not wait here.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define CALLS(X)                                                                                \
  X(open)                                                                                       \
  X(fopen) X(close) X(read) X(pread) X(lseek) X(write) X(writev) X(fsync) X(fdatasync)          \
      X(ftruncate) X(truncate) X(stat) X(lstat) X(fstat) X(fchmod) X(fchown) X(flock) X(rename) \
          X(unlink) X(unlinkat) X(remove) X(mkdir) X(rmdir) X(readlink) X(fdopendir) X(readdir) \
              X(statvfs) X(change)

#define AS_CONSTANT(name) call_##name,
#define AS_TEXT(name) #name,
enum Call { CALLS(AS_CONSTANT) num_calls };
static const char* const names[] = {CALLS(AS_TEXT)};

enum Mode { once, ever, half, kill_process };

static struct {
  const char* folder;
  const char* log;
  int call;
  long first;
  int error;
  enum Mode mode;
} fault = {.call = -1};

static atomic_long counts[num_calls];
static atomic_int is_logged;

static const char* setting(const char* name) {
  const char* value = getenv(name);
  return value ? value : "";
}

__attribute__((constructor)) static void read_settings(void) {
  for (int call = 0; call < num_calls; ++call) {
    if (strcmp(setting("FAULT_CALL"), names[call]) == 0) fault.call = call;
  }
  fault.first = atol(setting("FAULT_FIRST"));
  fault.error = atoi(setting("FAULT_ERROR"));
  const char* const modes[] = {"once", "ever", "half", "kill"};
  for (int mode = once; mode <= kill_process; ++mode) {
    if (strcmp(setting("FAULT_MODE"), modes[mode]) == 0) fault.mode = mode;
  }
  fault.log = setting("FAULT_LOG");
  fault.folder = getenv("FAULT_FOLDER");  // last: from here on calls count
}

// Without the functions of this file.
static void append_to_log(const char* text) {
  const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, fault.log,
                                      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  syscall(SYS_write, descriptor, text, strlen(text));
  syscall(SYS_close, descriptor);
}

__attribute__((destructor)) static void log_counts(void) {
  if (!fault.folder) return;
  char line[100];
  for (int call = 0; call < num_calls; ++call) {
    snprintf(line, sizeof line, "count %s %ld\n", names[call], atomic_load(&counts[call]));
    append_to_log(line);
  }
}

static void path_of_descriptor(int descriptor, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long size = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  path[size < 0 ? 0 : size] = '\0';
}

static void path_of(int folder, const char* name, char path[PATH_MAX]) {
  path[0] = '\0';
  if (name[0] == '/') {
    snprintf(path, PATH_MAX, "%s", name);
    return;
  }
  if (folder == AT_FDCWD) {
    if (syscall(SYS_getcwd, path, PATH_MAX) < 0) path[0] = '\0';
  } else {
    path_of_descriptor(folder, path);
  }
  const size_t size = strlen(path);
  snprintf(path + size, PATH_MAX - size, "/%s", name);
}

static int is_below_folder(const char* path) {
  const size_t size = strlen(fault.folder);
  return strncmp(path, fault.folder, size) == 0 && (path[size] == '/' || path[size] == '\0');
}

static void log_path(const char* path) {
  if (atomic_exchange(&is_logged, 1)) return;
  append_to_log("failed ");
  append_to_log(path);
  append_to_log("\n");
}

// 0: this call is made. 1: it fails, and errno says why. 2: it is the write of which half is
// written.
static int fails(enum Call call, int is_change, const char* path) {
  if (!is_below_folder(path)) return 0;
  long index = atomic_fetch_add(&counts[call], 1) + 1;
  const long change = is_change ? atomic_fetch_add(&counts[call_change], 1) + 1 : 0;
  if (fault.call == call_change) {
    index = change;
  } else if (fault.call != (int)call) {
    return 0;
  }
  const int is_hit = fault.mode == once || fault.mode == kill_process ? index == fault.first
                                                                      : index >= fault.first;
  if (!is_hit || index == 0) return 0;
  log_path(path);
  if (fault.mode == kill_process) raise(SIGKILL);
  errno = fault.error;
  return fault.mode == half && index == fault.first ? 2 : 1;
}

static int fails_at(enum Call call, int is_change, int folder, const char* name) {
  if (!fault.folder) return 0;
  const int error = errno;
  char path[PATH_MAX];
  path_of(folder, name, path);
  errno = error;
  return fails(call, is_change, path);
}

static int fails_on(enum Call call, int is_change, int descriptor) {
  if (!fault.folder) return 0;
  const int error = errno;
  char path[PATH_MAX];
  path_of_descriptor(descriptor, path);
  errno = error;
  return fails(call, is_change, path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_fails(int folder, const char* name, int flags) {
  const int is_change = (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT);
  return fails_at(call_open, is_change, folder, name);
}

static mode_t mode_of(int flags, va_list list) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                             \
  int name(const char* path, int flags, ...) { \
    va_list list;                              \
    va_start(list, flags);                     \
    const mode_t mode = mode_of(flags, list);  \
    va_end(list);                              \
    if (open_fails(AT_FDCWD, path, flags)) {   \
      return -1;                               \
    }                                          \
    return NEXT(name)(path, flags, mode);      \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                       \
  int name(int folder, const char* path, int flags, ...) { \
    va_list list;                                          \
    va_start(list, flags);                                 \
    const mode_t mode = mode_of(flags, list);              \
    va_end(list);                                          \
    if (open_fails(folder, path, flags)) return -1;        \
    return NEXT(name)(folder, path, flags, mode);          \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                                   \
  FILE* name(const char* path, const char* mode) {                                    \
    if (fails_at(call_fopen, strpbrk(mode, "wa+") != NULL, AT_FDCWD, path)) return 0; \
    return NEXT(name)(path, mode);                                                    \
  }
FOPEN(fopen)
FOPEN(fopen64)

// As in Linux, the descriptor is closed in any case.
int close(int descriptor) {
  const int is_failing = fails_on(call_close, 0, descriptor);
  const int error = errno;
  const int result = NEXT(close)(descriptor);
  if (!is_failing) return result;
  errno = error;
  return -1;
}

#define ON_DESCRIPTOR(type, name, change, parameters, arguments)                        \
  type name parameters {                                                                \
    return fails_on(call_##name, change, descriptor) ? (type)-1 : NEXT(name) arguments; \
  }
ON_DESCRIPTOR(ssize_t, read, 0, (int descriptor, void* to, size_t size), (descriptor, to, size))
ON_DESCRIPTOR(ssize_t, pread, 0, (int descriptor, void* to, size_t size, off_t at),
              (descriptor, to, size, at))
ON_DESCRIPTOR(ssize_t, writev, 1, (int descriptor, const struct iovec* parts, int count),
              (descriptor, parts, count))
ON_DESCRIPTOR(int, fsync, 1, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, fdatasync, 1, (int descriptor), (descriptor))
ON_DESCRIPTOR(int, ftruncate, 1, (int descriptor, off_t size), (descriptor, size))
ON_DESCRIPTOR(int, fstat, 0, (int descriptor, struct stat* status), (descriptor, status))
ON_DESCRIPTOR(int, fchmod, 1, (int descriptor, mode_t mode), (descriptor, mode))
ON_DESCRIPTOR(int, fchown, 1, (int descriptor, uid_t user, gid_t group), (descriptor, user, group))
ON_DESCRIPTOR(int, flock, 0, (int descriptor, int operation), (descriptor, operation))

int fstat64(int descriptor, struct stat64* status) {
  return fails_on(call_fstat, 0, descriptor) ? -1 : NEXT(fstat64)(descriptor, status);
}

off64_t lseek64(int descriptor, off64_t offset, int whence) {
  return fails_on(call_lseek, 0, descriptor) ? -1 : NEXT(lseek64)(descriptor, offset, whence);
}

ssize_t write(int descriptor, const void* from, size_t size) {
  const int failure = fails_on(call_write, 1, descriptor);
  if (failure == 1 || (failure == 2 && size < 2)) return -1;
  return NEXT(write)(descriptor, from, failure == 2 ? size / 2 : size);
}

#define ON_PATH(name, change, parameters, arguments)                                  \
  int name parameters {                                                               \
    return fails_at(call_##name, change, AT_FDCWD, path) ? -1 : NEXT(name) arguments; \
  }
ON_PATH(stat, 0, (const char* path, struct stat* status), (path, status))
ON_PATH(lstat, 0, (const char* path, struct stat* status), (path, status))
ON_PATH(truncate, 1, (const char* path, off_t size), (path, size))
ON_PATH(rename, 1, (const char* path, const char* to), (path, to))
ON_PATH(unlink, 1, (const char* path), (path))
ON_PATH(remove, 1, (const char* path), (path))
ON_PATH(mkdir, 1, (const char* path, mode_t mode), (path, mode))
ON_PATH(rmdir, 1, (const char* path), (path))

int unlinkat(int folder, const char* path, int flags) {
  return fails_at(call_unlinkat, 1, folder, path) ? -1 : NEXT(unlinkat)(folder, path, flags);
}

ssize_t readlink(const char* path, char* to, size_t size) {
  return fails_at(call_readlink, 0, AT_FDCWD, path) ? -1 : NEXT(readlink)(path, to, size);
}

DIR* fdopendir(int descriptor) {
  return fails_on(call_fdopendir, 0, descriptor) ? NULL : NEXT(fdopendir)(descriptor);
}

struct dirent* readdir(DIR* folder) {
  return fails_on(call_readdir, 0, dirfd(folder)) ? NULL : NEXT(readdir)(folder);
}

int nanosleep(const struct timespec* time, struct timespec* left) {
  (void)time, (void)left;
  return 0;
}
