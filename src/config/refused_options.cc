#include "config/refused_options.h"

#include <span>

namespace tallele {
namespace {

struct Refusal {
  const char* why;
  std::span<const std::string_view> names;
};

constexpr char kStoredNull[] =
    "null Firth models are written for the chromosomes that the run tests. Leave it out, and run "
    "--write-null-firth over the chromosomes that you need";
constexpr std::string_view kStoredNullFlags[] = {"--compute-all"};

constexpr char kSurvival[] =
    "time-to-event and count traits are not available. Use REGENIE for them";
constexpr std::string_view kSurvivalFlags[] = {"--t2e",
                                               "--ct",
                                               "--eventColList",
                                               "--coxnofirth",
                                               "--coxscore-exact",
                                               "--nocov-approx",
                                               "--htp-with-event"};

constexpr char kTransposed[] =
    "transposed trait tables are not read. Write one line for each person, with FID and IID first";
constexpr std::string_view kTransposedFlags[] = {"--tpheno-file", "--tpheno-indexCol",
                                                 "--tpheno-ignoreCols", "--iid-only"};

constexpr char kResidualRank[] =
    "the rank transform of residuals is not available. Use --apply-rint, or transform the "
    "residuals "
    "beforehand";
constexpr std::string_view kResidualRankFlags[] = {"--apply-rerint", "--apply-rerint-cov"};

constexpr char kImpute[] =
    "missing traits are never filled in: each trait is tested in its own people. Leave it out, or "
    "impute the table beforehand";
constexpr std::string_view kImputeFlags[] = {"--force-impute"};

constexpr char kPgen[] =
    "PLINK 2 files are not read yet. Convert them with plink2 --export bgen-1.2 or --make-bed";
constexpr std::string_view kPgenFlags[] = {"--pgen"};

constexpr char kMacLists[] =
    "exemptions from the allele count filter are not available. Run the listed variants separately "
    "with --extract and their own --minMAC";
constexpr std::string_view kMacListFlags[] = {"--extract-or", "--exclude-or", "--force-mac-filter"};

constexpr char kDosage[] =
    "male dosages on X stay 0 to 2, as REGENIE's default has them; halve BETA's unit yourself if "
    "you need the other scale";
constexpr std::string_view kDosageFlags[] = {"--skip-dosage-comp"};

constexpr char kBlocks[] =
    "a part of the file is chosen with --chr, --range or --extract, not by block numbers";
constexpr std::string_view kBlockFlags[] = {"--nb", "--starting-block"};

constexpr char kScore[] =
    "whole-genome scores as predictions are not available. Use LOCO files with --pred";
constexpr std::string_view kScoreFlags[] = {"--use-prs", "--prs-cov", "--force-ltco"};

constexpr char kReference[] =
    "the test is REGENIE's default score test with the null variance; other references are not "
    "available";
constexpr std::string_view kReferenceFlags[] = {"--t-test", "--mse-full"};

constexpr char kLayouts[] =
    "effects of covariates and covariance matrices are not written. Leave it out";
constexpr std::string_view kLayoutFlags[] = {"--print-cov-betas", "--print-vcov"};

constexpr char kTuning[] =
    "it tunes REGENIE's own algorithm and has no meaning here. Leave it out; results do not depend "
    "on such settings";
constexpr std::string_view kTuningFlags[] = {"--prop-zero-thr", "--seed", "--lowmem",
                                             "--lowmem-prefix"};

constexpr char kStep1[] =
    "it belongs to step 1. Run step 1 with REGENIE and give its list with --pred";
constexpr std::string_view kStep1Flags[] = {"--cv",
                                            "--loocv",
                                            "--l0",
                                            "--l1",
                                            "--setl0",
                                            "--setl1",
                                            "--split-l0",
                                            "--run-l0",
                                            "--run-l1",
                                            "--l1-phenoList",
                                            "--keep-l0",
                                            "--print-prs",
                                            "--use-relative-path",
                                            "--force-step1",
                                            "--within",
                                            "--test-l0",
                                            "--l0-pval-thr",
                                            "--select-l0",
                                            "--rm-l0-pct",
                                            "--l0-event",
                                            "--l1-full",
                                            "--prior-alpha",
                                            "--use-adam",
                                            "--adam-mini",
                                            "--print",
                                            "--early-exit",
                                            "--t2e-event-l0",
                                            "--t2e-l1-pi6"};

constexpr char kInteraction[] =
    "conditional and interaction tests are not available. Use REGENIE for them, or add the "
    "variants "
    "as covariates";
constexpr std::string_view kInteractionFlags[] = {"--condition-list",
                                                  "--condition-file",
                                                  "--condition-file-sample",
                                                  "--max-condition-vars",
                                                  "--interaction",
                                                  "--interaction-snp",
                                                  "--interaction-file",
                                                  "--interaction-file-sample",
                                                  "--interaction-file-reffirst",
                                                  "--interaction-prs",
                                                  "--no-condtl",
                                                  "--force-condtl",
                                                  "--rare-mac",
                                                  "--force-robust",
                                                  "--no-robust",
                                                  "--force-hc4",
                                                  "--hlm-novquad"};

constexpr char kSets[] = "gene and set tests are not available. Use REGENIE for them";
constexpr std::string_view kSetFlags[] = {"--set-list",           "--anno-file",
                                          "--anno-labels",        "--mask-def",
                                          "--aaf-file",           "--set-singletons",
                                          "--aaf-bins",           "--build-mask",
                                          "--singleton-carrier",  "--extract-sets",
                                          "--exclude-sets",       "--extract-setlist",
                                          "--exclude-setlist",    "--vc-tests",
                                          "--vc-maxAAF",          "--vc-MACthr",
                                          "--skat-params",        "--acat-beta",
                                          "--skato-rho",          "--weights-col",
                                          "--multiply-weights",   "--joint",
                                          "--joint-only",         "--rgc-gene-p",
                                          "--rgc-gene-def",       "--mask-lovo",
                                          "--lovo-snplist",       "--mask-lodo",
                                          "--write-mask",         "--write-mask-snplist",
                                          "--write-setlist",      "--skip-test",
                                          "--check-burden-files", "--strict-check-burden",
                                          "--skip-sbat",          "--sbat-napprox",
                                          "--sbat-adapt",         "--sbat-mtw",
                                          "--skip-cf-burden",     "--remeta-save-ld",
                                          "--remeta-ld-spr"};

constexpr char kOthers[] =
    "LD matrices and multi-trait tests are not available. Use REGENIE for them";
constexpr std::string_view kOtherFlags[] = {
    "--compute-corr", "--output-corr-text", "--forcein-vars", "--ld-extract",
    "--skip-scaleG",  "--sparse-thr",       "--mt",           "--multiphen",
    "--mcc",          "--mcc-skew",         "--mcc-thr"};

constexpr Refusal kFlags[] = {{kStoredNull, kStoredNullFlags},
                              {kSurvival, kSurvivalFlags},
                              {kTransposed, kTransposedFlags},
                              {kResidualRank, kResidualRankFlags},
                              {kImpute, kImputeFlags},
                              {kPgen, kPgenFlags},
                              {kMacLists, kMacListFlags},
                              {kDosage, kDosageFlags},
                              {kBlocks, kBlockFlags},
                              {kScore, kScoreFlags},
                              {kReference, kReferenceFlags},
                              {kLayouts, kLayoutFlags},
                              {kTuning, kTuningFlags},
                              {kStep1, kStep1Flags},
                              {kInteraction, kInteractionFlags},
                              {kSets, kSetFlags},
                              {kOthers, kOtherFlags}};

constexpr char kRemoved[] =
    "this key of a pre-release was removed; nothing replaces it. Delete the line";
constexpr std::string_view kRemovedKeys[] = {"firth_newton_raphson_zero_start_iterations",
                                             "use_block_firth_math",
                                             "firth_coefficient_tolerance",
                                             "firth_likelihood_tolerance",
                                             "firth_step_halving_maximum_attempts",
                                             "firth_step_halving_scale",
                                             "firth_initial_response_scale"};

constexpr char kCompiler[] =
    "there is no just-in-time compiler here, so there is no cache to place. Delete the line";
constexpr std::string_view kCompilerKeys[] = {"jax_cache_dir"};

constexpr char kThresholds[] =
    "whether a variant varies is decided against its own rounding error; there is no threshold to "
    "set. Delete the line";
constexpr std::string_view kThresholdKeys[] = {"linear_minimum_variance",
                                               "linear_relative_variance_tolerance"};

constexpr char kBatches[] =
    "candidates of a block are corrected in parallel, however many there are. Delete the line";
constexpr std::string_view kBatchKeys[] = {"firth_batch_size", "firth_candidate_capacity"};

constexpr char kNullThresholds[] =
    "the null logistic model is fitted until no logit moves by 1e-9, with probabilities held 2e-15 "
    "from 0 and 1 and no floor for weights. Delete the line";
constexpr std::string_view kNullThresholdKeys[] = {
    "binary_null_coefficient_tolerance", "binary_minimum_probability", "binary_minimum_variance",
    "binary_relative_variance_tolerance"};

constexpr char kWriters[] =
    "output is encoded by the worker that finishes a block. Delete the line; use cpu_threads";
constexpr std::string_view kWriterKeys[] = {"writer_threads"};

constexpr char kResume[] =
    "a run folder is taken over with resume = true alone; its lock needs no claims. Delete the "
    "line";
constexpr std::string_view kResumeKeys[] = {"recover_attempt", "fenced_owner_claim_id"};

constexpr char kHash[] = "the file's content hash is not checked yet. Delete the line";
constexpr std::string_view kHashKeys[] = {"bgen_content_sha256"};

constexpr Refusal kKeys[] = {{kRemoved, kRemovedKeys},      {kCompiler, kCompilerKeys},
                             {kThresholds, kThresholdKeys}, {kWriters, kWriterKeys},
                             {kResume, kResumeKeys},        {kHash, kHashKeys},
                             {kBatches, kBatchKeys},        {kNullThresholds, kNullThresholdKeys}};

std::string Find(std::span<const Refusal> table, std::string_view name) {
  for (const Refusal& refusal : table) {
    for (const std::string_view candidate : refusal.names) {
      if (candidate == name) return refusal.why;
    }
  }
  return {};
}

}  // namespace

std::string WhyFlagIsRefused(std::string_view flag) { return Find(kFlags, flag); }

std::string WhyKeyIsRefused(std::string_view key) { return Find(kKeys, key); }

}  // namespace tallele
