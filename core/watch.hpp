// Interrupts long loops.
#pragma once
#include <chrono>
#include <cstdint>

namespace thresher {

/// Throws if a loop should end. Call tick() once per step, however long a step takes: the clock is read about once a millisecond,
/// and interrupts are checked twenty times a second.
class Watch {
 public:
  /// Throws if the loops of this thread should end. The bindings install a check for Ctrl-C here.
  static inline void (*ask)() = nullptr;

  void tick() {
    if (--left == 0) look();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::int64_t most = 1 << 16;

  [[gnu::noinline]] void look() {
    using namespace std::chrono_literals;
    const Clock::time_point now = Clock::now();
    if (asked == Clock::time_point()) asked = last = now;
    if (now - last < 1ms) every = every < most ? 2 * every : most;
    else if (now - last > 4ms) every = every > 4 ? every / 4 : 1;
    left = every, last = now;
    if (now - asked < 50ms) return;
    asked = now;
    if (ask) ask();
  }

  std::int64_t every = 8, left = every;
  Clock::time_point last{}, asked{};
};

}  // namespace thresher
