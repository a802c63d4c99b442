// The time that this thread has had a processor. To read it takes a quarter of a microsecond and more, so
// times that are too short for another thread to come between are taken from the clock on the wall.
#pragma once

#include <time.h>

#include <cstdint>

namespace hockney::trace {

inline std::int64_t time_of(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return time.tv_sec * std::int64_t{1000000000} + time.tv_nsec;
}
inline std::int64_t wall_ns() { return time_of(CLOCK_MONOTONIC); }

class ThreadClock {
  public:
    // Half of what a reading takes: what comes before it is told, and what comes after.
    inline static std::int64_t half_reading_ns = 0;

    // The processor's time at `now_ns` on the wall, and when what is timed goes on: later where it was read.
    std::int64_t at(std::int64_t now_ns, std::int64_t& goes_on_ns) {
        const std::int64_t passed_ns = now_ns - at_ns_;
        if (passed_ns < short_ns && now_ns - read_ns_ < trusted_ns) {
            at_ns_ = goes_on_ns = now_ns;
            return cpu_ns_ += passed_ns;
        }
        const std::int64_t read = time_of(CLOCK_THREAD_CPUTIME_ID);
        cpu_ns_ = read + half_reading_ns;
        at_ns_ = read_ns_ = goes_on_ns = wall_ns();
        return read - half_reading_ns;
    }
    // When it went on.
    std::int64_t latest() const { return cpu_ns_; }

  private:
    static constexpr std::int64_t short_ns = 1000, trusted_ns = 10000;
    std::int64_t cpu_ns_ = 0, at_ns_ = 0, read_ns_ = 0;
};

}  // namespace hockney::trace
