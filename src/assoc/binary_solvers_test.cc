// Protects: the solvers of binary traits find the maxima that they claim, by every route, and say
// so when they cannot. Expected values: plain long double code that maximises the likelihoods
// directly, and enumeration of small samples.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "assoc/exact_firth.h"
#include "assoc/logistic_null.h"
#include "assoc/null_firth.h"
#include "assoc/saddlepoint.h"
#include "assoc/variant_firth.h"

namespace tallele {
namespace {

using Real = long double;
using Vector = std::vector<Real>;
using Rows = std::vector<Vector>;

// Solves m x = b by elimination with row pivoting; `log_det` gets ln |det m|.
Vector Solve(Rows m, Vector b, Real* log_det = nullptr) {
  const size_t n = b.size();
  Real log = 0;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i) {
      if (std::fabs(m[i][k]) > std::fabs(m[pivot][k])) pivot = i;
    }
    std::swap(m[k], m[pivot]);
    std::swap(b[k], b[pivot]);
    log += std::log(std::fabs(m[k][k]));
    for (size_t i = k + 1; i < n; ++i) {
      const Real factor = m[i][k] / m[k][k];
      for (size_t j = k; j < n; ++j) m[i][j] -= factor * m[k][j];
      b[i] -= factor * b[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j) b[k] -= m[k][j] * b[j];
    b[k] /= m[k][k];
  }
  if (log_det != nullptr) *log_det = log;
  return b;
}

// Logistic model with rows x, responses y and offsets, in plain code.
struct Plain {
  Rows x;
  std::vector<double> y, offset;

  Real Probability(size_t i, const Vector& a) const {
    Real eta = offset[i];
    for (size_t k = 0; k < a.size(); ++k) eta += x[i][k] * a[k];
    return 1 / (1 + std::exp(-eta));
  }
  Rows Information(const Vector& a) const {
    Rows m(a.size(), Vector(a.size(), 0));
    for (size_t i = 0; i < x.size(); ++i) {
      const Real p = Probability(i, a);
      for (size_t j = 0; j < a.size(); ++j) {
        for (size_t k = 0; k < a.size(); ++k) m[j][k] += x[i][j] * x[i][k] * p * (1 - p);
      }
    }
    return m;
  }
  Real LogLikelihood(const Vector& a) const {
    Real sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const Real p = Probability(i, a);
      sum += std::log(y[i] > 0.5 ? p : 1 - p);
    }
    return sum;
  }
  Real Penalised(const Vector& a) const {
    Real log_det = 0;
    Solve(Information(a), Vector(a.size(), 0), &log_det);
    return LogLikelihood(a) + log_det / 2;
  }
};

// Maximises `f` over the coordinates below `free` by Newton's method on finite differences.
Vector Maximise(const std::function<Real(const Vector&)>& f, Vector a, size_t free) {
  const Real h = 1e-5L;
  for (int step = 0; step < 60; ++step) {
    Vector gradient(free);
    Rows hessian(free, Vector(free));
    const Real here = f(a);
    for (size_t j = 0; j < free; ++j) {
      for (size_t k = 0; k <= j; ++k) {
        Vector at = a;
        Real sum = 0;
        for (const auto& [dj, dk] : {std::pair{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}) {
          at = a;
          at[j] += dj * h;
          at[k] += dk * h;
          sum += dj * dk * f(at);
        }
        hessian[j][k] = hessian[k][j] = -sum / (4 * h * h);
      }
      Vector up = a, down = a;
      up[j] += h;
      down[j] -= h;
      gradient[j] = (f(up) - f(down)) / (2 * h);
    }
    const Vector move = Solve(hessian, gradient);
    Real length = 1, moved = 0;
    Vector next = a;
    for (int halving = 0; halving < 40; ++halving, length /= 2) {
      for (size_t j = 0; j < free; ++j) next[j] = a[j] + length * move[j];
      if (f(next) >= here) break;
    }
    for (size_t j = 0; j < free; ++j) moved = std::max(moved, std::fabs(next[j] - a[j]));
    a = next;
    if (moved < 1e-11L) break;
  }
  return a;
}

// A cohort with an intercept and `covariates` random columns; `cases` of n.
struct Cohort {
  MaskedDesign design;
  Plain plain;

  std::vector<double>& y() { return plain.y; }
  std::vector<double>& offset() { return plain.offset; }
};

Cohort MakeCohort(size_t n, size_t covariates, size_t cases, double offset_size) {
  std::mt19937_64 random(n * 31 + cases);
  std::normal_distribution<double> normal;
  Cohort out;
  out.design.rank = covariates + 1;
  out.design.z.resize(n * (covariates + 1));
  out.plain.x.assign(n, Vector(covariates + 1));
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k <= covariates; ++k) {
      const double value = (k == 0 ? 1 : normal(random)) / std::sqrt(static_cast<double>(n));
      out.design.z[k * n + i] = value;
      out.plain.x[i][k] = value;
    }
    out.design.base.push_back(static_cast<uint32_t>(i));
    out.design.block.push_back(static_cast<uint32_t>(i));
    out.offset().push_back(offset_size * normal(random));
    out.y().push_back(i < cases);
  }
  std::shuffle(out.y().begin(), out.y().end(), random);
  return out;
}

std::vector<double> Doubles(const Vector& v) { return {v.begin(), v.end()}; }

TEST(LogisticNull, IsTheMaximumWithOffsetsOfAnySize) {
  for (const double shift : {0.0, 5.0, -5.0}) {
    for (const size_t cases : {10ul, 60ul, 110ul}) {
      Cohort cohort = MakeCohort(120, 2, cases, 1.5);
      for (double& o : cohort.offset()) o += shift;
      const LogisticFit fit =
          FitLogisticNull(CpuTarget::kScalar, cohort.design, cohort.y(), cohort.offset(), 50);
      ASSERT_TRUE(fit.converged()) << fit.problem;
      // Newton on the exact derivatives of the plain model.
      Vector a(fit.coefficients.begin(), fit.coefficients.end());
      Vector score(a.size(), 0);
      for (size_t i = 0; i < cohort.y().size(); ++i) {
        const Real residual = cohort.y()[i] - cohort.plain.Probability(i, a);
        for (size_t k = 0; k < a.size(); ++k) score[k] += cohort.plain.x[i][k] * residual;
      }
      const Vector step = Solve(cohort.plain.Information(a), score);
      for (const Real s : step) EXPECT_LT(std::fabs(static_cast<double>(s)), 1e-8);
    }
  }
}

TEST(LogisticNull, ConstantOffsetChangesTheInterceptAlone) {
  Cohort cohort = MakeCohort(200, 3, 40, 0);
  const LogisticFit plain =
      FitLogisticNull(CpuTarget::kScalar, cohort.design, cohort.y(), cohort.offset(), 50);
  for (double& o : cohort.offset()) o = 3;
  const LogisticFit moved =
      FitLogisticNull(CpuTarget::kScalar, cohort.design, cohort.y(), cohort.offset(), 50);
  ASSERT_TRUE(plain.converged() && moved.converged());
  for (size_t i = 0; i < plain.p.size(); ++i) EXPECT_NEAR(plain.p[i], moved.p[i], 1e-12);
}

// An offset beyond every bound ends in finite numbers or in a reason, never in NaN.
TEST(LogisticNull, ExtremeOffsetsGiveNumbersOrAReason) {
  size_t converged = 0;
  for (const double size : {31.0, 40.0, 1e3, 1e154, 1e307}) {
    for (const size_t every : {1ul, 2ul, 50ul}) {
      Cohort cohort = MakeCohort(200, 2, 60, 0.5);
      for (size_t i = 0; i < 200; i += every) cohort.offset()[i] = i % 3 == 0 ? size : -size;
      const LogisticFit fit =
          FitLogisticNull(CpuTarget::kScalar, cohort.design, cohort.y(), cohort.offset(), 50);
      SCOPED_TRACE("size " + std::to_string(size) + " every " + std::to_string(every));
      if (!fit.converged()) continue;
      ++converged;
      for (const double a : fit.coefficients) EXPECT_TRUE(std::isfinite(a));
      for (const double g : fit.inverse_root) EXPECT_TRUE(std::isfinite(g));
      EXPECT_TRUE(std::isfinite(fit.deviance));
      for (size_t i = 0; i < 200; ++i) {
        EXPECT_TRUE(std::isfinite(fit.eta[i]));
        EXPECT_TRUE(fit.p[i] > 0 && fit.p[i] < 1);
        EXPECT_TRUE(fit.w[i] > 0 && fit.w[i] <= 0.25);
      }
    }
  }
  EXPECT_GT(converged, 0u);
}

TEST(LogisticNull, TenCasesOfAHundredThousand) {
  const Cohort cohort = MakeCohort(100000, 2, 10, 0.5);
  const LogisticFit fit =
      FitLogisticNull(CpuTarget::kScalar, cohort.design, cohort.plain.y, cohort.plain.offset, 50);
  ASSERT_TRUE(fit.converged()) << fit.problem;
  double expected = 0;
  for (const double p : fit.p) expected += p;
  EXPECT_NEAR(expected, 10, 1e-7);
}

TEST(LogisticNull, NamesSeparation) {
  // Complete: the covariate tells cases from controls. Quasi: one group has controls only.
  for (const bool complete : {true, false}) {
    Cohort cohort = MakeCohort(100, 1, 40, 0);
    for (size_t i = 0; i < 100; ++i) {
      const bool in_group = complete ? cohort.y()[i] > 0.5 : (i % 4 == 0 && cohort.y()[i] < 0.5);
      cohort.design.z[100 + i] = in_group ? 0.1 : -0.1;
    }
    const LogisticFit fit =
        FitLogisticNull(CpuTarget::kScalar, cohort.design, cohort.y(), cohort.offset(), 50);
    ASSERT_FALSE(fit.converged());
    EXPECT_NE(fit.problem.find("separate"), std::string::npos) << fit.problem;
  }
}

class NullFirth : public testing::Test {
 protected:
  NullFirth() : cohort_(MakeCohort(90, 2, 12, 0.7)) {
    const LogisticFit fit =
        FitLogisticNull(CpuTarget::kScalar, cohort_.design, cohort_.y(), cohort_.offset(), 50);
    EXPECT_TRUE(fit.converged());
    inputs_.design = &cohort_.design;
    inputs_.y = cohort_.plain.y;
    inputs_.offset = cohort_.plain.offset;
    inputs_.start = fit.coefficients;
    best_ =
        Maximise([this](const Vector& a) { return cohort_.plain.Penalised(a); }, Vector(3, 0), 3);
  }

  NullFirthFit Fit() { return FitNullFirth(CpuTarget::kScalar, inputs_, limits_); }

  void ExpectTheMaximum(const NullFirthFit& fit, NullFirthAttempt attempt) {
    ASSERT_TRUE(fit.converged()) << fit.problem;
    EXPECT_EQ(fit.attempt, attempt);
    for (size_t i = 0; i < cohort_.y().size(); ++i) {
      Real eta = cohort_.offset()[i];
      for (size_t k = 0; k < 3; ++k) eta += cohort_.plain.x[i][k] * best_[k];
      EXPECT_NEAR(fit.offset[i], static_cast<double>(eta), 2e-3);
    }
  }

  Cohort cohort_;
  NullFirthInputs inputs_;
  NullFirthLimits limits_;
  Vector best_;
};

TEST_F(NullFirth, FromTheLogisticEstimate) {
  ExpectTheMaximum(Fit(), NullFirthAttempt::kFromLogistic);
}

TEST_F(NullFirth, ByPseudoDataWhenNoNewtonStepIsTaken) {
  limits_.max_halvings = 0;
  ExpectTheMaximum(Fit(), NullFirthAttempt::kPseudoData);
}

TEST_F(NullFirth, FromTheInterceptWhenTheStartIsHopeless) {
  inputs_.start = {5000, 5000, 5000};
  ExpectTheMaximum(Fit(), NullFirthAttempt::kFromIntercept);
}

TEST_F(NullFirth, WithSmallStepsAndMoreOfThem) {
  inputs_.start = {5000, 5000, 5000};
  limits_.max_iterations = 3;
  limits_.retry_step_divisor = 1;
  ExpectTheMaximum(Fit(), NullFirthAttempt::kSmallSteps);
}

TEST_F(NullFirth, FromTheFirstStartAgain) {
  inputs_.start = Doubles(best_);
  inputs_.start[0] += 0.05;
  limits_.max_iterations = 2;
  limits_.max_step = 0.5;  // two steps of this size do not get there; ten small ones do
  limits_.retry_step_divisor = 1;
  limits_.gradient_tolerance = 1e-7;
  const NullFirthFit fit = Fit();
  ExpectTheMaximum(fit, NullFirthAttempt::kWithoutEarlyStop);
}

TEST_F(NullFirth, GivesUpWithAReason) {
  limits_.max_iterations = 1;
  limits_.retry_iteration_factor = 1;
  EXPECT_NE(Fit().problem.find("did not converge"), std::string::npos);
}

TEST_F(NullFirth, TheUsersLimitsTurnRetriesOff) {
  inputs_.start = {5000, 5000, 5000};
  limits_.max_iterations = 3;
  limits_.retry_step_divisor = 1;
  limits_.retries = false;
  EXPECT_FALSE(Fit().converged());
}

struct Variant {
  std::vector<double> x, offset, y;
};

Variant MakeVariant(size_t n, double effect, double intercept) {
  std::mt19937_64 random(n);
  std::normal_distribution<double> normal;
  Variant out;
  for (size_t i = 0; i < n; ++i) {
    out.x.push_back(normal(random) + (i % 9 == 0 ? 1.5 : 0));
    out.offset.push_back(intercept + 0.5 * normal(random));
    const double p = 1 / (1 + std::exp(-out.offset[i] - effect * out.x[i]));
    out.y.push_back(std::uniform_real_distribution<double>(0, 1)(random) < p);
  }
  return out;
}

// 2 l + ln I of the one-parameter model.
Real PenalisedTwice(const Variant& v, Real b) {
  Real value = 0, information = 0;
  for (size_t i = 0; i < v.x.size(); ++i) {
    const Real p = 1 / (1 + std::exp(-(v.offset[i] + b * v.x[i])));
    value += 2 * std::log(v.y[i] > 0.5 ? p : 1 - p);
    information += Real(v.x[i]) * v.x[i] * p * (1 - p);
  }
  return value + std::log(information);
}

Real BestCoefficient(const Variant& v) {
  return Maximise([&](const Vector& a) { return PenalisedTwice(v, a[0]) / 2; }, {0}, 1)[0];
}

void ExpectTheVariantsMaximum(const Variant& v, const FirthLimits& limits, FirthStage stage) {
  const FirthCandidate candidate{v.x, v.offset, v.y, false};
  const FirthEstimate fit = FitVariantFirth(CpuTarget::kScalar, candidate, limits);
  EXPECT_EQ(static_cast<int>(fit.stage), static_cast<int>(stage));
  const Real best = BestCoefficient(v);
  EXPECT_NEAR(fit.beta, static_cast<double>(best), 1e-3 * fit.se);
  EXPECT_NEAR(fit.lrt, static_cast<double>(PenalisedTwice(v, best) - PenalisedTwice(v, 0)), 1e-6);
  Real information = 0;
  for (size_t i = 0; i < v.x.size(); ++i) {
    const Real p = 1 / (1 + std::exp(-(v.offset[i] + Real(fit.beta) * v.x[i])));
    information += Real(v.x[i]) * v.x[i] * p * (1 - p);
  }
  EXPECT_NEAR(fit.se, static_cast<double>(1 / std::sqrt(information)), 1e-12);
}

TEST(VariantFirth, PseudoDataFindTheMaximum) {
  ExpectTheVariantsMaximum(MakeVariant(150, 0.8, -1), {}, FirthStage::kPseudoData);
}

TEST(VariantFirth, NewtonFindsTheSameMaximum) {
  FirthLimits limits;
  limits.max_pseudo_iterations = 1;
  ExpectTheVariantsMaximum(MakeVariant(150, 0.8, -1), limits, FirthStage::kNewton);
}

TEST(VariantFirth, FailsWithoutStepsLeft) {
  FirthLimits limits;
  limits.max_iterations = 2;
  const Variant v = MakeVariant(150, 0.8, -1);
  EXPECT_FALSE(
      FitVariantFirth(CpuTarget::kScalar, {v.x, v.offset, v.y, false}, limits).converged());
}

// Everyone with the allele is a case: ordinary regression has no estimate, Firth's is finite.
TEST(VariantFirth, SeparationByTheVariantIsFinite) {
  Variant v;
  for (size_t i = 0; i < 60; ++i) {
    v.x.push_back(i < 6 ? 1.1 : 0);
    v.y.push_back(i < 6 || i % 10 == 0);
    v.offset.push_back(-2);
  }
  const FirthEstimate fit = FitVariantFirth(CpuTarget::kScalar, {v.x, v.offset, v.y, false}, {});
  ASSERT_TRUE(fit.converged());
  EXPECT_NEAR(fit.beta, static_cast<double>(BestCoefficient(v)), 1e-2 * fit.se);
  EXPECT_GT(fit.lrt, 10);
}

TEST(VariantFirth, AZeroRegressorIsAFailure) {
  const std::vector<double> zeros(20, 0), y(20, 1);
  EXPECT_FALSE(FitVariantFirth(CpuTarget::kScalar, {zeros, zeros, y, false}, {}).converged());
}

TEST(ExactFirth, FindsBothMaxima) {
  Cohort cohort = MakeCohort(80, 2, 20, 0.5);
  std::mt19937_64 random(5);
  std::vector<double> genotype;
  for (size_t i = 0; i < 80; ++i) {
    const unsigned odds = cohort.y()[i] > 0.5 ? 2 : 4;
    genotype.push_back(static_cast<double>(random() % odds == 0) + (random() % 6 == 0));
    cohort.plain.x[i].push_back(genotype.back());
  }
  const auto penalised = [&](const Vector& a) { return cohort.plain.Penalised(a); };
  const Vector null = Maximise(penalised, Vector(4, 0), 3);
  const Vector full = Maximise(penalised, Vector(4, 0), 4);
  const LogisticFit start =
      FitLogisticNull(CpuTarget::kScalar, cohort.design, cohort.y(), cohort.offset(), 50);
  ExactFirthInputs inputs;
  inputs.design = &cohort.design;
  inputs.genotype = genotype;
  inputs.y = cohort.plain.y;
  inputs.offset = cohort.plain.offset;
  inputs.start = start.coefficients;
  const FirthEstimate fit = FitExactFirth(CpuTarget::kScalar, inputs, {});
  ASSERT_TRUE(fit.converged());
  EXPECT_NEAR(fit.beta, static_cast<double>(full[3]), 1e-3 * fit.se);
  EXPECT_NEAR(fit.lrt, static_cast<double>(2 * (penalised(full) - penalised(null))), 1e-4);
  Vector unit(4, 0);
  unit[3] = 1;
  const Real variance = Solve(cohort.plain.Information(full), unit)[3];
  EXPECT_NEAR(fit.se, static_cast<double>(std::sqrt(variance)), 1e-3 * fit.se);
}

// P(|S| >= s) over all outcomes of a few Bernoulli people.
Real Enumerate(const std::vector<double>& x, const std::vector<double>& p, double s) {
  Real total = 0;
  for (size_t outcome = 0; outcome < (size_t{1} << x.size()); ++outcome) {
    Real probability = 1, sum = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const bool is_case = outcome >> i & 1;
      probability *= is_case ? p[i] : 1 - p[i];
      sum += x[i] * ((is_case ? 1 : 0) - p[i]);
    }
    if (std::fabs(sum) >= s - 1e-12L) total += probability;
  }
  return total;
}

struct SmallSample {
  std::vector<double> x, p, eta;
  double variance = 0;
};

SmallSample MakeSample(size_t n, double p) {
  std::mt19937_64 random(n);
  SmallSample out;
  for (size_t i = 0; i < n; ++i) {
    out.x.push_back(0.6 + std::uniform_real_distribution<double>(0, 0.8)(random));
    out.p.push_back(p * std::uniform_real_distribution<double>(0.7, 1.3)(random));
    out.eta.push_back(std::log(out.p[i] / (1 - out.p[i])));
    out.variance += out.x[i] * out.x[i] * out.p[i] * (1 - out.p[i]);
  }
  return out;
}

double ScoreOf(const SmallSample& s, size_t cases) {
  double score = 0;
  for (size_t i = 0; i < s.x.size(); ++i) score += s.x[i] * ((i < cases ? 1 : 0) - s.p[i]);
  return score;
}

TEST(Saddlepoint, IsCloseToEnumeration) {
  const SmallSample sample = MakeSample(18, 0.25);
  for (const size_t cases : {1ul, 9ul, 11ul, 14ul}) {
    SaddlepointInputs inputs{sample.x, sample.eta, ScoreOf(sample, cases), sample.variance, false};
    const SaddlepointResult result = TestBySaddlepoint(CpuTarget::kScalar, inputs);
    ASSERT_NE(static_cast<int>(result.outcome), static_cast<int>(SaddlepointOutcome::kFailed));
    const Real exact = Enumerate(sample.x, sample.p, std::fabs(inputs.score));
    EXPECT_NEAR(result.log_p, static_cast<double>(std::log(exact)), 0.25) << cases;
  }
}

// Rare cases: the far tail is out of reach, so the p-value is the near tail's, and enumeration
// agrees that there is nothing on the other side.
TEST(Saddlepoint, AnUnreachableFarTailIsDroppedWithAMark) {
  const SmallSample sample = MakeSample(14, 0.02);
  SaddlepointInputs inputs{sample.x, sample.eta, ScoreOf(sample, 3), sample.variance, false};
  const SaddlepointResult result = TestBySaddlepoint(CpuTarget::kScalar, inputs);
  ASSERT_EQ(static_cast<int>(result.outcome), static_cast<int>(SaddlepointOutcome::kNearTailAlone));
  const Real exact = Enumerate(sample.x, sample.p, inputs.score);
  EXPECT_NEAR(result.log_p, static_cast<double>(std::log(exact)), 0.5);
}

// Carriers exactly and the rest as a normal: with hardly any rest the same number.
TEST(Saddlepoint, ANormalRemainderThatIsSmallChangesLittle) {
  const SmallSample sample = MakeSample(18, 0.25);
  const double score = ScoreOf(sample, 12);
  const SaddlepointResult exact =
      TestBySaddlepoint(CpuTarget::kScalar, {sample.x, sample.eta, score, sample.variance, false});
  const SaddlepointResult mixed = TestBySaddlepoint(
      CpuTarget::kScalar, {sample.x, sample.eta, score, sample.variance * 1.0001, true});
  EXPECT_NEAR(mixed.log_p, exact.log_p, 2e-3 * std::fabs(exact.log_p));
}

// Both signs of a symmetric sample, and a p-value far below what a double holds.
TEST(Saddlepoint, ReachesFarTails) {
  const size_t n = 4000;
  std::vector<double> x(n, 1), eta(n, 0);
  const double variance = static_cast<double>(n) / 4;
  const SaddlepointResult result = TestBySaddlepoint(
      CpuTarget::kScalar, {x, eta, static_cast<double>(n) * 0.45, variance, false});
  ASSERT_EQ(static_cast<int>(result.outcome), static_cast<int>(SaddlepointOutcome::kBothTails));
  // ln P(Binomial(n, 1/2) >= 0.95 n), twice, by summing its terms in logarithms.
  Real tail = 0;
  const Real top = std::lgamma(Real(n) + 1) - n * std::log(2.0L);
  for (size_t k = 3800; k <= n; ++k) {
    tail += std::exp(top - std::lgamma(Real(k) + 1) - std::lgamma(Real(n - k) + 1) + 1979.0L);
  }
  const double expected = static_cast<double>(std::log(2 * tail) - 1979.0L);
  EXPECT_LT(expected, -1500);
  EXPECT_NEAR(result.log_p, expected, 2);
}

}  // namespace
}  // namespace tallele
