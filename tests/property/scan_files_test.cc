// Protects: the bytes of the result files do not depend on threads, block size, instruction set,
// compression, co-analysed traits or the order of table rows. The reference is always another
// run of the same program on the golden cohort; its correctness is the golden tests' matter.

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "assoc/scan.h"
#include "kernels/cpu_target.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

class ScanFiles : public testing::Test {
 protected:
  void SetUp() override {
    if (!SharedFixtures()) GTEST_SKIP() << "the folder of shared fixtures is absent";
    golden_ = *SharedFixtures() / "golden";
    MakeGappyTraits();
  }

  // QT1 with gaps of its own (every seventh person) beside QT2, QT3 and their gaps; LOCO lists of
  // all three in one file.
  void MakeGappyTraits() {
    std::ifstream in(golden_ / "phenotypes_qt.tsv");
    std::string line, text;
    std::vector<std::string> lines;
    for (int i = 0; std::getline(in, line); ++i) {
      std::istringstream words(line);
      std::string fid, iid, a, b, c;
      words >> fid >> iid >> a >> b >> c;
      if (i > 0 && i % 7 == 0) a = "NA";
      lines.push_back(fid + "\t" + iid + "\t" + a + "\t" + b + "\t" + c + "\n");
    }
    for (const std::string& l : lines) text += l;
    pheno_ = directory_.Write("pheno.tsv", text);
    text = lines[0];
    for (size_t i = lines.size(); i-- > 1;) text += lines[i];
    backwards_ = directory_.Write("backwards.tsv", text);
    std::string list;
    for (const char* trait : {"QT1", "QT2", "QT3"}) {
      list += std::string(trait) + " " +
              (golden_ / ("regenie/s1_" + std::string(trait) + "_1.loco")).string() + "\n";
    }
    pred_ = directory_.Write("pred.list", list);
  }

  ScanRequest Request() const {
    ScanRequest request;
    request.bgen = golden_ / "imputed.bgen";
    request.sample = golden_ / "imputed.sample";
    request.cohort.pheno_file = pheno_;
    request.cohort.covar_file = golden_ / "covariates.tsv";
    request.cohort.categorical_covariates = {"batch"};
    request.pred = pred_;
    request.format = OutputFormat::kRegenie;
    request.threads = 1;
    request.min_mac = 1;
    return request;
  }

  // The text of each trait's file.
  std::vector<std::string> Texts(ScanRequest request, std::vector<std::string> traits) {
    const std::string name = "run" + std::to_string(num_runs_++);
    request.out = directory_.File(name);
    NullEventSink events;
    auto plan = PlanScan(request, events);
    EXPECT_TRUE(plan.ok()) << plan.error().Message();
    if (!plan.ok()) return {};
    auto summary = RunScan(**plan, events, CancelToken());
    EXPECT_TRUE(summary.ok()) << summary.error().Message();
    std::vector<std::string> texts;
    for (const std::string& trait : traits) {
      texts.push_back(ReadWholeFile(directory_.File(name + "_" + trait + ".regenie")));
      EXPECT_GT(texts.back().size(), 1000u);
    }
    return texts;
  }
  std::vector<std::string> AllTexts(const ScanRequest& request) {
    return Texts(request, {"QT1", "QT2", "QT3"});
  }

  std::filesystem::path golden_;
  TempDir directory_;
  std::string pheno_, backwards_, pred_;
  int num_runs_ = 0;
};

TEST_F(ScanFiles, ThreadsAndBlockSizes) {
  const auto first = AllTexts(Request());
  for (const int threads : {1, 2, 4}) {
    for (const size_t width : {1, 7, 400, 100000}) {
      ScanRequest request = Request();
      request.threads = threads;
      request.block_size = width;
      EXPECT_EQ(AllTexts(request), first) << threads << " threads, blocks of " << width;
    }
  }
}

TEST_F(ScanFiles, TraitsAloneAndTogether) {
  const auto together = AllTexts(Request());
  const std::vector<std::string> traits = {"QT1", "QT2", "QT3"};
  for (size_t t = 0; t < traits.size(); ++t) {
    ScanRequest request = Request();
    request.cohort.pheno_columns = {traits[t]};
    EXPECT_EQ(Texts(request, {traits[t]})[0], together[t]) << traits[t];
  }
}

TEST_F(ScanFiles, Compression) {
  ScanRequest request = Request();
  request.bgen = golden_ / "imputed_zstd.bgen";
  EXPECT_EQ(AllTexts(request), AllTexts(Request()));
}

TEST_F(ScanFiles, OrderOfTableRows) {
  ScanRequest request = Request();
  request.cohort.pheno_file = backwards_;
  EXPECT_EQ(AllTexts(request), AllTexts(Request()));
}

TEST_F(ScanFiles, FewPeopleKept) {
  // Below 60 % of the file the blocks hold the used people alone; above, everyone.
  std::string few, many;
  std::istringstream in(ReadWholeFile(pheno_));
  std::string line;
  std::getline(in, line);
  for (int i = 0; std::getline(in, line); ++i) {
    std::istringstream words(line);
    std::string fid, iid;
    words >> fid >> iid;
    if (i % 2 == 0) few += fid + " " + iid + "\n";
  }
  ScanRequest request = Request();
  request.cohort.keep_files = {directory_.Write("few.txt", few)};
  const auto first = AllTexts(request);
  request.threads = 2;
  request.block_size = 13;
  EXPECT_EQ(AllTexts(request), first);
}

TEST_F(ScanFiles, InstructionSets) {
  const auto first = AllTexts(Request());
  const auto supported = SupportedCpuTargets();
  for (const CpuTarget target : AllCpuTargets()) {
    const std::string name(CpuTargetName(target));
    if (std::find(supported.begin(), supported.end(), target) == supported.end()) {
      std::printf("not run here: %s\n", name.c_str());
      continue;
    }
    setenv("TALLELE_CPU_TARGET", name.c_str(), 1);
    ASSERT_EQ(*ChooseCpuTarget(), target);
    EXPECT_EQ(AllTexts(Request()), first) << name;
    unsetenv("TALLELE_CPU_TARGET");
  }
}

// With two threads the tables are read while the genotype file is opened: what comes first in the
// plan is still what the user hears of, and messages come in the same order.
TEST_F(ScanFiles, ErrorsAndMessagesOfAPlanDoNotDependOnThreads) {
  class Recorder final : public EventSink {
   public:
    void Message(Severity, std::string_view text) override { said += std::string(text) + "\n"; }
    void Progress(const ProgressReport&) override {}
    std::string said;
  };
  const std::string sample = ReadWholeFile(golden_ / "imputed.sample");
  const std::string short_sample =
      directory_.Write("short.sample", sample.substr(0, sample.rfind('\n', sample.size() - 2) + 1));
  const std::string twice = directory_.Write("twice.sample", "ID_1 ID_2\n0 0\nA A\nA A\n");
  const std::string cut_bgen =
      directory_.Write("cut.bgen", ReadWholeFile(golden_ / "imputed.bgen").substr(0, 100000));
  const std::string junk = directory_.Write("junk.tsv", "FID IID QT1\nF1 I1 high\n");
  struct Case {
    const char* what;
    std::string expected;  // in the message; none where the plan can be made
    std::function<void(ScanRequest&)> change;
  };
  const std::vector<Case> cases = {
      {"nothing wrong", "", [](ScanRequest&) {}},
      {"sample file", "another number", [&](ScanRequest& r) { r.sample = short_sample; }},
      {"a person twice", "already stood on line 3", [&](ScanRequest& r) { r.sample = twice; }},
      {"genotypes before traits", "cut.bgen",
       [&](ScanRequest& r) { r.bgen = cut_bgen, r.cohort.pheno_file = junk; }},
      {"sample file before traits", "another number",
       [&](ScanRequest& r) { r.sample = short_sample, r.cohort.pheno_file = junk; }},
      {"selection before traits", "the range",
       [&](ScanRequest& r) { r.range = "1;2", r.cohort.pheno_file = junk; }},
      {"traits before predictions", "not a number",
       [&](ScanRequest& r) { r.cohort.pheno_file = junk, r.pred = junk; }},
      {"a file that is not there", "absent.tsv",
       [&](ScanRequest& r) { r.cohort.covar_file = "absent.tsv"; }},
  };
  for (const Case& c : cases) {
    std::vector<std::string> outcomes;
    for (const int threads : {1, 2}) {
      ScanRequest request = Request();
      request.out = directory_.File("plan");
      request.threads = threads;
      c.change(request);
      Recorder events;
      const auto plan = PlanScan(request, events);
      EXPECT_EQ(plan.ok(), c.expected.empty()) << c.what;
      outcomes.push_back(events.said + (plan.ok() ? "planned" : plan.error().Message()));
    }
    EXPECT_NE(outcomes[0].find(c.expected), std::string::npos) << c.what << ": " << outcomes[0];
    EXPECT_EQ(outcomes[0], outcomes[1]) << c.what;
  }
}

TEST_F(ScanFiles, CancelledRunsLeaveNothing) {
  ScanRequest request = Request();
  request.out = directory_.File("cancelled");
  NullEventSink events;
  auto plan = PlanScan(request, events);
  ASSERT_TRUE(plan.ok());
  CancelToken cancel;
  cancel.Cancel();
  auto summary = RunScan(**plan, events, cancel);
  ASSERT_FALSE(summary.ok());
  EXPECT_EQ(summary.error().kind, ErrorKind::kInterrupted);
  EXPECT_FALSE(std::filesystem::exists(directory_.File("cancelled_QT1.regenie")));
}

}  // namespace
}  // namespace tallele
