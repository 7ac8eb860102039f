#ifndef TALLELE_ANCESTRY_MODEL_PREDICTION_H_
#define TALLELE_ANCESTRY_MODEL_PREDICTION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tallele {

// What the models of an ensemble say together about one person.
struct PersonCall {
  uint32_t vote_class = 0;     // most frequent best class of a model; ties: the lowest index
  uint32_t vote_count = 0;     // models that chose it
  uint32_t mean_class = 0;     // best class of the mean probabilities
  uint32_t second_class = 0;   // the next best
  double top_probability = 0;  // mean probability of mean_class
  double second_probability = 0;
  double entropy = 0;  // of the mean probabilities, in nats
  std::vector<double> mean_probabilities;
  std::vector<uint32_t> model_classes;  // best class of each model; ties: the lowest index
};

// `probabilities`: model after model, `num_classes` each. Sums run over models in order, so the
// result does not depend on anything but them.
PersonCall CombineModels(std::span<const double> probabilities, size_t num_classes);

// Limits below which a person is `unassigned`; 0 switches a limit off.
struct CallLimits {
  double min_agreement = 0;    // vote_count over models
  double min_probability = 0;  // mean probability of the class that is reported
  int64_t min_overlap = 0;     // matched SNPs of the cohort
  bool label_by_mean = false;  // report mean_class instead of vote_class
};

// Why a person is not assigned, in words with the numbers; empty when assigned.
std::string UnassignedReason(const PersonCall& call, const CallLimits& limits,
                             int64_t overlap_snps);

// "CHB(10),CHS(5)": by falling count, then name.
std::string VoteText(const PersonCall& call, const std::vector<std::string>& class_names);
// Upstream's cell: "CHB(10),CHS(5)" sorted by name.
std::string VoteTextByName(const PersonCall& call, const std::vector<std::string>& class_names);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PREDICTION_H_
