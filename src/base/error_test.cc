#include "base/error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>

#include "base/result.h"

namespace tallele {
namespace {

// Protects the one-line form that users and scripts read.
TEST(ErrorTest, MessageHasEveryPartInOrder) {
  Error error = InputError("not a number", "pheno.txt, line 3, column Y1", "Remove the letter.");
  error.found = "'1.2x'";
  error.expected = "a finite number or NA";
  EXPECT_EQ(error.Message(),
            "pheno.txt, line 3, column Y1: not a number; found '1.2x', expected a finite number or "
            "NA. Remove the letter.");
}

TEST(ErrorTest, MessageLeavesOutEmptyParts) {
  EXPECT_EQ(UsageError("no input").Message(), "no input");
  Error error = ConfigError("wrong type");
  error.expected = "an integer";
  EXPECT_EQ(error.Message(), "wrong type; expected an integer");
}

// A name with a line break in a user's file must not become a second log line.
TEST(ErrorTest, MessageIsAlwaysOneLine) {
  EXPECT_EQ(InputError("bad id", "a\nb").Message(), "a b: bad id");
}

TEST(ErrorTest, IoErrorNamesPathAndReason) {
  const Error error = IoError("cannot open the file", "/no/such", ENOENT);
  EXPECT_EQ(error.kind, ErrorKind::kIo);
  EXPECT_EQ(error.Message(), "/no/such: cannot open the file; found No such file or directory");
}

TEST(ErrorTest, ContextGoesInFront) {
  EXPECT_EQ(InputError("bad", "byte 7").WithContext("a.bgen").where, "a.bgen: byte 7");
  EXPECT_EQ(InputError("bad", "").WithContext("a.bgen").where, "a.bgen");
}

TEST(ErrorTest, ExitCodes) {
  EXPECT_EQ(ExitCodeFor(ErrorKind::kUsage), 2);
  EXPECT_EQ(ExitCodeFor(ErrorKind::kConfig), 2);
  EXPECT_EQ(ExitCodeFor(ErrorKind::kInput), 1);
  EXPECT_EQ(ExitCodeFor(ErrorKind::kUnsupported), 1);
  EXPECT_EQ(ExitCodeFor(ErrorKind::kIo), 1);
  EXPECT_EQ(ExitCodeFor(ErrorKind::kNumeric), 1);
  EXPECT_EQ(ExitCodeFor(ErrorKind::kInternal), 1);
  EXPECT_EQ(ExitCodeFor(ErrorKind::kInterrupted), 130);
}

Result<std::unique_ptr<int>> Half(int value) {
  if (value % 2 != 0) return InputError("odd", std::to_string(value));
  return std::make_unique<int>(value / 2);
}

Result<int> Quarter(int value) {
  TALLELE_ASSIGN(const auto half, Half(value));
  TALLELE_ASSIGN(const auto quarter, Half(*half));
  return *quarter;
}

Result<void> CheckQuarter(int value) {
  TALLELE_TRY(Quarter(value));
  return {};
}

// Protects the macros: move-only values pass through, the first error leaves the function.
TEST(ResultTest, MacrosPassValuesAndErrors) {
  ASSERT_TRUE(Quarter(8).ok());
  EXPECT_EQ(Quarter(8).value(), 2);
  EXPECT_EQ(Quarter(6).error().where, "3");
  EXPECT_TRUE(CheckQuarter(8).ok());
  EXPECT_EQ(CheckQuarter(5).error().where, "5");
}

}  // namespace
}  // namespace tallele
