#include "ancestry/reference_build.h"

#include <array>

#include "ancestry/allele_rules.h"

namespace tallele {
namespace {

struct KnownSnp {
  const char* id;
  const char* chromosome;
  int64_t in_37;
  int64_t in_38;
};

// SNPs of textbooks (APOE, F5, LCT, HFE, pigmentation ...), positions as dbSNP gives them.
constexpr KnownSnp kKnown[] = {
    {"rs1801133", "1", 11856378, 11796321},   {"rs6025", "1", 169519049, 169549811},
    {"rs2814778", "1", 159174683, 159204893}, {"rs4988235", "2", 136608646, 135851076},
    {"rs3827760", "2", 109513601, 108897145}, {"rs16891982", "5", 33951693, 33951588},
    {"rs1800562", "6", 26093141, 26092913},   {"rs1799945", "6", 26091179, 26090951},
    {"rs1799971", "6", 154360797, 154039662}, {"rs7903146", "10", 114758349, 112998590},
    {"rs1799963", "11", 46761055, 46739505},  {"rs334", "11", 5248232, 5227002},
    {"rs12913832", "15", 28365618, 28120472}, {"rs1426654", "15", 48426484, 48134287},
    {"rs9939609", "16", 53820527, 53786615},  {"rs429358", "19", 45411941, 44908684},
    {"rs7412", "19", 45412079, 44908822},     {"rs4680", "22", 19951271, 19963748},
};

}  // namespace

void BuildGuess::Add(std::string_view id, std::string_view chromosome, int64_t position) {
  for (const KnownSnp& known : kKnown) {
    if (position != known.in_37 && position != known.in_38) continue;
    if (id.starts_with("rs") && id != known.id) continue;
    if (NormaliseChromosome(chromosome) != known.chromosome) continue;
    ++(position == known.in_37 ? num_37_ : num_38_);
  }
}

std::string BuildGuess::Name() const {
  if (num_37_ > 2 * num_38_) return "GRCh37";
  if (num_38_ > 2 * num_37_) return "GRCh38";
  return {};
}

}  // namespace tallele
