"""Which public keys and signatures are admitted (KEY-SETS.md, K11; SPEC.md, B3 to B5)."""

from __future__ import annotations

from functools import lru_cache

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
LOW = ["0" * 64, "01" + "0" * 62, "ec" + "f" * 60 + "7f", "ed" + "f" * 60 + "7f", "ee" + "f" * 60 + "7f"]
LOW += ["26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"]
LOW += ["c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"]
SMALL_ORDER = {bytes.fromhex(h)[:31] + bytes([bytes.fromhex(h)[31] | sign]) for h in LOW for sign in (0, 0x80)}


Point = tuple[int, int, int, int]


def add(p: Point, q: Point) -> Point:
    """Adds two points in extended coordinates (RFC 8032, section 5.1.4)."""
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


@lru_cache(maxsize=1000)
def is_admitted(encoded: bytes) -> bool:
    """K11: the key is canonical, on the curve, and of prime order."""
    y, sign = int.from_bytes(encoded, "little") & (2**255 - 1), encoded[31] >> 7
    if y >= P or encoded in SMALL_ORDER:
        return False
    u, v = (y * y - 1) % P, (D * y * y + 1) % P
    x = u * pow(v, 3, P) * pow(u * pow(v, 7, P), (P - 5) // 8, P) % P
    if v * x * x % P == -u % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if v * x * x % P != u:
        return False
    x = x if x & 1 == sign else P - x
    point, sum_ = (x, y, 1, x * y % P), (0, 1, 1, 0)
    for bit in bin(L)[2:]:
        sum_ = add(sum_, sum_)
        sum_ = add(sum_, point) if bit == "1" else sum_
    return sum_[0] == 0 and sum_[1] == sum_[2]
