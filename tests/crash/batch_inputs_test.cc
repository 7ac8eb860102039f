// Protects: the runs of a batch share what they read, and give the bytes of separate runs.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "assoc/batch_inputs.h"
#include "simulate/simulate.h"
#include "tests/crash/small_run.h"

namespace tallele::crash {
namespace {

namespace fs = std::filesystem;

// Counts how often each file is opened.
class CountingEnv final : public ForwardingFileEnv {
 public:
  CountingEnv() : ForwardingFileEnv(PosixFileEnv()) {}
  Result<std::unique_ptr<ReadableFile>> OpenToRead(const std::string& path) override {
    ++opened_[fs::path(path).filename().string()];
    return base().OpenToRead(path);
  }
  int opened(const std::string& file) const {
    const auto at = opened_.find(file);
    return at == opened_.end() ? 0 : at->second;
  }

 private:
  std::map<std::string, int> opened_;
};

class BatchInputsTest : public testing::Test {
 protected:
  BatchInputsTest() {
    SimulationRequest simulation;
    simulation.out = cohort_.File("p");
    simulation.num_threads = 1;
    simulation.num_people = 120;  // those of the cohort
    simulation.num_variants = 20;
    simulation.num_array_variants = 60;
    simulation.num_quantitative = 1;
    simulation.num_binary = 0;
    simulation.num_causal = 5;
    NullEventSink events;
    EXPECT_TRUE(Simulate(simulation, events, CancelToken()).ok());
    WriteLists();
  }

  // The first 100 people, and every second variant.
  void WriteLists() {
    std::ifstream samples(cohort_.File("c.sample"));
    std::ofstream keep(cohort_.File("keep"));
    std::string line;
    for (int i = -2; i < 100 && std::getline(samples, line); ++i) {
      if (i >= 0) keep << line << "\n";
    }
    std::ifstream bim(cohort_.File("p_array.bim"));
    std::ofstream extract(cohort_.File("extract"));
    for (int i = 0; std::getline(bim, line); ++i) {
      if (i % 2 == 0) extract << line.substr(line.find('\t') + 1) << "\n";
    }
  }

  // Runs that differ in columns, people, coding and genotypes, and name the same files.
  std::vector<ScanRequest> Requests(const std::string& folder) {
    std::vector<ScanRequest> requests;
    for (int i = 0; i < 5; ++i) {
      fs::create_directories(cohort_.File(folder + std::to_string(i)));
      ScanRequest request = cohort_.Request(folder + std::to_string(i) + "/r");
      request.cohort.keep_files = {cohort_.File("keep")};
      requests.push_back(request);
    }
    requests[0].cohort.pheno_columns = {"QT1"};
    requests[1].cohort.pheno_columns = {"QT2", "QT3"};
    requests[1].chromosomes = {"2"};
    for (const size_t i : {2, 4}) {
      requests[i].bgen.clear();
      requests[i].sample.clear();
      requests[i].bed = cohort_.File("p_array");
      requests[i].extract_files = {cohort_.File("extract")};
      requests[i].cohort.sample_mode = SampleMode::kCompleteCase;
      requests[i].ignore_pred = true;
      requests[i].pred.clear();
    }
    requests[4].cohort.apply_rint = true;
    return requests;
  }

  SmallCohort cohort_;
};

TEST_F(BatchInputsTest, A49SharedFilesAreOpenedOnceAndResultsAreThoseOfSeparateRuns) {
  CountingEnv env;
  const auto batch = std::make_shared<BatchInputs>(env);
  std::vector<ScanRequest> together = Requests("batch");
  for (const ScanRequest& request : together) batch->Expect(request);
  for (ScanRequest& request : together) {
    request.batch_inputs = batch;
    const auto done = Attempt(request);
    ASSERT_TRUE(done.ok()) << done.error().Message();
  }
  const std::vector<ScanRequest> separate = Requests("separate");
  for (size_t i = 0; i < separate.size(); ++i) {
    ASSERT_TRUE(Attempt(separate[i]).ok());
    const auto expected = ResultBytes(separate[i]);
    ASSERT_FALSE(expected.empty());
    EXPECT_TRUE(ResultBytes(together[i]) == expected) << i;
  }
  for (const char* file : {"c_pheno.tsv", "c_covar.tsv", "c.sample", "c_pred.list", "keep",
                           "extract", "p_array.bim", "p_array.fam"}) {
    EXPECT_EQ(env.opened(file), 1) << file;
  }
  // Once by each run for the digest of its sampled blocks, and once to index and read it.
  EXPECT_EQ(env.opened("c.bgen"), 3 + 1);
  EXPECT_EQ(env.opened("p_array.bed"), 2 + 1);
  // Once to index it, and for each chromosome that a run tests: the first run and the fourth test
  // two of QT1, the second and the fourth one and two of QT2.
  EXPECT_EQ(env.opened("c_1.loco"), 1 + 2 + 2);
  EXPECT_EQ(env.opened("c_2.loco"), 1 + 1 + 2);
}

// What is kept is never used for a file that is another one by now.
TEST_F(BatchInputsTest, FilesThatChangeBetweenRunsAreReadAgain) {
  CountingEnv env;
  const auto batch = std::make_shared<BatchInputs>(env);
  std::vector<ScanRequest> together = Requests("batch");
  for (const ScanRequest& request : together) batch->Expect(request);
  for (const size_t i : {0, 2}) {
    together[i].batch_inputs = batch;
    ASSERT_TRUE(Attempt(together[i]).ok());
  }
  for (const char* file : {"c_pheno.tsv", "c_1.loco", "p_array.bim"}) {
    // A number of the first person, and the name of the first variant.
    std::string text = ReadWholeFile(cohort_.File(file));
    const bool is_bim = std::string(file).ends_with(".bim");
    const size_t at = (is_bim ? text.find('\t') : text.find('.', text.find('\n'))) + 1;
    text[at] = is_bim ? '_' : text[at] == '1' ? '2' : '1';
    const std::string path = cohort_.File(file);
    std::ofstream(path, std::ios::binary) << text;
  }
  const std::vector<ScanRequest> separate = Requests("separate");
  for (const size_t i : {3, 4}) {
    together[i].batch_inputs = batch;
    const auto done = Attempt(together[i]);
    ASSERT_TRUE(done.ok()) << done.error().Message();
    ASSERT_TRUE(Attempt(separate[i]).ok());
    EXPECT_TRUE(ResultBytes(together[i]) == ResultBytes(separate[i])) << i;
  }
  EXPECT_EQ(env.opened("c_pheno.tsv"), 2);
  EXPECT_EQ(env.opened("p_array.bim"), 2);
  EXPECT_EQ(env.opened("p_array.fam"), 1);
  EXPECT_EQ(env.opened("c_covar.tsv"), 1);
}

}  // namespace
}  // namespace tallele::crash
