#include "simulate/simulate.h"

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "base/atomic_file.h"
#include "base/machine.h"
#include "base/random.h"
#include "genotype/writers/bed_writer.h"
#include "genotype/writers/bgen_writer.h"
#include "genotype/writers/sample_writer.h"
#include "simulate/genotypes.h"
#include "simulate/streams.h"
#include "simulate/traits.h"

namespace tallele {
namespace {

constexpr size_t kVariantsPerBatch = 16;

// A run of variants on its way from drawing to the file.
struct Batch {
  size_t first = 0;
  size_t count = 0;
  std::vector<uint8_t> bytes;
  std::string text;  // .bim lines
};

// Keeps the first error of many workers.
class FirstError {
 public:
  void Set(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }
  bool is_set() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  Result<void> Get() {
    const std::lock_guard lock(mutex_);
    return error_ ? Result<void>(*error_) : Result<void>();
  }

 private:
  std::mutex mutex_;
  std::optional<Error> error_;
};

Error Interrupted() {
  Error error;
  error.kind = ErrorKind::kInterrupted;
  error.what = "the simulation was interrupted; no unfinished file was left";
  return error;
}

// Draws and encodes batches on all cores and writes them in order.
// make: (Batch&) -> Result<void>, for many threads. write: (const Batch&) -> Result<void>.
template <typename Make, typename Write>
Result<void> StreamVariants(size_t num_variants, size_t threads, const CancelToken& cancel,
                            EventSink& events, Make make, Write write) {
  FirstError failure;
  size_t next = 0, done = 0;
  const auto start = std::chrono::steady_clock::now();
  const auto report = [&](bool final) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    events.Progress({"variants", static_cast<int64_t>(done), static_cast<int64_t>(num_variants),
                     elapsed.count(), final});
  };
  const auto source = [&](tbb::flow_control& control) -> std::shared_ptr<Batch> {
    if (cancel.cancelled()) failure.Set(Interrupted());
    if (next >= num_variants || failure.is_set()) {
      control.stop();
      return nullptr;
    }
    auto batch = std::make_shared<Batch>();
    batch->first = next;
    batch->count = std::min(kVariantsPerBatch, num_variants - next);
    next += batch->count;
    return batch;
  };
  const auto work = [&](std::shared_ptr<Batch> batch) {
    if (!failure.is_set()) {
      if (const Result<void> made = make(*batch); !made.ok()) failure.Set(made.error());
    }
    return batch;
  };
  const auto sink = [&](const std::shared_ptr<Batch>& batch) {
    if (failure.is_set()) return;
    if (const Result<void> written = write(*batch); !written.ok()) failure.Set(written.error());
    done += batch->count;
    report(false);
  };
  tbb::parallel_pipeline(
      4 * threads,
      tbb::make_filter<void, std::shared_ptr<Batch>>(tbb::filter_mode::serial_in_order, source) &
          tbb::make_filter<std::shared_ptr<Batch>, std::shared_ptr<Batch>>(
              tbb::filter_mode::parallel, work) &
          tbb::make_filter<std::shared_ptr<Batch>, void>(tbb::filter_mode::serial_in_order, sink));
  report(true);
  return failure.Get();
}

class Simulation {
 public:
  Simulation(const SimulationRequest& request, EventSink& events, const CancelToken& cancel)
      : request_(request),
        events_(events),
        cancel_(cancel),
        threads_(request.num_threads > 0 ? request.num_threads
                                         : static_cast<size_t>(AvailableProcessors())),
        people_(MakePeople(request)),
        drawer_(request, people_) {}

  Result<SimulationSummary> Run() {
    const auto start = std::chrono::steady_clock::now();
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads_);
    variants_ =
        MakeVariants(request_, request_.num_variants, "sim", StreamOf(Purpose::kVariants, 0), 0);
    TALLELE_TRY(WriteSampleFile());
    TALLELE_TRY(WriteImputed());
    if (request_.num_array_variants > 0) TALLELE_TRY(WriteArray());
    const size_t num_traits = request_.num_quantitative + request_.num_binary;
    if (num_traits > 0) TALLELE_TRY(WriteTraits());
    summary_.num_people = people_.size();
    summary_.num_variants = request_.num_variants;
    summary_.num_array_variants = request_.num_array_variants;
    summary_.num_traits = num_traits;
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    summary_.elapsed_seconds = elapsed.count();
    return summary_;
  }

 private:
  Result<void> WriteText(const std::string& suffix, const std::string& text) {
    summary_.files.push_back(request_.out + suffix);
    return WriteFileAtomically(summary_.files.back(), text);
  }

  std::vector<SampleIdentity> Identities() const {
    std::vector<SampleIdentity> out;
    for (const SimulatedPerson& p : people_) {
      out.push_back({p.fid, p.iid, p.sex == 1 ? Sex::kMale : Sex::kFemale});
    }
    return out;
  }

  Result<void> WriteSampleFile() {
    summary_.files.push_back(request_.out + ".sample");
    return WriteOxfordSample(summary_.files.back(), Identities());
  }

  Result<void> WriteImputed() {
    BgenWriterFormat format;
    format.num_samples = static_cast<uint32_t>(people_.size());
    format.bits = request_.bits;
    format.compression = request_.compression;
    format.level = request_.compression_level;
    std::vector<std::string> ids;
    if (request_.embed_sample_ids) {
      for (const SimulatedPerson& p : people_) ids.push_back(p.fid + "_" + p.iid);
    }
    summary_.files.push_back(request_.out + ".bgen");
    TALLELE_ASSIGN(const auto writer,
                   BgenWriter::Create(summary_.files.back(), format,
                                      static_cast<uint32_t>(variants_.size()), ids));
    const auto make = [&](Batch& batch) { return EncodeImputed(format, batch); };
    const auto write = [&](const Batch& batch) { return writer->Append(batch.bytes, batch.count); };
    TALLELE_TRY(StreamVariants(variants_.size(), threads_, cancel_, events_, make, write));
    return writer->Commit();
  }

  Result<void> EncodeImputed(const BgenWriterFormat& format, Batch& batch) const {
    BgenVariantEncoder encoder(format);
    GenotypeDrawer::Workspace workspace;
    std::vector<uint8_t> copies;
    std::vector<uint16_t> probabilities;
    std::vector<uint32_t> missing;
    for (size_t v = batch.first; v < batch.first + batch.count; ++v) {
      const SimulatedVariant& variant = variants_[v];
      drawer_.Draw(variant, StreamOf(Purpose::kGenotypes, v), workspace, copies);
      ImputeProbabilities(request_, v, variant.frequency, copies, probabilities, missing);
      BgenVariantData data;
      data.chromosome = variant.chromosome;
      data.position = variant.position;
      data.id = data.rsid = variant.id;
      data.first_allele = variant.first_allele;
      data.second_allele = variant.second_allele;
      data.probabilities = probabilities;
      data.missing = missing;
      TALLELE_TRY(encoder.Append(data, batch.bytes));
    }
    return {};
  }

  Result<void> WriteArray() {
    const std::vector<SimulatedVariant> variants = MakeVariants(
        request_, request_.num_array_variants, "arr", StreamOf(Purpose::kArrayVariants, 0), 0.01);
    const std::string prefix = request_.out + "_array";
    for (const char* extension : {".bed", ".bim", ".fam"}) {
      summary_.files.push_back(prefix + extension);
    }
    TALLELE_ASSIGN(const auto writer, BedWriter::Create(prefix, Family()));
    const auto make = [&](Batch& batch) {
      GenotypeDrawer::Workspace workspace;
      std::vector<uint8_t> calls;
      for (size_t v = batch.first; v < batch.first + batch.count; ++v) {
        DrawHardCalls(variants[v], v, workspace, calls);
        AppendBedRow(calls, batch.bytes);
        AppendBimLine({variants[v].chromosome, variants[v].position, variants[v].id,
                       variants[v].first_allele, variants[v].second_allele},
                      batch.text);
      }
      return Result<void>();
    };
    const auto write = [&](const Batch& batch) { return writer->Append(batch.bytes, batch.text); };
    TALLELE_TRY(StreamVariants(variants.size(), threads_, cancel_, events_, make, write));
    return writer->Commit();
  }

  // People as the .fam file lists them, with the parents of children.
  std::vector<FamPerson> Family() const {
    std::vector<FamPerson> out;
    for (const SampleIdentity& identity : Identities()) {
      FamPerson person{identity};
      if (const int32_t father = people_[out.size()].father; father >= 0) {
        person.father = people_[static_cast<size_t>(father)].iid;
        person.mother = people_[static_cast<size_t>(father) + 1].iid;
      }
      out.push_back(std::move(person));
    }
    return out;
  }

  // Copies of the first allele, or a missing call.
  void DrawHardCalls(const SimulatedVariant& variant, size_t v,
                     GenotypeDrawer::Workspace& workspace, std::vector<uint8_t>& calls) const {
    drawer_.Draw(variant, StreamOf(Purpose::kArrayGenotypes, v), workspace, calls);
    for (uint8_t& call : calls) call = static_cast<uint8_t>(2 - call);
    const double share = request_.array_missing_share;
    if (share <= 0) return;
    RandomStream random(request_.seed, StreamOf(Purpose::kArrayMissing, v));
    for (uint64_t i = random.NextGap(share); i < calls.size(); i += 1 + random.NextGap(share)) {
      calls[i] = kMissingHardCall;
    }
  }

  Result<void> WriteTraits() {
    const SimulatedCovariates covariates = MakeCovariates(request_, people_);
    const std::vector<SimulatedTrait> traits =
        MakeTraits(request_, people_, variants_, drawer_, covariates);
    TALLELE_TRY(WriteText("_pheno.tsv", PhenotypeText(people_, traits)));
    TALLELE_TRY(WriteText("_covar.tsv", CovariateText(people_, covariates)));
    TALLELE_TRY(WriteText("_truth.tsv", TruthText(variants_, traits)));
    if (!request_.write_loco) return {};
    std::string list;
    for (size_t t = 0; t < traits.size(); ++t) {
      if (cancel_.cancelled()) return Interrupted();
      const std::string suffix = "_" + std::to_string(t + 1) + ".loco";
      TALLELE_TRY(WriteText(suffix, LocoText(request_, people_, traits[t], t)));
      const std::string path = request_.out + suffix;
      list += traits[t].name + " " + path.substr(path.rfind('/') + 1) + "\n";
    }
    return WriteText("_pred.list", list);
  }

  const SimulationRequest& request_;
  EventSink& events_;
  const CancelToken& cancel_;
  size_t threads_;
  std::vector<SimulatedPerson> people_;
  GenotypeDrawer drawer_;
  std::vector<SimulatedVariant> variants_;
  SimulationSummary summary_;
};

Result<void> Require(bool condition, const char* what) {
  if (condition) return {};
  return UsageError(std::string("this simulation is not possible: ") + what,
                    "See `tallele simulate --help`.");
}

bool IsShare(double x) { return x >= 0 && x <= 1; }

}  // namespace

Result<void> CheckSimulationRequest(const SimulationRequest& r) {
  TALLELE_TRY(
      Require(r.num_people >= 2 && r.num_people <= 20'000'000, "people must be 2 to 20,000,000"));
  TALLELE_TRY(
      Require(r.num_populations >= 1 && r.num_populations <= 32, "populations must be 1 to 32"));
  TALLELE_TRY(
      Require(r.num_chromosomes >= 1 && r.num_chromosomes <= 22, "chromosomes must be 1 to 22"));
  TALLELE_TRY(
      Require(r.num_variants >= r.num_chromosomes, "there must be a variant for each chromosome"));
  TALLELE_TRY(Require(r.num_array_variants == 0 || r.num_array_variants >= r.num_chromosomes,
                      "there must be an array variant for each chromosome, or none"));
  TALLELE_TRY(Require(r.bits == 8 || r.bits == 16, "bits must be 8 or 16"));
  TALLELE_TRY(Require(r.fst >= 0 && r.fst < 1, "fst must be from 0 to below 1"));
  TALLELE_TRY(Require(IsShare(r.family_share) && IsShare(r.missing_call_share) &&
                          IsShare(r.missing_variant_share) && IsShare(r.array_missing_share) &&
                          IsShare(r.prevalence) && IsShare(r.gap_share) &&
                          IsShare(r.loco_accuracy) && IsShare(r.heritability),
                      "shares must be 0 to 1"));
  TALLELE_TRY(Require(r.covariate_variance >= 0, "the covariates' variance must not be negative"));
  const double mix = r.maf_mix[0] + r.maf_mix[1] + r.maf_mix[2];
  TALLELE_TRY(Require(mix > 0 && r.maf_mix[0] >= 0 && r.maf_mix[1] >= 0 && r.maf_mix[2] >= 0,
                      "the frequency mix must have positive shares"));
  const int highest = r.compression == BgenCompression::kZstd ? 19 : 12;
  return Require(r.compression_level >= 0 && r.compression_level <= highest,
                 "the compression level must be 0 to 12 (zlib) or 0 to 19 (zstd)");
}

Result<SimulationSummary> Simulate(const SimulationRequest& request, EventSink& events,
                                   const CancelToken& cancel) {
  TALLELE_TRY(CheckSimulationRequest(request));
  try {
    return Simulation(request, events, cancel).Run();
  } catch (const std::bad_alloc&) {
    return NumericError("not enough memory for so many people", request.out,
                        "Simulate fewer people.");
  }
}

}  // namespace tallele
