#include "results/kept_text.h"

#include <cstdio>
#include <span>
#include <utility>

namespace tallele {

std::string KeptTextName(VariantRange part) {
  char name[64];
  std::snprintf(name, sizeof name, "text_%09zu_%09zu.txt", part.first, part.first + part.count - 1);
  return name;
}

Result<std::unique_ptr<KeptTextWriter>> KeptTextWriter::Create(const std::string& folder,
                                                               std::string layout, FileEnv& env) {
  TALLELE_TRY(env.CreateFolders(folder));
  return std::unique_ptr<KeptTextWriter>(new KeptTextWriter(folder, std::move(layout), env));
}

Result<void> KeptTextWriter::Open(VariantRange part) {
  if (file_ && part_.first == part.first) return {};
  if (file_) return InternalError("the text of a part was begun before the last was finished");
  TALLELE_ASSIGN(file_, AtomicFile::Create(folder_ + "/" + KeptTextName(part), env_));
  part_ = part;
  hash_ = Sha256();
  num_bytes_ = 0;
  return {};
}

Result<void> KeptTextWriter::Append(VariantRange part, std::string_view lines) {
  TALLELE_TRY(Open(part));
  hash_.Update(lines);
  num_bytes_ += lines.size();
  return file_->Append(lines);
}

Result<KeptText> KeptTextWriter::Finish(VariantRange part) {
  TALLELE_TRY(Open(part));
  TALLELE_TRY(file_->Commit());
  file_.reset();
  return KeptText{layout_, KeptTextName(part), num_bytes_, hash_.HexDigest()};
}

Result<std::string> ReadKeptText(const std::string& folder, const KeptText& text, FileEnv& env) {
  const std::string path = folder + "/" + text.file;
  TALLELE_ASSIGN(const auto file, env.OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  Error error = InputError("the text of a part is not as it was recorded", path,
                           "Run again with --resume: the part is computed again.");
  if (identity.size != text.num_bytes) {
    error.found = std::to_string(identity.size) + " bytes";
    error.expected = std::to_string(text.num_bytes) + " bytes";
    return error;
  }
  std::string lines(identity.size, '\0');
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(lines.data(), lines.size()))));
  if (std::string digest = Sha256Hex(lines); digest != text.sha256) {
    error.found = "SHA-256 " + digest;
    error.expected = "SHA-256 " + text.sha256;
    return error;
  }
  return lines;
}

}  // namespace tallele
