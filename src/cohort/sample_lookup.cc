#include "cohort/sample_lookup.h"

namespace tallele {

std::string PersonKey(std::string_view fid, std::string_view iid) {
  std::string key(fid);
  key.append(1, '_').append(iid);
  return key;
}

Result<SampleLookup> SampleLookup::Make(std::span<const SampleIdentity> samples) {
  SampleLookup lookup;
  lookup.position_of_key_.reserve(samples.size());
  for (uint32_t i = 0; i < samples.size(); ++i) {
    const SampleIdentity& sample = samples[i];
    const auto [earlier, added] =
        lookup.position_of_key_.try_emplace(PersonKey(sample.fid, sample.iid), i);
    if (!added) {
      return InputError("the genotype file's samples " + std::to_string(earlier->second + 1) +
                            " and " + std::to_string(i + 1) + " have the same FID_IID",
                        "", "Give everybody an identifier of their own.");
    }
    if (sample.fid == sample.iid) lookup.position_of_single_.try_emplace(sample.fid, i);
  }
  return lookup;
}

std::optional<uint32_t> SampleLookup::Find(std::string_view fid, std::string_view iid) const {
  const std::string key = PersonKey(fid, iid);
  if (const auto at = position_of_key_.find(key); at != position_of_key_.end()) return at->second;
  if (const auto at = position_of_single_.find(key); at != position_of_single_.end()) {
    return at->second;
  }
  return std::nullopt;
}

}  // namespace tallele
