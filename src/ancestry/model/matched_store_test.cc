// A matched cohort goes into a packed store and comes out as rows for prediction.
#include "ancestry/model/matched_store.h"

#include <gtest/gtest.h>

#include "genotype/packed/packed_store.h"
#include "kernels/packed_products.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

Result<void> WriteStore(const std::string& path, const MatchedCohort& cohort) {
  TALLELE_ASSIGN(PackedStoreWriter writer,
                 PackedStoreWriter::Create(path, cohort.people.size(), cohort.model_snps.size()));
  std::vector<uint8_t> rows(cohort.people.size() * PackedRowStride(cohort.model_snps.size()), 0x24);
  TALLELE_TRY(writer.Append(rows));
  return writer.Commit(MatchedSections(cohort));
}

MatchedCohort Small() { return {{{"F1", "I1"}, {"F1", "I2"}}, {0, 4, 7}, std::string(64, 'a')}; }

TEST(MatchedStore, ReadsBackPeopleSnpsAndRows) {
  const TempDir folder;
  const std::string path = folder.File(kMatchedStoreName);
  const auto written = WriteStore(path, Small());
  ASSERT_TRUE(written.ok()) << written.error().Message();
  const auto rows = OpenMatchedStore(path);
  ASSERT_TRUE(rows.ok()) << rows.error().Message();
  EXPECT_EQ((*rows)->people()[1].individual, "I2");
  EXPECT_EQ((*rows)->model_snps(), (std::vector<uint32_t>{0, 4, 7}));
  EXPECT_EQ((*rows)->snps_identity(), std::string(64, 'a'));
  std::vector<uint8_t> row(PackedRowStride(3));
  ASSERT_TRUE((*rows)->Read(1, 1, row).ok());
  EXPECT_EQ(row[0] & 0x3f, 0x24);  // 0, 1, 2 copies
}

TEST(MatchedStore, RefusesPeopleOfTheSameName) {
  const TempDir folder;
  const std::string path = folder.File(kMatchedStoreName);
  MatchedCohort cohort = Small();
  cohort.people[1] = cohort.people[0];
  ASSERT_TRUE(WriteStore(path, cohort).ok());
  EXPECT_FALSE(OpenMatchedStore(path).ok());
}

}  // namespace
}  // namespace tallele
