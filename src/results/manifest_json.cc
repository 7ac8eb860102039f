// The JSON form of a manifest.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "base/atomic_file.h"
#include "base/hashing.h"
#include "results/run_manifest.h"

namespace tallele {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "tallele run manifest";
constexpr uint64_t kLargestManifest = uint64_t{256} << 20;
constexpr char kDamaged[] =
    "The manifest was edited or damaged; check the folder with `tallele check-run`, or start again "
    "with --overwrite.";

Json TextList(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push_back(PrintableText(text));
  return list;
}

Json InputJson(const InputFile& input) {
  return {{"role", input.role},
          {"path", PrintableText(input.path)},
          {"size", input.identity.size},
          {"inode", input.identity.inode},
          {"modified_ns", input.identity.modified_ns},
          {"changed_ns", input.identity.changed_ns},
          {"sha256", input.sha256},
          {"policy", input.policy}};
}

struct CorrectionField {
  const char* name;
  size_t CorrectionSummary::* count;
};
constexpr CorrectionField kCorrections[] = {
    {"candidates", &CorrectionSummary::candidates},
    {"carriers_only", &CorrectionSummary::carriers_only},
    {"pseudo_data", &CorrectionSummary::pseudo_data},
    {"newton", &CorrectionSummary::newton},
    {"both_tails", &CorrectionSummary::both_tails},
    {"near_tail", &CorrectionSummary::near_tail},
    {"not_converged", &CorrectionSummary::not_converged},
    {"null_failed", &CorrectionSummary::null_failed},
};

// Empty where nothing was corrected, as for every quantitative trait.
Json CorrectionJson(const CorrectionSummary& corrections) {
  Json json = Json::object();
  if (corrections == CorrectionSummary()) return json;
  for (const CorrectionField& field : kCorrections) json[field.name] = corrections.*field.count;
  return json;
}

Json PartJson(const CommittedPart& part) {
  const PartCounts& counts = part.counts;
  Json json = {{"file", part.file},
               {"first_variant", part.range.first},
               {"last_variant", part.range.first + part.range.count - 1},
               {"rows", part.num_rows},
               {"bytes", part.num_bytes},
               {"sha256", part.sha256},
               {"low_mac", counts.low_mac},
               {"low_info", counts.low_info},
               {"low_homs", counts.low_homs},
               {"not_biallelic", counts.not_biallelic},
               {"high_ploidy", counts.high_ploidy},
               {"corrections", CorrectionJson(counts.corrections)}};
  if (part.text) {
    json["text"] = {{"layout", PrintableText(part.text->layout)},
                    {"file", part.text->file},
                    {"bytes", part.text->num_bytes},
                    {"sha256", part.text->sha256}};
  }
  return json;
}

Json RunJson(const RunManifest& m) {
  return {{"status", RunStatusName(m.status)},
          {"signal", m.signal},
          {"error", PrintableText(m.error)},
          {"attempts", m.attempts},
          {"command", PrintableText(m.command)},
          {"version", m.version},
          {"instruction_set", m.instruction_set},
          {"threads", m.threads},
          {"trait_columns", PrintableText(m.trait_columns)},
          {"text_layout", PrintableText(m.text_layout)},
          {"traits", m.traits},
          {"traits_left_out", m.traits_left_out},
          {"started", m.started},
          {"updated", m.updated},
          {"problems", TextList(m.problems)}};
}

Json BodyJson(const RunManifest& m) {
  Json body;
  body["format"] = kFormat;
  body["schema"] = kManifestSchema;
  body["trait"] = PrintableText(m.trait);
  std::vector<PlanField> plan = m.plan;
  body["plan"] = Json::array();
  for (PlanField& field : plan) {
    field.value = PrintableText(field.value);
    body["plan"].push_back({{"name", field.name}, {"value", field.value}});
  }
  body["plan_hash"] = PlanHash(plan);
  body["grid"] = Json::array();
  for (const VariantRange& part : m.grid) {
    body["grid"].push_back(Json::array({part.first, part.first + part.count - 1}));
  }
  body["inputs"] = Json::array();
  for (const InputFile& input : m.inputs) body["inputs"].push_back(InputJson(input));
  body["run"] = RunJson(m);
  body["parts"] = Json::array();
  for (const CommittedPart& part : m.parts) body["parts"].push_back(PartJson(part));
  body["outputs"] = Json::array();
  for (const InputFile& output : m.outputs) body["outputs"].push_back(InputJson(output));
  return body;
}

// What is wrong with a manifest; thrown and caught inside this file.
struct Damage {
  std::string what;
  std::string found = {};
  std::string expected = {};
};

// One JSON object: every field is taken once by name, and none may be left.
class Fields {
 public:
  Fields(const Json& object, std::string name) : object_(object), name_(std::move(name)) {
    if (!object.is_object()) throw Damage{name_ + " is not an object"};
  }

  bool Has(const char* field) const { return object_.contains(field); }
  const Json& Take(const char* field) {
    const auto at = object_.find(field);
    if (at == object_.end()) throw Damage{"the field " + Full(field) + " is missing"};
    taken_.insert(field);
    return *at;
  }
  std::string Text(const char* field) {
    const Json& value = Take(field);
    if (!value.is_string()) throw Wrong(field, value, "a text");
    return value.get<std::string>();
  }
  template <typename Integer>
  Integer Whole(const char* field) {
    const Json& value = Take(field);
    if (!value.is_number_integer() ||
        (std::is_unsigned_v<Integer> && !value.is_number_unsigned())) {
      throw Wrong(field, value, "a whole number");
    }
    return value.get<Integer>();
  }
  const Json& List(const char* field) {
    const Json& value = Take(field);
    if (!value.is_array()) throw Wrong(field, value, "a list");
    return value;
  }
  void End() const {
    for (const auto& [key, value] : object_.items()) {
      if (!taken_.contains(key)) throw Damage{"the field " + Full(key) + " is unknown"};
    }
  }

 private:
  std::string Full(const std::string& field) const {
    return name_.empty() ? field : name_ + "." + field;
  }
  Damage Wrong(const char* field, const Json& value, std::string expected) const {
    return {"the field " + Full(field) + " has the wrong type", value.type_name(),
            std::move(expected)};
  }

  const Json& object_;
  std::string name_;
  std::set<std::string> taken_;
};

VariantRange RangeOf(size_t first, size_t last) {
  if (last < first || last - first == SIZE_MAX)
    throw Damage{"a range of variants ends before it begins"};
  return {first, last - first + 1};
}

std::vector<VariantRange> ParseGrid(const Json& list) {
  std::vector<VariantRange> grid;
  for (const Json& pair : list) {
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_number_unsigned() ||
        !pair[1].is_number_unsigned()) {
      throw Damage{"the field grid holds something else than pairs of variants"};
    }
    grid.push_back(RangeOf(pair[0].get<size_t>(), pair[1].get<size_t>()));
    if (grid.size() > 1 &&
        grid.back().first < grid[grid.size() - 2].first + grid[grid.size() - 2].count) {
      throw Damage{"the parts of the field grid overlap"};
    }
  }
  return grid;
}

InputFile ParseInput(const Json& json) {
  Fields fields(json, "inputs or outputs");
  InputFile input;
  input.role = fields.Text("role");
  input.path = fields.Text("path");
  input.identity.size = fields.Whole<uint64_t>("size");
  input.identity.inode = fields.Whole<uint64_t>("inode");
  input.identity.modified_ns = fields.Whole<int64_t>("modified_ns");
  input.identity.changed_ns = fields.Whole<int64_t>("changed_ns");
  input.sha256 = fields.Text("sha256");
  input.policy = fields.Text("policy");
  fields.End();
  return input;
}

KeptText ParseKeptText(const Json& json) {
  Fields fields(json, "parts.text");
  KeptText text;
  text.layout = fields.Text("layout");
  text.file = fields.Text("file");
  text.num_bytes = fields.Whole<uint64_t>("bytes");
  text.sha256 = fields.Text("sha256");
  fields.End();
  return text;
}

CommittedPart ParsePart(const Json& json) {
  Fields fields(json, "parts");
  CommittedPart part;
  part.file = fields.Text("file");
  const auto first = fields.Whole<size_t>("first_variant");
  part.range = RangeOf(first, fields.Whole<size_t>("last_variant"));
  part.num_rows = fields.Whole<size_t>("rows");
  part.num_bytes = fields.Whole<uint64_t>("bytes");
  part.sha256 = fields.Text("sha256");
  part.counts.low_mac = fields.Whole<size_t>("low_mac");
  part.counts.low_info = fields.Whole<size_t>("low_info");
  part.counts.low_homs = fields.Whole<size_t>("low_homs");
  part.counts.not_biallelic = fields.Whole<size_t>("not_biallelic");
  part.counts.high_ploidy = fields.Whole<size_t>("high_ploidy");
  const Json& corrections = fields.Take("corrections");
  Fields corrected(corrections, "parts.corrections");
  if (!corrections.empty()) {
    for (const CorrectionField& field : kCorrections) {
      part.counts.corrections.*field.count = corrected.Whole<size_t>(field.name);
    }
  }
  corrected.End();
  if (fields.Has("text")) part.text = ParseKeptText(fields.Take("text"));
  fields.End();
  return part;
}

RunStatus ParseStatus(const std::string& name) {
  for (const RunStatus status :
       {RunStatus::kRunning, RunStatus::kInterrupted, RunStatus::kFailed, RunStatus::kCompleted}) {
    if (RunStatusName(status) == name) return status;
  }
  throw Damage{"the field run.status has an unknown value", name,
               "running, interrupted, failed or completed"};
}

void ParseRun(const Json& json, RunManifest& m) {
  Fields fields(json, "run");
  m.status = ParseStatus(fields.Text("status"));
  m.signal = fields.Whole<int>("signal");
  m.error = fields.Text("error");
  m.attempts = fields.Whole<size_t>("attempts");
  m.command = fields.Text("command");
  m.version = fields.Text("version");
  m.instruction_set = fields.Text("instruction_set");
  m.threads = fields.Whole<int>("threads");
  m.trait_columns = fields.Text("trait_columns");
  m.text_layout = fields.Text("text_layout");
  m.traits = fields.Whole<size_t>("traits");
  m.traits_left_out = fields.Whole<size_t>("traits_left_out");
  m.started = fields.Text("started");
  m.updated = fields.Text("updated");
  for (const Json& problem : fields.List("problems")) {
    if (!problem.is_string())
      throw Damage{"the field run.problems holds something else than texts"};
    m.problems.push_back(problem.get<std::string>());
  }
  fields.End();
}

void ParsePlan(Fields& fields, RunManifest& m) {
  for (const Json& item : fields.List("plan")) {
    Fields field(item, "plan");
    m.plan.push_back({field.Text("name"), field.Text("value")});
    field.End();
  }
  const std::string hash = fields.Text("plan_hash");
  if (hash != m.plan_hash()) {
    throw Damage{"the plan does not fit its hash", m.plan_hash(), hash};
  }
}

void CheckParts(const RunManifest& m) {
  for (size_t i = 0; i < m.parts.size(); ++i) {
    const CommittedPart& part = m.parts[i];
    const bool in_grid = std::any_of(m.grid.begin(), m.grid.end(), [&](const VariantRange& range) {
      return range.first == part.range.first && range.count == part.range.count;
    });
    if (!in_grid) throw Damage{"the part " + part.file + " is not in the grid"};
    if (part.file.find('/') != std::string::npos) {
      throw Damage{"the part " + part.file + " lies outside the folder of the parts"};
    }
    if (part.text && part.text->file != KeptTextName(part.range)) {
      throw Damage{"the text of the part " + part.file + " has the wrong name", part.text->file,
                   KeptTextName(part.range)};
    }
    if (i > 0 && part.range.first <= m.parts[i - 1].range.first) {
      throw Damage{"the parts are out of order, or one stands twice: " + part.file};
    }
  }
  if (m.status == RunStatus::kCompleted && !m.IsComplete()) {
    throw Damage{"the run is said to be completed, and a part is missing"};
  }
}

// A document of another schema is told apart from a damaged one first.
void CheckSchema(const Json& document) {
  if (!document.is_object() || document.value("format", "") != kFormat) {
    throw Damage{"not a run manifest of tallele"};
  }
  const auto schema = document.find("schema");
  if (schema == document.end() || !schema->is_number_integer() || *schema != kManifestSchema) {
    throw Damage{"a manifest of another schema", schema == document.end() ? "none" : schema->dump(),
                 std::to_string(kManifestSchema) + ", which this version writes"};
  }
}

RunManifest ParseDocument(Json document) {
  CheckSchema(document);
  const auto digest = document.find("digest");
  if (digest == document.end() || !digest->is_string()) {
    throw Damage{"the field digest is missing"};
  }
  const std::string recorded = digest->get<std::string>();
  document.erase("digest");
  RunManifest m;
  Fields fields(document, "");
  fields.Take("format");
  fields.Take("schema");
  m.trait = fields.Text("trait");
  ParsePlan(fields, m);
  m.grid = ParseGrid(fields.List("grid"));
  for (const Json& input : fields.List("inputs")) m.inputs.push_back(ParseInput(input));
  ParseRun(fields.Take("run"), m);
  for (const Json& part : fields.List("parts")) m.parts.push_back(ParsePart(part));
  for (const Json& output : fields.List("outputs")) m.outputs.push_back(ParseInput(output));
  fields.End();
  CheckParts(m);
  const std::string actual = Sha256Hex(document.dump());
  if (actual != recorded) {
    throw Damage{"the content does not fit its digest", actual, recorded};
  }
  return m;
}

}  // namespace

std::string PrintableText(const std::string& text) {
  try {
    [[maybe_unused]] const std::string tried = Json(text).dump();
    return text;
  } catch (const Json::exception&) {
    std::string out;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      char code[8];
      std::snprintf(code, sizeof code, "\\x%02x", byte);
      out += byte < 0x80 ? std::string(1, c) : code;
    }
    return out;
  }
}

Result<std::string> ManifestText(const RunManifest& manifest) {
  try {
    Json body = BodyJson(manifest);
    body["digest"] = Sha256Hex(body.dump());
    return body.dump(1) + "\n";
  } catch (const std::exception& failure) {
    Error error = InternalError("cannot write a manifest as JSON");
    error.found = failure.what();
    return error;
  }
}

Result<RunManifest> ParseManifest(std::string_view text, const std::string& path) {
  try {
    return ParseDocument(Json::parse(text));
  } catch (const Damage& damage) {
    Error error = InputError(damage.what, path, kDamaged);
    error.found = damage.found;
    error.expected = damage.expected;
    return error;
  } catch (const std::exception& failure) {
    Error error = InputError("the manifest is not valid JSON", path, kDamaged);
    error.found = failure.what();
    return error;
  }
}

Result<RunManifest> ReadManifest(const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(const auto file, env.OpenToRead(path));
  TALLELE_ASSIGN(const FileIdentity identity, file->Identity());
  if (identity.size > kLargestManifest) {
    return InputError("the manifest is larger than any that this program writes", path, kDamaged);
  }
  std::string text(identity.size, '\0');
  TALLELE_TRY(file->ReadAt(0, std::as_writable_bytes(std::span(text.data(), text.size()))));
  return ParseManifest(text, path);
}

Result<void> WriteManifest(const RunManifest& manifest, const std::string& path, FileEnv& env) {
  TALLELE_ASSIGN(const std::string text, ManifestText(manifest));
  return WriteFileAtomically(path, text, env);
}

}  // namespace tallele
