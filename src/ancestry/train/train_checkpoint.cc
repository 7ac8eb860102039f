#include "ancestry/train/train_checkpoint.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "ancestry/model/npy.h"
#include "ancestry/model/zip_archive.h"

namespace tallele {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr char kLast[] = "/state.npz";
constexpr char kPrevious[] = "/state.previous.npz";

std::string ToNpy(const FloatTable& table) {
  std::vector<float> values;
  for (size_t r = 0; r < table.rows(); ++r) {
    values.insert(values.end(), table.row(r), table.row(r) + table.columns());
  }
  const int64_t shape[] = {static_cast<int64_t>(table.rows()),
                           static_cast<int64_t>(table.columns())};
  return WriteNpy(std::span<const float>(values), shape);
}

FloatTable AsTable(const FloatVector& values) {
  FloatTable table(1, values.size());
  std::copy(values.begin(), values.end(), table.row(0));
  return table;
}

Result<void> AddTables(const Parameters& p, const std::string& prefix, StoredZipWriter& zip) {
  const auto tables = p.AllTables();
  const auto names = p.TableNames();
  for (size_t t = 0; t < tables.size(); ++t) {
    TALLELE_TRY(zip.Add(prefix + names[t] + ".npy", ToNpy(*tables[t])));
  }
  return {};
}

std::string RunningName(const std::string& prefix, size_t norm, const char* what) {
  return fmt::format("{}norm_{}.{}.npy", prefix, norm, what);
}

Result<void> AddModel(const ModelState& model, const std::string& prefix, StoredZipWriter& zip) {
  TALLELE_TRY(AddTables(model.parameters, prefix, zip));
  for (size_t l = 0; l < model.running.size(); ++l) {
    const RunningNorm& norm = model.running[l];
    TALLELE_TRY(zip.Add(RunningName(prefix, l, "running_mean"), ToNpy(AsTable(norm.mean))));
    TALLELE_TRY(zip.Add(RunningName(prefix, l, "running_var"), ToNpy(AsTable(norm.variance))));
  }
  return {};
}

json Batches(const ModelState& model) {
  json counts = json::array();
  for (const RunningNorm& norm : model.running) counts.push_back(norm.num_batches);
  return counts;
}

class StateReader {
 public:
  StateReader(const ZipArchive& zip, const NetworkShape& shape) : zip_(zip), shape_(shape) {}

  Result<void> Tables(const std::string& prefix, Parameters& p) const {
    p = Parameters::Zeros(shape_);
    const auto names = p.TableNames();
    std::vector<FloatTable*> tables = p.AuxiliaryTables();
    for (FloatTable* table : p.MainTables()) tables.push_back(table);
    for (size_t t = 0; t < tables.size(); ++t) {
      TALLELE_TRY(Table(prefix + names[t] + ".npy", *tables[t]));
    }
    return {};
  }

  Result<void> Model(const std::string& prefix, const json& batches, ModelState& model) const {
    TALLELE_TRY(Tables(prefix, model.parameters));
    model.running.clear();
    for (size_t l = 0; l < shape_.main.size(); ++l) {
      FloatTable mean(1, shape_.main[l]), variance(1, shape_.main[l]);
      TALLELE_TRY(Table(RunningName(prefix, l, "running_mean"), mean));
      TALLELE_TRY(Table(RunningName(prefix, l, "running_var"), variance));
      model.running.push_back({FloatVector(mean.row(0), mean.row(0) + mean.columns()),
                               FloatVector(variance.row(0), variance.row(0) + mean.columns()),
                               batches.at(l).get<int64_t>()});
    }
    return {};
  }

 private:
  Result<void> Table(const std::string& member, FloatTable& table) const {
    TALLELE_ASSIGN(const std::string bytes, zip_.Read(member));
    const std::string where = zip_.path() + ", " + member;
    TALLELE_ASSIGN(const DoubleArray array, ReadNpyDoubles(bytes, where));
    const std::vector<int64_t> expected = {static_cast<int64_t>(table.rows()),
                                           static_cast<int64_t>(table.columns())};
    if (array.shape != expected) return InputError("an array has another shape", where);
    for (size_t r = 0; r < table.rows(); ++r) {
      for (size_t c = 0; c < table.columns(); ++c) {
        table.at(r, c) = static_cast<float>(array.values[r * table.columns() + c]);
      }
    }
    return {};
  }

  const ZipArchive& zip_;
  const NetworkShape& shape_;
};

Result<TrainCheckpoint> ReadOne(const std::string& path, const NetworkShape& shape) {
  TALLELE_ASSIGN(const ZipArchive zip, ZipArchive::Open(path));
  TALLELE_ASSIGN(const std::string text, zip.Read("state.json"));
  const json meta = json::parse(text, nullptr, false);
  if (!meta.is_object()) return InputError("state.json is no JSON object", path);
  const StateReader reader(zip, shape);
  TrainCheckpoint checkpoint;
  TrainState& s = checkpoint.state;
  try {
    if (meta.at("format").get<int>() != kFormat) {
      return UnsupportedError("the state is of another version of tallele", path);
    }
    checkpoint.plan = meta.at("plan");
    s.epoch = meta.at("epoch");
    s.steps = meta.at("steps");
    s.lr_aux = meta.at("lr_aux");
    s.lr_main = meta.at("lr_main");
    s.patience = meta.at("patience");
    s.random = meta.at("random");
    s.best.epoch = meta.at("best_epoch");
    s.best.valid = {meta.at("best_loss"), meta.at("best_accuracy")};
    TALLELE_TRY(reader.Model("weights/", meta.at("batches"), s.model));
    TALLELE_TRY(reader.Model("best/", meta.at("best_batches"), s.best.model));
  } catch (const json::exception& exception) {
    return InputError(std::string("state.json lacks something: ") + exception.what(), path);
  }
  TALLELE_TRY(reader.Tables("first_moments/", s.first_moments));
  TALLELE_TRY(reader.Tables("second_moments/", s.second_moments));
  TALLELE_ASSIGN(checkpoint.epochs, zip.Read("epochs.tsv"));
  return checkpoint;
}

}  // namespace

Result<void> WriteTrainCheckpoint(const TrainCheckpoint& checkpoint, const std::string& folder,
                                  FileEnv& env) {
  const TrainState& s = checkpoint.state;
  const json meta = {{"format", kFormat},
                     {"plan", checkpoint.plan},
                     {"epoch", s.epoch},
                     {"steps", s.steps},
                     {"lr_aux", s.lr_aux},
                     {"lr_main", s.lr_main},
                     {"patience", s.patience},
                     {"random", s.random},
                     {"batches", Batches(s.model)},
                     {"best_epoch", s.best.epoch},
                     {"best_loss", s.best.valid.loss},
                     {"best_accuracy", s.best.valid.accuracy},
                     {"best_batches", Batches(s.best.model)}};
  const std::string path = folder + kLast;
  if (env.Identity(path)) TALLELE_TRY(env.Rename(path, folder + kPrevious));
  TALLELE_ASSIGN(StoredZipWriter zip, StoredZipWriter::Create(path, env));
  TALLELE_TRY(zip.Add("state.json", meta.dump(1)));
  TALLELE_TRY(zip.Add("epochs.tsv", checkpoint.epochs));
  TALLELE_TRY(AddModel(s.model, "weights/", zip));
  TALLELE_TRY(AddTables(s.first_moments, "first_moments/", zip));
  TALLELE_TRY(AddTables(s.second_moments, "second_moments/", zip));
  TALLELE_TRY(AddModel(s.best.model, "best/", zip));
  return zip.Finish();
}

Result<TrainCheckpoint> ReadTrainCheckpoint(const std::string& folder, const NetworkShape& shape,
                                            EventSink& events) {
  auto last = ReadOne(folder + kLast, shape);
  if (last.ok()) return last;
  auto previous = ReadOne(folder + kPrevious, shape);
  if (!previous.ok()) return last;
  events.Message(Severity::kWarning,
                 fmt::format("{}; going on from {}{} (epoch {})", last.error().Message(), folder,
                             kPrevious, previous->state.epoch));
  return previous;
}

}  // namespace tallele
