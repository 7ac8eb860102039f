#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

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

void Line(Console& console, const char* what, const std::string& value) {
  console.Print(fmt::format("  {:<14} {}", what, value));
}

std::string Count(size_t count) { return FormatThousands(static_cast<int64_t>(count)); }

Result<void> InspectDataset(const std::string& path, bool verify, Console& console) {
  TALLELE_ASSIGN(const TrainingDataset dataset, TrainingDataset::Open(path));
  console.Print(path);
  Line(console, "format", "training dataset (HDF5)");
  Line(console, "people", Count(dataset.num_people()));
  Line(console, "SNPs", Count(dataset.num_snps()));
  for (size_t c = 0; c < dataset.class_names().size(); ++c) {
    const auto people = std::count(dataset.labels().begin(), dataset.labels().end(), c);
    Line(console, c == 0 ? "classes" : "",
         fmt::format("{:<12} {}", dataset.class_names()[c], FormatThousands(people)));
  }
  const std::string packed = PackedPathOf(path);
  if (!PosixFileEnv().Identity(packed)) {
    Line(console, "packed copy", "none");
    return {};
  }
  TALLELE_ASSIGN(const PackedStore store, PackedStore::Open(packed));
  TALLELE_TRY(CheckPackedDataset(store, dataset, verify));
  Line(console, "packed copy", verify ? "equal in every genotype" : "of this dataset");
  return {};
}

Result<void> InspectStore(const std::string& path, bool verify, Console& console) {
  TALLELE_ASSIGN(const PackedStore store, PackedStore::Open(path));
  if (verify) TALLELE_TRY(store.VerifyRows());
  TALLELE_ASSIGN(const std::string kind, store.Section("kind"));
  console.Print(path);
  Line(console, "format", "packed genotypes, 2 bits each");
  Line(console, "of",
       kind == "matched" ? "a cohort matched with a model"
                         : (kind == "dataset" ? "a training dataset" : "a genotype file"));
  Line(console, "people", Count(store.num_people()));
  Line(console, "SNPs", Count(store.num_snps()));
  Line(console, "bytes a person", Count(store.stride()));
  Line(console, "checksum", store.rows_checksum() + (verify ? " (verified)" : ""));
  if (kind != "matched") return {};
  TALLELE_ASSIGN(const std::string summary, store.Section("summary"));
  console.Print(summary);
  return {};
}

Result<void> InspectPackages(const std::string& path, Console& console) {
  TALLELE_ASSIGN(const std::vector<ModelPackage> packages, ReadPackages(path));
  console.Print(path);
  for (const ModelPackage& package : packages) {
    const ModelSnps& snps = package.inputs->snps;
    Line(console, package.Name().c_str(),
         fmt::format("{} SNPs {}, {} classes, {} test people", Count(snps.size()),
                     snps.has_alleles() ? "with alleles" : "WITHOUT alleles",
                     package.inputs->class_names.size(), package.inputs->test_rows.size()));
  }
  return {};
}

Result<void> Inspect(const std::string& path, bool verify, Console& console) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) {
    const std::string matched = path + "/matched.store";
    if (PosixFileEnv().Identity(matched)) return InspectStore(matched, verify, console);
    return InspectPackages(path, console);
  }
  std::string start(8, '\0');
  TALLELE_ASSIGN(const auto file, PosixFileEnv().OpenToRead(path));
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(start))));
  if (start.starts_with("\x89HDF")) return InspectDataset(path, verify, console);
  if (start.starts_with("TALLPK")) return InspectStore(path, verify, console);
  return InspectPackages(path, console);
}

}  // namespace

int DietnetInspectCommand(std::span<const std::string> arguments, const CancelToken&) {
  std::string path;
  bool verify = false;
  CLI::App app("What a dataset, a packed or matched store, or a folder of packages is",
               "tallele dietnet inspect");
  app.add_option("FILE", path, "The file or folder")->required();
  app.add_flag("--verify", verify, "Read every genotype and check it");
  if (const auto code = ParseWords(app, arguments)) return *code;
  Console console({});
  const auto done = Inspect(path, verify, console);
  return done.ok() ? kExitSuccess : Fail(done.error());
}

}  // namespace tallele
