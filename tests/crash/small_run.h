#ifndef TALLELE_TESTS_CRASH_SMALL_RUN_H_
#define TALLELE_TESTS_CRASH_SMALL_RUN_H_

#include <map>
#include <string>
#include <vector>

#include "assoc/scan.h"
#include "base/cancel_token.h"
#include "tests/support/fixtures.h"

namespace tallele::crash {

// A simulated cohort with three traits that each have their own gaps, two chromosomes and 20 parts
// of ten variants a trait: a scan of it takes milliseconds.
class SmallCohort {
 public:
  static constexpr size_t kVariantsPerPart = 10;
  static constexpr size_t kParts = 20;
  static constexpr size_t kTraits = 3;

  SmallCohort();

  // A run with both formats under `out` inside the cohort's folder.
  ScanRequest Request(const std::string& out) const;
  std::string File(const std::string& name) const { return folder_.File(name); }
  const TempDir& folder() const { return folder_; }

 private:
  TempDir folder_;
};

// Plans and runs; the error of whichever step failed.
Result<ScanSummary> Attempt(const ScanRequest& request, const CancelToken& cancel = {});
Result<ScanSummary> Attempt(const ScanRequest& request, EventSink& events,
                            const CancelToken& cancel = {});

// Collects warnings and messages.
class Messages final : public EventSink {
 public:
  void Message(Severity, std::string_view text) override { text_ += std::string(text) + "\n"; }
  void Progress(const ProgressReport& report) override { progress_.push_back(report); }
  const std::string& text() const { return text_; }
  const std::vector<ProgressReport>& progress() const { return progress_; }

 private:
  std::string text_;
  std::vector<ProgressReport> progress_;
};

// The results of a run by name: every part of every trait and every text, all bytes. Hidden files
// and manifests are left out.
std::map<std::string, std::string> ResultBytes(const ScanRequest& request);

// Every file of the run folder and beside it with its bytes and modification time: to prove that
// nothing was touched.
std::map<std::string, std::string> Everything(const ScanRequest& request);

}  // namespace tallele::crash

#endif  // TALLELE_TESTS_CRASH_SMALL_RUN_H_
