#include "solution.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernel.hpp"

namespace hockney {
namespace {

const double pi = std::acos(-1.0);

// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014: the finaliser of SplitMix64.
std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

std::uint64_t bits(double value) {
    std::uint64_t all = 0;
    std::memcpy(&all, &value, sizeof all);
    return all;
}

}  // namespace

Solution::Solution(const ProcessGrid& grid, const Cells& whole)
    : first_(grid.first),
      whole_(whole),
      h_(1.0 / static_cast<double>(*std::max_element(whole.begin(), whole.end()) + 1)) {
    double cosines = 0;
    for (std::size_t d = 0; d < 3; ++d) {
        const double step = pi / static_cast<double>(whole[d] + 1);
        cosines += std::cos(step);
        for (long n = 0; n < grid.cells[d]; ++n)
            sines_[d].push_back(std::sin(pi * static_cast<double>(grid.first[d] + n + 1) /
                                         static_cast<double>(whole[d] + 1)));
    }
    factor_ = cosines / 3;
}

double Solution::limit(long x, long y, long z) const {
    const double nx = static_cast<double>(first_[0] + x + 1), ny = static_cast<double>(first_[1] + y + 1),
                 nz = static_cast<double>(first_[2] + z + 1);
    return h_ * h_ * (nx * nx + ny * ny - 2 * nz * nz) + h_ * h_ * h_ * (nx * ny * nz);
}

double Solution::mode(long x, long y, long z) const {
    const auto in = [this](std::size_t d, long n) {
        return n < 0 || n >= static_cast<long>(sines_[d].size()) ? 0.0
                                                                 : sines_[d][static_cast<std::size_t>(n)];
    };
    return in(0, x) * in(1, y) * in(2, z);
}

// Whether a cell around this rank's box is inside the whole.
bool Solution::is_of_another(long x, long y, long z) const {
    const Cells at{x, y, z};
    bool is_outside = false;
    for (std::size_t d = 0; d < 3; ++d) {
        const long number = first_[d] + at[d];
        if (number < 0 || number >= whole_[d]) return false;
        is_outside = is_outside || at[d] < 0 || at[d] >= static_cast<long>(sines_[d].size());
    }
    return is_outside;
}

void Solution::start(const Layout& layout, int threads, double* field) const {
    const Cells& cells = layout.cells;
    each_thread(threads, cells[1], [&](int thread, long first, long last) {
        if (thread == 0) first = -1;
        if (thread + 1 == threads) last = cells[1] + 1;
        for (long z = -1; z <= cells[2]; ++z)
            for (long y = first; y < last; ++y)
                for (long x = -1; x < layout.pitch - 1; ++x)
                    // What a neighbour has to send is not known before it is sent.
                    field[layout.at(x, y, z)] = is_of_another(x, y, z)
                                                    ? std::numeric_limits<double>::quiet_NaN()
                                                    : limit(x, y, z) + mode(x, y, z);
    });
}

Check check(const ProcessGrid& grid, const Layout& layout, const Cells& whole, const Solution& solution,
            long sweeps, const double* field, const double* before) {
    Check mine, all;
    const double left = std::pow(solution.factor(), sweeps);  // of the mode
    for (long z = 0; z < layout.cells[2]; ++z)
        for (long y = 0; y < layout.cells[1]; ++y)
            for (long x = 0; x < layout.cells[0]; ++x) {
                const long at = layout.at(x, y, z);
                // A value that is not a number is the largest of all.
                const double distance = field[at] - solution.limit(x, y, z), error = std::fabs(distance);
                const double deviation = std::fabs(distance - left * solution.mode(x, y, z));
                const double change = std::fabs(field[at] - before[at]);
                if (!(error <= mine.error)) mine.error = std::isnan(error) ? HUGE_VAL : error;
                if (!(deviation <= mine.deviation))
                    mine.deviation = std::isnan(deviation) ? HUGE_VAL : deviation;
                if (!(change <= mine.residual)) mine.residual = std::isnan(change) ? HUGE_VAL : change;
                const std::uint64_t number = static_cast<std::uint64_t>(
                    ((grid.first[2] + z) * whole[1] + grid.first[1] + y) * whole[0] + grid.first[0] + x);
                mine.checksum += mixed(bits(field[at]) ^ mixed(number));
            }
    double largest[3] = {mine.error, mine.residual, mine.deviation}, of_all[3] = {};
    MPI_Allreduce(largest, of_all, 3, MPI_DOUBLE, MPI_MAX, grid.comm);
    MPI_Allreduce(&mine.checksum, &all.checksum, 1, MPI_UINT64_T, MPI_SUM, grid.comm);
    all.error = of_all[0];
    all.residual = of_all[1];
    all.deviation = of_all[2];
    return all;
}

}  // namespace hockney
