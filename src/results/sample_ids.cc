#include "results/sample_ids.h"

#include "base/atomic_file.h"
#include "results/output_paths.h"

namespace tallele {

std::string SampleIdsPath(const std::string& prefix, const std::string& trait) {
  return RegenieTextPath(prefix, trait, /*gzip=*/false) + ".ids";
}

Result<void> WriteSampleIds(const std::string& path, std::span<const PersonId> people,
                            const std::optional<std::string>& header_trait, FileEnv& env) {
  std::string text;
  if (header_trait) text = *header_trait + "\tNA";
  for (const PersonId& person : people) {
    if (!text.empty()) text += '\n';
    text.append(person.family).append("\t").append(person.individual);
  }
  return WriteFileAtomically(path, text, env);
}

}  // namespace tallele
