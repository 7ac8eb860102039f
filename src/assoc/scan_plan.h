#ifndef TALLELE_ASSOC_SCAN_PLAN_H_
#define TALLELE_ASSOC_SCAN_PLAN_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assoc/block_test.h"
#include "assoc/chromosome_state.h"
#include "assoc/covariate_basis.h"
#include "assoc/scan.h"
#include "assoc/scan_axis.h"
#include "assoc/stored_null_firth.h"
#include "cohort/cohort.h"
#include "cohort/loco_predictions.h"
#include "cohort/variant_selection.h"
#include "genotype/genotype_source.h"
#include "results/run_manifest.h"
#include "results/trait_output.h"

namespace tallele {

// The plan that `PlanScan` makes and `RunScan` reads.
class PlannedScan final : public ScanPlan {
 public:
  std::vector<std::string> Describe() const override;
  const std::vector<TraitProblem>& problems() const override { return trait_problems; }
  size_t num_traits() const override { return traits.size(); }

  ScanRequest request;
  CpuTarget target = CpuTarget::kScalar;
  int threads = 1;
  size_t block_width = 0;
  bool block_width_limited = false;  // the request asked for more than memory allows

  std::shared_ptr<const GenotypeSource> source;
  std::vector<SampleIdentity> samples;  // of the genotype file, in file order
  Cohort cohort;                        // its covariates are released once the basis is made
  VariantSelection selection;
  std::unique_ptr<LocoPredictions> loco;
  CovariateBasis basis;
  RegenieBasis regenie_basis;  // only where null Firth models are written or read
  std::optional<StoredNullFirth> stored_null_firth;
  size_t num_covariates_asked = 0;
  ScanAxis axis;
  std::unique_ptr<NullModelFitter> fitter;  // knows each trait's residual; copied by runs
  std::vector<size_t> traits;               // those that are analysed, in the cohort's order
  std::vector<TraitProblem> trait_problems;

  // For manifests (see execution_plan.h).
  std::vector<InputFile> inputs;  // as they were before anything was read from them
  InputFile genotypes;            // sampled
  std::string samples_digest;
  std::string variants_digest;
  std::vector<std::vector<PlanField>> trait_plans;  // [traits]; none without Parquet

  TestSettings settings;
  OutputRequest output;
  ResultSchema schema;

  bool is_binary() const { return request.cohort.family == TraitFamily::kBinary; }
  NullModelInputs FitterInputs() const;
  FileEnv& env() const { return request.safety.env ? *request.safety.env : PosixFileEnv(); }
  bool HasSelected(VariantRange range) const { return CountSelected(range) > 0; }
  size_t CountSelected(VariantRange range) const;
  size_t num_selected() const {
    return selection.selected.empty() ? source->variants().size() : selection.num_selected;
  }
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_SCAN_PLAN_H_
