#include <tbb/enumerable_thread_specific.h>
#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "assoc/resume.h"
#include "assoc/scan_blocks.h"
#include "assoc/scan_plan.h"
#include "assoc/scan_writer.h"
#include "assoc/stage_clock.h"
#include "base/machine.h"

namespace tallele {
namespace {

constexpr double kSecondsToFinishPart = 5;

// A block on its way through the pipeline, with the buffers that travel with it.
struct Ticket {
  ScanBlock block;
  std::shared_ptr<const ChromosomeState> state;
  std::unique_ptr<GenotypeCursor> cursor;
  BlockResults results;
  std::optional<Error> error;
};

// What one thread needs to decode and test.
struct Worker {
  Worker(const PlannedScan& plan, const BinaryCorrector& corrector,
         tbb::enumerable_thread_specific<CorrectionScratch>& scratch)
      : tester(plan.settings, plan.source->variants(), corrector, scratch) {}
  VariantBlock block;
  BlockTester tester;
  ScanProfile profile;  // of this thread's decoding and testing
};

Error OutOfMemory() {
  return Error{ErrorKind::kIo,
               "not enough memory for the scan",
               "",
               "",
               "",
               "Use fewer --threads or a smaller --bsize."};
}

class ScanPipeline {
 public:
  ScanPipeline(const PlannedScan& plan, const RunState& run, ScanWriter& writer,
               const CancelToken& cancel)
      : plan_(plan),
        run_(run),
        writer_(writer),
        cancel_(cancel),
        parts_(run.parts_to_compute()),
        walker_(plan.source->variants(), parts_, plan.selection.selected, plan.block_width),
        fitter_(plan.fitter->Clone()),
        corrector_(plan.request.binary, plan.basis, plan.target) {}

  Result<void> Run();
  // Times of all stages so far.
  ScanProfile Profile();

 private:
  // The stage to time, or null when nothing is to be timed.
  ScanProfile::Stage* Timed(ScanProfile::Stage& stage) const {
    return plan_.request.safety.telemetry == Telemetry::kProfile ? &stage : nullptr;
  }
  Ticket* TakeTicket();
  void Return(Ticket* ticket);
  Ticket* ReadNext();
  Result<void> Prepare(Ticket& ticket);
  Result<std::shared_ptr<const ChromosomeState>> StateOf(const ScanBlock& block);
  Result<void> RestoreNullModels();
  void DecodeAndTest(Ticket& ticket);
  void Write(Ticket& ticket);
  CarrierPolicy Carriers(const ChromosomeState& state) const;
  bool FinishesSoon(const ScanBlock& block);

  const PlannedScan& plan_;
  const RunState& run_;
  ScanWriter& writer_;
  const CancelToken& cancel_;
  const std::vector<VariantRange> parts_;
  ScanBlockWalker walker_;
  NullModelFitter fitter_;
  const BinaryCorrector corrector_;
  tbb::enumerable_thread_specific<CorrectionScratch> scratch_;

  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  size_t variants_read_ = 0;
  size_t last_part_ = SIZE_MAX;  // the one that is finished after a request to stop

  size_t current_part_ = SIZE_MAX;
  std::vector<size_t> current_traits_;  // those that lack the current part
  std::shared_ptr<const ChromosomeState> current_state_;
  FitReport report_;  // of the reading stage, until a ticket takes it

  ScanProfile profile_;  // of the stages that one thread at a time works in

  std::vector<std::unique_ptr<Ticket>> tickets_;
  std::vector<Ticket*> free_;
  std::mutex mutex_;
  tbb::enumerable_thread_specific<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> stop_{false};
  std::optional<Error> error_;  // of the first block in order that failed
};

Ticket* ScanPipeline::TakeTicket() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) {
    tickets_.push_back(std::make_unique<Ticket>());
    tickets_.back()->results.traits.resize(plan_.cohort.traits.size());
    return tickets_.back().get();
  }
  Ticket* ticket = free_.back();
  free_.pop_back();
  return ticket;
}

void ScanPipeline::Return(Ticket* ticket) {
  ticket->state.reset();
  ticket->results.Clear();
  ticket->error.reset();
  std::lock_guard lock(mutex_);
  free_.push_back(ticket);
}

// The cursor's lists pay off below the break-even; codes other than the stored ones are rows.
CarrierPolicy ScanPipeline::Carriers(const ChromosomeState& state) const {
  CarrierPolicy policy;
  if (plan_.settings.coding.model == GeneticModel::kAdditive) {
    policy.max_carriers =
        CarrierBreakEven(plan_.target, plan_.axis.num_block_people(), state.columns->num_columns());
  }
  return policy;
}

// Traits that have a part already are not computed for it; rows do not depend on the others.
Result<std::shared_ptr<const ChromosomeState>> ScanPipeline::StateOf(const ScanBlock& block) {
  if (block.part == current_part_) return current_state_;
  const std::string& label = plan_.source->variants().runs()[block.run].label;
  const std::optional<int> code = ChromosomeCode(label, plan_.request.num_autosomes);
  if (!code) return InternalError("a chromosome without a code was selected: " + label);
  const std::vector<size_t>& traits = run_.TraitsWithout(parts_[block.part]);
  if (!current_state_ || current_state_->code != *code || traits != current_traits_) {
    const StageClock clock(Timed(profile_.fit));
    TALLELE_ASSIGN(current_state_, fitter_.Fit(traits, *code, label, report_));
    current_traits_ = traits;
  }
  current_part_ = block.part;
  return current_state_;
}

// The lists of people name who was in some test, and stored null Firth models are those of all
// chromosomes: also of parts that are not repeated.
Result<void> ScanPipeline::RestoreNullModels() {
  const ScanRequest& request = plan_.request;
  if (!run_.resumed() || !(request.write_samples || request.write_null_firth)) return {};
  FitReport ignored;  // its problems are in the manifests
  for (const ChromosomeRun& run : plan_.source->variants().runs()) {
    const std::optional<int> code = ChromosomeCode(run.label, plan_.request.num_autosomes);
    if (!code || !plan_.HasSelected(run.range)) continue;
    TALLELE_ASSIGN(const auto state, fitter_.Fit(plan_.traits, *code, run.label, ignored));
    writer_.NoteNullModels(*state);
  }
  return {};
}

Result<void> ScanPipeline::Prepare(Ticket& ticket) {
  TALLELE_ASSIGN(ticket.state, StateOf(ticket.block));
  ticket.results.report = std::exchange(report_, {});
  if (!ticket.cursor) {
    TALLELE_ASSIGN(ticket.cursor, plan_.source->OpenCursor(plan_.axis.selection,
                                                           Carriers(*ticket.state), plan_.target));
  }
  variants_read_ += ticket.block.range.count;
  const StageClock clock(Timed(profile_.read));
  return ticket.cursor->Read(ticket.block.range);
}

// After a request to stop, the part in the making is finished if that takes a few seconds, by the
// speed so far: a part that is not finished is lost.
bool ScanPipeline::FinishesSoon(const ScanBlock& block) {
  if (last_part_ != SIZE_MAX) return block.part == last_part_;
  const VariantRange part = parts_[block.part];
  if (block.range.first == part.first || variants_read_ == 0) return false;
  const size_t left = part.first + part.count - block.range.first;
  const double elapsed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double seconds = elapsed * static_cast<double>(left) / static_cast<double>(variants_read_);
  if (seconds > kSecondsToFinishPart) return false;
  last_part_ = block.part;
  return true;
}

Ticket* ScanPipeline::ReadNext() {
  if (stop_) return nullptr;
  try {
    ScanBlock block;
    if (!walker_.Next(&block)) return nullptr;
    Ticket* ticket = TakeTicket();
    ticket->block = block;
    if (cancel_.cancelled() && !FinishesSoon(block)) {
      ticket->error = Error{ErrorKind::kInterrupted, "stopped on request", "", "", "", ""};
    } else if (block.range.count > 0) {
      if (Result<void> done = Prepare(*ticket); !done) ticket->error = std::move(done).error();
    }
    if (ticket->error) stop_ = true;
    return ticket;
  } catch (const std::bad_alloc&) {
    stop_ = true;
    std::lock_guard lock(mutex_);
    if (!error_) error_ = OutOfMemory();
    return nullptr;
  }
}

void ScanPipeline::DecodeAndTest(Ticket& ticket) {
  if (ticket.error || ticket.block.range.count == 0) return;
  try {
    std::unique_ptr<Worker>& worker = workers_.local();
    if (!worker) worker = std::make_unique<Worker>(plan_, corrector_, scratch_);
    Result<void> done;
    {
      const StageClock clock(Timed(worker->profile.decode));
      done = ticket.cursor->Decode(worker->block);
    }
    if (!done) {
      ticket.error = std::move(done).error();
    } else {
      const StageClock clock(Timed(worker->profile.test));
      worker->tester.Test(worker->block, *ticket.state, ticket.results.traits,
                          ticket.results.skipped);
      ticket.results.union_rows = worker->tester.union_rows();
    }
  } catch (const std::bad_alloc&) {
    ticket.error = OutOfMemory();
  }
  if (ticket.error) stop_ = true;
}

void ScanPipeline::Write(Ticket& ticket) {
  std::lock_guard lock(mutex_);
  if (error_) return;
  if (!ticket.error) {
    ticket.results.num_variants = ticket.block.range.count;
    ticket.results.state = ticket.state;
    Result<void> done;
    {
      const StageClock clock(Timed(profile_.write));
      done = writer_.Append(parts_[ticket.block.part], ticket.results);
    }
    if (done && ticket.block.ends_part) {
      const StageClock clock(Timed(profile_.publish));
      done = writer_.FinishPart(parts_[ticket.block.part]);
    }
    if (!done) ticket.error = std::move(done).error();
  }
  if (ticket.error) {
    error_ = std::move(ticket.error);
    stop_ = true;
  }
}

Result<void> ScanPipeline::Run() {
  TALLELE_TRY(RestoreNullModels());
  const int threads = plan_.threads;
  tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                            static_cast<size_t>(threads));
  tbb::task_arena arena(threads);
  arena.execute([&] {
    tbb::parallel_pipeline(
        2 * static_cast<size_t>(threads) + 1,
        tbb::make_filter<void, Ticket*>(tbb::filter_mode::serial_in_order,
                                        [this](tbb::flow_control& flow) -> Ticket* {
                                          Ticket* ticket = ReadNext();
                                          if (ticket == nullptr) flow.stop();
                                          return ticket;
                                        }) &
            tbb::make_filter<Ticket*, Ticket*>(tbb::filter_mode::parallel,
                                               [this](Ticket* ticket) {
                                                 DecodeAndTest(*ticket);
                                                 return ticket;
                                               }) &
            tbb::make_filter<Ticket*, void>(tbb::filter_mode::serial_in_order,
                                            [this](Ticket* ticket) {
                                              Write(*ticket);
                                              Return(ticket);
                                            }));
  });
  if (error_) return *std::move(error_);
  return {};
}

void AddStage(const ScanProfile::Stage& from, ScanProfile::Stage& to) {
  to.seconds += from.seconds;
  to.calls += from.calls;
}

ScanProfile ScanPipeline::Profile() {
  ScanProfile profile = profile_;
  for (const std::unique_ptr<Worker>& worker : workers_) {
    if (!worker) continue;
    AddStage(worker->profile.decode, profile.decode);
    AddStage(worker->profile.test, profile.test);
  }
  return profile;
}

// The part of the profile that the whole run knows.
void CompleteProfile(const PlannedScan& plan, ScanSummary& summary) {
  if (!summary.profile) return;
  summary.profile->wall_seconds = summary.seconds;
  summary.profile->threads = plan.threads;
  summary.profile->traits = plan.traits.size();
  summary.profile->variants = summary.num_variants;
  summary.profile->input_bytes = plan.genotypes.identity.size;
  summary.profile->output_bytes = summary.num_part_bytes;
  summary.profile->peak_memory_bytes = PeakMemory();
}

Result<ScanSummary> RunAndPublish(const PlannedScan& plan, RunState& run, EventSink& events,
                                  const CancelToken& cancel) {
  TALLELE_ASSIGN(std::unique_ptr<ScanWriter> writer, ScanWriter::Open(plan, run, events));
  ScanPipeline pipeline(plan, run, *writer, cancel);
  TALLELE_TRY(pipeline.Run());
  TALLELE_TRY(run.CheckBeforePublishing());
  TALLELE_ASSIGN(ScanSummary summary, writer->Finish());
  if (plan.request.safety.telemetry == Telemetry::kProfile) summary.profile = pipeline.Profile();
  TALLELE_TRY(run.Complete());
  if (const auto removed = run.RemoveKeptText(); !removed) {
    events.Message(
        Severity::kWarning,
        "text that is not needed any more stays in the run folder: " + removed.error().Message());
  }
  return summary;
}

// Runs `work` and turns exceptions into errors.
template <typename Work>
auto Guarded(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& exception) {
    return InternalError(std::string("the scan stopped: ") + exception.what());
  }
}

}  // namespace

Result<std::unique_ptr<ScanRun>> BeginScan(const ScanPlan& plan, EventSink& events) {
  return Guarded([&]() -> Result<std::unique_ptr<ScanRun>> {
    TALLELE_ASSIGN(auto state, RunState::Begin(static_cast<const PlannedScan&>(plan), events));
    return std::unique_ptr<ScanRun>(std::move(state));
  });
}

Result<ScanSummary> RunScan(const ScanPlan& plan, ScanRun& run, EventSink& events,
                            const CancelToken& cancel) {
  const auto start = std::chrono::steady_clock::now();
  auto& state = static_cast<RunState&>(run);
  auto summary = Guarded(
      [&] { return RunAndPublish(static_cast<const PlannedScan&>(plan), state, events, cancel); });
  if (!summary) {
    // What stopped the run is told to the user in any case; a disk that is full may also keep the
    // status from being written, and the next --resume does not need it.
    [[maybe_unused]] const Result<void> ignored =
        state.Fail(summary.error(), cancel.signal_number());
    return summary;
  }
  summary->seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CompleteProfile(static_cast<const PlannedScan&>(plan), *summary);
  return summary;
}

Result<ScanSummary> RunScan(const ScanPlan& plan, EventSink& events, const CancelToken& cancel) {
  TALLELE_ASSIGN(const auto run, BeginScan(plan, events));
  return RunScan(plan, *run, events, cancel);
}

}  // namespace tallele
