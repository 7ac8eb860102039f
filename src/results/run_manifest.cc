#include "results/run_manifest.h"

#include <algorithm>
#include <ctime>

#include "base/hashing.h"

namespace tallele {
namespace {

constexpr char kAbsent[] = "(absent)";

void HashText(Sha256& hash, std::string_view text) {
  hash.Update(std::to_string(text.size()) + ":");
  hash.Update(text);
}

const PlanField* FindField(std::span<const PlanField> fields, std::string_view name) {
  const auto at = std::find_if(fields.begin(), fields.end(),
                               [&](const PlanField& field) { return field.name == name; });
  return at == fields.end() ? nullptr : &*at;
}

}  // namespace

std::string PlanHash(std::span<const PlanField> fields) {
  Sha256 hash;
  for (const PlanField& field : fields) {
    HashText(hash, field.name);
    HashText(hash, field.value);
  }
  return hash.HexDigest();
}

std::optional<PlanDifference> FirstDifference(std::span<const PlanField> recorded,
                                              std::span<const PlanField> requested) {
  for (const PlanField& field : requested) {
    const PlanField* other = FindField(recorded, field.name);
    if (other == nullptr) return PlanDifference{field.name, kAbsent, field.value};
    if (other->value != field.value) return PlanDifference{field.name, other->value, field.value};
  }
  for (const PlanField& field : recorded) {
    if (FindField(requested, field.name) == nullptr) {
      return PlanDifference{field.name, field.value, kAbsent};
    }
  }
  if (!std::ranges::equal(recorded, requested)) {
    return PlanDifference{"the order of the fields", "another", "this version's"};
  }
  return std::nullopt;
}

std::string_view RunStatusName(RunStatus status) {
  switch (status) {
    case RunStatus::kRunning:
      return "running";
    case RunStatus::kInterrupted:
      return "interrupted";
    case RunStatus::kFailed:
      return "failed";
    case RunStatus::kCompleted:
      return "completed";
  }
  return "running";
}

const CommittedPart* RunManifest::FindPart(VariantRange range) const {
  for (const CommittedPart& part : parts) {
    if (part.range.first == range.first && part.range.count == range.count) return &part;
  }
  return nullptr;
}

void RunManifest::Forget(VariantRange range) {
  std::erase_if(parts, [&](const CommittedPart& p) { return p.range.first == range.first; });
}

void RunManifest::Record(CommittedPart part) {
  Forget(part.range);
  const auto at =
      std::upper_bound(parts.begin(), parts.end(), part.range.first,
                       [](size_t first, const CommittedPart& p) { return first < p.range.first; });
  parts.insert(at, std::move(part));
}

bool RunManifest::IsComplete() const {
  return std::ranges::equal(parts, grid, [](const CommittedPart& part, const VariantRange& range) {
    return part.range.first == range.first && part.range.count == range.count;
  });
}

std::string UtcNow() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace tallele
