#include "ancestry/create_dataset.h"

#include <fmt/format.h>

#include "ancestry/dataset_writer.h"
#include "ancestry/model/text_inputs.h"
#include "ancestry/snp_table.h"
#include "ancestry/text_genotypes.h"
#include "genotype/packed/packed_store.h"

namespace tallele {
namespace {

// Names of a dataset's people: IID, or FID_IID.
Result<std::vector<std::string>> SampleNames(const CallColumns& calls, bool family_in_samples) {
  const PersonNames kind = family_in_samples ? PersonNames::kJoined : PersonNames::kIndividual;
  TALLELE_TRY(CheckUniquePeople(
      calls.people(), kind, calls.people_origin(),
      "Names must be unique; where FID tells them apart, use --family-in-samples."));
  std::vector<std::string> names;
  for (const SampleIdentity& person : calls.people()) names.push_back(PersonName(person, kind));
  return names;
}

DatasetTables TablesOf(const LabelledPeople& people, const ModelSnps& snps) {
  return {people.samples, snps.names, people.class_names, people.labels, people.values};
}

// Writes the .bim before the dataset is published, so that a dataset never lacks it.
Result<void> Publish(const ModelSnps& snps, DatasetWriter& writer, CreateDatasetSummary& summary) {
  if (snps.has_alleles()) {
    summary.bim = BimPathOf(summary.dataset);
    TALLELE_TRY(WriteFileAtomically(summary.bim, BimText(snps)));
  }
  return writer.Commit();
}

void Summarise(const LabelledPeople& people, const ModelSnps& snps, CreateDatasetSummary& summary) {
  summary.num_people = people.kept.size();
  summary.num_dropped = people.num_unlabelled;
  summary.has_values = !people.values.empty();
  summary.num_snps = snps.size();
  summary.num_classes = people.class_names.size();
}

Result<CreateDatasetSummary> FromCalls(const CreateDatasetRequest& request, EventSink& events,
                                       const CancelToken& cancel) {
  CallSourceRequest source = request.calls;
  source.scratch = request.out + ".calls.tmp";
  TALLELE_ASSIGN(const CallColumns calls, CallColumns::Open(source, events, cancel));
  const std::string where = calls.source().path();
  TALLELE_ASSIGN(const ModelSnps snps, SnpsOfVariants(calls.source().variants(), where));
  TALLELE_ASSIGN(const std::vector<std::string> names,
                 SampleNames(calls, request.family_in_samples));
  LabelRequest labels = request.labels;
  labels.by_family = request.family_in_samples;
  TALLELE_ASSIGN(const LabelledPeople people, JoinLabels(names, labels));
  TALLELE_ASSIGN(DatasetWriter writer, DatasetWriter::Create(request.out, TablesOf(people, snps)));
  std::vector<CallColumn> columns(snps.size());
  for (size_t j = 0; j < columns.size(); ++j) columns[j].variant = j;
  size_t next = 0;
  CreateDatasetSummary summary;
  summary.dataset = request.out;
  const auto sink = [&](size_t first, size_t count, std::span<uint8_t> rows) -> Result<void> {
    const size_t stride = rows.size() / count;
    for (; next < people.kept.size() && people.kept[next] < first + count; ++next) {
      const auto row = rows.subspan((people.kept[next] - first) * stride, stride);
      summary.num_missing_calls += CountCodes(row, snps.size()).of[3];
      TALLELE_TRY(writer.AppendRow(row));
    }
    return {};
  };
  TALLELE_TRY(StreamRows(calls, columns, request.rows, events, cancel, nullptr, sink));
  Summarise(people, snps, summary);
  TALLELE_TRY(Publish(snps, writer, summary));
  return summary;
}

Result<CreateDatasetSummary> FromText(const CreateDatasetRequest& request, EventSink& events,
                                      const CancelToken& cancel) {
  const std::string& path = request.text_genotypes;
  TALLELE_ASSIGN(const TextGenotypeNames names, ReadTextGenotypeNames(path));
  TALLELE_ASSIGN(const ModelSnps snps,
                 ReadModelSnps({.list = path,
                                .bim = request.bim,
                                .names = names.snps,
                                .counted_first = request.counted_allele == "first",
                                .counted_last = request.counted_allele == "last"}));
  TALLELE_ASSIGN(const LabelledPeople people, JoinLabels(names.samples, request.labels));
  TALLELE_ASSIGN(DatasetWriter writer, DatasetWriter::Create(request.out, TablesOf(people, snps)));
  size_t next = 0;
  CreateDatasetSummary summary;
  summary.dataset = request.out;
  const auto sink = [&](size_t person, std::span<const uint8_t> row) -> Result<void> {
    if (next == people.kept.size() || people.kept[next] != person) return {};
    ++next;
    summary.num_missing_calls += CountCodes(row, snps.size()).of[3];
    return writer.AppendRow(row);
  };
  TALLELE_TRY(ReadTextGenotypes(path, names, events, cancel, sink));
  Summarise(people, snps, summary);
  TALLELE_TRY(Publish(snps, writer, summary));
  return summary;
}

}  // namespace

Result<CreateDatasetSummary> CreateDataset(const CreateDatasetRequest& request, EventSink& events,
                                           const CancelToken& cancel) {
  if (request.out.empty()) return UsageError("create-dataset needs --out");
  if (request.labels.path.empty()) {
    return UsageError("create-dataset needs --labels",
                      "A regression needs classes too: its embedding is made from them.");
  }
  const std::string& counted = request.counted_allele;
  if (!counted.empty() && counted != "first" && counted != "last") {
    return UsageError("--counted-allele is " + counted, "Give first or last.");
  }
  const bool from_text = !request.text_genotypes.empty();
  if (from_text == (!request.calls.plink.empty() || !request.calls.bgen.empty())) {
    return UsageError("the genotypes are not known",
                      "Give one of --plink, --bgen and --genotypes.");
  }
  if (request.labels.values_path.empty() && !request.labels.values_column.empty()) {
    return UsageError("--regression-column needs --regression-labels");
  }
  if (from_text && request.family_in_samples) {
    return UsageError("--family-in-samples is for --plink and --bgen",
                      "A table of genotypes has one name for each person.");
  }
  if (from_text) return FromText(request, events, cancel);
  if (!request.bim.empty() || !counted.empty()) {
    return UsageError("--bim and --counted-allele are for --genotypes alone",
                      "PLINK and BGEN files say their alleles themselves.");
  }
  return FromCalls(request, events, cancel);
}

Result<PackCallsSummary> PackCalls(const CallSourceRequest& request, const std::string& out,
                                   const StreamRowsOptions& options, EventSink& events,
                                   const CancelToken& cancel) {
  if (out.empty()) return UsageError("packing straight from genotypes needs --out");
  CallSourceRequest source = request;
  source.scratch = out + ".calls.tmp";
  TALLELE_ASSIGN(const CallColumns calls, CallColumns::Open(source, events, cancel));
  TALLELE_ASSIGN(const ModelSnps snps,
                 SnpsOfVariants(calls.source().variants(), calls.source().path()));
  TALLELE_ASSIGN(PackedStoreWriter writer,
                 PackedStoreWriter::Create(out, calls.num_people(), snps.size()));
  std::vector<CallColumn> columns(snps.size());
  for (size_t j = 0; j < columns.size(); ++j) columns[j].variant = j;
  const auto sink = [&](size_t, size_t, std::span<uint8_t> rows) { return writer.Append(rows); };
  TALLELE_TRY(StreamRows(calls, columns, options, events, cancel, nullptr, sink));
  std::vector<std::string> people;
  for (const SampleIdentity& p : calls.people()) people.push_back(p.fid + "\t" + p.iid);
  TALLELE_TRY(writer.Commit({{"kind", "genotypes"},
                             {"people", JoinLines(people)},
                             {"snps", JoinLines(snps.names)},
                             {"bim", BimText(snps)},
                             {"source", calls.source().path()}}));
  return PackCallsSummary{calls.num_people(), snps.size()};
}

}  // namespace tallele
