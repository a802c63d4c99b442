// The inner loop of the sweep: rows of cells, by instruction set.
#pragma once

#include <string>
#include <vector>

namespace hockney {

// The planes that are swept at a time: of each plane between them one reading serves three sweeps.
constexpr long planes_together = 4;
// And of each of these planes as many rows, where rows are too long for the first cache to keep one of them
// for the next.
constexpr long rows_together = 3;

// The same row of one plane, or of `planes_together`, of `to` from `from`; `pitch` and `plane` are the
// distances in doubles to the next row and plane. Rows are whole: they begin at a multiple of 64 B, and what
// lies between the last cell and the end of its cache line takes the values that `from` has there. Meanwhile
// as many rows from `next` on are brought near.
using WholeRows = void (*)(double* to, const double* from, const double* next, long pitch, long plane,
                           long cells);

struct Stores {
    WholeRows one, together,
        tall;  // `tall`: `rows_together` of each; nothing where there are too few registers
    void (*copy)(double* to, const double* from, long lines);  // lines of 8 doubles
};

struct Rows {
    const char* instructions;
    bool (*is_there)();
    Stores regular;
    Stores non_temporal;  // past the caches; nothing where there are no such stores
    void (*fence)();      // makes non-temporal stores visible to other processors
};

// Reads lines of 8 doubles, one of each.
void read_lines(const double* from, long lines);
// Those that this processor has, the best first; `portable` is always there.
std::vector<Rows> rows_here();

inline double mean(const double* from, long pitch, long plane) {
    return 1.0 / 6.0 * (((from[-1] + from[1]) + (from[-pitch] + from[pitch])) + (from[-plane] + from[plane]));
}

}  // namespace hockney
