#ifndef TALLELE_ANCESTRY_CALL_COLUMNS_H_
#define TALLELE_ANCESTRY_CALL_COLUMNS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ancestry/unique_people.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/file_env.h"
#include "base/result.h"
#include "genotype/genotype_source.h"
#include "genotype/packed/call_strips.h"

namespace tallele {

// Where a cohort's calls come from.
struct CallSourceRequest {
  std::string plink;   // prefix or .bed
  std::string bgen;    // instead
  std::string sample;  // Oxford sample file of the BGEN
  // A BGEN call is the genotype whose probability is at least this, else missing.
  double min_call_probability = 0.9;
  std::string scratch;  // path of the file that a BGEN's calls go to while they are needed
  bool allow_duplicate_people = false;
};

// Hard calls of a whole cohort, variant by variant, readable for any stretch of people.
class CallColumns {
 public:
  // Errors: no or both kinds of files, two people with the same FID and IID unless that is allowed,
  // and what the readers refuse.
  static Result<CallColumns> Open(const CallSourceRequest& request, EventSink& events,
                                  const CancelToken& cancel);

  const GenotypeSource& source() const { return *source_; }
  const std::vector<SampleIdentity>& people() const { return people_; }
  size_t num_people() const { return people_.size(); }
  const PeopleOrigin& people_origin() const { return people_origin_; }

  // PLINK 1 codes of people first .. first+4*strip.size()-1 (first divisible by 4), as many as
  // there are.
  Result<void> ReadStrip(size_t variant, size_t first, std::span<uint8_t> strip) const;
  // Codes of everyone for one variant, translated.
  Result<CodeCounts> CountVariant(size_t variant, StripUse use) const;

 private:
  CallColumns() = default;
  std::unique_ptr<GenotypeSource> source_;
  std::vector<SampleIdentity> people_;
  PeopleOrigin people_origin_;
  std::unique_ptr<ReadableFile> file_;
  uint64_t data_offset_ = 0;
};

// A column of the rows to make.
struct CallColumn {
  size_t variant = 0;
  StripUse use = StripUse::kFirst;
};

struct StreamRowsOptions {
  size_t num_threads = 0;
  size_t block_bytes = size_t{1} << 30;  // of rows in memory
};

// Makes 2-bit rows of all people over the given columns in one pass over the calls, a block of
// people at a time, and hands the blocks over in order. `counts`, unless null, gets each column's
// codes over all people.
using RowBlockSink = std::function<Result<void>(size_t first, size_t count, std::span<uint8_t>)>;
Result<void> StreamRows(const CallColumns& calls, std::span<const CallColumn> columns,
                        const StreamRowsOptions& options, EventSink& events,
                        const CancelToken& cancel, std::vector<CodeCounts>* counts,
                        const RowBlockSink& sink);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_CALL_COLUMNS_H_
