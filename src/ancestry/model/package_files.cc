// Packages on disk: two kinds of NumPy archive with a `package.json` inside.
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ancestry/model/npy.h"
#include "ancestry/model/package.h"
#include "ancestry/model/zip_archive.h"
#include "base/hashing.h"

namespace tallele {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;
constexpr std::string_view kModelSuffix = ".model.npz";
constexpr std::string_view kNotes = "package.json";

struct Member {
  std::string name;
  std::string content;
};

// SHA-256 over names and contents: what a model file says about its inputs.
std::string IdentityOf(const std::vector<Member>& members) {
  Sha256 sha;
  for (const Member& member : members) {
    sha.Update(fmt::format("{} {}\n", member.name, member.content.size()));
    sha.Update(member.content);
  }
  return sha.HexDigest();
}

Result<void> WriteArchive(const std::string& path, const Json& notes,
                          const std::vector<Member>& members, FileEnv& env) {
  TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(path, env));
  TALLELE_TRY(zip.Add(kNotes, notes.dump(1) + "\n"));
  for (const Member& member : members) TALLELE_TRY(zip.Add(member.name, member.content));
  return zip.Finish();
}

int64_t Length(size_t count) { return static_cast<int64_t>(count); }

// The counts behind frequencies, when every value of each class is exactly k / n for one n of that
// class: a quarter of the bytes, and the same doubles when divided again.
struct ClassCounts {
  std::vector<uint16_t> counts;
  std::vector<int64_t> sizes;
};

std::optional<uint32_t> SizeOfClass(const FoldInputs& inputs, size_t first_column) {
  const auto fits = [&](uint32_t n) {
    for (size_t j = 0; j < inputs.num_snps(); ++j) {
      for (size_t g = 0; g < 3; ++g) {
        const double x = inputs.embedding[j * inputs.embedding_width + first_column + g];
        if (x < 0 || x > 1) return false;
        const auto k = static_cast<uint32_t>(x * n + 0.5);
        if (static_cast<double>(k) / n != x) return false;
      }
    }
    return true;
  };
  for (uint32_t n = 1; n < 65536; ++n) {
    if (fits(n)) return n;
  }
  return std::nullopt;
}

std::optional<ClassCounts> FindCounts(const FoldInputs& inputs) {
  if (inputs.embedding_width != 3 * inputs.class_names.size()) return std::nullopt;
  ClassCounts found;
  for (size_t c = 0; c < inputs.class_names.size(); ++c) {
    const auto size = SizeOfClass(inputs, 3 * c);
    if (!size) return std::nullopt;
    found.sizes.push_back(*size);
  }
  found.counts.reserve(inputs.embedding.size());
  for (size_t i = 0; i < inputs.embedding.size(); ++i) {
    const auto n = static_cast<double>(found.sizes[i % inputs.embedding_width / 3]);
    found.counts.push_back(static_cast<uint16_t>(inputs.embedding[i] * n + 0.5));
  }
  return found;
}

std::vector<Member> InputMembers(const FoldInputs& inputs) {
  std::vector<Member> members;
  const int64_t snps = Length(inputs.num_snps());
  const int64_t line[] = {snps};
  members.push_back({"snp_names.npy", WriteNpyBytes(inputs.snps.names)});
  if (inputs.snps.has_alleles()) {
    members.push_back({"chromosomes.npy", WriteNpyBytes(inputs.snps.chromosomes)});
    members.push_back({"positions.npy", WriteNpy(inputs.snps.positions, line)});
    members.push_back({"counted_alleles.npy", WriteNpyBytes(inputs.snps.counted_alleles)});
    members.push_back({"other_alleles.npy", WriteNpyBytes(inputs.snps.other_alleles)});
  }
  members.push_back({"class_names.npy", WriteNpyUnicode(inputs.class_names)});
  members.push_back({"mean.npy", WriteNpy(inputs.means, line)});
  members.push_back({"sd.npy", WriteNpy(inputs.deviations, line)});
  const int64_t table[] = {snps, Length(inputs.embedding_width)};
  if (const auto counts = FindCounts(inputs)) {
    const int64_t classes[] = {Length(counts->sizes.size())};
    members.push_back({"class_sizes.npy", WriteNpy(counts->sizes, classes)});
    members.push_back({"genotype_counts.npy", WriteNpy(counts->counts, table)});
  } else {
    members.push_back({"embedding.npy", WriteNpy(inputs.embedding, table)});
  }
  const int64_t tests[] = {Length(inputs.test_rows.size())};
  members.push_back({"test_rows.npy", WriteNpy(inputs.test_rows, tests)});
  return members;
}

std::string TensorMember(const Tensor& tensor) {
  return tensor.is_integer ? WriteNpy(tensor.integers, tensor.shape)
                           : WriteNpy(tensor.floats, tensor.shape);
}

Json ModelNotes(const ModelPackage& package, const std::string& inputs_file,
                const std::string& inputs_identity) {
  Json notes = {{"format", "tallele dietnet model"},
                {"version", kFormatVersion},
                {"seed", package.seed},
                {"fold", package.fold},
                {"inputs", inputs_file},
                {"inputs_identity", inputs_identity},
                {"normalised", package.normalised},
                {"config", package.config}};
  if (package.epoch) notes["epoch"] = *package.epoch;
  if (package.mean_loss) notes["validation_loss"] = *package.mean_loss;
  if (package.mean_accuracy) notes["validation_accuracy_percent"] = *package.mean_accuracy;
  Json order = Json::array();
  for (const NamedTensor& named : StateFromNetwork(package.network)) order.push_back(named.name);
  notes["state"] = std::move(order);
  return notes;
}

Result<void> WriteInputs(const FoldInputs& inputs, const std::vector<Member>& members,
                         const std::string& identity, const std::string& path, FileEnv& env) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return {};
  const Json notes = {{"format", "tallele dietnet inputs"},
                      {"version", kFormatVersion},
                      {"identity", identity},
                      {"num_snps", inputs.num_snps()},
                      {"num_classes", inputs.class_names.size()},
                      {"snps_identity", inputs.snps.Identity()},
                      {"embedding_width", inputs.embedding_width},
                      {"has_alleles", inputs.snps.has_alleles()},
                      {"dataset_people", inputs.dataset_people},
                      {"dataset_identity", inputs.dataset_identity}};
  return WriteArchive(path, notes, members, env);
}

// Reads one archive of either kind.
class PackageArchive {
 public:
  static Result<PackageArchive> Open(const std::string& path, std::string_view format) {
    TALLELE_ASSIGN(ZipArchive zip, ZipArchive::Open(path));
    PackageArchive archive(std::move(zip));
    TALLELE_ASSIGN(const std::string text, archive.zip_.Read(kNotes));
    archive.notes_ = Json::parse(text, nullptr, false);
    const Json& notes = archive.notes_;
    if (!notes.is_object() || !notes.contains("format") || notes["format"] != format) {
      return InputError("this is no package file", path,
                        "Make it with `tallele dietnet "
                        "import-package` or `train`.");
    }
    if (!notes.contains("version") || notes["version"] != kFormatVersion) {
      return UnsupportedError("this package has a newer format", path,
                              "Read it with a newer version of this program.");
    }
    return archive;
  }

  const ZipArchive& zip() const { return zip_; }
  const Json& notes() const { return notes_; }
  std::string Where(std::string_view member) const {
    return fmt::format("{}, member {}", zip_.path(), member);
  }
  Error Fail(std::string what) const { return InputError(std::move(what), zip_.path()); }

  Result<int64_t> Integer(const char* key) const {
    if (!notes_.contains(key) || !notes_[key].is_number_integer()) {
      return Fail(fmt::format("package.json lacks the whole number \"{}\"", key));
    }
    return notes_[key].get<int64_t>();
  }
  Result<std::string> Text(const char* key) const {
    if (!notes_.contains(key) || !notes_[key].is_string()) {
      return Fail(fmt::format("package.json lacks the text \"{}\"", key));
    }
    return notes_[key].get<std::string>();
  }
  Result<std::vector<std::string>> Texts(std::string_view member) const {
    TALLELE_ASSIGN(const std::string bytes, zip_.Read(member));
    return ReadNpyTexts(bytes, Where(member));
  }
  Result<std::vector<int64_t>> Integers(std::string_view member) const {
    TALLELE_ASSIGN(const std::string bytes, zip_.Read(member));
    return ReadNpyIntegers(bytes, Where(member));
  }
  Result<DoubleArray> Doubles(std::string_view member) const {
    TALLELE_ASSIGN(const std::string bytes, zip_.Read(member));
    return ReadNpyDoubles(bytes, Where(member));
  }

 private:
  explicit PackageArchive(ZipArchive zip) : zip_(std::move(zip)) {}

  ZipArchive zip_;
  Json notes_;
};

// The width of the embedding without reading it.
Result<size_t> EmbeddingWidth(const PackageArchive& archive) {
  TALLELE_ASSIGN(const int64_t width, archive.Integer("embedding_width"));
  if (width < 1 || width > 1 << 20) return archive.Fail("package.json has an impossible width");
  return static_cast<size_t>(width);
}

Result<std::vector<double>> ReadEmbedding(const PackageArchive& archive, const FoldInputs& inputs) {
  const bool counted = archive.zip().Find("genotype_counts.npy").has_value();
  TALLELE_ASSIGN(DoubleArray table,
                 archive.Doubles(counted ? "genotype_counts.npy" : "embedding.npy"));
  if (table.shape.size() != 2 || table.shape[1] != static_cast<int64_t>(inputs.embedding_width)) {
    return archive.Fail("the embedding has another width than package.json says");
  }
  if (!counted) return std::move(table.values);
  TALLELE_ASSIGN(const std::vector<int64_t> sizes, archive.Integers("class_sizes.npy"));
  if (sizes.size() * 3 != inputs.embedding_width) {
    return archive.Fail("the class sizes do not fit the genotype counts");
  }
  for (size_t i = 0; i < table.values.size(); ++i) {
    table.values[i] /= static_cast<double>(sizes[i % inputs.embedding_width / 3]);
  }
  return std::move(table.values);
}

Result<void> ReadSnps(const PackageArchive& archive, ModelSnps& snps) {
  TALLELE_ASSIGN(snps.names, archive.Texts("snp_names.npy"));
  if (!archive.zip().Find("counted_alleles.npy")) return {};
  TALLELE_ASSIGN(snps.chromosomes, archive.Texts("chromosomes.npy"));
  TALLELE_ASSIGN(snps.positions, archive.Integers("positions.npy"));
  TALLELE_ASSIGN(snps.counted_alleles, archive.Texts("counted_alleles.npy"));
  TALLELE_ASSIGN(snps.other_alleles, archive.Texts("other_alleles.npy"));
  return {};
}

Result<std::shared_ptr<const FoldInputs>> ReadInputs(const std::string& path,
                                                     const std::string& expected_identity) {
  TALLELE_ASSIGN(const PackageArchive archive,
                 PackageArchive::Open(path, "tallele dietnet inputs"));
  TALLELE_ASSIGN(const std::string identity, archive.Text("identity"));
  if (identity != expected_identity) {
    Error error = archive.Fail("the inputs of the model were replaced by other ones");
    error.found = identity.substr(0, 16);
    error.expected = expected_identity.substr(0, 16);
    error.advice = "Copy the model and its inputs file again from the same folder.";
    return error;
  }
  auto inputs = std::make_shared<FoldInputs>();
  TALLELE_TRY(ReadSnps(archive, inputs->snps));
  TALLELE_ASSIGN(inputs->class_names, archive.Texts("class_names.npy"));
  TALLELE_ASSIGN(DoubleArray means, archive.Doubles("mean.npy"));
  TALLELE_ASSIGN(DoubleArray deviations, archive.Doubles("sd.npy"));
  inputs->means = std::move(means.values);
  inputs->deviations = std::move(deviations.values);
  TALLELE_ASSIGN(inputs->embedding_width, EmbeddingWidth(archive));
  inputs->file = path;
  TALLELE_ASSIGN(inputs->test_rows, archive.Integers("test_rows.npy"));
  TALLELE_ASSIGN(inputs->dataset_people, archive.Integer("dataset_people"));
  // Packages of earlier versions of the program lack it.
  const Json& notes = archive.notes();
  if (notes.contains("dataset_identity")) {
    TALLELE_ASSIGN(inputs->dataset_identity, archive.Text("dataset_identity"));
  }
  TALLELE_TRY(CheckInputs(*inputs, path));
  return std::shared_ptr<const FoldInputs>(std::move(inputs));
}

Result<Network> ReadNetwork(const PackageArchive& archive) {
  if (!archive.notes().contains("state") || !archive.notes()["state"].is_array()) {
    return archive.Fail("package.json lacks the list \"state\"");
  }
  Checkpoint checkpoint;
  for (const Json& name : archive.notes()["state"]) {
    if (!name.is_string()) return archive.Fail("package.json has a state entry without a name");
    NamedTensor named;
    named.name = name.get<std::string>();
    const std::string member = named.name + ".npy";
    TALLELE_ASSIGN(const std::string bytes, archive.zip().Read(member));
    TALLELE_ASSIGN(const NpyHeader header, ReadNpyHeader(bytes, archive.Where(member)));
    TALLELE_ASSIGN(const DoubleArray values, ReadNpyDoubles(bytes, archive.Where(member)));
    named.tensor.shape = values.shape;
    named.tensor.is_integer = header.type != 'f';
    if (named.tensor.is_integer) {
      named.tensor.integers.assign(values.values.begin(), values.values.end());
    } else {
      named.tensor.floats.assign(values.values.begin(), values.values.end());
    }
    checkpoint.state.push_back(std::move(named));
  }
  return NetworkFromState(checkpoint, archive.zip().path());
}

using InputsCache = std::map<std::string, std::shared_ptr<const FoldInputs>>;

bool Wanted(const std::vector<int64_t>& list, int64_t value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

// Nothing when the filter leaves the model out.
Result<std::optional<ModelPackage>> ReadModel(const std::string& path, const PackageFilter& filter,
                                              InputsCache& cache) {
  TALLELE_ASSIGN(const PackageArchive archive, PackageArchive::Open(path, "tallele dietnet model"));
  ModelPackage package;
  package.path = path;
  TALLELE_ASSIGN(package.seed, archive.Integer("seed"));
  TALLELE_ASSIGN(package.fold, archive.Integer("fold"));
  if (!Wanted(filter.seeds, package.seed) || !Wanted(filter.folds, package.fold)) {
    return std::optional<ModelPackage>();
  }
  TALLELE_ASSIGN(const std::string inputs_file, archive.Text("inputs"));
  TALLELE_ASSIGN(const std::string identity, archive.Text("inputs_identity"));
  TALLELE_ASSIGN(package.config, archive.Text("config"));
  const Json& notes = archive.notes();
  package.normalised = notes.value("normalised", Json(true)) != Json(false);
  if (notes.contains("epoch") && notes["epoch"].is_number_integer()) package.epoch = notes["epoch"];
  if (notes.contains("validation_loss") && notes["validation_loss"].is_number()) {
    package.mean_loss = notes["validation_loss"];
  }
  if (notes.contains("validation_accuracy_percent") &&
      notes["validation_accuracy_percent"].is_number()) {
    package.mean_accuracy = notes["validation_accuracy_percent"];
  }
  TALLELE_ASSIGN(package.network, ReadNetwork(archive));
  if (inputs_file.find('/') != std::string::npos) {
    return archive.Fail("the model names an inputs file outside its folder");
  }
  auto& inputs = cache[identity];
  if (inputs == nullptr) {
    TALLELE_ASSIGN(inputs, ReadInputs(FolderOf(path) + "/" + inputs_file, identity));
  }
  package.inputs = inputs;
  TALLELE_TRY(CheckPackage(package, path));
  return std::optional<ModelPackage>(std::move(package));
}

Result<std::vector<std::string>> ModelFiles(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_directory(path, code)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, code)) {
    if (entry.path().string().ends_with(kModelSuffix)) files.push_back(entry.path().string());
  }
  if (code) return IoError("the folder of packages cannot be listed", path, code.value());
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    return InputError("the folder holds no model packages", path,
                      "Make some with `tallele dietnet import-package`, `published` or `train`.");
  }
  return files;
}

Result<void> CheckSameModel(const std::vector<ModelPackage>& packages) {
  const FoldInputs& first = *packages.front().inputs;
  const std::string identity = first.snps.Identity();
  const FoldInputs* last = &first;
  for (const ModelPackage& package : packages) {
    if (package.inputs.get() == last) continue;
    last = package.inputs.get();
    const bool same_snps = last->snps.Identity() == identity;
    if (same_snps && last->class_names == first.class_names) continue;
    Error error = InputError(same_snps ? "the models do not have the same classes"
                                       : "the models do not have the same SNPs and alleles",
                             package.path + " and " + packages.front().path);
    error.advice = "Keep models of different training datasets in different folders.";
    return error;
  }
  return {};
}

}  // namespace

Result<std::vector<double>> FoldInputs::LoadEmbedding() const {
  if (!embedding.empty()) return embedding;
  TALLELE_ASSIGN(const PackageArchive archive,
                 PackageArchive::Open(file, "tallele dietnet inputs"));
  TALLELE_ASSIGN(std::vector<double> values, ReadEmbedding(archive, *this));
  TALLELE_TRY(CheckEmbedding(*this, values, file));
  return values;
}

Result<std::string> WritePackage(const ModelPackage& package, const std::string& folder,
                                 FileEnv& env) {
  TALLELE_TRY(CheckPackage(package, package.Name()));
  TALLELE_TRY(env.CreateFolders(folder));
  const std::vector<Member> inputs = InputMembers(*package.inputs);
  const std::string identity = IdentityOf(inputs);
  const std::string inputs_file =
      fmt::format("fold_{}-{}.inputs.npz", package.fold, identity.substr(0, 16));
  TALLELE_TRY(WriteInputs(*package.inputs, inputs, identity, folder + "/" + inputs_file, env));
  std::vector<Member> members;
  for (const NamedTensor& named : StateFromNetwork(package.network)) {
    members.push_back({named.name + ".npy", TensorMember(named.tensor)});
  }
  const std::string path = fmt::format("{}/{}{}", folder, package.Name(), kModelSuffix);
  TALLELE_TRY(WriteArchive(path, ModelNotes(package, inputs_file, identity), members, env));
  return path;
}

Result<std::vector<ModelPackage>> ReadPackages(const std::string& path,
                                               const PackageFilter& filter) {
  TALLELE_ASSIGN(const std::vector<std::string> files, ModelFiles(path));
  std::vector<ModelPackage> packages;
  InputsCache cache;
  for (const std::string& file : files) {
    TALLELE_ASSIGN(auto package, ReadModel(file, filter, cache));
    if (package) packages.push_back(std::move(*package));
  }
  if (packages.empty()) {
    return UsageError("no model of " + path + " has the wanted seeds and folds");
  }
  std::stable_sort(packages.begin(), packages.end(), [](const auto& a, const auto& b) {
    return std::pair(a.fold, a.seed) < std::pair(b.fold, b.seed);
  });
  TALLELE_TRY(CheckSameModel(packages));
  return packages;
}

}  // namespace tallele
