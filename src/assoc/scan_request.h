#ifndef TALLELE_ASSOC_SCAN_REQUEST_H_
#define TALLELE_ASSOC_SCAN_REQUEST_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "assoc/binary_options.h"
#include "base/file_env.h"
#include "cohort/cohort_request.h"
#include "results/trait_output.h"

namespace tallele {

enum class GeneticModel { kAdditive, kDominant, kRecessive };
enum class OutputFormat { kParquet, kRegenie, kBoth };
// What to do with a run folder that holds results.
enum class ExistingRun { kRefuse, kResume, kOverwrite };

class BatchInputs;

// What a run tells machines about itself, inside its folder.
enum class Telemetry { kOff, kProgress, kProfile };

// How a run keeps itself safe, and what it writes down about itself. Never changes results.
struct RunSafety {
  ExistingRun existing = ExistingRun::kRefuse;
  Telemetry telemetry = Telemetry::kOff;
  bool verify_inputs = false;    // hash the genotype file whole
  std::string command;           // as the user gave it, for the manifest
  std::string version;           // of the program
  std::string effective_config;  // text of effective_config.toml; empty: none is written

  // Set by tests alone.
  size_t variants_per_part = kVariantsPerPart;
  // Of everything in the run folder and, outside a batch, of the inputs; null: the operating
  // system's.
  FileEnv* env = nullptr;
};

// Everything that a user can say about a scan (REGENIE's step 2). Plain data: made by
// config/, validated and used by `PlanScan`.
struct ScanRequest {
  CohortRequest cohort;

  // Genotypes: exactly one of bgen and bed.
  std::string bgen;
  std::string sample;  // Oxford sample file
  std::string bgi;
  std::string bed;  // prefix or .bed path
  bool ref_first = false;

  // Variants.
  std::vector<std::string> extract_files;
  std::vector<std::string> exclude_files;
  std::vector<std::string> chromosomes;
  std::string range;  // CHR:A-B
  int num_autosomes = 22;
  std::string par_region = "hg38";
  double min_mac = 5;
  double min_info = 0;
  GeneticModel model = GeneticModel::kAdditive;
  double min_homs = 0;

  // Binary traits.
  BinaryOptions binary;
  std::string use_null_firth;     // list of stored null Firth models to start from; empty: none
  bool write_null_firth = false;  // store the null Firth models beside the results

  // Predictions.
  std::string pred;
  bool ignore_pred = false;

  // Output.
  std::string out;
  std::string run_directory;  // overrides <out>.tallele
  OutputFormat format = OutputFormat::kParquet;
  bool gzip = false;
  bool write_samples = false;
  bool print_pheno = false;
  bool float32_statistics = false;
  bool af_cc = false;
  bool no_split = false;  // one text file for all traits
  std::string htp;        // cohort name: text in REGENIE's 22-column layout; empty: no
  bool exact_p = false;   // htp p-values without a floor

  // Work; never changes results.
  size_t block_size = 0;  // 0: from memory
  int threads = 0;        // 0: all

  std::shared_ptr<BatchInputs> batch_inputs;  // null: this run is none of a batch

  RunSafety safety;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_SCAN_REQUEST_H_
