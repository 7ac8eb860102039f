#include "tests/crash/small_run.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "results/output_paths.h"
#include "simulate/simulate.h"

namespace tallele::crash {
namespace {

namespace fs = std::filesystem;

std::string RunFolder(const ScanRequest& request) {
  return request.run_directory.empty() ? request.out + ".tallele" : request.run_directory;
}

}  // namespace

SmallCohort::SmallCohort() {
  SimulationRequest simulation;
  simulation.out = File("c");
  simulation.num_threads = 1;
  simulation.num_people = 120;
  simulation.num_variants = kParts * kVariantsPerPart;
  simulation.num_chromosomes = 2;
  simulation.maf_mix = {0.2, 0.2, 0.6};
  simulation.missing_call_share = 0.05;
  simulation.num_array_variants = 0;
  simulation.num_quantitative = kTraits;
  simulation.num_binary = 0;
  simulation.num_causal = 5;
  simulation.num_gapped_traits = kTraits;
  simulation.gap_share = 0.1;
  NullEventSink events;
  const auto done = Simulate(simulation, events, CancelToken());
  EXPECT_TRUE(done.ok()) << done.error().Message();
}

ScanRequest SmallCohort::Request(const std::string& out) const {
  ScanRequest request;
  request.bgen = File("c.bgen");
  request.sample = File("c.sample");
  request.cohort.pheno_file = File("c_pheno.tsv");
  request.cohort.covar_file = File("c_covar.tsv");
  request.cohort.categorical_covariates = {"batch"};
  request.pred = File("c_pred.list");
  request.out = File(out);
  request.format = OutputFormat::kBoth;
  request.write_samples = true;
  request.min_mac = 3;
  request.threads = 1;
  request.safety.variants_per_part = kVariantsPerPart;
  return request;
}

Result<ScanSummary> Attempt(const ScanRequest& request, EventSink& events,
                            const CancelToken& cancel) {
  TALLELE_ASSIGN(const auto plan, PlanScan(request, events));
  return RunScan(*plan, events, cancel);
}

Result<ScanSummary> Attempt(const ScanRequest& request, const CancelToken& cancel) {
  NullEventSink events;
  return Attempt(request, events, cancel);
}

std::map<std::string, std::string> ResultBytes(const ScanRequest& request) {
  std::map<std::string, std::string> bytes;
  const std::string folder = RunFolder(request);
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".parquet") && !name.starts_with('.')) {
      bytes[fs::relative(entry.path(), folder).string()] = ReadWholeFile(entry.path());
    }
  }
  const std::string prefix = fs::path(request.out).filename().string();
  for (const auto& entry : fs::directory_iterator(fs::path(request.out).parent_path())) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() ||
        !(name.starts_with(prefix + "_") || name.starts_with(prefix + ".regenie"))) {
      continue;
    }
    bytes[name.substr(prefix.size())] = ReadWholeFile(entry.path());
  }
  return bytes;
}

std::map<std::string, std::string> Everything(const ScanRequest& request) {
  std::map<std::string, std::string> files;
  const fs::path folder = fs::path(request.out).parent_path();
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const auto time = entry.last_write_time().time_since_epoch().count();
    std::string state = std::to_string(time);
    if (entry.is_regular_file()) state += ReadWholeFile(entry.path());
    files[entry.path().string()] = state;
  }
  return files;
}

}  // namespace tallele::crash
