#ifndef TALLELE_ANCESTRY_UNIQUE_PEOPLE_H_
#define TALLELE_ANCESTRY_UNIQUE_PEOPLE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

// Where the names of a genotype file's people come from, for errors.
struct PeopleOrigin {
  std::string path;
  // The people stand on the lines after so many; without lines they are counted from 1, as in the
  // list inside a BGEN file.
  bool has_lines = false;
  size_t header_lines = 0;
};

// What tells people apart.
enum class PersonNames {
  kFamilyAndIndividual,  // the pair
  kIndividual,           // the IID alone
  kJoined,               // FID_IID as one text
};

// A person's name of that kind; that of the pair holds a tab.
std::string PersonName(const SampleIdentity& person, PersonNames kind);

// An error when two people have one name: it tells file, lines (or places) and the number of such
// people, not their names.
Result<void> CheckUniquePeople(const std::vector<SampleIdentity>& people, PersonNames kind,
                               const PeopleOrigin& origin, const std::string& advice);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_UNIQUE_PEOPLE_H_
