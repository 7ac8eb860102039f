#include "ancestry/model/matched_store.h"

#include <map>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "genotype/packed/packed_store.h"

namespace tallele {
namespace {

constexpr char kPeople[] = "people";
constexpr char kModelSnps[] = "model_snps";
constexpr char kSnpsIdentity[] = "model_snps_identity";
constexpr char kDuplicates[] = "duplicate_people";
constexpr char kAllowed[] = "allowed";

class MatchedRows final : public CohortRows {
 public:
  MatchedRows(PackedStore store, MatchedCohort cohort)
      : store_(std::move(store)), cohort_(std::move(cohort)) {}

  const std::vector<CohortPerson>& people() const override { return cohort_.people; }
  const std::vector<uint32_t>& model_snps() const override { return cohort_.model_snps; }
  const std::string& snps_identity() const override { return cohort_.snps_identity; }
  std::string Identity() const override {
    return store_.rows_checksum() + MatchedSections(cohort_)[kModelSnps];
  }
  Result<void> Read(size_t first, size_t count, std::span<uint8_t> rows) const override {
    return store_.Read(first, count, rows);
  }

 private:
  PackedStore store_;
  MatchedCohort cohort_;
};

Error Broken(const PackedStore& store, std::string what) {
  return InputError(std::move(what), store.path(), "Run `tallele dietnet match` again.");
}

Result<std::vector<CohortPerson>> ReadPeople(const PackedStore& store, bool duplicates_allowed) {
  TALLELE_ASSIGN(const std::string text, store.Section(kPeople));
  std::vector<CohortPerson> people;
  std::map<std::pair<std::string, std::string>, size_t> seen;
  for (const std::string& line : SplitLines(text)) {
    const size_t tab = line.find('\t');
    if (tab == std::string::npos) return Broken(store, "a person of the store has one name only");
    people.push_back({line.substr(0, tab), line.substr(tab + 1)});
    const auto [earlier, added] =
        seen.try_emplace({people.back().family, people.back().individual}, people.size());
    if (!added && !duplicates_allowed) {
      Error error = Broken(store, fmt::format("people {} and {} have the same FID and IID",
                                              earlier->second, people.size()));
      error.advice = "Give everybody an identifier of their own and match again.";
      return error;
    }
  }
  if (people.size() != store.num_people()) {
    return Broken(store, "the store does not name as many people as it has rows");
  }
  return people;
}

Result<std::vector<uint32_t>> ReadModelSnps(const PackedStore& store) {
  TALLELE_ASSIGN(const std::string text, store.Section(kModelSnps));
  std::vector<uint32_t> snps;
  for (const std::string& line : SplitLines(text)) {
    const auto snp = ParseInteger(line);
    if (!snp || *snp < 0 || *snp > UINT32_MAX) {
      return Broken(store, "the store's list of model SNPs holds something else");
    }
    snps.push_back(static_cast<uint32_t>(*snp));
  }
  if (snps.size() != store.num_snps()) {
    return Broken(store, "the store does not list as many model SNPs as it has columns");
  }
  return snps;
}

}  // namespace

std::map<std::string, std::string> MatchedSections(const MatchedCohort& cohort) {
  std::vector<std::string> people, snps;
  for (const CohortPerson& person : cohort.people) {
    people.push_back(person.family + "\t" + person.individual);
  }
  for (const uint32_t snp : cohort.model_snps) snps.push_back(std::to_string(snp));
  std::map<std::string, std::string> sections = {{kPeople, JoinLines(people)},
                                                 {kModelSnps, JoinLines(snps)},
                                                 {kSnpsIdentity, cohort.snps_identity}};
  if (cohort.duplicates_allowed) sections[kDuplicates] = kAllowed;
  return sections;
}

Result<std::unique_ptr<CohortRows>> OpenMatchedStore(const std::string& path) {
  TALLELE_ASSIGN(PackedStore store, PackedStore::Open(path));
  MatchedCohort cohort;
  const auto duplicates = store.Section(kDuplicates);
  cohort.duplicates_allowed = duplicates.ok() && *duplicates == kAllowed;
  TALLELE_ASSIGN(cohort.people, ReadPeople(store, cohort.duplicates_allowed));
  TALLELE_ASSIGN(cohort.model_snps, ReadModelSnps(store));
  TALLELE_ASSIGN(cohort.snps_identity, store.Section(kSnpsIdentity));
  return std::unique_ptr<CohortRows>(new MatchedRows(std::move(store), std::move(cohort)));
}

}  // namespace tallele
