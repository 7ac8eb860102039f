#ifndef TALLELE_ASSOC_TABLE_READING_H_
#define TALLELE_ASSOC_TABLE_READING_H_

#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assoc/scan_request.h"
#include "base/event_sink.h"
#include "base/result.h"
#include "cohort/cohort.h"
#include "genotype/genotype_source.h"

namespace tallele {

// Keeps messages until it is told where to, so that what two threads say comes out in one order.
class HeldMessages final : public EventSink {
 public:
  void Message(Severity severity, std::string_view text) override;
  void Progress(const ProgressReport&) override {}  // tables report none
  void MoveTo(EventSink& events);

 private:
  std::mutex mutex_;
  std::vector<std::pair<Severity, std::string>> messages_;
};

// Reads the people and their tables while the caller opens the genotype file: with --sample,
// nothing of that file is needed for it. `Samples` and `Cohort` are to be called once each, in this
// order; errors and messages come out there, as if the tables were read at that moment.
class TableReading {
 public:
  // Starts at once on a thread of its own, if there may be `threads` of at least two and a sample
  // file names the people.
  TableReading(const ScanRequest& request, int threads);

  // The genotype file's people, in file order. Errors: those of the sample file, no identities
  // anywhere, numbers of people that differ.
  Result<std::vector<SampleIdentity>> Samples(const GenotypeSource& source);
  // Their cohort.
  Result<Cohort> LoadedCohort(std::span<const SampleIdentity> samples, EventSink& events);

 private:
  struct Tables {
    std::optional<Result<std::vector<SampleIdentity>>> samples;
    std::optional<Result<Cohort>> cohort;  // none where the sample file cannot be read
  };
  Tables Read();

  const ScanRequest& request_;
  HeldMessages messages_;
  Tables tables_;
  std::future<Tables> reading_;  // last: it ends before what it writes to
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_TABLE_READING_H_
