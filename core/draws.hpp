// Random numbers without a generator: each is a function of its key, so the order of calls does not matter.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#include "hash.hpp"

namespace thresher {

/// Uniform numbers between 0 and 1, both excluded, one for each column and step. Keys are hashed by their bits and may be any
/// double.
class Draws {
 public:
  explicit Draws(double seed) : h_(mixed(0x9e3779b97f4a7c15u, seed)) {}
  double operator()(double column, double step) const {
    std::uint64_t h = mixed(mixed(h_, column), step);
    h = folded_product(h ^ (h >> 29), 0xa4093822299f31d1u);
    return (static_cast<double>(h >> 11) + 0.5) * 0x1p-53;
  }

 private:
  static std::uint64_t mixed(std::uint64_t h, double part) {
    std::uint64_t bits;
    std::memcpy(&bits, &part, sizeof bits);
    return folded_product(h ^ bits, 0x243f6a8885a308d3u) + 0x13198a2e03707345u;
  }
  std::uint64_t h_;
};

/// The quantile function of the standard normal distribution, by fitted rational functions, to 2e-9 of its value.
inline double normal_quantile(double u) {
  const double middle = u - 0.5, x = middle * middle;
  if (x <= 0.425 * 0.425) {
    const double above = 2.506628274616556 +
                         x * (-24.456843305136683 + x * (82.28684241961679 + x * (-108.44932427023063 + x * 42.96179721614536)));
    const double below =
        1 + x * (-10.804066401987589 +
                 x * (41.83878614929765 + x * (-68.44826222794433 + x * (41.23457798416261 - x * 4.11814720450075))));
    return middle * above / below;
  }
  const double r = std::sqrt(-2 * std::log(std::min(u, 1 - u)));
  const double above = -2.9819646070578365 +
                       r * (-4.512618519141908 + r * (2.8996814390167707 + r * (2.3596587639344264 + r * 0.220867517867752)));
  const double below = 1 + r * (3.87054449607757 + r * (2.366841962834789 + r * 0.22079699140560666));
  return std::copysign(above / below, middle);
}

/// The quantile u of the binomial distribution with n trials of probability p <= 1/2. Exact if its variance is below 10,
/// otherwise by a Cornish-Fisher expansion, whose distribution function is off by at most 2e-4. Subtracting 1/12 from the
/// variance corrects for rounding to whole numbers.
inline double count_draw(double u, double n, double p) {
  const double mean = n * p, q = 1 - p, variance = mean * q;
  if (u <= 1 - mean) return 0;  // at most q^n
  if (n == 1) return 1;
  if (variance < 10) {
    double term = 1, power = q;  // q^n, then the probability of each count
    for (auto left = static_cast<std::uint64_t>(n); left != 0; left >>= 1, power *= power)
      if (left & 1) term *= power;
    double below = term, k = 0;
    for (const double odds = p / q; u > below && k < n && term > 1e-18; ++k) below += term *= (n - k) / (k + 1) * odds;
    return k;
  }
  const double z = normal_quantile(u), z2 = z * z, v = variance - 1.0 / 12, deviation = std::sqrt(v), per_v = 1 / v;
  const double skew = variance * (q - p) * deviation * per_v * per_v, excess = variance * (1 - 6 * p * q) * per_v * per_v;
  const double bent = z + skew * (z2 - 1) * (1. / 6) +
                      (excess * (z2 - 3) * (1. / 24) - skew * skew * (2 * z2 - 5) * (1. / 36)) * z;
  const double k = std::min(std::max(mean + deviation * bent - 0.5, 0.0), n),
               whole = static_cast<double>(static_cast<std::int64_t>(k));
  return whole + (whole < k);
}

}  // namespace thresher
