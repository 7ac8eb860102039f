#ifndef TALLELE_ASSOC_EXECUTION_PLAN_H_
#define TALLELE_ASSOC_EXECUTION_PLAN_H_

#include <string>
#include <utility>
#include <vector>

#include "assoc/scan_request.h"
#include "base/result.h"
#include "results/run_manifest.h"

namespace tallele {

class PlannedScan;

// Version of everything numeric: raised by any change that changes a bit of a result, so that rows
// of two versions are never mixed in one dataset.
inline constexpr char kNumericalVersion[] = "1";

// Roles of inputs that belong to one trait, before its name.
inline constexpr char kPredictionsRole[] = "predictions of ";
inline constexpr char kNullFirthRole[] = "null Firth models of ";

// What the options say that changes results, without paths: content is compared, not its place.
// Threads, block width, output format and progress are left out on purpose.
std::vector<PlanField> PlanOptions(const ScanRequest& request);

// Which trait columns the options ask for, as text. Not part of a plan: traits do not depend on
// each other.
std::string TraitColumns(const ScanRequest& request);

// How the text is laid out, as text; empty without text. Not part of a plan.
std::string TextLayout(const ScanRequest& request);

// Role and path of every input that the options name, companions of PLINK files included. The
// genotypes come first.
std::vector<std::pair<std::string, std::string>> NamedInputs(const ScanRequest& request);

// Identities and digests of `NamedInputs`; the genotype file is sampled unless `verify_inputs`.
Result<std::vector<InputFile>> DescribeInputs(const ScanRequest& request);

// Sets `plan.trait_plans`: for each analysed trait the options, then digests of the people,
// variants, values and predictions that they led to. Equal plans give equal rows. Nothing is made
// for a run without Parquet, which has no manifest.
void PlanTraits(PlannedScan& plan);

}  // namespace tallele

#endif  // TALLELE_ASSOC_EXECUTION_PLAN_H_
