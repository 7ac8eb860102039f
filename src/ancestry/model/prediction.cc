#include "ancestry/model/prediction.h"

#include <algorithm>

#include <fmt/format.h>

#include "ancestry/model/fixed_math.h"
#include "base/format_number.h"

namespace tallele {
namespace {

uint32_t BestOf(std::span<const double> values) {
  return static_cast<uint32_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

struct Votes {
  std::string name;
  int count = 0;
};

std::vector<Votes> CountVotes(const PersonCall& call, const std::vector<std::string>& names) {
  std::vector<int> counts(names.size());
  for (const uint32_t c : call.model_classes) ++counts[c];
  std::vector<Votes> votes;
  for (size_t c = 0; c < names.size(); ++c) {
    if (counts[c] > 0) votes.push_back({names[c], counts[c]});
  }
  return votes;
}

std::string Join(const std::vector<Votes>& votes) {
  std::string text;
  for (const Votes& vote : votes) {
    text += fmt::format("{}{}({})", text.empty() ? "" : ",", vote.name, vote.count);
  }
  return text;
}

}  // namespace

PersonCall CombineModels(std::span<const double> probabilities, size_t num_classes) {
  PersonCall call;
  const size_t num_models = probabilities.size() / num_classes;
  call.mean_probabilities.assign(num_classes, 0);
  std::vector<uint32_t> counts(num_classes);
  for (size_t m = 0; m < num_models; ++m) {
    const auto one = probabilities.subspan(m * num_classes, num_classes);
    call.model_classes.push_back(BestOf(one));
    ++counts[call.model_classes.back()];
    for (size_t c = 0; c < num_classes; ++c) call.mean_probabilities[c] += one[c];
  }
  for (double& p : call.mean_probabilities) p /= static_cast<double>(num_models);
  call.vote_class =
      static_cast<uint32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
  call.vote_count = counts[call.vote_class];
  call.mean_class = BestOf(call.mean_probabilities);
  call.top_probability = call.mean_probabilities[call.mean_class];
  call.second_class = call.mean_class;
  for (uint32_t c = 0; c < num_classes; ++c) {
    const double p = call.mean_probabilities[c];
    if (c != call.mean_class &&
        (call.second_class == call.mean_class || p > call.second_probability)) {
      call.second_class = c;
      call.second_probability = p;
    }
    if (p >= 1e-300) call.entropy -= p * FixedLog(p);
  }
  return call;
}

std::string UnassignedReason(const PersonCall& call, const CallLimits& limits,
                             int64_t overlap_snps) {
  const double agreement =
      static_cast<double>(call.vote_count) / static_cast<double>(call.model_classes.size());
  const double probability =
      call.mean_probabilities[limits.label_by_mean ? call.mean_class : call.vote_class];
  std::string reason;
  const auto add = [&](const char* what, double found, double limit) {
    reason += fmt::format("{}{} {} < {}", reason.empty() ? "" : "; ", what, FormatSixDigits(found),
                          FormatSixDigits(limit));
  };
  if (agreement < limits.min_agreement) add("agreement", agreement, limits.min_agreement);
  if (probability < limits.min_probability) add("probability", probability, limits.min_probability);
  if (overlap_snps < limits.min_overlap) {
    add("overlap", static_cast<double>(overlap_snps), static_cast<double>(limits.min_overlap));
  }
  return reason;
}

std::string VoteText(const PersonCall& call, const std::vector<std::string>& class_names) {
  std::vector<Votes> votes = CountVotes(call, class_names);
  std::sort(votes.begin(), votes.end(), [](const Votes& a, const Votes& b) {
    return a.count != b.count ? a.count > b.count : a.name < b.name;
  });
  return Join(votes);
}

std::string VoteTextByName(const PersonCall& call, const std::vector<std::string>& class_names) {
  std::vector<Votes> votes = CountVotes(call, class_names);
  std::sort(votes.begin(), votes.end(),
            [](const Votes& a, const Votes& b) { return a.name < b.name; });
  return Join(votes);
}

}  // namespace tallele
