#include "assoc/table_reading.h"

#include "assoc/batch_inputs.h"
#include "cohort/sample_file.h"

namespace tallele {

void HeldMessages::Message(Severity severity, std::string_view text) {
  std::lock_guard lock(mutex_);
  messages_.emplace_back(severity, text);
}

void HeldMessages::MoveTo(EventSink& events) {
  std::lock_guard lock(mutex_);
  for (const auto& [severity, text] : messages_) events.Message(severity, text);
  messages_.clear();
}

TableReading::TableReading(const ScanRequest& request, int threads) : request_(request) {
  if (threads < 2 || request.sample.empty()) return;
  reading_ = std::async(std::launch::async, [this] { return Read(); });
}

TableReading::Tables TableReading::Read() {
  Tables tables;
  tables.samples = ReadOxfordSamples(request_.sample, InputEnv(request_));
  if (tables.samples->ok()) {
    tables.cohort =
        LoadCohort(request_.cohort, tables.samples->value(), messages_, InputEnv(request_));
  }
  return tables;
}

Result<std::vector<SampleIdentity>> TableReading::Samples(const GenotypeSource& source) {
  if (!reading_.valid()) return ResolveSamples(source, request_.sample, InputEnv(request_));
  tables_ = reading_.get();
  TALLELE_ASSIGN(std::vector<SampleIdentity> samples, *std::move(tables_.samples));
  TALLELE_TRY(CheckSampleCount(request_.sample, samples.size(), source.num_samples()));
  return samples;
}

Result<Cohort> TableReading::LoadedCohort(std::span<const SampleIdentity> samples,
                                          EventSink& events) {
  if (!tables_.cohort) return LoadCohort(request_.cohort, samples, events, InputEnv(request_));
  messages_.MoveTo(events);
  return *std::move(tables_.cohort);
}

}  // namespace tallele
