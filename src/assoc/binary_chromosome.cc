// The binary half of NullModelFitter: null logistic and Firth models of one chromosome.
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <cmath>
#include <map>

#include "assoc/chromosome_state.h"

namespace tallele {
namespace {

constexpr size_t kMostLevelsNamed = 5;

// Designs are large: traits of one mask share one, and only exact Firth reads it after the fit.
using Designs = std::map<const SampleGroup*, std::shared_ptr<MaskedDesign>>;

std::string CountProblem(const SampleGroup& group, const BinaryFitRequest& request,
                         const BinaryOptions& options) {
  size_t cases = 0;
  for (const double y : request.y) cases += y > 0.5;
  if (cases == 0 || cases == request.y.size()) return "everybody has the same class";
  if (static_cast<double>(cases) < options.min_cases) {
    return "only " + std::to_string(cases) +
           " cases, fewer than --minCaseCount asks for; lower it to test the trait anyway";
  }
  if (group.num_people <= group.rank) {
    return "only " + std::to_string(group.num_people) + " people for " +
           std::to_string(group.rank) + " covariates (intercept included)";
  }
  return {};
}

}  // namespace

NullModelFitter::BinaryTask NullModelFitter::MakeTask(size_t trait, const LocoVector& loco) {
  BinaryTask task;
  task.group = GroupOf(MaskOf(trait, loco.values));
  task.request.trait = trait;
  const std::vector<double>& values = inputs_.cohort->traits[trait].values;
  for (size_t b = 0; b < values.size(); ++b) {
    if (!task.group->mask.Contains(b)) continue;
    task.request.y.push_back(values[b]);
    if (!loco.values.empty()) task.request.loco.push_back(loco.values[b]);
  }
  return task;
}

std::string NullModelFitter::LevelsOfOneClass(const BinaryTask& task) const {
  std::string text;
  size_t found = 0;
  for (const CovariateLevel& level : inputs_.cohort->levels) {
    size_t people = 0;
    size_t cases = 0;
    size_t i = 0;
    for (size_t b = 0; b < level.members.size(); ++b) {
      if (!task.group->mask.Contains(b)) continue;
      const bool is_case = task.request.y[i++] > 0.5;
      people += level.members[b];
      cases += level.members[b] && is_case;
    }
    if (people == 0 || (cases > 0 && cases < people) || ++found > kMostLevelsNamed) continue;
    text += (found == 1 ? ". " : ", ") + level.name + " (" + std::to_string(people) +
            (people == 1 ? " person" : " people") + ") has no " + (cases == 0 ? "case" : "control");
  }
  if (found > kMostLevelsNamed)
    text += ", and " + std::to_string(found - kMostLevelsNamed) + " more";
  return text;
}

void NullModelFitter::SetFirthStart(int code, const std::string& label, BinaryFitRequest& request,
                                    FitReport& report) const {
  if (inputs_.stored_null_firth == nullptr) return;
  const auto stored = inputs_.stored_null_firth->Find(request.trait, code);
  if (!stored.empty()) {
    request.firth_start = inputs_.regenie_basis->ToBasis(stored);
    return;
  }
  report.notes.push_back(inputs_.cohort->traits[request.trait].name + ", chromosome " + label +
                         ": no stored null Firth model, so it starts at the logistic one");
}

std::vector<BinaryFit> NullModelFitter::FitTasks(const std::vector<BinaryTask>& tasks) {
  if (covariate_scales_.empty()) Builder();
  Designs designs;
  for (const BinaryTask& task : tasks) {
    std::shared_ptr<MaskedDesign>& design = designs[task.group.get()];
    if (design) continue;
    design = std::make_shared<MaskedDesign>(
        MakeMaskedDesign(*inputs_.basis, covariate_scales_, *task.group, *inputs_.axis));
  }
  std::vector<BinaryFit> fits(tasks.size());
  // Isolated: a thread that waits here must not take up another block of the scan.
  tbb::this_task_arena::isolate([&] {
    tbb::parallel_for(size_t{0}, tasks.size(), [&](size_t i) {
      fits[i] = FitBinaryNull(inputs_.target, *inputs_.basis, designs.at(tasks[i].group.get()),
                              tasks[i].request, *inputs_.binary);
    });
  });
  if (inputs_.binary->correction != BinaryCorrection::kFirthExact) {
    for (auto& [group, design] : designs) design->z = {};
  }
  return fits;
}

Result<std::string> NullModelFitter::BinaryProblem(size_t trait) {
  const BinaryTask task = MakeTask(trait, {});
  if (std::string problem = CountProblem(*task.group, task.request, *inputs_.binary);
      !problem.empty() || inputs_.loco != nullptr) {
    return problem;
  }
  if (covariate_scales_.empty()) Builder();
  const auto design = std::make_shared<const MaskedDesign>(
      MakeMaskedDesign(*inputs_.basis, covariate_scales_, *task.group, *inputs_.axis));
  BinaryOptions score_alone = *inputs_.binary;
  score_alone.correction = BinaryCorrection::kNone;
  std::string problem =
      FitBinaryNull(inputs_.target, *inputs_.basis, design, task.request, score_alone).problem;
  if (!problem.empty()) problem += LevelsOfOneClass(task);
  if (!problem.empty() && inputs_.binary->null_failure == NullFailurePolicy::kFail) {
    return InputError("trait " + inputs_.cohort->traits[trait].name + ": " + problem, "");
  }
  return problem;
}

Result<std::shared_ptr<const ChromosomeState>> NullModelFitter::FitBinary(
    const std::vector<size_t>& traits, int code, const std::string& label, FitReport& report) {
  std::vector<BinaryTask> tasks;
  for (const size_t t : traits) {
    TALLELE_ASSIGN(const std::optional<LocoVector> loco, LoadLoco(t, code, label, report));
    if (!loco) continue;
    BinaryTask task = MakeTask(t, *loco);
    const std::string problem = CountProblem(*task.group, task.request, *inputs_.binary);
    if (problem.empty()) {
      SetFirthStart(code, label, task.request, report);
      tasks.push_back(std::move(task));
    } else {
      report.problems.push_back(
          {inputs_.cohort->traits[t].name, "chromosome " + label + ": " + problem});
    }
  }
  std::vector<BinaryFit> fits = FitTasks(tasks);
  for (size_t i = 0; i < fits.size(); ++i) {
    const BinaryFit& fit = fits[i];
    const std::string& name = inputs_.cohort->traits[fit.null.trait].name;
    std::string problem = fit.problem;
    if (!problem.empty()) problem += LevelsOfOneClass(tasks[i]);
    if (problem.empty()) problem = fit.null.people->firth_problem;
    if (problem.empty()) continue;
    if (inputs_.binary->null_failure == NullFailurePolicy::kFail) {
      return InputError("trait " + name + ", chromosome " + label + ": " + problem, "");
    }
    report.problems.push_back({name, "chromosome " + label + ": " + problem});
  }
  return AssembleBinary(code, tasks, std::move(fits));
}

std::shared_ptr<const ChromosomeState> NullModelFitter::AssembleBinary(
    int code, const std::vector<BinaryTask>& tasks, std::vector<BinaryFit> fits) {
  auto state = std::make_shared<ChromosomeState>();
  state->code = code;
  const size_t per_trait = inputs_.basis->rank() + 2;
  std::vector<const BinaryFit*> fitted;
  std::vector<size_t> weight_columns;
  for (BinaryFit& fit : fits) {
    if (fit.null.failed) continue;
    fit.null.first_column = fitted.size() * per_trait;
    fit.null.weight = weight_columns.size();
    weight_columns.push_back(fit.null.first_column);
    fitted.push_back(&fit);
  }
  ReleaseColumns();
  state->columns = std::make_shared<const QuantisedColumns>(QuantiseOnAxis(
      inputs_.target, *inputs_.axis, fitted.size() * per_trait,
      [&](size_t c, std::span<double> values) {
        FillBinaryColumn(*inputs_.basis, *fitted[c / per_trait], c % per_trait, values);
      }));
  state->weights = WeightPlanes(*state->columns, weight_columns);
  // The basis begins with the constant 1 / sqrt(n).
  const double root_n = std::sqrt(static_cast<double>(inputs_.basis->num_people));
  for (size_t i = 0; i < fits.size(); ++i) {
    BinaryNull& null = fits[i].null;
    if (!null.failed) null.weight_scale = state->columns->scale(null.first_column) * root_n;
    GroupIn(*state, tasks[i].group).binary.push_back(std::move(null));
  }
  AddLists(*state);
  return state;
}

}  // namespace tallele
