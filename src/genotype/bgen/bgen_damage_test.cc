#include <gtest/gtest.h>

#include "genotype/bgen/bgen_bytes.h"
#include "tests/support/fixtures.h"

namespace tallele::bgen_bytes {
namespace {

// Two good variants of three people around one that a test spoils.
File Sandwich(int bits, bool phased, int compression) {
  File file;
  file.num_samples = 3;
  file.compression = compression;
  Variant v;
  v.bits = bits;
  v.phased = phased;
  const uint32_t d = static_cast<uint32_t>((uint64_t{1} << bits) - 1);
  v.calls = {{2, false, d, 0}, {2, false, 0, d}, {2, false, 0, 0}};
  file.variants = {v, v, v};
  file.variants[1].rsid = "bad";
  return file;
}

struct Damage {
  const char* name;
  int compression;
  std::function<void(Variant&)> spoil;
  const char* expected;
};

void SetByte(Variant& v, size_t at, int value) {
  v.damage = [=](std::string& bytes) { bytes[at] = static_cast<char>(value); };
}

// Offsets in the payload of three people: 0 samples, 4 alleles, 6 and 7 ploidy range, 8 to 10
// ploidies, 11 phased, 12 bits, 13 probabilities.
const Damage kDamages[] = {
    {"number of samples", 1, [](Variant& v) { SetByte(v, 0, 4); }, "another number of samples"},
    {"number of alleles", 2, [](Variant& v) { SetByte(v, 4, 3); }, "another number of alleles"},
    {"ploidy range", 0, [](Variant& v) { SetByte(v, 6, 9); }, "ploidy range"},
    {"ploidy of a sample", 1, [](Variant& v) { SetByte(v, 9, 1); }, "ploidy of sample 2"},
    {"reserved ploidy bit", 1, [](Variant& v) { SetByte(v, 10, 0x42); }, "ploidy of sample 3"},
    {"phase flag", 1, [](Variant& v) { SetByte(v, 11, 2); }, "phase flag"},
    {"no bits", 1, [](Variant& v) { SetByte(v, 12, 0); }, "number of bits"},
    {"too many bits", 1, [](Variant& v) { SetByte(v, 12, 33); }, "number of bits"},
    {"more bits than bytes", 1, [](Variant& v) { SetByte(v, 12, 9); }, "wrong length"},
    {"a byte too many", 1, [](Variant& v) { v.damage = [](std::string& b) { b += '\0'; }; },
     "wrong length"},
    {"a byte too few", 2, [](Variant& v) { v.damage = [](std::string& b) { b.pop_back(); }; },
     "wrong length"},
    {"a sum above 1", 1, [](Variant& v) { v.calls[2] = {2, false, 200, 56}; },
     "sample 3 add up to more than 1; found 256, expected at most 255"},
    {"a sum above 1 beside a gap", 2,
     [](Variant& v) {
       v.calls[0] = {2, true, 0, 0};
       v.calls[1] = {2, false, 255, 1};
     },
     "sample 2 add up to more than 1"},
    {"a gap with numbers", 0, [](Variant& v) { v.calls[1] = {2, true, 1, 0}; },
     "missing call of sample 2"},
    {"a haploid gap with numbers", 1, [](Variant& v) { v.calls[1] = {1, true, 1, 0}; },
     "missing call of sample 2"},
    {"a sum above 1 beside a haploid", 1,
     [](Variant& v) {
       v.calls[0] = {1, false, 255, 0};
       v.calls[2] = {2, false, 129, 127};
     },
     "sample 3 add up to more than 1"},
    {"a sum above 1 of 16 bits", 1,
     [](Variant& v) {
       v.bits = 16;
       v.calls[2] = {2, false, 65535, 1};
     },
     "sample 3 add up to more than 1; found 65536, expected at most 65535"},
    {"a phased gap with numbers", 1,
     [](Variant& v) {
       v.phased = true;
       v.calls[2] = {2, true, 0, 3};
     },
     "missing call of sample 3"},
    {"padding that is not zero", 1,
     [](Variant& v) {
       v.bits = 3;
       v.calls = {{}, {}, {}};
       v.damage = [](std::string& b) { b.back() = static_cast<char>(0x80); };
     },
     "padding"},
    {"zlib checksum", 1, [](Variant& v) { v.corrupt = [](std::string& b) { b.back() ^= 1; }; },
     "wrong checksum"},
    {"trailing zlib bytes", 1, [](Variant& v) { v.corrupt = [](std::string& b) { b += "xx"; }; },
     "bytes follow the compressed genotypes"},
    {"cut zlib stream", 1, [](Variant& v) { v.corrupt = [](std::string& b) { b.resize(9); }; },
     "cannot inflate"},
    {"longer than declared", 1, [](Variant& v) { v.declared_extra = -2; }, "more bytes than"},
    {"shorter than declared", 1, [](Variant& v) { v.declared_extra = 1; }, "another length"},
    {"trailing zstd bytes", 2, [](Variant& v) { v.corrupt = [](std::string& b) { b += "xx"; }; },
     "cannot inflate"},
    {"zstd shorter than declared", 2, [](Variant& v) { v.declared_extra = 5; }, "another length"},
    {"zstd longer than declared", 2, [](Variant& v) { v.declared_extra = -3; }, "cannot inflate"},
    {"absurd inflated length", 1, [](Variant& v) { v.declared_extra = 2000000000; },
     "declared length of the genotypes is impossible"},
};

// Each damage is found whoever is selected, and located: file, byte, variant.
TEST(BgenDamage, EachDamageIsNamedAndLocated) {
  TempDir dir;
  for (const Damage& damage : kDamages) {
    SCOPED_TRACE(damage.name);
    File file = Sandwich(8, false, damage.compression);
    damage.spoil(file.variants[1]);
    const std::string path = dir.Write("damaged.bgen", FileBytes(file));
    // Header, first record, and the second record up to its stored genotypes.
    const size_t first = RecordBytes(file, file.variants[0]).size();
    const size_t description = 2 + 1 + 2 + 3 + 2 + 1 + 4 + 2 + 5 + 5;
    const size_t byte = 24 + first + description + (file.compression == 0 ? 4 : 8);
    const std::string where = path + ", byte " + std::to_string(byte) + ", variant 2 (bad): ";
    for (const auto& chosen : {std::optional<std::vector<uint32_t>>(),
                               std::optional<std::vector<uint32_t>>({std::vector<uint32_t>{0}})}) {
      const std::string error = FirstError(path, CarrierPolicy{1}, chosen);
      EXPECT_EQ(error.rfind(where, 0), 0u) << error << "\nexpected " << where;
      EXPECT_NE(error.find(damage.expected), std::string::npos) << error;
      EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
  }
}

TEST(BgenDamage, Layout1SumsAreChecked) {
  File file;
  file.layout = 1;
  file.num_samples = 1;
  Variant v;
  v.payload.emplace();
  for (const uint16_t value : {32768, 16, 0}) Put(*v.payload, value);
  file.variants = {v};
  TempDir dir;
  const std::string error = FirstError(dir.Write("layout1.bgen", FileBytes(file)));
  EXPECT_NE(error.find("sample 1 add up to more than 1"), std::string::npos) << error;
}

// A cut anywhere is an error that names the file and a byte; no cut passes as a smaller file.
TEST(BgenDamage, EveryCutIsAnError) {
  TempDir dir;
  for (const int compression : {0, 1, 2}) {
    File file = Sandwich(8, false, compression);
    file.sample_ids = {"a", "bb", "ccc"};
    const std::string bytes = FileBytes(file);
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      const std::string path = dir.Write("cut.bgen", bytes.substr(0, cut));
      const std::string error = FirstError(path);
      EXPECT_NE(error.find(path), std::string::npos) << cut << ": " << error;
      EXPECT_NE(error.find("byte"), std::string::npos) << cut << ": " << error;
    }
    const std::string path = dir.Write("cut.bgen", bytes + "x");
    EXPECT_NE(FirstError(path).find("bytes follow the last variant"), std::string::npos);
  }
}

struct HeaderDamage {
  size_t at;
  uint32_t value;
  const char* expected;
};

// Offsets of a file with sample identifiers: 0 first variant, 4 header length, 8 variants,
// 12 samples, 16 magic, 20 flags, 24 length of the identifiers, 28 their number.
TEST(BgenDamage, ImpossibleHeadersAreRefused) {
  TempDir dir;
  File file = Sandwich(8, false, 1);
  file.sample_ids = {"a", "bb", "ccc"};
  const std::string bytes = FileBytes(file);
  const HeaderDamage damages[] = {
      {0, 0xffffffff, "offset of the first variant"},
      {0, 19, "offset of the first variant"},
      {4, 19, "header length"},
      {4, 0xfffffff0, "header length"},
      {8, 0xfffffff0, "too short for its number of variants"},
      {8, 4, "the file ends inside a variant"},
      {8, 2, "bytes follow the last variant"},
      {12, 0xfffffff0, "another number of samples"},
      {16, 0x21212121, "not a BGEN file"},
      {20, 0x80000000 | 1 | 3 << 2, "layout 3 is not supported"},
      {20, 0x80000000 | 3 | 2 << 2, "reserves"},
      {20, 0x80000040 | 1 | 2 << 2, "reserves"},
      {24, 7, "length of the sample identifier block"},
      {24, 0xffffffff, "length of the sample identifier block"},
      {24, 15, "is cut"},
      {28, 2, "another number of samples"},
  };
  for (const HeaderDamage& damage : damages) {
    std::string spoiled = bytes;
    for (int i = 0; i < 4; ++i) spoiled[damage.at + i] = static_cast<char>(damage.value >> (8 * i));
    const std::string path = dir.Write("header.bgen", spoiled);
    const std::string error = FirstError(path);
    EXPECT_NE(error.find(path), std::string::npos) << damage.at << ": " << error;
    EXPECT_NE(error.find(damage.expected), std::string::npos) << damage.at << ": " << error;
  }
  // Without identifiers an absurd number of samples still cannot take memory: no payload can hold
  // so many.
  file.sample_ids.clear();
  std::string spoiled = FileBytes(file);
  for (int i = 0; i < 4; ++i) spoiled[12 + i] = static_cast<char>(0xff);
  const std::string error = FirstError(dir.Write("header.bgen", spoiled));
  EXPECT_NE(error.find("declared length of the genotypes is impossible"), std::string::npos)
      << error;
}

// Any flipped byte ends in an error about this file or in other values, never in a crash.
TEST(BgenDamage, FlippedBytesNeverCrash) {
  TempDir dir;
  std::mt19937 random(7);
  for (const int compression : {0, 1, 2}) {
    File file;
    file.num_samples = 33;
    file.compression = compression;
    for (int kind = 0; kind < 8; ++kind) {
      file.variants.push_back(
          RandomVariant(random, 33, kind % 2 == 0 ? 8 : 11, kind >= 4, kind % 4));
    }
    const std::string bytes = FileBytes(file);
    for (size_t at = 0; at < bytes.size(); at += 7) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << random() % 8));
      const std::string path = dir.Write("flipped.bgen", flipped);
      const std::string error = FirstError(path, CarrierPolicy{4});
      if (!error.empty()) {
        EXPECT_NE(error.find(path), std::string::npos) << error;
      }
    }
  }
}

}  // namespace
}  // namespace tallele::bgen_bytes
