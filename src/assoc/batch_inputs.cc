#include "assoc/batch_inputs.h"

#include <algorithm>

#include "assoc/execution_plan.h"
#include "base/machine.h"

namespace tallele {
namespace {

// Tables of all runs together take at most this much, and at most an eighth of what is free.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

uint64_t MostBytes() {
  const uint64_t available = AvailableMemory();  // 0: unknown
  return available > 0 ? std::min(kMostBytes, available / 8) : kMostBytes;
}

std::string GenotypeName(const ScanRequest& request) {
  return request.bgen + "\n" + request.bgi + "\n" + request.bed;
}

}  // namespace

BatchInputs::BatchInputs(FileEnv& base) : env_(base, MostBytes()) {}

void BatchInputs::Expect(const ScanRequest& request) {
  for (const auto& [role, path] : NamedInputs(request)) {
    if (role != "genotypes") env_.Expect(path);
  }
  ++genotypes_[GenotypeName(request)].runs_to_come;
}

std::vector<BatchInputs::Companion> BatchInputs::CompanionsOf(const ScanRequest& request) {
  std::vector<std::string> paths;
  if (request.bed.empty()) {
    paths.push_back(request.bgi.empty() ? request.bgen + ".bgi" : request.bgi);
  } else {
    for (const auto& [role, path] : NamedInputs(request)) {
      if (role == "variant table" || role == "people table") paths.push_back(path);
    }
  }
  std::vector<Companion> companions;
  for (const std::string& path : paths) {
    const auto identity = env_.Identity(path);
    companions.emplace_back(path,
                            identity.ok() ? std::optional<FileIdentity>(*identity) : std::nullopt);
  }
  return companions;
}

std::shared_ptr<const GenotypeSource> BatchInputs::FindSource(const ScanRequest& request) {
  const auto at = genotypes_.find(GenotypeName(request));
  if (at == genotypes_.end() || at->second.source == nullptr) return nullptr;
  if (!at->second.source->CheckUnchanged().ok() || at->second.companions != CompanionsOf(request)) {
    at->second.source.reset();
  }
  return at->second.source;
}

void BatchInputs::KeepSource(const ScanRequest& request,
                             std::shared_ptr<const GenotypeSource> source) {
  const auto at = genotypes_.find(GenotypeName(request));
  if (at == genotypes_.end()) return;
  if (at->second.runs_to_come > 0) --at->second.runs_to_come;
  if (at->second.runs_to_come == 0) {
    genotypes_.erase(at);
    return;
  }
  at->second.companions = CompanionsOf(request);
  at->second.source = std::move(source);
}

FileEnv& InputEnv(const ScanRequest& request) {
  if (request.batch_inputs != nullptr) return request.batch_inputs->env();
  return request.safety.env != nullptr ? *request.safety.env : PosixFileEnv();
}

}  // namespace tallele
