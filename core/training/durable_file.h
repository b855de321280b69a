// Files that survive a power cut and a full disk: either the whole new content is there, or the old one still is.
//
// Every function throws TrainingError naming the file, the system's reason and what would help; nothing is left half
// written then. One process at a time may write in a folder (FolderLock).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace mambarium {

// Written beside it as <path>.tmp, synced, renamed over `path`, and the folder synced.
void write_whole_file(const std::filesystem::path& path, std::span<const std::byte> content);
void write_whole_file(const std::filesystem::path& path, std::string_view content);

std::vector<std::byte> read_whole_file(const std::filesystem::path& path);

// A file that only grows, one synced piece at a time. A piece that cannot be written whole is taken back.
class AppendedFile {
 public:
  // Opens or makes it, cut to `keep` bytes when it is longer (a last line that a power cut left incomplete).
  AppendedFile(std::filesystem::path path, std::size_t keep);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  void append(std::string_view piece);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

// Held while a process writes into a run folder (the file .lock); the system lets go of it when the process ends.
class FolderLock {
 public:
  // Throws TrainingError when another process, or another lock of this one, holds the folder.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

// FNV-1a, 64 bits.
std::uint64_t checksum(std::span<const std::byte> bytes);

}  // namespace mambarium
