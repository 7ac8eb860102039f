// Protects: telemetry never holds a run up, counts what it loses, keeps its rhythm, and the report
// names the stage that bounds the run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "results/event_log.h"
#include "results/scan_profile.h"
#include "tests/support/fixtures.h"

namespace tallele {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<json> EventsOf(const std::string& path) {
  std::vector<json> events;
  std::istringstream lines(ReadWholeFile(path));
  for (std::string line; std::getline(lines, line);) events.push_back(json::parse(line));
  return events;
}

size_t Count(const std::vector<json>& events, const std::string& name) {
  size_t count = 0;
  for (const json& event : events) count += event["event"] == name;
  return count;
}

TEST(EventLog, WritesLinesWithTheDocumentedEnvelope) {
  const TempDir folder;
  NullEventSink next;
  {
    auto log = EventLog::Open(folder.File("e.jsonl"), "run-1", next);
    ASSERT_TRUE(log.ok());
    (*log)->Message(Severity::kWarning, "careful: \"quoted\" \xff");
    (*log)->Message(Severity::kInfo, "not an event");
    const EventField fields[] = {{"chromosome", std::string_view("X")}, {"n", int64_t{3}}};
    (*log)->Event("chromosome_started", fields);
  }
  const auto events = EventsOf(folder.File("e.jsonl"));
  ASSERT_EQ(events.size(), 3u);
  for (const json& event : events) {
    EXPECT_EQ(event["schema"], 1);
    EXPECT_EQ(event["run"], "run-1");
    EXPECT_TRUE(event["fields"].is_object());
    EXPECT_EQ(event.size(), 6u);
  }
  EXPECT_EQ(events[0]["level"], "warning");
  EXPECT_EQ(events[1]["fields"]["chromosome"], "X");
  EXPECT_EQ(events[2]["event"], "log_closed");
  EXPECT_EQ(events[2]["fields"]["written"], 2);
}

// A56: one progress event at first, one at the end, and none in between within five seconds.
TEST(EventLog, A56ProgressIsThrottled) {
  const TempDir folder;
  NullEventSink next;
  {
    auto log = EventLog::Open(folder.File("e.jsonl"), "r", next);
    ASSERT_TRUE(log.ok());
    for (int64_t done = 0; done < 1000; ++done) {
      (*log)->Progress({"variants", done, 1000, 0.1, false});
    }
    (*log)->Progress({"variants", 1000, 1000, 0.2, true});
  }
  const auto events = EventsOf(folder.File("e.jsonl"));
  EXPECT_EQ(Count(events, "run_progress"), 2u);
  EXPECT_EQ(events[1]["fields"]["final"], true);
  EXPECT_EQ(events[1]["fields"]["percent"], 100.0);
}

// A full queue drops and counts; nobody waits, and every line that was accepted is written.
TEST(EventLog, DropsWhatDoesNotFitAndCountsIt) {
  const TempDir folder;
  NullEventSink next;
  constexpr int64_t kEvents = 20'000;
  {
    auto log = EventLog::Open(folder.File("e.jsonl"), "r", next, 4);
    ASSERT_TRUE(log.ok());
    for (int64_t i = 0; i < kEvents; ++i) (*log)->Event("tick", {});
  }
  const auto events = EventsOf(folder.File("e.jsonl"));
  const json& counts = events.back()["fields"];
  EXPECT_EQ(counts["accepted"].get<int64_t>() + counts["dropped"].get<int64_t>(), kEvents);
  EXPECT_EQ(counts["written"], counts["accepted"]);
  EXPECT_EQ(static_cast<int64_t>(Count(events, "tick")), counts["written"].get<int64_t>());
}

TEST(EventLog, AFolderThatIsNotThereIsAnError) {
  NullEventSink next;
  EXPECT_FALSE(EventLog::Open("/nowhere/at/all.jsonl", "r", next).ok());
}

ScanProfile Profile(double read, double decode, double test, double publish) {
  ScanProfile profile;
  profile.wall_seconds = 10;
  profile.threads = 4;
  profile.read.seconds = read;
  profile.decode.seconds = decode;
  profile.test.seconds = test;
  profile.publish.seconds = publish;
  return profile;
}

std::string ReportOf(const ScanProfile& profile) {
  std::string text;
  for (const std::string& line : DescribeProfile(profile)) text += line + "\n";
  return text;
}

// A57: the sentence fits what fills the time.
TEST(ScanProfile, A57TheReportNamesWhatBoundsTheRun) {
  EXPECT_THAT(ReportOf(Profile(9, 10, 5, 0)), HasSubstr("Bound by reading"));
  EXPECT_THAT(ReportOf(Profile(1, 25, 10, 1)), HasSubstr("Bound by inflating"));
  EXPECT_THAT(ReportOf(Profile(1, 10, 25, 1)), HasSubstr("Bound by products"));
  EXPECT_THAT(ReportOf(Profile(1, 5, 5, 9)), HasSubstr("Bound by syncing"));
  EXPECT_THAT(ReportOf(Profile(1, 5, 5, 6)), HasSubstr("Bound by syncing"));
  EXPECT_THAT(ReportOf(Profile(1, 5, 5, 1)), HasSubstr("No stage fills the time"));
  EXPECT_DOUBLE_EQ(Profile(1, 25, 10, 1).WaitingSeconds(), 3);
}

TEST(ScanProfile, A57ReadsBackAndRefusesOtherFiles) {
  const TempDir folder;
  ScanProfile profile = Profile(1, 2, 3, 4);
  profile.variants = 77;
  profile.test.calls = 9;
  ASSERT_TRUE(WriteProfile(profile, folder.File("p.json")).ok());
  const auto back = ReadProfile(folder.File("p.json"));
  ASSERT_TRUE(back.ok()) << back.error().Message();
  EXPECT_EQ(back->variants, 77u);
  EXPECT_EQ(back->test.calls, 9u);
  EXPECT_EQ(ReportOf(*back), ReportOf(profile));
  for (const char* text :
       {"", "{", "{}", "[]", "{\"format\": \"tallele profile\", \"schema\": 2}"}) {
    folder.Write("bad.json", text);
    EXPECT_FALSE(ReadProfile(folder.File("bad.json")).ok()) << text;
  }
}

}  // namespace
}  // namespace tallele
