#include <fmt/format.h>

#include "ancestry/model/published_release.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

struct Words {
  PublishedRequest request;
  std::vector<std::string> md5;
};

void Declare(CLI::App& app, Words& w) {
  app.option_defaults()->always_capture_default();
  app.add_option("--dest", w.request.dest,
                 "Folder: archives and their content in download/, models in packages/");
  app.add_option("--url", w.request.url, "Address of the release's files, without a file's name");
  app.add_option("--from", w.request.from,
                 "Instead: a folder with the downloaded archives, or with what is in them");
  app.add_option("--md5", w.md5,
                 "FILE=HEX: digest of an archive, instead of the published one; repeatable");
  app.add_flag("--training", w.request.training,
               fmt::format("Get {} as well, into download/Dietnet_training", kTrainingArchive));
  app.add_option("--retries", w.request.retries,
                 "Attempts in a row that may bring nothing new before the download fails");
}

Result<void> Translate(Words& w) {
  for (const std::string& word : w.md5) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      return UsageError("--md5 is " + word, "Give FILE=HEX, the file's name and its MD5 digest.");
    }
    w.request.md5[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return {};
}

}  // namespace

int DietnetPublishedCommand(std::span<const std::string> arguments, const CancelToken& cancel) {
  Words words;
  CLI::App app("Downloads the published models, or takes downloaded ones, and makes packages",
               "tallele dietnet published");
  Declare(app, words);
  if (const auto code = ParseWords(app, arguments)) return *code;
  if (const auto done = Translate(words); !done) return Fail(done.error());
  Console console({});
  const auto release = GetPublishedRelease(words.request, console, cancel);
  if (!release) return Fail(release.error(), cancel.signal_number());
  const ImportSummary& models = release->models;
  console.Print(fmt::format("{} packages in {}: {} SNPs{}, {} classes.", models.packages.size(),
                            release->packages_folder,
                            FormatThousands(static_cast<int64_t>(models.num_snps)),
                            models.has_alleles ? "" : " without alleles", models.num_classes));
  if (models.num_without_variation > 0) {
    console.Print(fmt::format("{} SNPs did not vary in training; predict leaves them out.",
                              models.num_without_variation));
  }
  if (!release->training_folder.empty()) {
    console.Print("The training part is in " + release->training_folder + ".");
  }
  return kExitSuccess;
}

}  // namespace tallele
