// Looks schedules up as the layer of `hockney apply` does, as many as a communicator keeps, in an order by
// chance, all of them in the cache of the processor. Prints seconds for one, under its lock: the median of
// rounds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "../../cpp/preload/kept.cpp"
#include "../../cpp/preload/prepared.cpp"
#include "../../cpp/runner/buffers.cpp"
#include "../../cpp/runner/collective/program.cpp"

// As where nothing is said.
const hockney::Settings& hockney::settings() {
    static const Settings only;
    return only;
}

int main() {
    constexpr int rounds = 31, calls = 100000;
    hockney::Kept kept;
    const auto key = [](int size) { return hockney::Kept::Key{8 * (size + 1), size, 8, 4}; };
    for (int size = 0; size < hockney::Kept::places; ++size) kept.keep(kept.add(key(size)));
    std::vector<double> times_s;
    long found = 0;
    unsigned next = 1;
    for (int round = 0; round < rounds; ++round) {
        const auto start = std::chrono::steady_clock::now();
        for (int call = 0; call < calls; ++call) {
            next = next * 1664525U + 1013904223U;  // Numerical Recipes
            const auto held = kept.hold();
            found += kept.find(key(static_cast<int>(next >> 8) % hockney::Kept::places)) != nullptr;
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        times_s.push_back(took.count() / calls);
    }
    std::nth_element(times_s.begin(), times_s.begin() + rounds / 2, times_s.end());
    std::printf("%g\n", times_s[rounds / 2]);
    return found == static_cast<long>(rounds) * calls ? 0 : 1;
}
