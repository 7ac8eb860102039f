#ifndef TALLELE_BASE_HASHING_H_
#define TALLELE_BASE_HASHING_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tallele {

// SHA-256 of data that comes in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void Update(std::string_view bytes);
  std::string HexDigest();  // 64 lower-case digits; ends the object's use

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string Sha256Hex(std::string_view bytes);

// MD5 of data that comes in pieces: only to compare with digests that others publish, since it is
// broken as a protection against forgery.
class Md5 {
 public:
  Md5();
  ~Md5();
  Md5(Md5&&) noexcept;
  Md5& operator=(Md5&&) noexcept;

  void Update(std::string_view bytes);
  std::string HexDigest();  // 32 lower-case digits; ends the object's use

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Fast 64-bit hash for tables, not for identity.
uint64_t HashBytes(std::string_view bytes);

}  // namespace tallele

#endif  // TALLELE_BASE_HASHING_H_
