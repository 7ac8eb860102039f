"""The tests of binary traits from their definitions, in plain Python: logistic regression with an
offset, the score test, and Firth's penalised likelihood maximised directly. Written for clarity;
shares no code with the engine and needs no library.
"""

import math


def solve(matrix, vector):
    """x with matrix x = vector, and ln |det matrix|, by elimination with row pivoting."""
    m = [row[:] + [v] for row, v in zip(matrix, vector)]
    n, log_det = len(m), 0.0
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(m[i][k]))
        m[k], m[pivot] = m[pivot], m[k]
        if m[k][k] == 0:
            return None, -math.inf
        log_det += math.log(abs(m[k][k]))
        for i in range(k + 1, n):
            f = m[i][k] / m[k][k]
            for j in range(k, n + 1):
                m[i][j] -= f * m[k][j]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (m[k][n] - sum(m[k][j] * x[j] for j in range(k + 1, n))) / m[k][k]
    return x, log_det


def probabilities(rows, coefficients, offset):
    return [1 / (1 + math.exp(-(o + sum(a * x for a, x in zip(coefficients, row)))))
            for row, o in zip(rows, offset)]


def information(rows, p):
    k = len(rows[0])
    return [[sum(r[i] * r[j] * q * (1 - q) for r, q in zip(rows, p)) for j in range(k)]
            for i in range(k)]


def log_likelihood(y, p):
    return sum(math.log(q if v else 1 - q) for v, q in zip(y, p))


def fit_logistic(rows, y, offset):
    """Newton's method, halved when the likelihood falls."""
    a = [0.0] * len(rows[0])
    a[0] = math.log(sum(y) / (len(y) - sum(y))) - sum(offset) / len(offset)
    for _ in range(100):
        p = probabilities(rows, a, offset)
        score = [sum(r[j] * (v - q) for r, v, q in zip(rows, y, p)) for j in range(len(a))]
        step, _ = solve(information(rows, p), score)
        here, length = log_likelihood(y, p), 1.0
        while length > 1e-9:
            trial = [c + length * s for c, s in zip(a, step)]
            if log_likelihood(y, probabilities(rows, trial, offset)) >= here - 1e-12:
                break
            length /= 2
        a = trial
        if max(abs(s) for s in step) < 1e-12:
            return a
    raise ArithmeticError("no maximum")


def score_test(rows, y, offset, genotype):
    """U, V, BETA, SE, CHISQ of one variant (missing calls filled in beforehand)."""
    p = probabilities(rows, fit_logistic(rows, y, offset), offset)
    w = [q * (1 - q) for q in p]
    u = sum(g * (v - q) for g, v, q in zip(genotype, y, p))
    cross = [sum(r[j] * g * wi for r, g, wi in zip(rows, genotype, w)) for j in range(len(rows[0]))]
    along, _ = solve(information(rows, p), cross)
    v = sum(wi * g * g for wi, g in zip(w, genotype)) - sum(a * c for a, c in zip(along, cross))
    return {"U": u, "V": v, "BETA": u / v, "SE": 1 / math.sqrt(v), "CHISQ": u * u / v,
            "ADJUSTED": [g - sum(a * x for a, x in zip(along, r)) for g, r in zip(genotype, rows)]}


def penalised(rows, y, offset, a):
    p = probabilities(rows, a, offset)
    _, log_det = solve(information(rows, p), [0.0] * len(a))
    return log_likelihood(y, p) + log_det / 2


def maximise(f, a, free):
    """Newton's method on finite differences over the first `free` coordinates."""
    h = 1e-4
    for _ in range(80):
        here = f(a)

        def at(*moves):
            b = a[:]
            for j, d in moves:
                b[j] += d
            return f(b)

        gradient = [(at((j, h)) - at((j, -h))) / (2 * h) for j in range(free)]
        hessian = [[-(at((j, h), (k, h)) - at((j, h), (k, -h)) - at((j, -h), (k, h))
                      + at((j, -h), (k, -h))) / (4 * h * h) for k in range(free)]
                   for j in range(free)]
        step, _ = solve(hessian, gradient)
        length = 1.0
        while length > 1e-9:
            b = [c + length * step[j] if j < free else c for j, c in enumerate(a)]
            if f(b) >= here:
                break
            length /= 2
        a = b
        if max(abs(s) for s in step) < 1e-9:
            break
    return a


def null_firth(rows, y, offset):
    start = fit_logistic(rows, y, offset)
    return maximise(lambda a: penalised(rows, y, offset, a), start, len(start))


def eigenvectors(matrix):
    """Of a symmetric matrix, by Jacobi's rotations: (eigenvalue, unit vector), ascending."""
    n = len(matrix)
    a = [row[:] for row in matrix]
    v = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(60):
        for p in range(n):
            for q in range(p + 1, n):
                angle = 0.5 * math.atan2(2 * a[p][q], a[q][q] - a[p][p])
                c, s = math.cos(angle), math.sin(angle)
                for m in (a, v):
                    for row in m:
                        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                a[p], a[q] = ([c * x - s * y for x, y in zip(a[p], a[q])],
                              [s * x + c * y for x, y in zip(a[p], a[q])])
    return sorted((a[k][k], [row[k] for row in v]) for k in range(n))


def approximate_firth(rows, y, offset, genotype):
    """One free coefficient on the covariate-adjusted genotype beside the null Firth model."""
    null = null_firth(rows, y, offset)
    base = [o + sum(c * x for c, x in zip(null, r)) for o, r in zip(offset, rows)]
    adjusted = [[x] for x in score_test(rows, y, offset, genotype)["ADJUSTED"]]
    best = maximise(lambda a: penalised(adjusted, y, base, a), [0.0], 1)
    lrt = 2 * (penalised(adjusted, y, base, best) - penalised(adjusted, y, base, [0.0]))
    spread = information(adjusted, probabilities(adjusted, best, base))[0][0]
    return {"BETA": best[0], "SE": 1 / math.sqrt(spread), "CHISQ": lrt}


def exact_firth(rows, y, offset, genotype):
    """Covariates and variant in one model; the null keeps the variant in the penalty."""
    both = [r + [g] for r, g in zip(rows, genotype)]
    start = fit_logistic(rows, y, offset) + [0.0]
    f = lambda a: penalised(both, y, offset, a)  # noqa: E731
    null = maximise(f, start, len(start) - 1)
    full = maximise(f, null, len(start))
    matrix = information(both, probabilities(both, full, offset))
    unit = [0.0] * (len(start) - 1) + [1.0]
    inverse, _ = solve(matrix, unit)
    return {"BETA": full[-1], "SE": math.sqrt(inverse[-1]), "CHISQ": 2 * (f(full) - f(null))}
