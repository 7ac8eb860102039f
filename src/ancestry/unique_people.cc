#include "ancestry/unique_people.h"

#include <unordered_map>

#include <fmt/format.h>

#include "base/text_reader.h"

namespace tallele {
namespace {

struct Place {
  size_t first = 0;  // of the two people, from 0
  size_t second = 0;
};

const char* WordsOf(PersonNames kind) {
  switch (kind) {
    case PersonNames::kFamilyAndIndividual:
      return "two people have the same FID and IID";
    case PersonNames::kIndividual:
      return "two people have the same IID";
    case PersonNames::kJoined:
      return "two people have the same FID_IID";
  }
  return "";
}

// The lines of the two people: blank ones count as lines, but hold nobody.
Result<std::string> LinesOf(const PeopleOrigin& origin, const Place& place) {
  TALLELE_ASSIGN(const auto reader, LineReader::Open(origin.path));
  std::string_view line;
  int64_t first = 0;
  for (size_t header = 0, person = 0;;) {
    TALLELE_ASSIGN(const bool more, reader->Next(&line));
    if (!more) return InputError("the file changed while it was read", origin.path);
    if (header < origin.header_lines) {
      ++header;
      continue;
    }
    if (Trim(line).empty()) continue;
    if (person == place.first) first = reader->line_number();
    if (person == place.second) {
      return fmt::format("{}, lines {} and {}", origin.path, first, reader->line_number());
    }
    ++person;
  }
}

}  // namespace

std::string PersonName(const SampleIdentity& person, PersonNames kind) {
  if (kind == PersonNames::kIndividual) return person.iid;
  return person.fid + (kind == PersonNames::kJoined ? "_" : "\t") + person.iid;
}

Result<void> CheckUniquePeople(const std::vector<SampleIdentity>& people, PersonNames kind,
                               const PeopleOrigin& origin, const std::string& advice) {
  std::unordered_map<std::string, size_t> seen;
  seen.reserve(people.size());
  Place place;
  size_t repeated = 0;
  for (size_t i = 0; i < people.size(); ++i) {
    const auto [at, added] = seen.try_emplace(PersonName(people[i], kind), i);
    if (added) continue;
    if (repeated == 0) place = {at->second, i};
    ++repeated;
  }
  if (repeated == 0) return {};
  std::string where =
      fmt::format("{}, people {} and {}", origin.path, place.first + 1, place.second + 1);
  if (origin.has_lines) {
    TALLELE_ASSIGN(where, LinesOf(origin, place));
  }
  Error error = InputError(WordsOf(kind), std::move(where), advice);
  error.found =
      fmt::format("{} of {} people with the name of an earlier one", repeated, people.size());
  return error;
}

}  // namespace tallele
