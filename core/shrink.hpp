// Proximal maps: what a penalty does to a weight.
#pragma once
#include <algorithm>

namespace thresher {

/// argmin_w (w - v)^2 / 2 + cut |w|, for cut >= 0. Written without a branch; the inner loop of every l1 learner.
inline double soft_threshold(double v, double cut) { return v - std::min(std::max(v, -cut), cut); }

}  // namespace thresher
