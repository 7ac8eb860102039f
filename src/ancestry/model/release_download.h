#ifndef TALLELE_ANCESTRY_MODEL_RELEASE_DOWNLOAD_H_
#define TALLELE_ANCESTRY_MODEL_RELEASE_DOWNLOAD_H_

#include <string>

#include "base/cancel_token.h"
#include "base/event_sink.h"
#include "base/result.h"

namespace tallele {

struct DownloadRequest {
  std::string url;   // http or https
  std::string path;  // of the finished file
  std::string md5;   // 32 hexadecimal digits that the finished file must have
  // Attempts in a row that may bring nothing new before the download fails.
  int retries = 4;
};

// Downloads a file. Bytes gather in `<path>.part`; what an earlier attempt or call left there is
// continued by an HTTP range request, or, where the server does not do ranges, replaced. The file
// appears under `path` only when its MD5 is the expected one; bytes with another digest are removed
// (and, when they were pieced together from two attempts, fetched once more from the beginning). A
// file that is there already with the right digest is left alone. Errors name the URL, what the
// server answered and what to do. Proxies as curl takes them from the environment; CURL_CA_BUNDLE
// names the certificates to trust.
Result<void> Download(const DownloadRequest& request, EventSink& sink, const CancelToken& cancel);

// MD5 of a file, as 32 lower-case digits.
Result<std::string> Md5OfFile(const std::string& path, const CancelToken& cancel);

// An error unless the file has this MD5.
Result<void> CheckMd5(const std::string& path, const std::string& expected,
                      const CancelToken& cancel);

}  // namespace tallele

#endif  // TALLELE_ANCESTRY_MODEL_RELEASE_DOWNLOAD_H_
