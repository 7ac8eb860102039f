#include "ancestry/model/published_release.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/format.h>

#include "ancestry/model/release_download.h"
#include "ancestry/model/tar_archive.h"
#include "ancestry/model/text_inputs.h"
#include "base/file_env.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

// The digest that the release's page gave for the archive of models.
constexpr char kInferenceMd5[] = "f0439ccc546d170f1aec38271cfd7442";
constexpr size_t kPublishedModels = 15;

bool IsMd5(const std::string& text) {
  return text.size() == 32 && std::all_of(text.begin(), text.end(),
                                          [](unsigned char c) { return std::isxdigit(c) != 0; });
}

Result<void> CheckRequest(const PublishedRequest& request) {
  if (request.dest.empty()) {
    return UsageError("--dest is missing", "Give the folder for the release and the packages.");
  }
  for (const auto& [file, digest] : request.md5) {
    if (file != kInferenceArchive && file != kTrainingArchive) {
      return UsageError(
          fmt::format("--md5 names {}, which is no file of the release", file),
          fmt::format("Its files are {} and {}.", kInferenceArchive, kTrainingArchive));
    }
    if (!IsMd5(digest)) {
      return UsageError(fmt::format("--md5 {}={} is no MD5 digest", file, digest),
                        "Give 32 hexadecimal digits.");
    }
  }
  if (request.retries < 0) return UsageError("--retries is negative");
  return {};
}

// "Dietnet_inference" of "Dietnet_inference.tar.gz".
std::string StemOf(const std::string& archive) { return archive.substr(0, archive.find('.')); }

class ReleaseGetter {
 public:
  ReleaseGetter(const PublishedRequest& request, EventSink& sink, const CancelToken& cancel)
      : request_(request), download_(request.dest + "/download"), sink_(sink), cancel_(cancel) {}

  // The folder of the unpacked archive, in which `content` lies.
  Result<std::string> Get(const std::string& archive, const std::string& content) {
    if (request_.from.empty()) {
      TALLELE_ASSIGN(const std::string digest, DigestOf(archive));
      const std::string path = download_ + "/" + archive;
      TALLELE_TRY(Download({request_.url + (request_.url.ends_with('/') ? "" : "/") + archive, path,
                            digest, request_.retries},
                           sink_, cancel_));
      return Unpack(archive, path, digest);
    }
    const std::string path = request_.from + "/" + archive;
    if (PosixFileEnv().Identity(path)) {
      TALLELE_ASSIGN(const std::string digest, DigestOf(archive));
      TALLELE_TRY(CheckMd5(path, digest, cancel_));
      return Unpack(archive, path, digest);
    }
    return FindUnpacked(archive, content);
  }

 private:
  Result<std::string> DigestOf(const std::string& archive) const {
    const auto given = request_.md5.find(archive);
    if (given != request_.md5.end()) {
      std::string digest = given->second;
      std::transform(digest.begin(), digest.end(), digest.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      return digest;
    }
    if (archive == kInferenceArchive) return std::string(kInferenceMd5);
    return UsageError(fmt::format("the digest of {} is not known to this program", archive),
                      fmt::format("Give the one on the release's page: --md5 {}=HEX.", archive));
  }

  Result<std::string> Unpack(const std::string& archive, const std::string& path,
                             const std::string& digest) {
    std::string folder = download_ + "/" + StemOf(archive);
    const std::string stamp = fmt::format("{} md5 {}\n", archive, digest);
    std::error_code code;
    if (fs::exists(folder, code)) {
      const auto found = ReadTextFile(folder + "/.unpacked-from");
      if (!found) {
        return InputError("a folder that this command did not make is in the way", folder,
                          "Move it away, or use it with --from.");
      }
      if (*found == stamp) {
        sink_.Message(Severity::kInfo, folder + " is there already.");
        return folder;
      }
    }
    sink_.Message(Severity::kInfo, fmt::format("Unpacking {}.", path));
    TALLELE_TRY(UnpackTarGz(path, folder, stamp, sink_, cancel_));
    return folder;
  }

  Result<std::string> FindUnpacked(const std::string& archive, const std::string& content) {
    for (const std::string& folder : {request_.from + "/" + StemOf(archive), request_.from}) {
      std::error_code code;
      if (!fs::is_directory(folder, code) || !fs::exists(folder + "/" + content, code)) continue;
      sink_.Message(Severity::kInfo,
                    folder + " is used as it is; only archives have a digest to check.");
      return folder;
    }
    Error error = InputError("the folder holds neither the archive nor what is in it",
                             request_.from, "Give the folder of the downloaded files.");
    error.expected = fmt::format("{} or a folder {}", archive, StemOf(archive));
    return error;
  }

  const PublishedRequest& request_;
  std::string download_;
  EventSink& sink_;
  const CancelToken& cancel_;
};

}  // namespace

Result<PublishedRelease> GetPublishedRelease(const PublishedRequest& request, EventSink& sink,
                                             const CancelToken& cancel) {
  TALLELE_TRY(CheckRequest(request));
  ReleaseGetter getter(request, sink, cancel);
  PublishedRelease release;
  if (request.training) {
    TALLELE_ASSIGN(release.training_folder, getter.Get(kTrainingArchive, ""));
  }
  TALLELE_ASSIGN(release.inference_folder, getter.Get(kInferenceArchive, "DN_MODELS"));
  ImportContext context;
  context.class_names = PublishedClasses();
  context.out = release.packages_folder = request.dest + "/packages";
  TALLELE_ASSIGN(const std::vector<ModelFiles> models,
                 FindBundleModels(release.inference_folder, context));
  if (models.size() != kPublishedModels) {
    sink.Message(Severity::kWarning,
                 fmt::format("The release holds {} models, not the {} that were "
                             "published.",
                             models.size(), kPublishedModels));
  }
  TALLELE_ASSIGN(release.models, ImportModels(models, context, sink, cancel));
  return release;
}

}  // namespace tallele
