// Parts of a loop over rows in several threads at once.
#pragma once
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "rows.hpp"

namespace thresher {

/// The maximal number of threads for a loop; the bindings set it.
struct Threads {
  static inline std::atomic<int> most{1};
  static constexpr index_t of_part = index_t{1} << 16;    // values per part
  static constexpr index_t of_thread = index_t{1} << 18;  // values that justify another thread, which takes some 20 us to start
};

/// A type-erased function of the rows from begin to end, so that the code that starts and joins threads is compiled once.
struct PartOfRows {
  const void* f;
  void (*call)(const void* f, index_t begin, index_t end);

  void operator()(index_t begin, index_t end) const { call(f, begin, end); }
};

/// Runs parts of `size` rows in `n_threads` threads, including this one.
inline void run_in_threads(index_t n_rows, index_t size, index_t n_threads, PartOfRows f) {
  std::atomic<index_t> next{0};
  std::exception_ptr thrown;
  std::atomic<bool> has_thrown{false};
  const auto work = [&] {
    try {
      for (index_t begin = 0; (begin = next.fetch_add(size)) < n_rows;) f(begin, begin + size < n_rows ? begin + size : n_rows);
    } catch (...) {
      next = n_rows;
      if (!has_thrown.exchange(true)) thrown = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(n_threads - 1));
  try {
    for (index_t t = 1; t < n_threads; ++t) threads.emplace_back(work);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the threads that did start do all the work
  }
  work();
  for (std::thread& thread : threads) thread.join();
  if (thrown) std::rethrow_exception(thrown);
}

THRESHER_APART inline void run_parts(index_t n_rows, index_t n_values, PartOfRows part) {
  const index_t wanted = n_values / Threads::of_thread, most = Threads::most;
  const index_t n_threads = wanted < most ? wanted : most;
  if (n_threads < 2 || n_rows < 2) return part(0, n_rows);
  const index_t n_parts = n_values / Threads::of_part < n_rows ? n_values / Threads::of_part : n_rows;
  run_in_threads(n_rows, (n_rows + n_parts - 1) / n_parts, n_threads, part);
}

/// Calls f(begin, end) for parts of 0 ... n_rows that together hold `n_values`; each part once, in any order. The threads end
/// with the call, so that none exists when a process forks. An exception ends the loop and is rethrown in the caller's thread.
template <class F>
void in_parts(index_t n_rows, index_t n_values, F f) {
  run_parts(n_rows, n_values, {&f, [](const void* it, index_t begin, index_t end) { (*static_cast<const F*>(it))(begin, end); }});
}

}  // namespace thresher
