#include "results/input_files.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/hashing.h"

namespace tallele {
namespace {

constexpr uint64_t kBlock = uint64_t{64} << 10;
constexpr uint64_t kBlocks = 256;
constexpr uint64_t kPiece = uint64_t{1} << 20;

Error Changed(const std::string& path) {
  return InputError("the file changed while the run read it", path,
                    "Run again when nothing writes to it.");
}

Result<void> HashRange(const ReadableFile& file, uint64_t begin, uint64_t end, Sha256& hash,
                       std::vector<std::byte>& buffer) {
  while (begin < end) {
    buffer.resize(std::min(kPiece, end - begin));
    TALLELE_TRY(file.ReadAt(begin, buffer));
    hash.Update({reinterpret_cast<const char*>(buffer.data()), buffer.size()});
    begin += buffer.size();
  }
  return {};
}

}  // namespace

std::string AbsolutePath(const std::string& path) {
  std::error_code code;
  const std::filesystem::path absolute = std::filesystem::absolute(path, code);
  return PrintableText(code ? path : absolute.lexically_normal().string());
}

Result<InputFile> DescribeInput(const std::string& role, const std::string& path,
                                DigestPolicy policy, FileEnv& env) {
  TALLELE_ASSIGN(const auto file, env.OpenToRead(path));
  InputFile input;
  input.role = role;
  input.path = AbsolutePath(path);
  TALLELE_ASSIGN(input.identity, file->Identity());
  const uint64_t size = input.identity.size;
  const bool whole = policy == DigestPolicy::kWhole || size <= kBlock * kBlocks;
  input.policy = policy == DigestPolicy::kWhole ? "whole" : "sampled";
  Sha256 hash;
  std::vector<std::byte> buffer;
  if (whole) {
    TALLELE_TRY(HashRange(*file, 0, size, hash, buffer));
  } else {
    hash.Update(std::to_string(size) + ":");
    for (uint64_t b = 0; b < kBlocks; ++b) {
      const auto begin =
          static_cast<uint64_t>(static_cast<unsigned __int128>(size - kBlock) * b / (kBlocks - 1));
      TALLELE_TRY(HashRange(*file, begin, begin + kBlock, hash, buffer));
    }
  }
  input.sha256 = hash.HexDigest();
  TALLELE_ASSIGN(const FileIdentity after, file->Identity());
  if (!(after == input.identity)) return Changed(path);
  return input;
}

Result<void> CheckInputsUnchanged(std::span<const InputFile> inputs, FileEnv& env) {
  for (const InputFile& input : inputs) {
    TALLELE_ASSIGN(const FileIdentity now, env.Identity(input.path));
    if (!(now == input.identity)) return Changed(input.path);
  }
  return {};
}

}  // namespace tallele
