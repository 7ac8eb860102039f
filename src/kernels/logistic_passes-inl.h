// Included by one file for each instruction set, inside its own unnamed namespace: the same
// operations in the same order, so the same bits, as wide as the compiler's flags allow.

typedef double Four __attribute__((vector_size(32)));
typedef int64_t FourBits __attribute__((vector_size(32)));

constexpr size_t kLanes = 8;
// Products of so many probabilities, each at least 2e-15, stay normal numbers.
constexpr size_t kFactorsPerLogarithm = 16;
// Adding it leaves the nearest integer in the low bits.
constexpr double kRounder = 6755399441055744.0;  // 1.5 * 2^52
constexpr double kLog2e = 1.4426950408889634;
// ln 2 in two parts: the first has 20 zero bits at its end, so its multiples are exact.
constexpr double kLn2High = 0x1.62e42fefap-1;
constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;

inline Four Splat(double v) { return Four{v, v, v, v}; }

inline Four Load(const double* from) {
  Four v;
  std::memcpy(&v, from, sizeof v);
  return v;
}

inline void Store(Four v, double* to) { std::memcpy(to, &v, sizeof v); }

inline Four Clamp(Four v) {
  const Four top = Splat(kLargestLogit);
  v = v > top ? top : v;
  return v < -top ? -top : v;
}

// exp(x) = 2^n * numerator / denominator, by the [6/6] Pade approximant on |r| <= ln(2) / 2, where
// its error is 2e-19.
struct Exponential {
  Four scale;  // 2^n
  Four numerator;
  Four denominator;
};

inline Exponential SplitExp(Four x) {
  const Four shifted = x * kLog2e + kRounder;
  const Four n = shifted - kRounder;
  const Four r = (x - n * kLn2High) - n * kLn2Low;
  const Four r2 = r * r;
  const Four even = ((r2 * (1.0 / 665280) + (1.0 / 792)) * r2 + (5.0 / 44)) * r2 + 1.0;
  const Four odd = ((r2 * (1.0 / 15840) + (1.0 / 66)) * r2 + 0.5) * r;
  Exponential out;
  const FourBits bits = (reinterpret_cast<FourBits>(shifted) + 1023) << 52;
  out.scale = reinterpret_cast<Four>(bits);
  out.numerator = even + odd;
  out.denominator = even - odd;
  return out;
}

struct Probability {
  Four p;
  Four q;  // 1 - p, without cancellation
};

inline Probability Logistic(Four eta) {
  const Exponential e = SplitExp(Clamp(eta));
  const Four up = e.scale * e.numerator;
  const Four inverse = 1.0 / (e.denominator + up);
  return {up * inverse, e.denominator * inverse};
}

// ln x for normal x > 0: x = 2^k m with m in [1/sqrt(2), sqrt(2)), ln m = 2 atanh((m-1)/(m+1)).
inline double Logarithm(double x) {
  int64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  int64_t k = (bits >> 52) - 1023;
  bits = (bits & 0x000fffffffffffff) | 0x3ff0000000000000;
  double m;
  std::memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++k;
  }
  const double f = (m - 1) / (m + 1);
  const double f2 = f * f;
  double series = 1.0 / 23;
  for (int j = 21; j >= 3; j -= 2) series = series * f2 + 1.0 / j;
  const double exponent = static_cast<double>(k);
  return exponent * kLn2High + (2 * f + (2 * f * f2 * series + exponent * kLn2Low));
}

inline double JoinLanes(const double* v) {
  return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

inline double Join(Four low, Four high) {
  double lanes[kLanes];
  Store(low, lanes);
  Store(high, lanes + 4);
  return JoinLanes(lanes);
}

struct PassLanes {
  Four xp{}, xxw{}, xxxw{};

  void Add(Four x, Four offset, Four b) {
    const Probability at = Logistic(offset + b * x);
    const Four xw = x * (at.p * at.q);
    const Four x2w = x * xw;
    xp += x * at.p;
    xxw += x2w;
    xxxw += (x * x2w) * (0.5 - at.p);
  }
};

inline LogisticSums PassOver(const double* x, const double* offset, size_t n, double b) {
  PassLanes low, high;
  const Four slope = Splat(b);
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    low.Add(Load(x + i), Load(offset + i), slope);
    high.Add(Load(x + i + 4), Load(offset + i + 4), slope);
  }
  if (i < n) {
    double rest_x[kLanes] = {}, rest_offset[kLanes] = {};  // x = 0 adds nothing
    std::memcpy(rest_x, x + i, (n - i) * sizeof(double));
    std::memcpy(rest_offset, offset + i, (n - i) * sizeof(double));
    low.Add(Load(rest_x), Load(rest_offset), slope);
    high.Add(Load(rest_x + 4), Load(rest_offset + 4), slope);
  }
  return {Join(low.xp, high.xp), Join(low.xxw, high.xxw), Join(low.xxxw, high.xxxw)};
}

// Probabilities of what was seen, four people.
inline Four Seen(Four eta, Four y) {
  const Probability at = Logistic(eta);
  return y > 0.5 ? at.p : at.q;
}

inline Four EtaAt(const double* x, const double* offset, Four b) {
  return x == nullptr ? Load(offset) : Load(offset) + b * Load(x);
}

inline double DevianceOver(const double* x, const double* offset, const double* y, size_t n,
                           double b) {
  const Four slope = Splat(b);
  double lanes[kLanes] = {};
  size_t i = 0;
  while (i + kLanes <= n) {
    Four low = Splat(1), high = Splat(1);
    for (size_t k = 0; k < kFactorsPerLogarithm && i + kLanes <= n; ++k, i += kLanes) {
      const double* at = x == nullptr ? nullptr : x + i;
      low *= Seen(EtaAt(at, offset + i, slope), Load(y + i));
      high *= Seen(EtaAt(at == nullptr ? nullptr : at + 4, offset + i + 4, slope), Load(y + i + 4));
    }
    double products[kLanes];
    Store(low, products);
    Store(high, products + 4);
    for (size_t l = 0; l < kLanes; ++l) lanes[l] += Logarithm(products[l]);
  }
  for (size_t l = 0; i < n; ++i, ++l) {
    const Four eta = Splat(x == nullptr ? offset[i] : offset[i] + b * x[i]);
    lanes[l] += Logarithm(Seen(eta, Splat(y[i]))[0]);
  }
  return -2 * JoinLanes(lanes);
}

inline double SoftplusOver(const double* x, const double* offset, size_t n, double b) {
  const Four slope = Splat(b);
  const Four top = Splat(kLargestLogit);
  const Four none{};
  double lanes[kLanes] = {};
  Four over_low{}, over_high{};
  size_t i = 0;
  while (i + kLanes <= n) {
    Four low = Splat(1), high = Splat(1);
    for (size_t k = 0; k < kFactorsPerLogarithm && i + kLanes <= n; ++k, i += kLanes) {
      const Four eta_low = EtaAt(x + i, offset + i, slope);
      const Four eta_high = EtaAt(x + i + 4, offset + i + 4, slope);
      low *= Logistic(eta_low).q;
      high *= Logistic(eta_high).q;
      over_low += eta_low > top ? eta_low - top : none;
      over_high += eta_high > top ? eta_high - top : none;
    }
    double products[kLanes];
    Store(low, products);
    Store(high, products + 4);
    for (size_t l = 0; l < kLanes; ++l) lanes[l] -= Logarithm(products[l]);
  }
  double over[kLanes];
  Store(over_low, over);
  Store(over_high, over + 4);
  for (size_t l = 0; i < n; ++i, ++l) {
    const double eta = offset[i] + b * x[i];
    lanes[l] -= Logarithm(Logistic(Splat(eta)).q[0]);
    over[l] += eta > kLargestLogit ? eta - kLargestLogit : 0;
  }
  return JoinLanes(lanes) + JoinLanes(over);
}

inline void ProbabilitiesOf(const double* eta, size_t n, double* p, double* w) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const Probability at = Logistic(Load(eta + i));
    Store(at.p, p + i);
    Store(at.p * at.q, w + i);
  }
  for (; i < n; ++i) {
    const Probability at = Logistic(Splat(eta[i]));
    p[i] = at.p[0];
    w[i] = at.p[0] * at.q[0];
  }
}
