#ifndef TALLELE_COHORT_SAMPLE_FILE_H_
#define TALLELE_COHORT_SAMPLE_FILE_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/file_env.h"
#include "base/result.h"
#include "genotype/genotype_source.h"

namespace tallele {

// Reads an Oxford sample file: a line of names with ID_1 and ID_2, a line of types (0 for the
// identifiers), then a line for each person in the order of the genotype file. A column `sex` of
// 0, 1, 2 or NA gives the sex. Files with one or two identifier columns alone are read as well.
Result<std::vector<SampleIdentity>> ReadOxfordSamples(const std::string& path,
                                                      FileEnv& env = PosixFileEnv());

// An error unless the sample file names as many people as the genotype file has.
Result<void> CheckSampleCount(const std::string& path, size_t count, size_t expected_count);

// Both of them.
Result<std::vector<SampleIdentity>> ReadOxfordSamples(const std::string& path,
                                                      size_t expected_count,
                                                      FileEnv& env = PosixFileEnv());

// The genotype file's people: from `sample_path` if it is not empty, else those that the file
// itself names. An error that asks for --sample when there are none.
Result<std::vector<SampleIdentity>> ResolveSamples(const GenotypeSource& source,
                                                   const std::string& sample_path,
                                                   FileEnv& env = PosixFileEnv());

// (FID, IID) pairs of a --keep or --remove file: the first two fields of each line, no header.
Result<std::vector<std::pair<std::string, std::string>>> ReadPeopleList(
    const std::string& path, FileEnv& env = PosixFileEnv());

}  // namespace tallele

#endif  // TALLELE_COHORT_SAMPLE_FILE_H_
