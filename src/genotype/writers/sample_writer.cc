#include "genotype/writers/sample_writer.h"

#include "base/atomic_file.h"

namespace tallele {
namespace {

const char* SexText(Sex sex) {
  if (sex == Sex::kMale) return "1";
  return sex == Sex::kFemale ? "2" : "NA";
}

}  // namespace

Result<void> WriteOxfordSample(const std::string& path, std::span<const SampleIdentity> people) {
  std::string text = "ID_1 ID_2 missing sex\n0 0 0 D\n";
  for (const SampleIdentity& person : people) {
    text += person.fid + ' ' + person.iid + " 0 " + SexText(person.sex) + '\n';
  }
  return WriteFileAtomically(path, text);
}

}  // namespace tallele
