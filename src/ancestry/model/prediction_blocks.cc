#include "ancestry/model/prediction_blocks.h"

#include <algorithm>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "base/atomic_file.h"
#include "base/hashing.h"

namespace tallele {
namespace {

template <typename T>
void AppendRaw(const std::vector<T>& values, std::string& out) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

template <typename T>
std::vector<T> TakeRaw(std::string_view& bytes, size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
  return values;
}

}  // namespace

PredictionBlocks::PredictionBlocks(std::string folder, std::string run_identity, const Shape& shape,
                                   FileEnv& env)
    : folder_(std::move(folder)),
      run_identity_(std::move(run_identity)),
      shape_(shape),
      env_(env) {}

size_t PredictionBlocks::num_blocks() const {
  return (shape_.num_people + shape_.people_per_block - 1) / shape_.people_per_block;
}

size_t PredictionBlocks::PeopleIn(size_t block) const {
  return std::min(shape_.people_per_block, shape_.num_people - FirstPerson(block));
}

std::string PredictionBlocks::Path(size_t block) const {
  return fmt::format("{}/people_{:09}.block", folder_, FirstPerson(block));
}

std::string PredictionBlocks::Header(size_t block, uint64_t payload_hash) const {
  return fmt::format("tallele prediction block 1\n{}\n{} {} {} {} {:016x}\n", run_identity_,
                     FirstPerson(block), PeopleIn(block), shape_.hidden_per_person,
                     shape_.keep_logits ? 1 : 0, payload_hash);
}

Result<void> PredictionBlocks::Begin() { return env_.CreateFolders(folder_); }

bool PredictionBlocks::Has(size_t block) const { return Read(block).ok(); }

Result<void> PredictionBlocks::Write(size_t block, const PredictionBlock& content) {
  std::string payload;
  AppendRaw(content.probabilities, payload);
  AppendRaw(content.logits, payload);
  AppendRaw(content.hidden, payload);
  return WriteFileAtomically(Path(block), Header(block, HashBytes(payload)) + payload, env_);
}

Result<PredictionBlock> PredictionBlocks::Read(size_t block) const {
  const std::string path = Path(block);
  TALLELE_ASSIGN(const auto file, env_.OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  const size_t people = PeopleIn(block);
  const size_t scores = people * shape_.scores_per_person;
  const size_t logits = shape_.keep_logits ? scores : 0;
  const size_t hidden = people * shape_.hidden_per_person;
  const size_t payload_bytes = scores * sizeof(double) + (logits + hidden) * sizeof(float);
  const size_t header_bytes = Header(block, 0).size();
  Error unfit = InputError("a part of the prediction is damaged or of another run", path,
                           "Start the same command again.");
  if (identity.size != header_bytes + payload_bytes) return unfit;
  std::string bytes(identity.size, '\0');
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(bytes))));
  std::string_view payload = std::string_view(bytes).substr(header_bytes);
  if (bytes.substr(0, header_bytes) != Header(block, HashBytes(payload))) return unfit;
  PredictionBlock content;
  content.first = FirstPerson(block);
  content.num_people = people;
  content.probabilities = TakeRaw<double>(payload, scores);
  content.logits = TakeRaw<float>(payload, logits);
  content.hidden = TakeRaw<float>(payload, hidden);
  return content;
}

void PredictionBlocks::Remove() {
  for (size_t block = 0; block < num_blocks(); ++block) (void)env_.Remove(Path(block)).ok();
  std::error_code ignored;
  std::filesystem::remove(folder_, ignored);  // stays when something else lies in it
}

}  // namespace tallele
