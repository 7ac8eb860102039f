// Protects: a resumed run never mixes, loses or repeats results; what differs is refused by name
// and nothing is touched. Names carry the rows of the acceptance list that a test stands for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "assoc/finished_run.h"
#include "base/atomic_file.h"
#include "results/check_run.h"
#include "results/output_paths.h"
#include "results/run_manifest.h"
#include "tests/crash/crash_file_env.h"
#include "tests/crash/small_run.h"

namespace tallele::crash {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Stops when the scan comes to another chromosome, as a signal does: every part of the first one is
// finished by then.
class StopAtSecondChromosome final : public EventSink {
 public:
  explicit StopAtSecondChromosome(CancelToken& cancel) : cancel_(cancel) {}
  void Message(Severity, std::string_view) override {}
  void Progress(const ProgressReport&) override {}
  void Event(std::string_view name, std::span<const EventField>) override {
    if (name == "chromosome_started" && ++chromosomes_ == 2) cancel_.Cancel(15);
  }

 private:
  CancelToken& cancel_;
  int chromosomes_ = 0;
};

class Resume : public testing::Test {
 protected:
  static void SetUpTestSuite() { cohort_ = new SmallCohort(); }
  static void TearDownTestSuite() {
    delete cohort_;
    cohort_ = nullptr;
  }
  void SetUp() override {
    request_ = cohort_->Request(
        std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    reference_request_ = cohort_->Request("reference");
    if (reference_.empty()) {
      ASSERT_TRUE(Attempt(reference_request_).ok());
      reference_ = ResultBytes(reference_request_);
    }
  }

  // Killed after about `at` of its operations.
  void Kill(int64_t at) {
    CrashFileEnv env(Fault::kKillBefore, at);
    request_.safety.env = &env;
    ASSERT_FALSE(Attempt(request_).ok());
    request_.safety.env = nullptr;
  }
  Result<ScanSummary> ResumeRun() {
    request_.safety.existing = ExistingRun::kResume;
    return Attempt(request_);
  }
  void ExpectSameResults() {
    const auto bytes = ResultBytes(request_);
    ASSERT_EQ(bytes.size(), reference_.size());
    for (const auto& [name, content] : reference_) {
      ASSERT_TRUE(bytes.contains(name)) << name;
      EXPECT_TRUE(bytes.at(name) == content) << name;
    }
  }
  void ExpectResumeGivesReference() {
    const auto done = ResumeRun();
    ASSERT_TRUE(done.ok()) << done.error().Message();
    ExpectSameResults();
  }
  std::string Folder(size_t trait) const {
    return request_.out + ".tallele/trait_000" + std::to_string(trait) + "_QT" +
           std::to_string(trait);
  }
  std::string ManifestFile(size_t trait) const { return Folder(trait) + "/" + kManifestName; }
  std::string Part(size_t trait, size_t number) const {
    return Folder(trait) + "/parts/" + PartFileName({number * 10, 10});
  }
  RunManifest Manifest(size_t trait) const {
    auto manifest = ReadManifest(ManifestFile(trait));
    EXPECT_TRUE(manifest.ok()) << manifest.error().Message();
    return *std::move(manifest);
  }

  static SmallCohort* cohort_;
  static std::map<std::string, std::string> reference_;
  ScanRequest request_;
  ScanRequest reference_request_;
};

SmallCohort* Resume::cohort_ = nullptr;
std::map<std::string, std::string> Resume::reference_;

// A39: layout and names.
TEST_F(Resume, A39LayoutAndSlugs) {
  ASSERT_TRUE(Attempt(request_).ok());
  for (size_t t = 1; t <= 3; ++t) {
    EXPECT_TRUE(fs::exists(ManifestFile(t)));
    EXPECT_TRUE(fs::exists(Part(t, 0)));
    EXPECT_TRUE(fs::exists(Part(t, 19)));
  }
}

// A39, aliasing: a run folder reached by a link or by "..", with texts inside it, is refused before
// anything is made.
TEST_F(Resume, A39AliasedFoldersAreRefused) {
  const std::string real = cohort_->File("real_run");
  fs::create_directories(real);
  fs::create_directory_symlink(real, cohort_->File("link"));
  request_.run_directory = cohort_->File("link");
  request_.out = cohort_->File("missing/../real_run/x");
  const auto before = Everything(reference_request_);
  const auto done = Attempt(request_);
  ASSERT_FALSE(done.ok());
  EXPECT_TRUE(Everything(reference_request_) == before) << done.error().Message();
}

// A40: every part and the plan are in the manifest, and the hash is that of the fields.
TEST_F(Resume, A40ManifestOfAFinishedRun) {
  ASSERT_TRUE(Attempt(request_).ok());
  const RunManifest manifest = Manifest(2);
  EXPECT_EQ(manifest.status, RunStatus::kCompleted);
  EXPECT_EQ(manifest.trait, "QT2");
  EXPECT_EQ(manifest.parts.size(), SmallCohort::kParts);
  EXPECT_TRUE(manifest.IsComplete());
  std::set<std::string> roles;
  for (const InputFile& input : manifest.inputs) roles.insert(input.role);
  for (const char* role : {"genotypes", "sample file", "phenotypes", "covariates",
                           "prediction list", "predictions of QT2"}) {
    EXPECT_TRUE(roles.contains(role)) << role;
  }
  EXPECT_EQ(manifest.outputs.size(), 2u);
}

// A40: threads, block width, output format and the place of equal inputs are in no plan.
TEST_F(Resume, A40WorkAndPlacesDoNotChangeThePlan) {
  Kill(300);
  fs::copy_file(request_.bgen, cohort_->File("moved.bgen"), fs::copy_options::overwrite_existing);
  fs::copy_file(request_.cohort.pheno_file, cohort_->File("moved.tsv"),
                fs::copy_options::overwrite_existing);
  request_.bgen = cohort_->File("moved.bgen");
  request_.cohort.pheno_file = cohort_->File("moved.tsv");
  request_.threads = 2;
  request_.block_size = 3;
  ExpectResumeGivesReference();
}

// A41: a folder with results is refused without --resume and --overwrite.
TEST_F(Resume, A41FreshRunGuard) {
  ASSERT_TRUE(Attempt(request_).ok());
  const auto before = Everything(request_);
  const auto again = Attempt(request_);
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(again.error().Message(), HasSubstr("--resume"));
  EXPECT_TRUE(Everything(request_) == before);
}

TEST_F(Resume, OverwriteRemovesOnlyWhatTalleleWrote) {
  ASSERT_TRUE(Attempt(request_).ok());
  const std::string note = request_.out + ".tallele/notes.txt";
  std::ofstream(note) << "mine";
  request_.safety.existing = ExistingRun::kOverwrite;
  const auto before = Everything(request_);
  const auto refused = Attempt(request_);
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(refused.error().Message(), HasSubstr("notes.txt"));
  EXPECT_TRUE(Everything(request_) == before);
  fs::remove(note);
  ASSERT_TRUE(Attempt(request_).ok());
  ExpectSameResults();
}

// A43: each change is refused by the field's name, and nothing is touched.
TEST_F(Resume, A43EachChangeIsRefusedByName) {
  Kill(300);
  const std::string folder = cohort_->folder().path().string() + "/";
  const auto changed = [&](const std::string& from, const std::string& to, auto edit) {
    std::string text = ReadWholeFile(from);
    edit(text);
    std::ofstream(folder + to, std::ios::binary) << text;
    return folder + to;
  };
  const std::string pheno = changed(request_.cohort.pheno_file, "p2.tsv", [](std::string& text) {
    text[text.find('.') + 1] ^= 1;  // a digit of a value
  });
  const std::string bgen = changed(request_.bgen, "g2.bgen", [](std::string& text) {
    text[text.rfind("rs") == std::string::npos ? text.size() - 1 : text.size() - 1] ^= 1;
  });
  struct Case {
    const char* field;
    std::function<void(ScanRequest&)> change;
  };
  const Case cases[] = {
      {"min_mac", [](ScanRequest& r) { r.min_mac = 4; }},
      {"min_info", [](ScanRequest& r) { r.min_info = 0.1; }},
      {"test", [](ScanRequest& r) { r.model = GeneticModel::kDominant; }},
      {"ref_first", [](ScanRequest& r) { r.ref_first = true; }},
      {"chromosomes", [](ScanRequest& r) { r.chromosomes = {"1"}; }},
      {"range", [](ScanRequest& r) { r.range = "1:1-500000"; }},
      {"apply_rint", [](ScanRequest& r) { r.cohort.apply_rint = true; }},
      {"sample_mode", [](ScanRequest& r) { r.cohort.sample_mode = SampleMode::kCompleteCase; }},
      {"covar_columns", [](ScanRequest& r) { r.cohort.covar_columns = {"age", "batch"}; }},
      {"ignore_pred",
       [](ScanRequest& r) {
         r.pred.clear();
         r.ignore_pred = true;
       }},
      {"phenotypes.sha256", [&](ScanRequest& r) { r.cohort.pheno_file = pheno; }},
      {"genotypes.sampled_sha256", [&](ScanRequest& r) { r.bgen = bgen; }},
      {"variants_per_part", [](ScanRequest& r) { r.safety.variants_per_part = 20; }},
  };
  request_.safety.existing = ExistingRun::kResume;
  const auto before = Everything(request_);
  for (const Case& one : cases) {
    ScanRequest request = request_;
    one.change(request);
    const auto done = Attempt(request);
    ASSERT_FALSE(done.ok()) << one.field;
    EXPECT_THAT(done.error().Message(), HasSubstr(std::string("in ") + one.field + ";"));
    EXPECT_TRUE(Everything(request_) == before) << one.field;
  }
  ExpectResumeGivesReference();
}

// A43: fewer traits than the folder has would leave a trait behind that nobody finishes.
TEST_F(Resume, A43AnotherSetOfTraitsIsRefused) {
  Kill(300);
  request_.cohort.pheno_columns = {"QT1", "QT2"};
  const auto done = ResumeRun();
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().Message(), HasSubstr("trait_0003_QT3"));
}

// A44: a part that one trait lacks is computed for that trait alone.
TEST_F(Resume, A44OnlyLackingTraitsAreWritten) {
  ASSERT_TRUE(Attempt(request_).ok());
  fs::remove(Part(2, 4));
  const auto time_of = [&](size_t trait) { return fs::last_write_time(Part(trait, 4)); };
  const auto before = std::pair(time_of(1), time_of(3));
  const auto done = ResumeRun();
  ASSERT_TRUE(done.ok()) << done.error().Message();
  EXPECT_EQ(done->num_variants, 10u);
  EXPECT_EQ(std::pair(time_of(1), time_of(3)), before);
  ExpectSameResults();
}

// A trait that is added to a finished run is computed; the others stay.
TEST_F(Resume, A44AnAddedTraitIsComputedAlone) {
  request_.cohort.pheno_columns = {"QT1", "QT2"};
  ASSERT_TRUE(Attempt(request_).ok());
  const auto before = fs::last_write_time(Part(1, 0));
  request_.cohort.pheno_columns = {"QT1", "QT2", "QT3"};
  EXPECT_FALSE(FindFinishedRun(request_));
  ExpectResumeGivesReference();
  EXPECT_EQ(fs::last_write_time(Part(1, 0)), before);
}

// A45: a finished run is told from manifests alone, and nothing is touched.
TEST_F(Resume, A45CompletedRunIsToldAtOnce) {
  ASSERT_TRUE(Attempt(request_).ok());
  EXPECT_FALSE(FindFinishedRun(request_));  // not asked to resume
  request_.safety.existing = ExistingRun::kResume;
  const auto before = Everything(request_);
  auto finished = FindFinishedRun(request_);
  ASSERT_TRUE(finished);
  EXPECT_EQ(finished->traits.size(), 3u);
  EXPECT_TRUE(Everything(request_) == before);
  const auto differs = [&](auto change) {
    ScanRequest request = request_;
    change(request);
    return !FindFinishedRun(request);
  };
  EXPECT_TRUE(differs([](ScanRequest& r) { r.min_mac = 9; }));
  EXPECT_TRUE(differs([](ScanRequest& r) { r.gzip = true; }));
  EXPECT_TRUE(differs([](ScanRequest& r) { r.cohort.pheno_columns = {"QT1"}; }));
  EXPECT_TRUE(differs([](ScanRequest& r) { r.cohort.covar_file.clear(); }));
  fs::remove(request_.out + "_QT2.regenie");
  EXPECT_FALSE(FindFinishedRun(request_));
  ExpectResumeGivesReference();  // makes the text again
  fs::remove(Part(1, 7));
  EXPECT_FALSE(FindFinishedRun(request_));
}

// A46: missing, cut, changed and exchanged parts are found and computed again.
TEST_F(Resume, A46DamagedPartsAreComputedAgain) {
  ASSERT_TRUE(Attempt(request_).ok());
  fs::remove(Part(1, 0));
  fs::resize_file(Part(1, 1), 100);
  std::string bytes = ReadWholeFile(Part(2, 5));
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(Part(2, 5), std::ios::binary) << bytes;
  fs::copy_file(Part(1, 9), Part(3, 9), fs::copy_options::overwrite_existing);  // a foreign part
  const auto check = CheckRun(request_.out + ".tallele");
  ASSERT_TRUE(check.ok());
  EXPECT_EQ(check->problems.size(), 4u);
  Messages messages;
  request_.safety.existing = ExistingRun::kResume;
  ASSERT_TRUE(Attempt(request_, messages).ok());
  EXPECT_THAT(messages.text(), HasSubstr("another size"));
  EXPECT_THAT(messages.text(), HasSubstr("another SHA-256"));
  ExpectSameResults();
}

// A46: a part of another grid would double the coverage: it is refused, not removed.
TEST_F(Resume, A46PartsOfAnotherRunAreRefused) {
  Kill(300);
  const std::string foreign = Folder(1) + "/parts/" + PartFileName({0, 200});
  fs::copy_file(Part(1, 0), foreign);
  const auto done = ResumeRun();
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().Message(), HasSubstr("another run"));
  EXPECT_TRUE(fs::exists(foreign));
}

// Manifests that were cut, edited, or written by another version.
TEST_F(Resume, A40DamagedManifestsAreRefused) {
  Kill(300);
  const std::string whole = ReadWholeFile(ManifestFile(2));
  const auto replaced = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::pair<std::string, const char*> cases[] = {
      {whole.substr(0, whole.size() / 2), "not valid JSON"},
      {"", "not valid JSON"},
      {replaced("\"schema\": 1", "\"schema\": 0"), "another schema"},
      {replaced("\"min_mac\"", "\"min_mac2\""), "hash"},
      {replaced("\"rows\": ", "\"rows\": 1"), "digest"},
      {replaced("\"signal\": 0", "\"signal\": 0, \"colour\": 1"), "run.colour is unknown"},
      {replaced("\"attempts\": 1,", ""), "run.attempts is missing"},
  };
  for (const auto& [text, words] : cases) {
    ASSERT_TRUE(WriteFileAtomically(ManifestFile(2), text).ok());
    const auto before = Everything(request_);
    const auto done = ResumeRun();
    ASSERT_FALSE(done.ok()) << words;
    EXPECT_THAT(done.error().Message(), HasSubstr(words));
    EXPECT_TRUE(Everything(request_) == before) << words;
  }
  ASSERT_TRUE(WriteFileAtomically(ManifestFile(2), whole).ok());
  ExpectResumeGivesReference();
}

// A47: what is not finished has a hidden name, and leftovers go once the run is known to fit.
TEST_F(Resume, A47TemporariesAreHiddenAndRemoved) {
  Kill(333);
  const std::string leftover = Folder(1) + "/parts/.part_000000000_000000009.parquet.tmp-1-1";
  std::ofstream(leftover) << "half";
  for (const auto& entry : fs::recursive_directory_iterator(request_.out + ".tallele")) {
    const std::string name = entry.path().filename().string();
    EXPECT_TRUE(name.find(".tmp-") == std::string::npos || name.starts_with('.')) << name;
  }
  ExpectResumeGivesReference();
  EXPECT_FALSE(fs::exists(leftover));
}

// A48: a stop commits what was finished, the status names the signal, and what was kept is not
// computed again.
TEST_F(Resume, A48InterruptedRunKeepsFinishedParts) {
  CancelToken cancel;
  StopAtSecondChromosome events(cancel);
  request_.block_size = 5;
  const auto done = Attempt(request_, events, cancel);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().kind, ErrorKind::kInterrupted);
  size_t kept = 0;
  for (size_t t = 1; t <= SmallCohort::kTraits; ++t) {
    const RunManifest manifest = Manifest(t);
    EXPECT_EQ(manifest.status, RunStatus::kInterrupted);
    EXPECT_EQ(manifest.signal, 15);
    kept = manifest.parts.size();
    EXPECT_GE(kept, SmallCohort::kParts / 2);  // the first chromosome
    EXPECT_LT(kept, SmallCohort::kParts);
  }
  const auto time = fs::last_write_time(Part(2, 0));
  const auto resumed = ResumeRun();
  ASSERT_TRUE(resumed.ok()) << resumed.error().Message();
  EXPECT_EQ(resumed->num_restored_variants, kept * SmallCohort::kVariantsPerPart);
  EXPECT_EQ(fs::last_write_time(Part(2, 0)), time);
  ExpectSameResults();
  EXPECT_EQ(Manifest(1).attempts, 2u);
  EXPECT_EQ(Manifest(1).status, RunStatus::kCompleted);
}

// A11: genotypes that change while they are read end the run before another part is published.
TEST_F(Resume, A11ChangedInputEndsTheRun) {
  fs::copy_file(request_.bgen, cohort_->File("live.bgen"), fs::copy_options::overwrite_existing);
  request_.bgen = cohort_->File("live.bgen");
  NullEventSink events;
  auto plan = PlanScan(request_, events);
  ASSERT_TRUE(plan.ok());
  std::ofstream(request_.bgen, std::ios::app) << "x";
  const auto done = RunScan(**plan, events, CancelToken());
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().Message(), HasSubstr("changed"));
  EXPECT_EQ(Manifest(1).status, RunStatus::kFailed);
  EXPECT_TRUE(Manifest(1).parts.empty());
}

// Two runs on one folder: the second is refused, whatever it was asked to do.
TEST_F(Resume, ASecondRunIsLockedOut) {
  NullEventSink events;
  auto plan = PlanScan(request_, events);
  ASSERT_TRUE(plan.ok());
  auto run = BeginScan(**plan, events);
  ASSERT_TRUE(run.ok());
  for (const ExistingRun existing : {ExistingRun::kResume, ExistingRun::kOverwrite}) {
    request_.safety.existing = existing;
    const auto second = Attempt(request_);
    ASSERT_FALSE(second.ok());
    EXPECT_THAT(second.error().Message(), HasSubstr("another run works in this folder"));
  }
  ASSERT_TRUE(RunScan(**plan, **run, events, CancelToken()).ok());
  ExpectSameResults();
}

// A run whose lock was taken away publishes nothing more.
TEST_F(Resume, ALostLockStopsTheRun) {
  NullEventSink events;
  auto plan = PlanScan(request_, events);
  ASSERT_TRUE(plan.ok());
  auto run = BeginScan(**plan, events);
  ASSERT_TRUE(run.ok());
  fs::remove(request_.out + ".tallele/.lock");
  const auto done = RunScan(**plan, **run, events, CancelToken());
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().Message(), HasSubstr("lock"));
  EXPECT_TRUE(Manifest(1).parts.empty());
}

// A56: a resumed run counts what was done before from its first report on.
TEST_F(Resume, A56ProgressStartsWhereTheRunStopped) {
  Kill(333);
  Messages messages;
  request_.safety.existing = ExistingRun::kResume;
  const auto done = Attempt(request_, messages);
  ASSERT_TRUE(done.ok());
  ASSERT_FALSE(messages.progress().empty());
  const ProgressReport& last = messages.progress().back();
  EXPECT_TRUE(last.final);
  EXPECT_EQ(last.done, last.total);
  EXPECT_GT(done->num_restored_variants, 0u);
  EXPECT_EQ(done->num_restored_variants + done->num_variants, 200u);
}

// The summary of a resumed run is that of an uninterrupted one.
TEST_F(Resume, SummariesAreComplete) {
  const auto whole = Attempt(reference_request_.safety.existing == ExistingRun::kRefuse
                                 ? cohort_->Request("summary")
                                 : reference_request_);
  ASSERT_TRUE(whole.ok());
  Kill(400);
  const auto resumed = ResumeRun();
  ASSERT_TRUE(resumed.ok());
  for (size_t t = 0; t < 3; ++t) {
    const TraitSummary& a = whole->traits[t];
    const TraitSummary& b = resumed->traits[t];
    EXPECT_EQ(a.num_rows, b.num_rows);
    EXPECT_EQ(a.skipped_low_mac, b.skipped_low_mac);
    EXPECT_EQ(a.lambda_gc, b.lambda_gc);
    EXPECT_EQ(a.top_id, b.top_id);
    EXPECT_EQ(a.top_log10p, b.top_log10p);
  }
}

// What cannot be resumed says so by name, and what to do.
TEST_F(Resume, TextAloneIsRefused) {
  request_.safety.existing = ExistingRun::kResume;
  request_.format = OutputFormat::kRegenie;
  const std::string message = Attempt(request_).error().Message();
  EXPECT_THAT(message, HasSubstr("--format regenie writes none"));
  EXPECT_THAT(message, HasSubstr("Use --format both"));
}

// Text whose digits or columns the parts do not hold: its lines are kept until the run is complete.
struct TextLayoutCase {
  const char* name;
  void (*apply)(ScanRequest&);
};
class ResumeText : public Resume, public testing::WithParamInterface<TextLayoutCase> {
 protected:
  void SetUp() override {
    static int number = 0;  // tests of a suite share the cohort's folder
    const std::string tag = GetParam().name + std::to_string(++number);
    request_ = cohort_->Request("cut_" + tag);
    GetParam().apply(request_);
    reference_request_ = cohort_->Request("whole_" + tag);
    GetParam().apply(reference_request_);
    ASSERT_TRUE(Attempt(reference_request_).ok());
    whole_ = ResultBytes(reference_request_);
    ASSERT_FALSE(fs::exists(reference_request_.out + ".tallele/trait_0001_QT1/text"));
  }
  void ExpectWhole(const ScanRequest& request) {
    const auto bytes = ResultBytes(request);
    ASSERT_EQ(bytes.size(), whole_.size());
    for (const auto& [name, content] : whole_) {
      ASSERT_TRUE(bytes.contains(name)) << name;
      EXPECT_TRUE(bytes.at(name) == content) << name;
    }
  }
  // The operations of an uninterrupted run that change the disk.
  int64_t NumOperations() {
    ScanRequest request = reference_request_;
    request.safety.existing = ExistingRun::kOverwrite;
    fs::remove_all(request.out + ".tallele");
    CrashFileEnv env;
    request.safety.env = &env;
    EXPECT_TRUE(Attempt(request).ok());
    return env.num_operations();
  }

  std::map<std::string, std::string> whole_;
};

// A42: killed at points over the whole run, and resumed: all bytes are those of the whole run, and
// what was kept is not computed again.
TEST_P(ResumeText, A42KilledAndResumedBytesAreTheSame) {
  const int64_t num_operations = NumOperations();
  const Fault kills[] = {Fault::kKillBefore, Fault::kKillHalfway, Fault::kKillAfter};
  const std::string out = request_.out;
  size_t most_restored = 0;
  for (int64_t at = 0; at < num_operations; at += 71) {
    request_.out = out + std::to_string(at);
    request_.safety.existing = ExistingRun::kRefuse;
    CrashFileEnv env(kills[at % 3], at);
    request_.safety.env = &env;
    [[maybe_unused]] const auto killed = Attempt(request_);  // success if only removals were left
    ASSERT_TRUE(env.struck());
    if (at % 2 == 1) env.PowerCut();
    CrashFileEnv healthy;
    request_.safety.env = &healthy;
    request_.threads = 1 + static_cast<int>(at % 2);
    request_.block_size = static_cast<size_t>(3 + at % 5);
    const auto done = ResumeRun();
    ASSERT_TRUE(done.ok()) << at << ": " << done.error().Message();
    ExpectWhole(request_);
    most_restored = std::max(most_restored, done->num_restored_variants);
    const auto check = CheckRun(request_.out + ".tallele");
    ASSERT_TRUE(check.ok());
    EXPECT_TRUE(check->problems.empty()) << at << ": " << check->problems.front();
    fs::remove_all(request_.out + ".tallele");
  }
  EXPECT_GE(most_restored, 150u);
}

// A46: kept lines that are damaged or lost are made again, with the part.
TEST_P(ResumeText, A46DamagedLinesAreMadeAgain) {
  CrashFileEnv env(Fault::kKillBefore, NumOperations() * 2 / 3);
  request_.safety.env = &env;
  ASSERT_FALSE(Attempt(request_).ok());
  request_.safety.env = nullptr;
  const std::string folder = Folder(1) + "/text/";
  std::string lines = ReadWholeFile(folder + KeptTextName({10, 10}));
  ASSERT_FALSE(lines.empty());
  lines[lines.size() / 2] ^= 1;
  std::ofstream(folder + KeptTextName({10, 10}), std::ios::binary) << lines;
  fs::remove(folder + KeptTextName({30, 10}));
  const auto check = CheckRun(request_.out + ".tallele");
  ASSERT_TRUE(check.ok());
  // A part that the kill left unrecorded may be a third one.
  EXPECT_EQ(std::ranges::count_if(check->problems,
                                  [](const std::string& problem) {
                                    return problem.find("/text/text_") != std::string::npos;
                                  }),
            2);
  Messages messages;
  request_.safety.existing = ExistingRun::kResume;
  const auto done = Attempt(request_, messages);
  ASSERT_TRUE(done.ok()) << done.error().Message();
  EXPECT_THAT(messages.text(), HasSubstr("2 parts are computed again"));
  EXPECT_GT(done->num_restored_variants, 0u);
  ExpectWhole(request_);
}

// A run that was begun with other text, or none, keeps no lines: its parts are computed again and
// have the same bytes.
TEST_P(ResumeText, AnotherLayoutIsComputedAgain) {
  ScanRequest other = cohort_->Request(std::string("other_") + GetParam().name);
  other.float32_statistics = request_.float32_statistics;
  other.format = OutputFormat::kParquet;
  ASSERT_TRUE(Attempt(other).ok());
  request_.out = other.out;
  Messages messages;
  request_.safety.existing = ExistingRun::kResume;
  const auto done = Attempt(request_, messages);
  ASSERT_TRUE(done.ok()) << done.error().Message();
  EXPECT_THAT(messages.text(), HasSubstr("20 parts are computed again: their text was not kept"));
  ExpectWhole(request_);
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, ResumeText,
    testing::Values(TextLayoutCase{"Wide", [](ScanRequest& r) { r.no_split = true; }},
                    TextLayoutCase{"WideGzip", [](ScanRequest& r) { r.no_split = r.gzip = true; }},
                    TextLayoutCase{"Htp", [](ScanRequest& r) { r.htp = "COHORT"; }},
                    TextLayoutCase{"HtpGzip",
                                   [](ScanRequest& r) {
                                     r.htp = "COHORT";
                                     r.gzip = true;
                                   }},
                    TextLayoutCase{"Float32", [](ScanRequest& r) { r.float32_statistics = true; }}),
    [](const auto& info) { return std::string(info.param.name); });

// --verify-inputs finds a change between the sampled blocks; here it compares whole digests.
TEST_F(Resume, VerifiedInputsAreComparedWhole) {
  request_.safety.verify_inputs = true;
  ASSERT_TRUE(Attempt(request_).ok());
  EXPECT_EQ(Manifest(1).inputs.front().policy, "whole");
  request_.safety.existing = ExistingRun::kResume;
  EXPECT_FALSE(FindFinishedRun(request_));  // the file is read
  EXPECT_TRUE(Attempt(request_).ok());
}

// A59: errors are one line, and a run that fails its checks makes no folder.
TEST_F(Resume, A59FailedPreflightMakesNothing) {
  request_.cohort.covar_columns = {"no_such_column"};
  const auto before = Everything(request_);
  const auto done = Attempt(request_);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().Message().find('\n'), std::string::npos);
  EXPECT_TRUE(Everything(request_) == before);
}

}  // namespace
}  // namespace tallele::crash
