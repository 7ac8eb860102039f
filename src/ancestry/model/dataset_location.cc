#include "ancestry/model/dataset_location.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ancestry/model/text_inputs.h"
#include "base/atomic_file.h"

namespace tallele {
namespace {

namespace fs = std::filesystem;

constexpr char kFormat[] = "tallele dietnet dataset location";
constexpr int kVersion = 1;

std::string LocationFile(const std::string& folder, const std::string& identity) {
  return fmt::format("{}/dataset-{}.json", folder, identity.substr(0, 16));
}

// The path, without links on the way to the file, so that it can be left upwards.
fs::path RealPath(const fs::path& path) {
  std::error_code code;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path real = fs::canonical(folder, code);
  return code ? fs::absolute(path) : real / path.filename();
}

Result<std::string> ReadLocation(const std::string& folder, const std::string& identity) {
  const std::string file = LocationFile(folder, identity);
  if (!PosixFileEnv().Identity(file)) {
    return UsageError("it is not known where the training dataset of the packages lies",
                      fmt::format("Give it with --dataset FILE: {} has no {}.", folder,
                                  fs::path(file).filename().string()));
  }
  TALLELE_ASSIGN(const std::string text, ReadTextFile(file));
  const auto notes = nlohmann::json::parse(text, nullptr, false);
  if (!notes.is_object() || notes.value("format", nlohmann::json()) != kFormat ||
      notes.value("version", nlohmann::json()) != kVersion || !notes.contains("path") ||
      !notes["path"].is_string()) {
    return InputError("this is no location of a dataset", file,
                      "Give --dataset FILE, or remove the file.");
  }
  return (fs::path(folder) / notes["path"].get<std::string>()).lexically_normal().string();
}

// The one dataset of all models, or an error.
Result<std::string> IdentityOf(const std::vector<ModelPackage>& packages) {
  const std::string& identity = packages.front().inputs->dataset_identity;
  for (const ModelPackage& package : packages) {
    const std::string& other = package.inputs->dataset_identity;
    if (other.empty()) {
      return UsageError("the package does not say which dataset it was trained on: " + package.path,
                        "Give the training dataset with --dataset FILE.");
    }
    if (other != identity) {
      return UsageError("the models were trained on different datasets: " + packages.front().path +
                            " and " + package.path,
                        "Choose those of one dataset with --seeds and --folds.");
    }
  }
  return identity;
}

Error OtherDataset(const TrainingDataset& dataset, const FoldInputs& inputs,
                   const std::string& found) {
  Error error =
      InputError("this is not the dataset that the models were trained on", dataset.path(),
                 "People, SNPs, classes or labels differ. Give the dataset of the "
                 "training with --dataset FILE.");
  error.found =
      fmt::format("{} people, names and labels {}", dataset.num_people(), found.substr(0, 16));
  error.expected = fmt::format("{} people, names and labels {}", inputs.dataset_people,
                               inputs.dataset_identity.substr(0, 16));
  return error;
}

}  // namespace

Result<void> WriteDatasetLocation(const std::string& folder, const std::string& dataset_identity,
                                  const std::string& dataset, FileEnv& env) {
  const fs::path path = RealPath(dataset).lexically_relative(RealPath(folder + "/."));
  const nlohmann::ordered_json notes = {{"format", kFormat},
                                        {"version", kVersion},
                                        {"identity", dataset_identity},
                                        {"path", path.string()}};
  return WriteFileAtomically(LocationFile(folder, dataset_identity), notes.dump(1) + "\n", env);
}

Result<TrainingDataset> OpenDatasetOf(const std::vector<ModelPackage>& packages,
                                      const std::string& given, bool must_be_same) {
  std::string path = given;
  if (given.empty()) {
    TALLELE_ASSIGN(const std::string identity, IdentityOf(packages));
    const std::string folder = FolderOf(packages.front().path);
    TALLELE_ASSIGN(path, ReadLocation(folder, identity));
    if (!PosixFileEnv().Identity(path)) {
      Error error = InputError("the training dataset of the packages is not where it was", path,
                               "Give it with --dataset FILE.");
      error.expected =
          fmt::format("a dataset of {} people, as {} says", packages.front().inputs->dataset_people,
                      LocationFile(folder, identity));
      return error;
    }
  }
  TALLELE_ASSIGN(TrainingDataset dataset, TrainingDataset::Open(path));
  if (!given.empty() && !must_be_same) return dataset;
  const std::string found = NamesChecksum(dataset);
  for (const ModelPackage& package : packages) {
    const FoldInputs& inputs = *package.inputs;
    if (inputs.dataset_identity.empty() || inputs.dataset_identity == found) continue;
    return OtherDataset(dataset, inputs, found);
  }
  return dataset;
}

}  // namespace tallele
