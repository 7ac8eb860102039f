#ifndef TALLELE_BASE_HASHING_H_
#define TALLELE_BASE_HASHING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tallele {

class FileEnv;

// SHA-256 of a stream of bytes; for identities that are written to disk.
class Sha256 {
 public:
  using Digest = std::array<std::uint8_t, 32>;

  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::span<const std::byte> bytes);
  void Update(std::string_view text);
  // The digest of everything so far. The object may only be destroyed or assigned to afterwards.
  Digest Finish();
  // `Finish` as 64 lower-case hexadecimal digits.
  std::string FinishHex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// SHA-256 of `text` as 64 lower-case hexadecimal digits.
std::string Sha256Hex(std::string_view text);

// SHA-256 of a file's content, in hexadecimal.
Result<std::string> Sha256HexOfFile(FileEnv& env, const std::string& path);

// xxHash64: fast, not cryptographic; for tables and checksums inside one run.
std::uint64_t XxHash64(std::span<const std::byte> bytes, std::uint64_t seed = 0);
std::uint64_t XxHash64(std::string_view text, std::uint64_t seed = 0);

}  // namespace tallele

#endif  // TALLELE_BASE_HASHING_H_
