// Proximal maps: what a penalty does to a weight, a group or a row of a matrix.
#pragma once
#include <algorithm>
#include <cmath>

namespace thresher {

/// argmin_w (w - v)^2 / 2 + cut |w|, for cut >= 0. Written without a branch; the inner loop of every l1 learner.
inline double soft_threshold(double v, double cut) { return v - std::min(std::max(v, -cut), cut); }

/// The factor [1 - cut / norm]_+ by which  argmin_w |w - v|^2 / 2 + cut |w|_2  scales v; 0 for the zero vector.
inline double group_factor(double norm, double cut) { return norm > cut ? 1 - cut / norm : 0.0; }

}  // namespace thresher
