#include "cohort/sample_lookup.h"

namespace tallele {

std::string PersonKey(std::string_view fid, std::string_view iid) {
  std::string key(fid);
  key.append(1, '_').append(iid);
  return key;
}

Result<SampleLookup> SampleLookup::Make(std::span<const SampleIdentity> samples) {
  SampleLookup lookup;
  lookup.position_of_key_.Reserve(samples.size());
  for (uint32_t i = 0; i < samples.size(); ++i) {
    const SampleIdentity& sample = samples[i];
    const auto earlier = lookup.position_of_key_.Insert(PersonKey(sample.fid, sample.iid), i);
    if (earlier) {
      return InputError("the genotype file's samples " + std::to_string(*earlier + 1) + " and " +
                            std::to_string(i + 1) + " have the same FID_IID",
                        "", "Give everybody an identifier of their own.");
    }
    if (sample.fid == sample.iid) lookup.position_of_single_.Insert(sample.fid, i);
  }
  return lookup;
}

std::optional<uint32_t> SampleLookup::Find(std::string_view fid, std::string_view iid) const {
  const std::string key = PersonKey(fid, iid);
  auto position = position_of_key_.Find(key);
  if (!position) position = position_of_single_.Find(key);
  if (!position) return std::nullopt;
  return static_cast<uint32_t>(*position);
}

}  // namespace tallele
