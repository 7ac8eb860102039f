// Protects: every option that changes results is in the execution plan or among the inputs, and no
// other is. An option that is added to the table and forgotten in the plan fails here.

#include <gtest/gtest.h>

#include "assoc/execution_plan.h"
#include "base/format_number.h"
#include "config/binary_option_table.h"
#include "config/option_table.h"

namespace tallele {
namespace {

// A value that differs from the default and from `first`.
OptionValue OtherValue(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::kFlag:
      return {{spec.default_value == "true" ? "false" : "true"}};
    case OptionType::kInteger:
      return {{std::to_string(spec.default_value.empty() ? 3 : std::stoi(spec.default_value) + 1)}};
    case OptionType::kNumber:
      return {{FormatExactly(
          spec.default_value.empty() ? 0.5 : std::stod(spec.default_value) / 2 + 0.125)}};
    case OptionType::kChoice:
      // The last: without a default the first choice stands for it.
      for (auto choice = spec.choices.rbegin(); choice != spec.choices.rend(); ++choice) {
        if (choice->value != spec.default_value && choice->refusal.empty())
          return {{choice->value}};
      }
      return {{spec.default_value}};
    default:
      return {{"something"}};
  }
}

// Everything that a resume compares.
std::string Compared(const ScanRequest& request) {
  std::string text = TraitColumns(request) + "\n";
  for (const PlanField& field : PlanOptions(request)) text += field.name + "=" + field.value + "\n";
  for (const auto& [role, path] : NamedInputs(request)) text += role + ":" + path + "\n";
  return text;
}

TEST(PlanOptions, A43EveryOptionThatChangesResultsIsCompared) {
  for (const OptionSpec& spec : RegenieOptions()) {
    if (spec.apply == nullptr) continue;
    const OptionValue other = OtherValue(spec);
    if (other.items.front() == spec.default_value) continue;  // no other choice is accepted
    RegenieSettings before;
    if (spec.binary_only) before.scan.cohort.family = TraitFamily::kBinary;
    if (spec.key == "approx") before.firth = true;
    if (!spec.default_value.empty()) spec.apply({{spec.default_value}}, before);
    RegenieSettings after = before;
    spec.apply(other, after);
    // Joins the spellings of a correction; which combinations it refuses does not matter here.
    for (RegenieSettings* settings : {&before, &after}) {
      [[maybe_unused]] const Result<void> ignored = ChooseCorrection(*settings);
    }
    EXPECT_EQ(Compared(before.scan) != Compared(after.scan), spec.changes_results)
        << spec.section << "." << spec.key;
  }
}

}  // namespace
}  // namespace tallele
