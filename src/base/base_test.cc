#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/aligned_buffer.h"
#include "base/atomic_file.h"
#include "base/format_number.h"
#include "base/hashing.h"
#include "base/kept_file_env.h"
#include "base/parse_number.h"
#include "base/random.h"
#include "base/text_index.h"
#include "base/text_reader.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

TEST(ParseDouble, TellsWhyATokenIsNoNumber) {
  double value = 0;
  EXPECT_EQ(ParseDouble("-1.5e3", &value), NumberOutcome::kOk);
  EXPECT_EQ(value, -1500);
  EXPECT_EQ(ParseDouble("+2", &value), NumberOutcome::kOk);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(ParseDouble("", &value), NumberOutcome::kEmpty);
  EXPECT_EQ(ParseDouble("abc", &value), NumberOutcome::kNotANumber);
  EXPECT_EQ(ParseDouble("+-1", &value), NumberOutcome::kNotANumber);
  EXPECT_EQ(ParseDouble("1abc", &value), NumberOutcome::kTrailingJunk);
  EXPECT_EQ(ParseDouble("inf", &value), NumberOutcome::kNotFinite);
  EXPECT_EQ(ParseDouble("-nan", &value), NumberOutcome::kNotFinite);
  EXPECT_EQ(ParseDouble("1e999", &value), NumberOutcome::kOutOfRange);
}

// Plain decimals have a fast way of their own; the library is the reference.
TEST(ParseDouble, GivesTheBitsOfTheLibraryForPlainDecimals) {
  RandomStream random(3, 4);
  const auto check = [](const std::string& text) {
    double expected = 0, value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, expected);
    const bool number = error == std::errc() && stop == end;
    ASSERT_EQ(ParseDouble(text, &value) == NumberOutcome::kOk, number) << text;
    if (!number) return;
    ASSERT_EQ(std::memcmp(&value, &expected, sizeof value), 0) << text;
  };
  for (int i = 0; i < 300000; ++i) {
    std::string text = random.NextLong() % 3 == 0 ? "-" : "";
    const uint64_t length = random.NextLong() % 19;
    const uint64_t point = random.NextLong() % 20;
    for (uint64_t k = 0; k < length; ++k) {
      if (k == point) text += '.';
      text += static_cast<char>('0' + random.NextLong() % 10);
    }
    check(text);
  }
  for (const char* text : {"0",
                           "-0",
                           "-0.0",
                           ".",
                           "-",
                           "-.",
                           "1.",
                           ".5",
                           "-.5",
                           "1..2",
                           "1.2.3",
                           "--1",
                           "999999999999999",
                           "9999999999999999",
                           "0.000000000000001",
                           "0.1",
                           "123456.789012345",
                           "1e5",
                           "1.5e-3",
                           "00000000000000012"}) {
    check(text);
  }
}

// An index that lost, mixed up or overwrote texts would mix up people.
TEST(TextIndex, HoldsWhatAMapHolds) {
  TextIndex index;
  EXPECT_EQ(index.Find("a"), std::nullopt);
  std::map<std::string, uint64_t> expected;
  RandomStream random(5, 6);
  for (uint64_t i = 0; i < 50000; ++i) {
    std::string text = std::to_string(random.NextLong() % 40000);
    if (text.size() % 3 == 0) text.assign(text.size(), '\0');
    const auto earlier = index.Insert(text, i);
    const auto [at, added] = expected.try_emplace(text, i);
    ASSERT_EQ(earlier.has_value(), !added);
    ASSERT_EQ(earlier.value_or(at->second), at->second);
    if (i == 100) index.Reserve(1000);
  }
  EXPECT_EQ(index.size(), expected.size());
  for (const auto& [text, value] : expected) ASSERT_EQ(index.Find(text), value);
  EXPECT_EQ(index.Find("no such text"), std::nullopt);
  EXPECT_EQ(index.Find(""), std::nullopt);
}

// Text output promises the digits of REGENIE, which prints through a default stream.
TEST(FormatSixDigits, EqualsADefaultStream) {
  RandomStream random(1, 2);
  for (int i = 0; i < 200000; ++i) {
    double value = 0;
    const uint64_t bits = random.NextLong();
    std::memcpy(&value, &bits, sizeof value);
    if (i % 2 == 0) value = (random.NextUniform() - 0.5) * std::pow(10.0, i % 40 - 20);
    if (!std::isfinite(value)) continue;
    std::ostringstream stream;
    stream << value;
    ASSERT_EQ(FormatSixDigits(value), stream.str());
  }
  for (const double value : {0.0, 1.0, 0.5, 100000.0, 1000000.0, 1234565.0, 0.0001, 0.00001}) {
    std::ostringstream stream;
    stream << value;
    EXPECT_EQ(FormatSixDigits(value), stream.str());
  }
  EXPECT_EQ(FormatThousands(-1234567), "-1,234,567");
  EXPECT_EQ(FormatThousands(123), "123");
}

// Known answers of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(Philox, MatchesThePublishedVectors) {
  const std::array<uint32_t, 4> zero = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  EXPECT_EQ(Philox4x32({0, 0, 0, 0}, {0, 0}), zero);
  const std::array<uint32_t, 4> ones = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  EXPECT_EQ(Philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), ones);
  const std::array<uint32_t, 4> pi = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  EXPECT_EQ(Philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            pi);
}

TEST(RandomStream, ManyUniformsAreTheNextOnes) {
  for (const size_t before : {0, 1, 3, 4}) {
    for (const size_t count : {1, 5, 31, 32, 33, 100}) {
      RandomStream many(7, uint64_t{5} << 33), single(7, uint64_t{5} << 33);
      for (size_t i = 0; i < before; ++i) EXPECT_EQ(many.NextUniform(), single.NextUniform());
      std::vector<double> values(count);
      many.FillUniforms(values);
      for (const double value : values) EXPECT_EQ(value, single.NextUniform());
      EXPECT_EQ(many.NextUniform(), single.NextUniform());
    }
  }
}

TEST(RandomStream, GapsHaveTheRightMean) {
  RandomStream random(5, 9);
  double sum = 0;
  for (int i = 0; i < 100000; ++i) sum += static_cast<double>(random.NextGap(0.02));
  EXPECT_NEAR(sum / 100000, 49.0, 1.0);
}

// RFC 1321, appendix A.5.
TEST(Md5, MatchesTheStandard) {
  Md5 digest;
  digest.Update("message ");
  digest.Update("digest");
  EXPECT_EQ(digest.HexDigest(), "f96b697d7cb7938d525a2f31aaf161d0");
}

// FIPS 180-2, appendix B.1.
TEST(Sha256, MatchesTheStandard) {
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(AlignedBuffer, StartsOnCacheLinesAndKeepsItsRoom) {
  AlignedBuffer buffer(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0u);
  buffer.ResizeZeroed(size_t{5} << 20);
  EXPECT_EQ(buffer.data()[(size_t{5} << 20) - 1], std::byte{0});
}

// Counts what is opened, and gives at most `most` bytes a call.
class SlowFileEnv final : public ForwardingFileEnv {
 public:
  explicit SlowFileEnv(size_t most = SIZE_MAX) : ForwardingFileEnv(PosixFileEnv()), most_(most) {}

  Result<std::unique_ptr<ReadableFile>> OpenToRead(const std::string& path) override {
    ++opened[path];
    TALLELE_ASSIGN(auto file, base().OpenToRead(path));
    return std::unique_ptr<ReadableFile>(new File(std::move(file), most_));
  }

  std::map<std::string, int> opened;

 private:
  class File final : public ReadableFile {
   public:
    File(std::unique_ptr<ReadableFile> file, size_t most) : file_(std::move(file)), most_(most) {}
    Result<size_t> ReadSome(uint64_t offset, std::span<std::byte> out) const override {
      return file_->ReadSome(offset, out.first(std::min(out.size(), most_)));
    }
    Result<FileIdentity> Identity() const override { return file_->Identity(); }
    const std::string& path() const override { return file_->path(); }

   private:
    std::unique_ptr<ReadableFile> file_;
    size_t most_;
  };
  const size_t most_;
};

class TextFiles : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (dir_.path() / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::vector<std::string> Lines(const std::string& path, FileEnv& env = PosixFileEnv()) {
    auto reader = LineReader::Open(path, env);
    EXPECT_TRUE(reader.ok());
    std::vector<std::string> lines;
    std::string_view line;
    while (true) {
      auto more = (*reader)->Next(&line);
      if (!more.ok()) return {"error: " + more.error().Message()};
      if (!*more) return lines;
      lines.emplace_back(line);
    }
  }
  TempDir dir_;
};

TEST_F(TextFiles, LinesLoseMarksAndCarriageReturns) {
  const std::string path = Write("a.txt",
                                 "\xEF\xBB\xBF"
                                 "one\r\n\ntwo\tx \nlast");
  EXPECT_EQ(Lines(path), (std::vector<std::string>{"one", "", "two\tx ", "last"}));
}

TEST_F(TextFiles, LongLinesAndGzipAreRead) {
  const std::string longest(3'000'000, 'x');
  const std::string path = (dir_.path() / "a.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, longest.data(), static_cast<unsigned>(longest.size()));
  gzwrite(file, "\nend\n", 5);
  gzclose(file);
  EXPECT_EQ(Lines(path), (std::vector<std::string>{longest, "end"}));
}

TEST_F(TextFiles, ACutGzipFileIsAnErrorThatNamesIt) {
  const std::string path = (dir_.path() / "a.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  for (int i = 0; i < 5000; ++i) gzprintf(file, "line %d %d\n", i, i * i);
  gzclose(file);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  const auto lines = Lines(path);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find(path), std::string::npos) << lines[0];
}

// Members as bgzip writes them, one of which is empty, and zeros as tapes append them; each is read
// to its end whatever a call gives.
TEST_F(TextFiles, GzipMembersAreReadThroughAndPaddingIsLeftAlone) {
  const std::string one = (dir_.path() / "one.gz").string();
  std::string bytes;
  for (const char* text : {"first\nsec", "", "ond\nlast"}) {
    gzFile file = gzopen(one.c_str(), "wb");
    gzputs(file, text);
    gzclose(file);
    bytes += ReadWholeFile(one);
  }
  const std::vector<std::string> expected = {"first", "second", "last"};
  for (const size_t padding : {0, 1, 600}) {
    const std::string path = Write("all.gz", bytes + std::string(padding, '\0'));
    EXPECT_EQ(Lines(path), expected) << padding;
    SlowFileEnv slow(1);
    EXPECT_EQ(Lines(path, slow), expected) << padding;
  }
  SlowFileEnv slow(1);
  EXPECT_EQ(Lines(Write("plain", "\x1f\nfirst\n"), slow),
            (std::vector<std::string>{"\x1f", "first"}));
}

// The checksum at the end of a member is looked at.
TEST_F(TextFiles, AFlippedByteOfAGzipFileIsAnError) {
  const std::string path = (dir_.path() / "a.gz").string();
  gzFile file = gzopen(path.c_str(), "wb");
  for (int i = 0; i < 300; ++i) gzprintf(file, "line %d %d\n", i, i * i);
  gzclose(file);
  const std::string whole = ReadWholeFile(path);
  for (const size_t at : {whole.size() / 2, whole.size() - 6}) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 4);
    const auto lines = Lines(Write("b.gz", flipped));
    ASSERT_EQ(lines.size(), 1u) << at;
    EXPECT_NE(lines[0].find("damaged or cut short"), std::string::npos) << lines[0];
  }
}

TEST_F(TextFiles, KeptFilesAreOpenedOnceAndAgainWhenTheyChange) {
  const std::string path = Write("table", "one\n");
  const std::string other = Write("other", "alone\n");
  std::filesystem::create_symlink(path, dir_.path() / "link");
  const std::string link = (dir_.path() / "link").string();
  SlowFileEnv counting;
  KeptFileEnv env(counting, 1000);
  for (const std::string& user : {path, link, other}) env.Expect(user);
  EXPECT_EQ(Lines(path, env), std::vector<std::string>{"one"});
  EXPECT_EQ(Lines(link, env), std::vector<std::string>{"one"});
  EXPECT_EQ(counting.opened[path] + counting.opened[link], 1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Lines(other, env), std::vector<std::string>{"alone"});
  EXPECT_EQ(counting.opened[other], 2) << "one user alone expects it";
  Write("table", "two\n");
  EXPECT_EQ(Lines(link, env), std::vector<std::string>{"two"});
  EXPECT_EQ(Lines(path, env), std::vector<std::string>{"two"});
  EXPECT_EQ(counting.opened[path] + counting.opened[link], 2);
}

TEST_F(TextFiles, KeptFilesMakeRoomForEachOther) {
  SlowFileEnv counting;
  KeptFileEnv env(counting, 25);
  const std::string a = Write("a", "aaaaaaaaa\n"), b = Write("b", "bbbbbbbbb\n"),
                    c = Write("c", "ccccccccc\n"), large = Write("large", std::string(26, 'x'));
  for (const std::string& path : {a, b, c, large, a, b, c, large}) env.Expect(path);
  for (const std::string& path : {a, b, a, c, a, large, large, b}) Lines(path, env);
  EXPECT_EQ(counting.opened[a], 1);
  EXPECT_EQ(counting.opened[b], 2) << "it was not asked for longest when c came";
  EXPECT_EQ(counting.opened[c], 1);
  EXPECT_EQ(counting.opened[large], 2);
}

// A binary file given as a table by mistake must end in an error, not in all memory taken.
TEST_F(TextFiles, ALineWithoutEndIsAnErrorThatNamesIt) {
  const std::string path = Write("holes.bin", "one\n");
  std::filesystem::resize_file(path, uintmax_t{300} << 20);  // sparse: zeros, no line end
  const auto lines = Lines(path);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("holes.bin, line 2: a line has more than 256 MiB"), std::string::npos)
      << lines[0];
}

TEST_F(TextFiles, AnAtomicFileAppearsOnlyWhenCommitted) {
  const std::string path = (dir_.path() / "out.txt").string();
  {
    auto file = AtomicFile::Create(path);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->Append(std::string_view("gone")).ok());
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
  ASSERT_TRUE(WriteFileAtomically(path, "kept").ok());
  EXPECT_EQ(Lines(path), std::vector<std::string>{"kept"});
}

// A disk that fills and is freed again must not leave a file with a repeated or missing middle.
TEST_F(TextFiles, AFailedWriteSticks) {
  const std::string path = (dir_.path() / "out.txt").string();
  FaultFileEnv env(PosixFileEnv());
  env.fail_append_from = 0;
  {
    auto file = AtomicFile::Create(path, env);
    ASSERT_TRUE(file.ok());
    EXPECT_FALSE((*file)->Append(std::string(size_t{1} << 20, 'x')).ok());
    env.fail_append_from = -1;
    const auto later = (*file)->Commit();
    ASSERT_FALSE(later.ok());
    EXPECT_EQ(later.error().kind, ErrorKind::kIo);
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(TextFiles, AFullDiskLeavesNothingUnderTheFinalName) {
  const std::string path = (dir_.path() / "out.txt").string();
  for (int step = 0; step < 3; ++step) {
    FaultFileEnv env(PosixFileEnv());
    (step == 0 ? env.fail_append_from : step == 1 ? env.fail_sync_from : env.fail_rename_from) = 0;
    const auto result = WriteFileAtomically(path, "text", env);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().kind, ErrorKind::kIo);
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path())) << step;
  }
}

}  // namespace
}  // namespace tallele
