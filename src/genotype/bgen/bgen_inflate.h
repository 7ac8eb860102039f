#ifndef TALLELE_GENOTYPE_BGEN_BGEN_INFLATE_H_
#define TALLELE_GENOTYPE_BGEN_BGEN_INFLATE_H_

#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "genotype/bgen/bgen_header.h"

namespace tallele::bgen {

// Inflates one stored payload. Reused from variant to variant by one thread.
class Inflater {
 public:
  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Exactly `out.size()` bytes from exactly `stored`; a reason when that is not what they hold.
  // Throws std::bad_alloc when the libraries get no memory.
  Result<void> Inflate(Compression compression, std::span<const uint8_t> stored,
                       std::span<uint8_t> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tallele::bgen

#endif  // TALLELE_GENOTYPE_BGEN_BGEN_INFLATE_H_
