"""The coefficients of `src/math/gelu.rs`, printed: `python tests/reference/gelu.py` (NumPy).

GELU(x) = max(0, x) - z q(z) with z = |x|, where q(z) = 1 - Phi(z), or its tanh form. q is a polynomial of u = 2 z / H - 1 on
[0, H], by weighted least squares whose weights are raised where the error of z q(z) is large (Lawson's iteration).
"""

import math

import numpy as np
from numpy.polynomial import chebyshev

DEGREE = 15


def coefficients(q, highest):
    u = np.cos(np.pi * (np.arange(8000) + 0.5) / 8000)
    z = (u + 1) * highest / 2
    exact = np.array([q(z) for z in z])
    scale = np.maximum(z, 1.0)  # so that q itself is right for small z, too
    columns = chebyshev.chebvander(u, DEGREE) * scale[:, None]
    weights, best = np.ones_like(u), (np.inf, None)
    for _ in range(200):
        fit = np.linalg.lstsq(columns * weights[:, None], exact * scale * weights, rcond=None)[0]
        error = np.abs(columns @ fit - exact * scale)
        if error.max() < best[0]:
            best = (error.max(), fit)
        weights = np.maximum(weights * (error / error.max() + 1e-3) ** 0.3, 1e-3)
        weights /= weights.max()
    return best[0], chebyshev.cheb2poly(best[1])[::-1].astype(np.float32)


def denominator(q, highest):
    """p of q = 1 / (2 p^8), p(0) = 1, in the same way; the larger z, the smaller the error, as more is lost by rounding."""
    u = np.cos(np.pi * (np.arange(4000) + 0.5) / 4000)
    z = (u + 1) * highest / 2
    exact = np.array([q(z) for z in z])
    root = (2 * exact) ** (-1 / 8)
    care = np.maximum(z, 1.0) * (1 + z / 8)
    scale = 8 * care * exact / root  # what an error of p does to z q(z)
    columns = np.vander(z / highest, 9, increasing=True)[:, 1:]
    weights, best = np.ones_like(u), (np.inf, None)
    for _ in range(400):
        fit = np.linalg.lstsq(columns * (scale * weights)[:, None], (root - 1) * scale * weights, rcond=None)[0]
        error = np.abs(care * (0.5 / (1 + columns @ fit) ** 8 - exact))
        if error.max() < best[0]:
            best = (error.max(), fit)
        weights = np.maximum(weights * (error / error.max() + 1e-3) ** 0.3, 1e-4)
        weights /= weights.max()
    return best[0], (best[1] / highest ** np.arange(1, 9))[::-1].astype(np.float32)


def erf_form(z):
    return math.erfc(z / math.sqrt(2)) / 2


def tanh_form(z):
    return 1 / (1 + math.exp(2 * math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


for name, q, highest in [("erf form", erf_form, 5.4), ("tanh form", tanh_form, 5.2)]:
    error, fit = coefficients(q, highest)
    print(f"{name}, up to {highest}, error {error:.1e}:", ", ".join(f"{c:.9e}" for c in fit))
    error, fit = denominator(q, highest)
    print(f"{name}, denominator, error {error:.1e}:", ", ".join(f"{c:.9e}" for c in fit))
