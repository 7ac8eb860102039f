#include "ancestry/model/predict.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/enumerable_thread_specific.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>

#include <fmt/format.h>

#include "ancestry/model/ensemble.h"
#include "ancestry/model/prediction_blocks.h"
#include "ancestry/model/prediction_outputs.h"
#include "base/aligned_buffer.h"
#include "base/format_number.h"
#include "base/hashing.h"
#include "base/machine.h"

namespace tallele {
namespace {

// Fewer matched SNPs give predictions that upstream advises to disregard.
constexpr size_t kFewSnps = 1000;
// People that a task takes through the kernels at once.
constexpr size_t kPeoplePerTask = 256;
constexpr size_t kFewestPeoplePerTask = 32;

Error Stopped() {
  Error error;
  error.kind = ErrorKind::kInterrupted;
  error.what = "stopped; the same command continues where this run ended";
  return error;
}

// Everything that changes a score, and the form of the parts.
std::string RunIdentity(const std::vector<ModelPackage>& packages, const CohortRows& rows,
                        const PredictRequest& request, size_t people_per_block) {
  std::string text = "predict 1\n" + rows.Identity() + "\n";
  for (const ModelPackage& package : packages) {
    text += package.Name() + (package.normalised ? " " : " raw ") +
            package.inputs->snps.Identity() + "\n";
    Sha256 weights;
    for (const NamedTensor& named : StateFromNetwork(package.network)) {
      weights.Update({reinterpret_cast<const char*>(named.tensor.floats.data()),
                      named.tensor.floats.size() * sizeof(float)});
    }
    for (const auto* values : {&package.inputs->means, &package.inputs->deviations}) {
      weights.Update(
          {reinterpret_cast<const char*>(values->data()), values->size() * sizeof(double)});
    }
    text += weights.HexDigest() + " " +
            std::filesystem::path(package.inputs->file).filename().string() + "\n";
  }
  text += fmt::format("{} {} {}", request.scale ? FormatExactly(*request.scale) : "auto",
                      request.faithful, people_per_block);
  return Sha256Hex(text);
}

std::string PartsFolder(const PredictRequest& r) {
  for (const std::string* path :
       {&r.out, &r.parquet, &r.save_logits, &r.save_hidden, &r.upstream_prefix}) {
    if (!path->empty()) return *path + ".parts";
  }
  return {};
}

class PredictRun {
 public:
  PredictRun(const std::vector<ModelPackage>& packages, const CohortRows& rows,
             const PredictRequest& request, EventSink& sink, const CancelToken& cancel)
      : packages_(packages), rows_(rows), request_(request), sink_(sink), cancel_(cancel) {}

  Result<PredictSummary> Run() {
    start_ = std::chrono::steady_clock::now();
    TALLELE_TRY(Check());
    const int threads = request_.num_threads > 0 ? request_.num_threads : AvailableProcessors();
    const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism,
                                            static_cast<size_t>(threads));
    oneapi::tbb::task_arena arena(threads);
    threads_ = static_cast<size_t>(threads);
    Result<void> done;
    arena.execute([&] { done = Score(); });
    if (!done) return std::move(done).error();
    summary_.elapsed_seconds = Elapsed();
    return summary_;
  }

 private:
  double Elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  Result<void> Check() {
    if (PartsFolder(request_).empty()) return UsageError("no output was asked for", "Give --out.");
    if (rows_.people().empty()) return InputError("the cohort has no people", "predict");
    const FoldInputs& inputs = *packages_.front().inputs;
    if (!rows_.snps_identity().empty() && rows_.snps_identity() != inputs.snps.Identity()) {
      Error error =
          InputError("the matched cohort and the models are of different models",
                     packages_.front().path, "Run `tallele dietnet match` with this model folder.");
      error.found = rows_.snps_identity().substr(0, 16);
      error.expected = inputs.snps.Identity().substr(0, 16);
      return error;
    }
    const size_t matched = rows_.model_snps().size();
    if (static_cast<int64_t>(matched) < request_.require_overlap) {
      Error error = InputError("the cohort has too few of the model's SNPs", "predict",
                               "Check the genome build, or lower --require-overlap.");
      error.found = fmt::format("{}", matched);
      error.expected = fmt::format("{} or more", request_.require_overlap);
      return error;
    }
    if (matched < kFewSnps) {
      sink_.Message(Severity::kWarning,
                    fmt::format("Only {} of the model's SNPs are in the cohort; predictions from "
                                "fewer than 1,000 should be disregarded.",
                                matched));
    }
    if (request_.scale && !(*request_.scale > 0)) return UsageError("--scale must be above 0");
    return {};
  }

  Result<void> Score() {
    EnsembleOptions options;
    options.target = request_.target;
    options.scale = request_.scale;
    options.faithful = request_.faithful;
    options.cancel = &cancel_;
    TALLELE_ASSIGN(const Ensemble ensemble,
                   Ensemble::Create(packages_, rows_.model_snps(), options));
    keep_hidden_ = !request_.save_hidden.empty() || !request_.upstream_prefix.empty();
    PredictionBlocks::Shape shape;
    shape.num_people = rows_.people().size();
    shape.people_per_block = request_.people_per_block;
    shape.scores_per_person = ensemble.num_models() * ensemble.num_classes();
    shape.keep_logits = !request_.save_logits.empty();
    shape.hidden_per_person = keep_hidden_ ? ensemble.total_hidden_width() : 0;
    PredictionBlocks blocks(PartsFolder(request_),
                            RunIdentity(packages_, rows_, request_, request_.people_per_block),
                            shape);
    TALLELE_TRY(blocks.Begin());
    TALLELE_TRY(ScoreBlocks(ensemble, shape, blocks));
    return WriteOutputs(ensemble, blocks);
  }

  Result<void> ScoreBlocks(const Ensemble& ensemble, const PredictionBlocks::Shape& shape,
                           PredictionBlocks& blocks) {
    const auto total = static_cast<int64_t>(shape.num_people);
    for (size_t b = 0; b < blocks.num_blocks(); ++b) {
      if (cancel_.cancelled()) return Stopped();
      if (blocks.Has(b)) {
        ++summary_.num_resumed_blocks;
      } else {
        PredictionBlock content;
        content.first = blocks.FirstPerson(b);
        content.num_people = blocks.PeopleIn(b);
        content.probabilities.resize(content.num_people * shape.scores_per_person);
        content.logits.resize(shape.keep_logits ? content.probabilities.size() : 0);
        content.hidden.resize(content.num_people * shape.hidden_per_person);
        TALLELE_TRY(ScoreBlock(ensemble, shape, content));
        TALLELE_TRY(blocks.Write(b, content));
      }
      const auto done = static_cast<int64_t>(blocks.FirstPerson(b) + blocks.PeopleIn(b));
      sink_.Progress({"people", done, total, Elapsed(), done == total});
    }
    if (summary_.num_resumed_blocks > 0) {
      sink_.Message(Severity::kInfo,
                    fmt::format("{} of {} blocks of people were there from an earlier run.",
                                summary_.num_resumed_blocks, blocks.num_blocks()));
    }
    return {};
  }

  struct Local {
    Ensemble::Workspace workspace;
    EnsembleBlock block;
    AlignedBuffer rows;
  };

  Result<void> ScoreBlock(const Ensemble& ensemble, const PredictionBlocks::Shape& shape,
                          PredictionBlock& content) {
    const size_t per_thread = (content.num_people + threads_ - 1) / threads_;
    const size_t step = std::clamp(per_thread, kFewestPeoplePerTask, kPeoplePerTask);
    const size_t tasks = (content.num_people + step - 1) / step;
    std::mutex mutex;
    Result<void> outcome;
    oneapi::tbb::parallel_for(size_t{0}, tasks, [&](size_t task) {
      if (cancel_.cancelled()) return;
      const size_t first = task * step;
      const size_t count = std::min(step, content.num_people - first);
      Result<void> done = ScorePeople(ensemble, shape, first, count, content);
      if (done) return;
      const std::lock_guard lock(mutex);
      if (outcome) outcome = std::move(done);
    });
    if (outcome && cancel_.cancelled()) return Stopped();
    return outcome;
  }

  // People first .. first+count-1 of the block; different tasks write different parts of it.
  Result<void> ScorePeople(const Ensemble& ensemble, const PredictionBlocks::Shape& shape,
                           size_t first, size_t count, PredictionBlock& content) {
    Local& local = locals_.local();
    PackedRows rows;
    rows.num_snps = rows_.model_snps().size();
    rows.num_rows = count;
    rows.stride = PackedRowStride(rows.num_snps);
    local.rows.Resize(count * rows.stride);
    auto* data = reinterpret_cast<uint8_t*>(local.rows.data());
    rows.data = data;
    TALLELE_TRY(rows_.Read(content.first + first, count, {data, count * rows.stride}));
    ensemble.Evaluate(rows, keep_hidden_, local.workspace, local.block);
    const auto at = static_cast<ptrdiff_t>(first * shape.scores_per_person);
    std::copy(local.block.probabilities.begin(), local.block.probabilities.end(),
              content.probabilities.begin() + at);
    if (shape.keep_logits) {
      std::transform(local.block.logits.begin(), local.block.logits.end(),
                     content.logits.begin() + at, [](double x) { return static_cast<float>(x); });
    }
    if (keep_hidden_) {
      std::transform(
          local.block.hidden.begin(), local.block.hidden.end(),
          content.hidden.begin() + static_cast<ptrdiff_t>(first * shape.hidden_per_person),
          [](double x) { return static_cast<float>(x); });
    }
    return {};
  }

  Result<void> WriteOutputs(const Ensemble& ensemble, PredictionBlocks& blocks) {
    summary_.num_people = rows_.people().size();
    summary_.num_models = packages_.size();
    summary_.num_model_snps = packages_.front().inputs->num_snps();
    summary_.num_matched_snps = rows_.model_snps().size();
    summary_.num_left_out = ensemble.num_left_out(0);
    summary_.scale = ensemble.scale(0);
    PredictionOutputs outputs{packages_, rows_, request_, blocks, ensemble.scale(0)};
    for (size_t m = 0; m < packages_.size(); ++m) {
      outputs.hidden_widths.push_back(ensemble.hidden_width(m));
    }
    TALLELE_TRY(WritePredictionOutputs(outputs, summary_));
    blocks.Remove();
    return {};
  }

  const std::vector<ModelPackage>& packages_;
  const CohortRows& rows_;
  const PredictRequest& request_;
  EventSink& sink_;
  const CancelToken& cancel_;
  std::chrono::steady_clock::time_point start_;
  size_t threads_ = 1;
  bool keep_hidden_ = false;
  oneapi::tbb::enumerable_thread_specific<Local> locals_;
  PredictSummary summary_;
};

}  // namespace

Result<PredictSummary> Predict(const std::vector<ModelPackage>& packages, const CohortRows& rows,
                               const PredictRequest& request, EventSink& sink,
                               const CancelToken& cancel) {
  return PredictRun(packages, rows, request, sink, cancel).Run();
}

}  // namespace tallele
