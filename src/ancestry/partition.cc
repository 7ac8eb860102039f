#include "ancestry/partition.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace tallele {
namespace {

// Members begin .. end of a class as shares of its list; past the end it begins again.
void AppendShare(std::span<const int64_t> members, double begin, double end,
                 std::vector<int64_t>& out) {
  const auto size = static_cast<double>(members.size());
  const auto p = static_cast<size_t>(std::floor(begin * size));
  const auto q = static_cast<size_t>(std::floor(end * size));
  const auto append = [&](size_t from, size_t to) {
    const auto part = members.subspan(from, to - from);
    out.insert(out.end(), part.begin(), part.end());
  };
  if (p <= q) {
    append(p, q);
  } else {
    append(p, members.size());
    append(0, q);
  }
}

std::vector<Fold> Balanced(const PartitionRequest& request, NumpyRandom& random,
                           std::span<const int64_t> shuffled, std::span<const int64_t> labels) {
  const int64_t num_classes = *std::max_element(labels.begin(), labels.end()) + 1;
  std::vector<std::vector<int64_t>> members(static_cast<size_t>(num_classes));
  for (const int64_t person : shuffled) {
    members[static_cast<size_t>(labels[static_cast<size_t>(person)])].push_back(person);
  }
  const double share = 1.0 / request.num_folds;
  double begin = random.Uniform();
  std::vector<Fold> folds(static_cast<size_t>(request.num_folds));
  for (Fold& fold : folds) {
    const double valid_end = std::fmod(begin + share, 1.0);
    const double test_end = std::fmod(valid_end + share, 1.0);
    for (const std::vector<int64_t>& list : members) {
      AppendShare(list, test_end, begin, fold[0]);
      AppendShare(list, begin, valid_end, fold[1]);
      AppendShare(list, valid_end, test_end, fold[2]);
    }
    begin = std::fmod(begin + share, 1.0);
  }
  return folds;
}

std::vector<Fold> Unbalanced(const PartitionRequest& request, std::span<const int64_t> shuffled) {
  const size_t n = shuffled.size(), k = static_cast<size_t>(request.num_folds), step = n / k;
  std::vector<Fold> folds(k);
  for (size_t f = 0; f < k; ++f) {
    const size_t begin = f * step, end = f + 1 < k ? begin + step : n;
    const size_t rest = n - (end - begin);
    const auto num_train =
        static_cast<size_t>(std::floor(static_cast<double>(rest) * request.train_valid_ratio));
    folds[f][2].assign(shuffled.begin() + static_cast<ptrdiff_t>(begin),
                       shuffled.begin() + static_cast<ptrdiff_t>(end));
    for (size_t i = 0; i < rest; ++i) {
      folds[f][i < rest - num_train ? 1 : 0].push_back(shuffled[(end + i) % n]);
    }
  }
  return folds;
}

Result<void> CheckRequest(const PartitionRequest& r, size_t num_people,
                          std::span<const int64_t> labels) {
  if (r.num_folds < 2) {
    return UsageError("a partition needs at least two folds",
                      "With one fold, training and test people would be the same or none.");
  }
  if (static_cast<size_t>(r.num_folds) > num_people) {
    return UsageError(fmt::format("{} folds are more than {} people", r.num_folds, num_people));
  }
  if (num_people > std::numeric_limits<uint32_t>::max()) {
    return UnsupportedError("a partition of more than 2^32 - 1 people", "");
  }
  if (!(r.train_valid_ratio > 0 && r.train_valid_ratio < 1)) {
    return UsageError("--train-valid-ratio must lie between 0 and 1");
  }
  if (r.balance_class &&
      (labels.size() != num_people || *std::min_element(labels.begin(), labels.end()) < 0)) {
    return UsageError("a balanced partition needs the class of every person");
  }
  return {};
}

}  // namespace

uint32_t NumpyRandom::UpTo(uint32_t bound) {
  if (bound == 0) return 0;
  const uint32_t mask = ~uint32_t{0} >> __builtin_clz(bound);
  for (;;) {
    const auto value = static_cast<uint32_t>(words_()) & mask;
    if (value <= bound) return value;
  }
}

double NumpyRandom::Uniform() {
  const auto high = static_cast<uint32_t>(words_()) >> 5;
  const auto low = static_cast<uint32_t>(words_()) >> 6;
  return (high * 67108864.0 + low) / 9007199254740992.0;
}

void NumpyRandom::Shuffle(std::span<int64_t> list) {
  for (size_t i = list.size(); i-- > 1;) std::swap(list[i], list[UpTo(static_cast<uint32_t>(i))]);
}

Result<std::vector<Fold>> MakePartition(const PartitionRequest& request, size_t num_people,
                                        std::span<const int64_t> labels) {
  TALLELE_TRY(CheckRequest(request, num_people, labels));
  std::vector<int64_t> shuffled(num_people);
  for (size_t i = 0; i < num_people; ++i) shuffled[i] = static_cast<int64_t>(i);
  NumpyRandom random(request.seed);
  random.Shuffle(shuffled);
  std::vector<Fold> folds = request.balance_class ? Balanced(request, random, shuffled, labels)
                                                  : Unbalanced(request, shuffled);
  constexpr const char* kNames[] = {"training", "validation", "test"};
  for (size_t f = 0; f < folds.size(); ++f) {
    for (size_t part = 0; part < 3; ++part) {
      if (!folds[f][part].empty()) continue;
      return UsageError(fmt::format("fold {} would have no {} people", f, kNames[part]),
                        request.balance_class && request.num_folds == 2
                            ? "A balanced partition needs at least three folds."
                            : "Ask for fewer folds.");
    }
  }
  return folds;
}

}  // namespace tallele
