// The pickle interpreter: values of every listed opcode, and errors, never executions, for
// everything else.
#include "ancestry/model/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Bytes(std::initializer_list<const char*> pieces) {
  std::string out;
  for (const char* piece : pieces) out += piece;
  return out;
}

std::string MessageOf(std::string bytes) {
  const auto read = Pickle::Read(std::move(bytes), "test");
  return read.ok() ? "accepted" : read.error().Message();
}

TEST(Pickle, ReadsNumbersOfEverySize) {
  using namespace std::string_literals;
  const auto read = Pickle::Read(
      "\x80\x02(K\x07M\x01\x02J\xff\xff\xff\xff\x8a\x00\x8a\x05\x00\x00\x00\x00\x80"
      "G\x3f\xf8\x00\x00\x00\x00\x00\x00t."s,
      "test");
  ASSERT_TRUE(read.ok()) << read.error().Message();
  const auto& items = read->root().items();
  ASSERT_EQ(items.size(), 6u);
  EXPECT_EQ(items[0]->integer, 7);
  EXPECT_EQ(items[1]->integer, 513);
  EXPECT_EQ(items[2]->integer, -1);
  EXPECT_EQ(items[3]->integer, 0);
  EXPECT_EQ(items[4]->integer, -(int64_t{1} << 39));
  EXPECT_EQ(items[5]->real, 1.5);
}

TEST(Pickle, RefusesCodeByName) {
  // What os.system("true") pickles to.
  EXPECT_THAT(MessageOf(Bytes({"\x80\x02", "cposix\nsystem\n", "X\x04"}) +
                        std::string("\0\0\0true", 7) + "\x85R."),
              HasSubstr("posix.system"));
}

TEST(Pickle, RefusesOpcodesByNumber) {
  EXPECT_THAT(MessageOf("\x80\x02i."), HasSubstr("0x69"));
  EXPECT_THAT(MessageOf("\x80\x05N."), HasSubstr("protocol 5"));
}

TEST(Pickle, RefusesBrokenStacks) {
  for (const char* code : {"\x80\x02.", "\x80\x02t.", "\x80\x02R.", "\x80\x02NN.", "\x80\x02(N.",
                           "\x80\x02Na.", "\x80\x02h\x01.", "\x80\x02}Ns.", "\x80\x02]NNs.",
                           "\x80\x02N(a.", "\x80\x02N", "\x80\x02N.N", "\x80\x02X\x7f"}) {
    EXPECT_NE(MessageOf(code), "accepted") << code;
  }
}

// A text of 100 kB encoded a thousand times would take 100 MB from 106 kB.
TEST(Pickle, BoundsWhatEncodingMakes) {
  std::string bytes("\x80\x02(c_codecs\nencode\nq\x00X\xa0\x86\x01\x00", 26);
  bytes += std::string(100000, 'x');
  bytes += std::string("q\x01X\x06\x00\x00\x00latin1q\x02", 15);
  for (int i = 0; i < 1000; ++i) bytes += std::string("h\x00h\x01h\x02\x86R", 8);
  EXPECT_THAT(MessageOf(bytes + "t."), HasSubstr("again and again"));
}

// The partition of upstream: 5 folds of three lists, and sample ids as arrays of byte strings.
TEST(Pickle, ReadsThePartitionOfUpstream) {
  const auto shared = SharedFixtures();
  if (!shared) GTEST_SKIP() << "no shared fixtures";
  const std::string path = (*shared / "dietnet/tiny/partition_seed_a.npz").string();
  const auto archive = ZipArchive::Open(path);
  ASSERT_TRUE(archive.ok());
  const auto bytes = archive->Read("folds_indexes.npy");
  ASSERT_TRUE(bytes.ok());
  const auto header = ReadNpyHeader(*bytes, path);
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->type, 'O');
  const auto read = Pickle::Read(bytes->substr(header->data_offset), path);
  ASSERT_TRUE(read.ok()) << read.error().Message();
  const auto array = ReadPickledArray(read->root(), path);
  ASSERT_TRUE(array.ok()) << array.error().Message();
  EXPECT_THAT(array->shape, ElementsAre(5, 3));
  size_t total = 0;
  for (size_t part = 0; part < 3; ++part) {
    const auto list = ReadPickledIntegers(*array->items[part], path);
    ASSERT_TRUE(list.ok()) << list.error().Message();
    total += list->size();
  }
  EXPECT_EQ(total, 178u);
}

}  // namespace
}  // namespace tallele
