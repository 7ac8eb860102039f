#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "ancestry/genotype_rows.h"
#include "ancestry/model/package.h"
#include "ancestry/packed_dataset.h"
#include "base/format_number.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/dietnet_commands.h"
#include "cli/parse_words.h"

namespace tallele {
namespace {

using Json = nlohmann::ordered_json;

void Line(Console& console, const char* what, const std::string& value) {
  console.Print(fmt::format("  {:<14} {}", what, value));
}

std::string Count(size_t count) { return FormatThousands(static_cast<int64_t>(count)); }

Result<Json> DescribeDataset(const std::string& path, bool verify) {
  TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(path));
  Json classes = Json::array();
  for (size_t c = 0; c < dataset.class_names().size(); ++c) {
    const auto people = std::count(dataset.labels().begin(), dataset.labels().end(), c);
    classes.push_back({{"name", dataset.class_names()[c]}, {"people", people}});
  }
  Json about = {{"path", path},
                {"kind", "dataset"},
                {"people", dataset.num_people()},
                {"snps", dataset.num_snps()},
                {"classes", std::move(classes)},
                {"packed_copy", nullptr}};
  const std::string packed = PackedPathOf(path);
  if (!PosixFileEnv().Identity(packed)) return about;
  TALLELE_ASSIGN(const PackedStore store, PackedStore::Open(packed));
  TALLELE_TRY(CheckPackedDataset(store, dataset, verify));
  about["packed_copy"] = {{"path", packed}, {"verified", verify}};
  return about;
}

Result<Json> DescribeStore(const std::string& path, bool verify) {
  TALLELE_ASSIGN(const PackedStore store, PackedStore::Open(path));
  if (verify) TALLELE_TRY(store.VerifyRows());
  TALLELE_ASSIGN(std::string kind, store.Section("kind"));
  Json about = {{"path", path},
                {"kind", "store"},
                {"of", kind},
                {"people", store.num_people()},
                {"snps", store.num_snps()},
                {"bytes_per_person", store.stride()},
                {"checksum", store.rows_checksum()},
                {"verified", verify}};
  if (kind == "matched") {
    TALLELE_ASSIGN(about["summary"], store.Section("summary"));
  }
  return about;
}

// Null where the package does not say.
template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json DescribePackage(const ModelPackage& package) {
  const FoldInputs& inputs = *package.inputs;
  size_t num_constant = 0;
  for (size_t j = 0; j < inputs.num_snps(); ++j) num_constant += inputs.IsDegenerate(j);
  return {{"path", package.path},
          {"seed", package.seed},
          {"fold", package.fold},
          {"epoch", OrNull(package.epoch)},
          {"validation_accuracy_percent", OrNull(package.mean_accuracy)},
          {"normalised", package.normalised},
          {"snps", inputs.num_snps()},
          {"snps_without_variation", num_constant},
          {"has_alleles", inputs.snps.has_alleles()},
          {"snps_identity", inputs.snps.Identity()},
          {"test_people", inputs.test_rows.size()},
          {"dataset_people", inputs.dataset_people}};
}

Result<Json> DescribePackages(const std::string& path) {
  TALLELE_ASSIGN(const std::vector<ModelPackage> packages, ReadPackages(path));
  Json models = Json::array();
  for (const ModelPackage& package : packages) models.push_back(DescribePackage(package));
  return Json{{"path", path},
              {"kind", "packages"},
              {"classes", packages.front().inputs->class_names},
              {"models", std::move(models)}};
}

Result<Json> Describe(const std::string& path, bool verify) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    const std::string matched = path + "/matched.store";
    if (PosixFileEnv().Identity(matched)) return DescribeStore(matched, verify);
    return DescribePackages(path);
  }
  std::string start(8, '\0');
  TALLELE_ASSIGN(const auto file, PosixFileEnv().OpenToRead(path));
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(start))));
  if (start.starts_with("\x89HDF")) return DescribeDataset(path, verify);
  if (start.starts_with("TALLPK")) return DescribeStore(path, verify);
  return DescribePackages(path);
}

void PrintDataset(const Json& about, Console& console) {
  Line(console, "format", "training dataset (HDF5)");
  Line(console, "people", Count(about["people"]));
  Line(console, "SNPs", Count(about["snps"]));
  const char* what = "classes";
  for (const Json& item : about["classes"]) {
    Line(console, what,
         fmt::format("{:<12} {}", item["name"].get<std::string>(), Count(item["people"])));
    what = "";
  }
  const Json& packed = about["packed_copy"];
  const char* state = packed.is_null() ? "none"
                                       : (packed["verified"].get<bool>() ? "equal in every genotype"
                                                                         : "of this dataset");
  Line(console, "packed copy", state);
}

void PrintStore(const Json& about, Console& console) {
  const std::string of = about["of"];
  Line(console, "format", "packed genotypes, 2 bits each");
  Line(console, "of",
       of == "matched" ? "a cohort matched with a model"
                       : (of == "dataset" ? "a training dataset" : "a genotype file"));
  Line(console, "people", Count(about["people"]));
  Line(console, "SNPs", Count(about["snps"]));
  Line(console, "bytes a person", Count(about["bytes_per_person"]));
  Line(console, "checksum",
       about["checksum"].get<std::string>() + (about["verified"].get<bool>() ? " (verified)" : ""));
  if (about.contains("summary")) console.Print(about["summary"].get<std::string>());
}

void PrintPackages(const Json& about, Console& console) {
  for (const Json& model : about["models"]) {
    std::string line = fmt::format(
        "{} SNPs {}, {} of them without variation, {} classes, {} test people",
        Count(model["snps"]), model["has_alleles"].get<bool>() ? "with alleles" : "WITHOUT alleles",
        Count(model["snps_without_variation"]), about["classes"].size(),
        Count(model["test_people"]));
    if (!model["epoch"].is_null()) {
      line += fmt::format(", of epoch {}", model["epoch"].get<int64_t>());
    }
    const std::string name =
        fmt::format("seed_{}_fold_{}", model["seed"].get<int64_t>(), model["fold"].get<int64_t>());
    Line(console, name.c_str(), line);
  }
}

void PrintText(const Json& about, Console& console) {
  console.Print(about["path"].get<std::string>());
  if (about["kind"] == "dataset") return PrintDataset(about, console);
  if (about["kind"] == "store") return PrintStore(about, console);
  PrintPackages(about, console);
}

}  // namespace

int DietnetInspectCommand(std::span<const std::string> arguments, const CancelToken&) {
  std::string path;
  bool verify = false;
  bool as_json = false;
  CLI::App app("What a dataset, a packed or matched store, or a folder of packages is",
               "tallele dietnet inspect");
  app.add_option("FILE", path, "The file or folder")->required();
  app.add_flag("--verify", verify, "Read every genotype and check it");
  app.add_flag("--json", as_json, "One JSON object instead of text");
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto about = Describe(path, verify);
  if (!about) return Fail(about.error());
  if (as_json) {
    console.Print(about->dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    PrintText(*about, console);
  }
  return kExitSuccess;
}

}  // namespace tallele
