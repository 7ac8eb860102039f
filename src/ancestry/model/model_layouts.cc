// Folders of models that other tools write: the released inference bundle and the Python
// wrapper's packages.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ancestry/model/import_model.h"
#include "ancestry/model/npy.h"
#include "ancestry/model/text_inputs.h"
#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kPublishedFolds = 5;
constexpr int kPublishedRepeats = 3;
constexpr int64_t kFirstPublishedSeed = 78;

bool Exists(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The folder that holds `name`: `folder` itself, or one of its folders.
Result<fs::path> FolderWith(const std::string& folder, const char* name) {
  if (Exists(fs::path(folder) / name)) return fs::path(folder);
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code)) {
    if (entry.is_directory(code) && Exists(entry.path() / name)) return entry.path();
  }
  return InputError(fmt::format("the folder holds no {}", name), folder,
                    "Give the unpacked Dietnet_inference folder.");
}

struct WrapperNotes {
  int64_t seed = 0;
  int64_t fold = 0;
};

Result<WrapperNotes> ReadWrapperNotes(const std::string& path) {
  TALLELE_ASSIGN(const std::string text, ReadTextFile(path));
  const Json notes = Json::parse(text, nullptr, false);
  if (!notes.is_object() || !notes.contains("seed") || !notes["seed"].is_number_integer() ||
      !notes.contains("fold") || !notes["fold"].is_number_integer()) {
    return InputError("the package's metadata has no seed and fold", path);
  }
  return WrapperNotes{notes["seed"].get<int64_t>(), notes["fold"].get<int64_t>()};
}

class Exporter {
 public:
  Exporter(const ModelPackage& package, fs::path folder)
      : package_(package), inputs_(*package.inputs), folder_(std::move(folder)) {}

  Result<void> Run() {
    TALLELE_TRY(PosixFileEnv().CreateFolders(folder_.string()));
    TALLELE_TRY(WriteModel());
    TALLELE_TRY(WriteArrays());
    TALLELE_TRY(WriteSnps());
    return WriteNotes();
  }

 private:
  std::string File(const char* name) const { return (folder_ / name).string(); }

  Result<void> WriteModel() const {
    Checkpoint checkpoint;
    checkpoint.epoch = package_.epoch;
    checkpoint.mean_loss = package_.mean_loss;
    checkpoint.mean_accuracy = package_.mean_accuracy;
    checkpoint.state = StateFromNetwork(package_.network);
    return WriteCheckpoint(checkpoint, File("model.pt"));
  }

  Result<void> WriteArrays() const {
    const int64_t line[] = {static_cast<int64_t>(inputs_.num_snps())};
    TALLELE_ASSIGN(StoredZipWriter stats, StoredZipWriter::Create(File("input_stats.npz")));
    TALLELE_TRY(stats.Add("mean.npy", WriteNpy(inputs_.means, line)));
    TALLELE_TRY(stats.Add("std.npy", WriteNpy(inputs_.deviations, line)));
    TALLELE_TRY(stats.Finish());
    // Under both names: `embedding` is the wrapper's, `emb` upstream's.
    TALLELE_ASSIGN(const std::vector<double> values, inputs_.LoadEmbedding());
    const int64_t table[] = {line[0], static_cast<int64_t>(inputs_.embedding_width)};
    const std::string array = WriteNpy(values, table);
    TALLELE_ASSIGN(StoredZipWriter embedding, StoredZipWriter::Create(File("embedding.npz")));
    TALLELE_TRY(embedding.Add("embedding.npy", array));
    TALLELE_TRY(embedding.Add("emb.npy", array));
    return embedding.Finish();
  }

  Result<void> WriteSnps() const {
    const ModelSnps& snps = inputs_.snps;
    std::string list, bim;
    for (size_t j = 0; j < snps.size(); ++j) {
      if (!snps.has_alleles()) {
        list += snps.names[j] + "\n";
        continue;
      }
      list += fmt::format("{}:{}\n", snps.chromosomes[j], snps.positions[j]);
      bim += fmt::format("{}\t{}\t0\t{}\t{}\t{}\n", snps.chromosomes[j], snps.names[j],
                         snps.positions[j], snps.counted_alleles[j], snps.other_alleles[j]);
    }
    TALLELE_TRY(WriteFileAtomically(File("snps.txt"), list));
    return bim.empty() ? Result<void>() : WriteFileAtomically(File("allpos.bim"), bim);
  }

  Result<void> WriteNotes() const {
    Json labels = Json::object();
    for (size_t c = 0; c < inputs_.class_names.size(); ++c) labels[inputs_.class_names[c]] = c;
    TALLELE_TRY(WriteFileAtomically(File("label_mapping.json"), labels.dump(2) + "\n"));
    const Json notes = {{"seed", package_.seed},
                        {"fold", package_.fold},
                        {"n_snps", inputs_.num_snps()},
                        {"n_classes", inputs_.class_names.size()},
                        {"config", package_.config}};
    return WriteFileAtomically(File("metadata.json"), notes.dump(2) + "\n");
  }

  const ModelPackage& package_;
  const FoldInputs& inputs_;
  fs::path folder_;
};

}  // namespace

Result<std::vector<ModelFiles>> FindBundleModels(const std::string& folder,
                                                 ImportContext& context) {
  TALLELE_ASSIGN(const fs::path root, FolderWith(folder, "DN_MODELS"));
  std::vector<ModelFiles> models;
  for (int fold = 1; fold <= kPublishedFolds; ++fold) {
    for (int repeat = 1; repeat <= kPublishedRepeats; ++repeat) {
      const fs::path weights =
          root / "DN_MODELS" / fmt::format("weights_model{}_{}.pt", fold, repeat);
      if (!Exists(weights)) continue;
      ModelFiles files;
      files.checkpoint = weights.string();
      files.embedding = (root / "DN_MODELS" / fmt::format("snps_emb_model{}.npz", fold)).string();
      files.stats = (root / "DN_MODELS" / fmt::format("norm_stats_model{}.npz", fold)).string();
      files.fold = fold - 1;
      files.seed = kFirstPublishedSeed + repeat - 1;
      models.push_back(std::move(files));
    }
  }
  if (models.empty())
    return InputError("the bundle holds no weights", (root / "DN_MODELS").string());
  const fs::path snps = root / "DN_SNPS" / "dietnet_snps.txt";
  if (context.snps.empty() && Exists(snps)) context.snps = snps.string();
  const fs::path bim = root / "DN_SNPS" / "dummy.bim";
  if (context.bim.empty() && Exists(bim)) context.bim = bim.string();
  return models;
}

Result<std::vector<ModelFiles>> FindWrapperModels(const std::string& folder,
                                                  ImportContext& context) {
  std::error_code code;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::recursive_directory_iterator(folder, code)) {
    if (entry.path().filename() == "metadata.json") folders.push_back(entry.path().parent_path());
  }
  if (code) return IoError("the folder of packages cannot be listed", folder, code.value());
  if (folders.empty()) return InputError("no metadata.json is below the folder", folder);
  std::sort(folders.begin(), folders.end());
  std::vector<ModelFiles> models;
  for (const fs::path& package : folders) {
    TALLELE_ASSIGN(const WrapperNotes notes,
                   ReadWrapperNotes((package / "metadata.json").string()));
    ModelFiles files;
    files.checkpoint = (package / "model.pt").string();
    files.embedding = (package / "embedding.npz").string();
    files.stats = (package / "input_stats.npz").string();
    files.seed = notes.seed;
    files.fold = notes.fold;
    models.push_back(std::move(files));
  }
  const fs::path& first = folders.front();
  const fs::path bim = first / "allpos.bim";
  if (context.bim.empty() && Exists(bim)) context.bim = bim.string();
  if (context.snps.empty()) context.snps = (first / "snps.txt").string();
  if (context.classes.empty() && context.class_names.empty()) {
    context.classes = (first / "label_mapping.json").string();
  }
  std::sort(models.begin(), models.end(), [](const ModelFiles& a, const ModelFiles& b) {
    return std::pair(a.fold, a.seed) < std::pair(b.fold, b.seed);
  });
  return models;
}

Result<std::vector<std::string>> ExportPackages(const std::vector<ModelPackage>& packages,
                                                const std::string& out, EventSink& sink,
                                                const CancelToken& cancel) {
  std::vector<std::string> folders;
  for (const ModelPackage& package : packages) {
    if (cancel.cancelled()) {
      Error stopped = UsageError("stopped; the packages exported so far are complete");
      stopped.kind = ErrorKind::kInterrupted;
      return stopped;
    }
    const fs::path folder =
        fs::path(out) / fmt::format("seed_{}", package.seed) / fmt::format("fold_{}", package.fold);
    TALLELE_TRY(Exporter(package, folder).Run());
    folders.push_back(folder.string());
    sink.Progress({"models", static_cast<int64_t>(folders.size()),
                   static_cast<int64_t>(packages.size()), 0, folders.size() == packages.size()});
  }
  return folders;
}

}  // namespace tallele
