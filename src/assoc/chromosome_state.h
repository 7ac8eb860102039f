#ifndef TALLELE_ASSOC_CHROMOSOME_STATE_H_
#define TALLELE_ASSOC_CHROMOSOME_STATE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assoc/binary_null.h"
#include "assoc/binary_options.h"
#include "assoc/covariate_basis.h"
#include "assoc/list_membership.h"
#include "assoc/quantitative_null.h"
#include "assoc/sample_group.h"
#include "assoc/scan.h"
#include "assoc/scan_axis.h"
#include "assoc/stored_null_firth.h"
#include "cohort/cohort.h"
#include "cohort/loco_predictions.h"
#include "kernels/weighted_squares.h"

namespace tallele {

// Null model of one trait on one chromosome, in the units of the exact sums.
struct TraitNull {
  size_t trait = 0;   // in the order of the cohort
  size_t column = 0;  // of its residual in the chromosome's columns
  double scale = 0;   // BETA = scale * score / v
  double mse = 0;
  std::vector<double> projection;  // [rank] factor' X'r
};

struct GroupState {
  std::shared_ptr<const SampleGroup> group;
  std::vector<TraitNull> traits;   // quantitative
  std::vector<BinaryNull> binary;  // or binary
};

// What the workers need to test the variants of one chromosome. Immutable, shared.
struct ChromosomeState {
  int code = 0;
  // On the block axis: [basis | residuals], or [W X | y - p | y] of each binary trait.
  std::shared_ptr<const QuantisedColumns> columns;
  size_t num_covariates = 0;       // leading basis columns, intercept included; 0 for binary traits
  WeightPlanes weights;            // W of each binary trait
  std::vector<GroupState> groups;  // only those with a trait
  // Block people in no sum, and who is in which list: list g is that of group g, the last one
  // that of the unused.
  PersonList unused;
  std::vector<uint32_t> used;        // block positions of everyone else, ascending
  std::vector<uint32_t> used_males;  // those of them who are male
  ListMembership membership;

  size_t num_lists() const { return groups.size() + 1; }
  const PersonList& list(size_t l) const {
    return l < groups.size() ? groups[l].group->list : unused;
  }
};

// What does not change from chromosome to chromosome.
struct NullModelInputs {
  const ScanAxis* axis = nullptr;
  const CovariateBasis* basis = nullptr;
  const Cohort* cohort = nullptr;
  const LocoPredictions* loco = nullptr;  // null: no predictions
  std::vector<bool> is_male;              // [base]
  const BinaryOptions* binary = nullptr;  // null: quantitative traits
  // Where null Firth models start, in the basis of `regenie_basis`; null: not from a file.
  const StoredNullFirth* stored_null_firth = nullptr;
  const RegenieBasis* regenie_basis = nullptr;
  CpuTarget target = CpuTarget::kScalar;
};

// Basis columns (and whatever else lives on the base axis) as integers on the block axis; people
// who are not used get q = 0. The integers do not depend on who is used.
QuantisedColumns QuantiseOnAxis(CpuTarget target, const ScanAxis& axis,
                                std::span<const double* const> base_columns);
// The same for columns that are made one at a time.
QuantisedColumns QuantiseOnAxis(CpuTarget target, const ScanAxis& axis, size_t num_columns,
                                const QuantisedColumns::FillColumn& fill);
std::vector<const double*> BasisPointers(const CovariateBasis& basis);

// What a fit has to say to the user.
struct FitReport {
  std::vector<TraitProblem> problems;  // traits that cannot be tested on the chromosome
  std::vector<std::string> notes;      // people without predictions
};

// Fits null models, chromosome after chromosome. Groups and residuals are made once for each
// mask. One thread at a time.
class NullModelFitter {
 public:
  explicit NullModelFitter(const NullModelInputs& inputs);

  // Residuals of trait `trait` over everyone who has it, before predictions.
  const ResidualTrait& PhenotypeResidual(size_t trait);

  // The people who have trait `trait`.
  std::shared_ptr<const SampleGroup> GroupOfTrait(size_t trait);

  // Binary traits: why `trait` cannot be analysed on any chromosome, or nothing. Its null model is
  // fitted only where it is that of every chromosome, without predictions. Errors: that fit fails,
  // and the policy is to end the run.
  Result<std::string> BinaryProblem(size_t trait);

  // Null models of the traits in `traits`. Errors: a LOCO file cannot be read or changed.
  Result<std::shared_ptr<const ChromosomeState>> Fit(const std::vector<size_t>& traits, int code,
                                                     const std::string& label, FitReport& report);

  // One that knows the same groups and residuals and goes its own way from here.
  NullModelFitter Clone() const;

  // Forgets the integer columns; they are made again when a new mask appears.
  void ReleaseColumns() {
    builder_.reset();
    columns_.reset();
  }

 private:
  struct TraitCache {
    std::shared_ptr<const ResidualTrait> full;     // over everyone with the trait
    std::shared_ptr<const ResidualTrait> current;  // over the last chromosome's mask
    bool noted_absent = false;
  };
  struct Fitted {
    size_t trait;
    std::shared_ptr<const ResidualTrait> residual;
    ScoreResidual score;
  };

  // A binary trait on its way into a state.
  struct BinaryTask {
    std::shared_ptr<const SampleGroup> group;
    BinaryFitRequest request;
  };

  std::shared_ptr<const SampleGroup> GroupOf(PersonSet mask);
  PersonSet MaskOf(size_t trait, std::span<const double> loco) const;
  Result<std::optional<LocoVector>> LoadLoco(size_t trait, int code, const std::string& label,
                                             FitReport& report);
  BinaryTask MakeTask(size_t trait, const LocoVector& loco);
  // Which levels of covariates have one class alone, to be added to a null model's problem.
  std::string LevelsOfOneClass(const BinaryTask& task) const;
  void SetFirthStart(int code, const std::string& label, BinaryFitRequest& request,
                     FitReport& report) const;
  Result<std::shared_ptr<const ChromosomeState>> FitBinary(const std::vector<size_t>& traits,
                                                           int code, const std::string& label,
                                                           FitReport& report);
  std::vector<BinaryFit> FitTasks(const std::vector<BinaryTask>& tasks);
  std::shared_ptr<const ChromosomeState> AssembleBinary(int code,
                                                        const std::vector<BinaryTask>& tasks,
                                                        std::vector<BinaryFit> fits);
  std::shared_ptr<const ResidualTrait> ResidualOf(size_t trait, std::span<const double> loco);
  const SampleGroupBuilder& Builder();
  void NoteGaps(size_t trait, const LocoVector& loco, const std::string& label, FitReport& report);
  // Nothing when the trait cannot be tested; the report says why.
  Result<std::optional<Fitted>> FitTrait(size_t trait, int code, const std::string& label,
                                         FitReport& report);
  std::shared_ptr<const ChromosomeState> Assemble(int code, const std::vector<Fitted>& fitted);
  static GroupState& GroupIn(ChromosomeState& state,
                             const std::shared_ptr<const SampleGroup>& group);
  void AddLists(ChromosomeState& state) const;

  NullModelInputs inputs_;
  std::vector<TraitCache> cache_;
  std::vector<std::shared_ptr<const SampleGroup>> groups_;
  std::vector<double> covariate_scales_;
  std::shared_ptr<const QuantisedColumns> columns_;  // its first columns are the basis
  std::unique_ptr<SampleGroupBuilder> builder_;
};

}  // namespace tallele

#endif  // TALLELE_ASSOC_CHROMOSOME_STATE_H_
