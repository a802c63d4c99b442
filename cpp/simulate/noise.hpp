// Noise of the system: each act of a rank's processor takes longer by an exponentially distributed time.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace hockney {

struct Noise {
    std::vector<double> mean_s;  // by rank, or one for all; none: no noise
    std::uint64_t seed = 0;

    // Of seed, rank, phase and step alone, so that no rank keeps a state.
    double drawn_s(std::size_t rank, std::uint64_t phase, std::uint64_t step) const {
        const std::uint64_t of_rank = mixed(mixed(seed) ^ static_cast<std::uint64_t>(rank));
        const std::uint64_t bits = mixed(of_rank ^ (phase << 32U | step));
        constexpr double unit = 1.0 / (std::uint64_t{1} << 53U);
        return -mean_s[mean_s.size() == 1 ? 0 : rank] * std::log1p(-unit * static_cast<double>(bits >> 11U));
    }

  private:
    // The finaliser of SplitMix64 (Steele, Lea and Flood 2014): numbers that differ in one bit have nothing
    // in common behind it.
    static std::uint64_t mixed(std::uint64_t bits) {
        bits += 0x9E3779B97F4A7C15U;
        bits = (bits ^ (bits >> 30U)) * 0xBF58476D1CE4E5B9U;
        bits = (bits ^ (bits >> 27U)) * 0x94D049BB133111EBU;
        return bits ^ (bits >> 31U);
    }
};

}  // namespace hockney
