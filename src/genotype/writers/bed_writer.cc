#include "genotype/writers/bed_writer.h"

#include <array>
#include <cstddef>
#include <utility>

#include "base/format_number.h"

namespace tallele {
namespace {

// Two-bit code of 0, 1, 2 copies of the first allele and of a missing call.
constexpr std::array<uint8_t, 4> kCodeOfCall = {3, 2, 0, 1};

std::string FamLines(std::span<const FamPerson> people) {
  std::string text;
  for (const FamPerson& person : people) {
    text += person.identity.fid + '\t' + person.identity.iid + '\t' + person.father + '\t' +
            person.mother + '\t' + static_cast<char>('0' + static_cast<int>(person.identity.sex)) +
            "\t-9\n";
  }
  return text;
}

}  // namespace

void AppendBedRow(std::span<const uint8_t> calls, std::vector<uint8_t>& out) {
  const size_t start = out.size();
  out.resize(start + (calls.size() + 3) / 4, 0);
  uint8_t* bytes = out.data() + start;
  const size_t whole = calls.size() / 4;
  for (size_t i = 0; i < whole; ++i) {
    const uint8_t* c = calls.data() + 4 * i;
    bytes[i] = static_cast<uint8_t>(kCodeOfCall[c[0]] | kCodeOfCall[c[1]] << 2 |
                                    kCodeOfCall[c[2]] << 4 | kCodeOfCall[c[3]] << 6);
  }
  for (size_t i = 4 * whole; i < calls.size(); ++i) {
    bytes[whole] |= static_cast<uint8_t>(kCodeOfCall[calls[i]] << (2 * (i % 4)));
  }
}

void AppendBimLine(const VariantRecord& variant, std::string& out) {
  out.append(variant.chromosome).append(1, '\t').append(variant.id).append("\t0\t");
  AppendInteger(variant.position, out);
  out.append(1, '\t').append(variant.first_allele).append(1, '\t');
  out.append(variant.second_allele).append(1, '\n');
}

Result<std::unique_ptr<BedWriter>> BedWriter::Create(const std::string& prefix,
                                                     std::span<const FamPerson> people) {
  std::unique_ptr<BedWriter> writer(new BedWriter());
  TALLELE_ASSIGN(writer->bed_, AtomicFile::Create(prefix + ".bed"));
  TALLELE_ASSIGN(writer->bim_, AtomicFile::Create(prefix + ".bim"));
  TALLELE_ASSIGN(writer->fam_, AtomicFile::Create(prefix + ".fam"));
  TALLELE_TRY(writer->bed_->Append(std::string_view("\x6c\x1b\x01", 3)));
  TALLELE_TRY(writer->fam_->Append(FamLines(people)));
  return writer;
}

Result<void> BedWriter::Append(std::span<const uint8_t> bed_rows, std::string_view bim_lines) {
  TALLELE_TRY(bed_->Append(std::as_bytes(bed_rows)));
  return bim_->Append(bim_lines);
}

Result<void> BedWriter::Commit() {
  TALLELE_TRY(fam_->Commit());
  TALLELE_TRY(bim_->Commit());
  return bed_->Commit();
}

}  // namespace tallele
