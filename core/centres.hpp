// Centres as rows are compared with them.
#pragma once
#include <cstdint>
#include <limits>

#include "lanes.hpp"
#include "rows.hpp"

namespace thresher {

constexpr index_t kTile = 256;  // rows at most that are added to sums while they are at hand

struct Centres {
  const double* table;        // (n_columns, n_padded): what a unit of a feature adds to the cost at each centre
  const double* offsets;      // n_padded: infinite for those that are padding
  const std::int32_t* place;  // of a feature in the table, -1 for one that no centre uses; null if all of them are there
  const double* middle;       // subtracted from dense rows; null for 0
  index_t n_padded;           // a multiple of kLane
  int bytes = 64;             // of the widest registers to use; the bits are the same
};

struct Nearest {
  double cost = std::numeric_limits<double>::infinity();  // without |x|^2
  std::int32_t centre = 0;
};

}  // namespace thresher
