"""The linear score test from its definition, one variant and one trait at a time.

Plain lists and normal equations; written to be read beside docs/statistics/linear-score-test.md.
"""

import math


def solve(a, b):
    """x with a x = b, by elimination with pivoting; a is square and regular."""
    n = len(a)
    m = [row[:] + [v] for row, v in zip(a, b)]
    for c in range(n):
        p = max(range(c, n), key=lambda r: abs(m[r][c]))
        m[c], m[p] = m[p], m[c]
        for r in range(c + 1, n):
            f = m[r][c] / m[c][c]
            for k in range(c, n + 1):
                m[r][k] -= f * m[c][k]
    x = [0.0] * n
    for c in reversed(range(n)):
        x[c] = (m[c][n] - sum(m[c][k] * x[k] for k in range(c + 1, n))) / m[c][c]
    return x


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def residual(columns, y):
    gram = [[dot(a, b) for b in columns] for a in columns]
    beta = solve(gram, [dot(a, y) for a in columns])
    return [v - sum(b * c[i] for b, c in zip(beta, columns)) for i, v in enumerate(y)]


def log10p(chisq):
    return -math.log10(math.erfc(math.sqrt(chisq / 2)))


def linear_test(covariates, y, loco, dosage):
    """Each argument over the same people; `dosage` may hold None. Returns a dict."""
    n = len(y)
    columns = [[1.0] * n] + covariates
    r0 = residual(columns, y)
    df = n - len(columns)
    s = math.sqrt(dot(r0, r0) / df)
    r = [v / s - o for v, o in zip(r0, loco)]
    mse = dot(r, r) / df
    called = [g for g in dosage if g is not None]
    mean = math.fsum(called) / len(called)
    g = [mean if v is None else v for v in dosage]
    gt = residual(columns, g)
    v = dot(gt, gt)
    score = dot(r, gt)
    chisq = score * score / (v * mse)
    return {
        "N": len(called),
        "A1FREQ": math.fsum(called) / (2 * len(called)),
        "BETA": s * score / v,
        "SE": s * math.sqrt(mse / v),
        "CHISQ": chisq,
        "LOG10P": log10p(chisq),
    }
