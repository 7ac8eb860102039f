#ifndef TALLELE_ASSOC_STORED_NULL_FIRTH_H_
#define TALLELE_ASSOC_STORED_NULL_FIRTH_H_

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "assoc/covariate_basis.h"
#include "base/file_env.h"
#include "base/result.h"

namespace tallele {

// Between the covariate basis B of a run and the one that REGENIE stores null Firth models in:
// Q = C V D^(-1/2), with C = [1 | covariates] over the base set and C'C = V D V' (eigenvalues
// ascending, the largest `rank` kept). An eigenvector's sign is the solver's (Eigen, in both
// programs); it does not matter for a file that is read by what wrote it.
class RegenieBasis {
 public:
  RegenieBasis() = default;
  // `covariates` as BuildCovariateBasis takes them, and what it made of them.
  RegenieBasis(const CovariateBasis& basis, std::span<const std::vector<double>> covariates);

  // Coefficients of Q from those of B, and back; [rank] each.
  std::vector<double> FromBasis(std::span<const double> coefficients) const;
  std::vector<double> ToBasis(std::span<const double> coefficients) const;
  size_t rank() const { return rank_; }

 private:
  size_t rank_ = 0;
  std::vector<double> rotation_;  // [rank][rank] B'Q, orthogonal
};

// Coefficients of null Firth models by chromosome code, in REGENIE's basis.
using NullFirthRows = std::map<int, std::vector<double>>;

// Null Firth models that --write-null-firth (here or in REGENIE) left: start values.
class StoredNullFirth {
 public:
  // `list`: lines "trait path", as "<out>_firth.list"; relative paths are relative to its folder.
  // Each file, plain or gzip, has rows "chromosome b1 .. b<rank>". Traits that are not in `traits`
  // are not read. Errors: a line that is none, a trait or chromosome twice, another number of
  // coefficients than `rank` (they belong to other covariates).
  static Result<StoredNullFirth> Open(const std::string& list, std::span<const std::string> traits,
                                      size_t rank, int num_autosomes,
                                      FileEnv& env = PosixFileEnv());

  // Of trait `trait` on a chromosome; empty: the files have none.
  std::span<const double> Find(size_t trait, int chromosome_code) const;
  // File of a trait and SHA-256 of its coefficients; empty: it has none.
  const std::string& path(size_t trait) const { return traits_[trait].path; }
  const std::string& fingerprint(size_t trait) const { return traits_[trait].fingerprint; }

 private:
  struct Trait {
    std::string path;
    std::string fingerprint;
    NullFirthRows rows;
  };
  std::vector<Trait> traits_;
};

// One trait's models, to be written.
struct NullFirthModels {
  std::string trait;
  size_t trait_number = 0;  // 1-based, in the order of the cohort
  NullFirthRows rows;
};

// "<out>_<trait number>.firth[.gz]" and "<out>_firth.list".
std::string NullFirthPath(const std::string& prefix, size_t trait_number, bool gzip);
std::string NullFirthListPath(const std::string& prefix);

// Writes one file for each trait and then the list that names them by absolute paths, in REGENIE's
// format but with all digits. `models` have rows.
Result<void> WriteNullFirth(const std::string& prefix, bool gzip,
                            std::span<const NullFirthModels> models, FileEnv& env);

}  // namespace tallele

#endif  // TALLELE_ASSOC_STORED_NULL_FIRTH_H_
