// Reads the bytes as a phenotype and as a covariate table, with a categorical column.
#include "cohort/cohort.h"
#include "fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tallele;
  const InputFile file(data, size);
  const std::vector<SampleIdentity> samples = {
      {"F", "A", Sex::kMale}, {"F", "B", Sex::kFemale}, {"C", "C", Sex::kUnknown}};
  NullEventSink events;
  CohortRequest request;
  request.pheno_file = file.path();
  if (!LoadCohort(request, samples, events).ok()) return 0;
  request.covar_file = file.path();
  request.pheno_columns = {"T"};
  request.covar_columns = {"C"};
  request.categorical_covariates = {"C"};
  request.apply_rint = true;
  (void)LoadCohort(request, samples, events).ok();
  return 0;
}
