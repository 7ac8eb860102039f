#include "assoc/stored_null_firth.h"

#include <Eigen/Dense>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "base/atomic_file.h"
#include "base/format_number.h"
#include "base/hashing.h"
#include "base/parse_number.h"
#include "base/text_reader.h"
#include "cohort/variant_selection.h"
#include "results/input_files.h"
#include "results/text_file.h"

namespace tallele {
namespace {

std::vector<std::string_view> Tokens(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  std::vector<std::string_view> tokens;
  size_t at = line.find_first_not_of(kBlank);
  while (at != std::string_view::npos) {
    const size_t end = std::min(line.find_first_of(kBlank, at), line.size());
    tokens.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kBlank, end);
  }
  return tokens;
}

std::string BesideList(const std::string& list, std::string_view path) {
  const std::filesystem::path named(path);
  if (named.is_absolute()) return named.string();
  return (std::filesystem::path(list).parent_path() / named).string();
}

Result<std::map<std::string, std::string>> ReadList(const std::string& list, FileEnv& env) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(list, env));
  std::map<std::string, std::string> paths;
  std::string_view line;
  while (true) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) break;
    const std::vector<std::string_view> tokens = Tokens(line);
    if (tokens.empty()) continue;
    if (tokens.size() != 2) {
      Error error = InputError("a line of the list of null Firth models has not two words",
                               reader->Where(), "Give the list that --write-null-firth wrote.");
      error.found = std::to_string(tokens.size());
      error.expected = "a trait and the path of its file";
      return error;
    }
    const auto [at, added] = paths.try_emplace(std::string(tokens[0]), BesideList(list, tokens[1]));
    if (!added) {
      return InputError("trait " + at->first + " stands twice in the list of null Firth models",
                        reader->Where(), "Keep one line for each trait.");
    }
  }
  if (paths.empty()) {
    return InputError("the list of null Firth models is empty", list,
                      "Give the list that --write-null-firth wrote.");
  }
  return paths;
}

// One row's coefficients.
Result<std::vector<double>> ParseCoefficients(std::span<const std::string_view> tokens, size_t rank,
                                              const std::string& where) {
  if (tokens.size() != rank) {
    Error error = InputError("the stored null Firth model has another number of covariates", where,
                             "Give the covariates and people of the run that wrote it, or leave "
                             "--use-null-firth out.");
    error.found = std::to_string(tokens.size()) + " coefficients";
    error.expected = std::to_string(rank) + ", intercept included";
    return error;
  }
  std::vector<double> coefficients(rank);
  for (size_t k = 0; k < rank; ++k) {
    const NumberOutcome outcome = ParseDouble(tokens[k], &coefficients[k]);
    if (outcome == NumberOutcome::kOk) continue;
    Error error = InputError(
        std::string("a coefficient of a stored null Firth model ") + NumberOutcomeText(outcome),
        where, "Make the file again with --write-null-firth.");
    error.found = std::string(tokens[k].substr(0, 60));
    error.expected = "a finite number";
    return error;
  }
  return coefficients;
}

Result<NullFirthRows> ReadRows(const std::string& path, size_t rank, int num_autosomes,
                               FileEnv& env) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(path, env));
  NullFirthRows rows;
  std::string_view line;
  while (true) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) return rows;
    const std::vector<std::string_view> tokens = Tokens(line);
    if (tokens.empty()) continue;
    const std::optional<int> code = ChromosomeCode(tokens[0], num_autosomes);
    if (!code) {
      Error error = InputError("a row of a stored null Firth model begins with no chromosome",
                               reader->Where(), "Give the files that --write-null-firth wrote.");
      error.found = std::string(tokens[0].substr(0, 60));
      error.expected = "a chromosome";
      return error;
    }
    TALLELE_ASSIGN(std::vector<double> coefficients,
                   ParseCoefficients(std::span(tokens).subspan(1), rank, reader->Where()));
    if (!rows.emplace(*code, std::move(coefficients)).second) {
      return InputError("a chromosome stands twice among the null Firth models", reader->Where(),
                        "Keep one row for each chromosome.");
    }
  }
}

std::string TextOf(const NullFirthRows& rows) {
  std::string text;
  for (const auto& [code, coefficients] : rows) {
    text += std::to_string(code);
    for (const double b : coefficients) text += " " + FormatExactly(b);
    text += "\n";
  }
  return text;
}

Eigen::Map<const Eigen::VectorXd> Vector(std::span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

}  // namespace

RegenieBasis::RegenieBasis(const CovariateBasis& basis,
                           std::span<const std::vector<double>> covariates)
    : rank_(basis.rank()) {
  const auto n = static_cast<Eigen::Index>(basis.num_people);
  const auto columns = static_cast<Eigen::Index>(covariates.size() + 1);
  const auto k = static_cast<Eigen::Index>(rank_);
  Eigen::MatrixXd c(n, columns);
  c.col(0).setOnes();
  for (Eigen::Index j = 1; j < columns; ++j) {
    c.col(j) = Vector(covariates[static_cast<size_t>(j - 1)]);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(c.transpose() * c);
  Eigen::MatrixXd basis_by_c(k, columns);
  for (Eigen::Index e = 0; e < k; ++e) {
    basis_by_c.row(e) = Vector(basis.columns[static_cast<size_t>(e)]).transpose() * c;
  }
  Eigen::MatrixXd rotation = basis_by_c * solver.eigenvectors().rightCols(k);
  for (Eigen::Index e = 0; e < k; ++e) {
    const double length = rotation.col(e).norm();
    if (length > 0) rotation.col(e) /= length;
  }
  // Orthogonal to the last bit, also where C'C is so ill-conditioned that its small eigenvectors
  // are not: what is written can then always be read back.
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(rotation.rowwise().reverse());
  Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(k, k);
  for (Eigen::Index e = 0; e < k; ++e) {
    if (qr.matrixQR()(e, e) < 0) q.col(e) = -q.col(e);
  }
  rotation_.resize(rank_ * rank_);
  for (Eigen::Index i = 0; i < k; ++i) {
    for (Eigen::Index j = 0; j < k; ++j) {
      rotation_[static_cast<size_t>(i * k + j)] = q(i, k - 1 - j);
    }
  }
}

std::vector<double> RegenieBasis::FromBasis(std::span<const double> coefficients) const {
  std::vector<double> out(rank_, 0);
  for (size_t i = 0; i < rank_; ++i) {
    for (size_t j = 0; j < rank_; ++j) out[j] += rotation_[i * rank_ + j] * coefficients[i];
  }
  return out;
}

std::vector<double> RegenieBasis::ToBasis(std::span<const double> coefficients) const {
  std::vector<double> out(rank_, 0);
  for (size_t i = 0; i < rank_; ++i) {
    for (size_t j = 0; j < rank_; ++j) out[i] += rotation_[i * rank_ + j] * coefficients[j];
  }
  return out;
}

Result<StoredNullFirth> StoredNullFirth::Open(const std::string& list,
                                              std::span<const std::string> traits, size_t rank,
                                              int num_autosomes, FileEnv& env) {
  using PathMap = std::map<std::string, std::string>;
  TALLELE_ASSIGN(const PathMap paths, ReadList(list, env));
  StoredNullFirth stored;
  stored.traits_.resize(traits.size());
  for (size_t t = 0; t < traits.size(); ++t) {
    const auto path = paths.find(traits[t]);
    if (path == paths.end()) continue;
    Trait& trait = stored.traits_[t];
    trait.path = path->second;
    TALLELE_ASSIGN(trait.rows, ReadRows(trait.path, rank, num_autosomes, env));
    trait.fingerprint = Sha256Hex(TextOf(trait.rows));
  }
  return stored;
}

std::span<const double> StoredNullFirth::Find(size_t trait, int chromosome_code) const {
  const auto row = traits_[trait].rows.find(chromosome_code);
  if (row == traits_[trait].rows.end()) return {};
  return row->second;
}

std::string NullFirthPath(const std::string& prefix, size_t trait_number, bool gzip) {
  return prefix + "_" + std::to_string(trait_number) + (gzip ? ".firth.gz" : ".firth");
}

std::string NullFirthListPath(const std::string& prefix) { return prefix + "_firth.list"; }

Result<void> WriteNullFirth(const std::string& prefix, bool gzip,
                            std::span<const NullFirthModels> models, FileEnv& env) {
  std::string list;
  for (const NullFirthModels& trait : models) {
    const std::string path = NullFirthPath(prefix, trait.trait_number, gzip);
    TALLELE_ASSIGN(const auto file, TextFile::Create(path, gzip, env));
    TALLELE_TRY(file->Append(TextOf(trait.rows)));
    TALLELE_TRY(file->Commit());
    list += trait.trait + " " + AbsolutePath(path) + "\n";
  }
  return WriteFileAtomically(NullFirthListPath(prefix), list, env);
}

}  // namespace tallele
