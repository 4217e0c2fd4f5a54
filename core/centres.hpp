// Centres, in the layout in which rows are compared with them.
#pragma once
#include <cstdint>
#include <limits>

#include "lanes.hpp"
#include "rows.hpp"

namespace thresher {

constexpr index_t kTile = 256;  // most rows of a tile, which should stay in the cache

struct Centres {
  const double* table;        // (n_columns, n_padded): the cost per unit of a feature at each centre
  const double* offsets;      // n_padded: infinite for padding
  const std::int32_t* place;  // of a feature in the table, -1 if no centre uses it; null if the table has all
  const double* middle;       // subtracted from dense rows; null for 0
  index_t n_padded;           // a multiple of kLane
  int bytes = 64;             // of the widest registers to use; results have the same bits for all
};

struct Nearest {
  double cost = std::numeric_limits<double>::infinity();  // without |x - middle|^2
  std::int32_t centre = 0;
};

}  // namespace thresher
