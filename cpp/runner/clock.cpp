// Whose the monotonic clock is and its granularity, and calibrated work.
#include "clock.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

namespace hockney {

std::string clock_domain() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string kernel;
    std::getline(file, kernel);
    if (!kernel.empty()) return kernel;
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    return host;
}

double clock_granularity_s() {
    // A simulated clock is exact, and one whose reading takes no time (smpi/wtime) stands still meanwhile.
    if (is_simulated) return 0;
    std::vector<double> steps;
    for (int i = 0; i < 200; ++i) {
        const double start = now_s();
        double next = start;
        while (next <= start) next = now_s();
        steps.push_back(next - start);
    }
    std::nth_element(steps.begin(), steps.begin() + 100, steps.end());
    return steps[100];
}

void wait_until(double time_s) {
    // A long wait leaves the processor to whoever shares it; a short one keeps it, to be punctual.
    constexpr double long_s = 100e-6;
    for (double left_s = time_s - now_s(); left_s > 0; left_s = time_s - now_s()) {
        if (is_simulated) {
            // Simulated time stands still while nothing is called.
            const timespec left{0, static_cast<long>(left_s * 1e9) + 1};
            nanosleep(&left, nullptr);
        } else if (left_s > long_s) {
            sched_yield();
        }
    }
}

void spin(long iterations) {
    // The empty assembly keeps the compiler from removing or folding the loop.
    for (long i = 0; i < iterations; ++i) asm volatile("" : : "r"(i) : "memory");
}

}  // namespace hockney
