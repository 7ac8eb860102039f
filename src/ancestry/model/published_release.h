#ifndef TALLELE_ANCESTRY_MODEL_PUBLISHED_RELEASE_H_
#define TALLELE_ANCESTRY_MODEL_PUBLISHED_RELEASE_H_

#include <map>
#include <string>
#include <vector>

#include "ancestry/model/import_model.h"
#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

// Archives of the published release.
inline constexpr char kInferenceArchive[] = "Dietnet_inference.tar.gz";
inline constexpr char kTrainingArchive[] = "Dietnet_training.tar.gz";
// Folder of the release's files on the web: Zenodo record 16943452.
inline constexpr char kPublishedUrl[] = "https://zenodo.org/records/16943452/files";

struct PublishedRequest {
  std::string url = kPublishedUrl;         // the archives are `<url>/<file>`
  std::string from;                        // instead: a folder with the archives, or unpacked
  std::string dest;                        // holds `download/` and `packages/`
  std::map<std::string, std::string> md5;  // of an archive, instead of the published digest
  bool training = false;                   // the training part as well
  int retries = 4;                         // see `DownloadRequest`
};

struct PublishedRelease {
  std::string inference_folder;
  std::string training_folder;  // empty unless it was asked for
  std::string packages_folder;
  ImportSummary models;
};

// Gets the published release, unpacks it below `<dest>/download`, and turns its
// models into packages in `<dest>/packages`. Archives are used only when their MD5 is right; what
// is there already is not fetched or unpacked again.
Result<PublishedRelease> GetPublishedRelease(const PublishedRequest& request, EventSink& sink,
                                             const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_PUBLISHED_RELEASE_H_
