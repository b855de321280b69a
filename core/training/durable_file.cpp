#include "core/training/durable_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/training/training_error.h"

namespace mambarium {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

[[noreturn]] void fail(const char* verb, const std::filesystem::path& path, int error) {
  std::string hint = "Check the path and the disk it is on.";
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    hint = "Free some space there, then go on with the run from its last checkpoint: no older file was touched.";
  } else if (error == EACCES || error == EPERM || error == EROFS) {
    hint = "Choose a folder you may write to (run.out), or change its permissions.";
  } else if (error == ENOENT) {
    hint = "Check the path: it, or the folder it should be in, is not there.";
  }
  throw TrainingError(
      std::string("cannot ") + verb + " " + path.string() + ": " + std::generic_category().message(error), hint);
}

// 0, or the error.
int write_all(int descriptor, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    if (written == 0) return ENOSPC;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return ::fsync(descriptor) == 0 ? 0 : errno;
}

void sync_folder(const std::filesystem::path& folder) {
  const Descriptor descriptor(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) fail("open", folder, errno);
  // Some file systems cannot sync a folder; they keep renames in order all the same.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) fail("write", folder, errno);
}

}  // namespace

void write_whole_file(const std::filesystem::path& path, std::span<const std::byte> content) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) fail("write", path, errno);
  int error = write_all(file.get(), content);
  if (::close(file.release()) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(temporary.c_str());
    fail("write", path, error);
  }
  sync_folder(path.parent_path());
}

void write_whole_file(const std::filesystem::path& path, std::string_view content) {
  write_whole_file(path, std::as_bytes(std::span(content)));
}

std::vector<std::byte> read_whole_file(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) fail("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail("read", path, errno);
  if (!S_ISREG(status.st_mode)) throw TrainingError(path.string() + " is not a file", "Check the path.");
  std::vector<std::byte> content(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < content.size()) {
    const ssize_t got = ::read(file.get(), content.data() + have, content.size() - have);
    if (got < 0) {
      if (errno == EINTR) continue;
      fail("read", path, errno);
    }
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return content;
}

AppendedFile::AppendedFile(std::filesystem::path path, std::size_t keep) : path_(std::move(path)) {
  Descriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (file.get() < 0) fail("write", path_, errno);
  const off_t size = ::lseek(file.get(), 0, SEEK_END);
  if (size < 0) fail("write", path_, errno);
  if (static_cast<std::size_t>(size) > keep && ::ftruncate(file.get(), static_cast<off_t>(keep)) != 0) {
    fail("write", path_, errno);
  }
  sync_folder(path_.parent_path());
  descriptor_ = file.release();
}

AppendedFile::~AppendedFile() {
  ::close(descriptor_);
}

void AppendedFile::append(std::string_view piece) {
  const off_t before = ::lseek(descriptor_, 0, SEEK_END);
  if (before < 0) fail("write", path_, errno);
  const int error = write_all(descriptor_, std::as_bytes(std::span(piece)));
  if (error == 0) return;
  if (::ftruncate(descriptor_, before) == 0) ::fsync(descriptor_);
  fail("write", path_, error);
}

namespace {

// Whoever asks whether a folder is in use holds its lock for a moment.
bool lock(int file) {
  constexpr int tries = 10;
  for (int left = tries; left > 0; --left) {
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) return true;
    if (errno != EWOULDBLOCK) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

FolderLock::FolderLock(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / ".lock";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (file.get() < 0) fail("write", path, errno);
  if (!lock(file.get())) {
    if (errno != EWOULDBLOCK) fail("lock", path, errno);
    char owner[32] = {};
    const ssize_t got = ::read(file.get(), owner, sizeof owner - 1);
    const std::string process = got > 0 ? " (process " + std::string(owner, static_cast<std::size_t>(got)) + ")" : "";
    throw TrainingError(folder.string() + " is in use by another run" + process,
                        "Stop that one first, or start a new run in a folder of its own.");
  }
  // The number only helps the message above, so a full disk does not matter here.
  const std::string process = std::to_string(::getpid());
  if (::ftruncate(file.get(), 0) == 0) (void)!::write(file.get(), process.data(), process.size());
  descriptor_ = file.release();
}

FolderLock::~FolderLock() {
  ::close(descriptor_);
}

std::uint64_t checksum(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::byte byte : bytes) hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x00000100000001b3u;
  return hash;
}

}  // namespace mambarium
