#ifndef TALLELE_GENOTYPE_GENOTYPE_SOURCE_H_
#define TALLELE_GENOTYPE_GENOTYPE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "genotype/variant_block.h"
#include "genotype/variant_index.h"
#include "kernels/cpu_target.h"

namespace tallele {

enum class Sex : uint8_t { kUnknown = 0, kMale = 1, kFemale = 2 };

// A person as the genotype file (or its sample file) names them.
struct SampleIdentity {
  std::string fid;
  std::string iid;
  Sex sex = Sex::kUnknown;
};

// What a genotype file is, for `inspect`, for logs and for choosing a way to read it.
struct GenotypeFormat {
  std::string name;                // "BGEN", "PLINK 1 BED"
  std::string layout;              // "layout 2", "SNP-major"
  std::string compression;         // "none", "zlib", "zstd"
  bool has_probabilities = false;  // imputed data: INFO has a meaning
  bool has_embedded_samples = false;
};

// The people whose genotypes a cursor hands out, and in which order: either every person
// of the file in file order, or the listed file positions, ascending.
struct SampleSelection {
  size_t num_file_samples = 0;
  std::optional<std::vector<uint32_t>> file_positions;

  size_t num_samples() const { return file_positions ? file_positions->size() : num_file_samples; }
};

// When a variant is handed out as a carrier list rather than as a dense row.
struct CarrierPolicy {
  size_t max_carriers = 0;  // 0: always dense
};

// Reads one range of variants after the other. Belongs to one worker at a time. `Read`
// does input only and `Decode` computation only, so that a pipeline can overlap them.
class GenotypeCursor {
 public:
  virtual ~GenotypeCursor() = default;

  // Fetches the stored bytes of `range` (one chromosome, inside the index).
  virtual Result<void> Read(VariantRange range) = 0;

  // Fills `block` with the variants of the last `Read`. Damaged data is an error that names
  // file, byte offset and variant; a variant that is valid but not representable here
  // (more than two alleles, ploidy above 2) gets a `VariantState` instead.
  virtual Result<void> Decode(VariantBlock& block) = 0;
};

// One genotype file (with its companions), opened and indexed. Immutable, shared by workers.
class GenotypeSource {
 public:
  virtual ~GenotypeSource() = default;

  virtual const GenotypeFormat& format() const = 0;
  virtual const std::string& path() const = 0;
  virtual const VariantIndex& variants() const = 0;

  // Identities in file order. Empty when the file stores none and no sample file was given.
  virtual const std::vector<SampleIdentity>& samples() const = 0;
  virtual size_t num_samples() const = 0;

  // A cursor that hands out the people of `selection`. Both must outlive nothing: the
  // cursor keeps a copy of the selection and a reference to this source.
  virtual Result<std::unique_ptr<GenotypeCursor>> OpenCursor(const SampleSelection& selection,
                                                             CarrierPolicy carriers,
                                                             CpuTarget target) const = 0;

  // An error if the file on disk is no longer the one that was opened.
  virtual Result<void> CheckUnchanged() const = 0;
};

}  // namespace tallele

#endif  // TALLELE_GENOTYPE_GENOTYPE_SOURCE_H_
