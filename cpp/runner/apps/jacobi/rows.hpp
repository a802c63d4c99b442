// The inner loop of the sweep: rows of cells, by instruction set.
#pragma once

#include <string>
#include <vector>

namespace hockney {

// A row of `to` from the row of `from` at the same place; `pitch` and `plane` are the distances in doubles to
// the next row and plane. Rows are whole: they begin at a multiple of 64 B, and what lies between the last
// cell and the end of its cache line takes the values that `from` has there.
using WholeRow = void (*)(double* to, const double* from, long pitch, long plane, long cells);

struct Rows {
    const char* instructions;
    bool (*is_there)();
    WholeRow regular;
    WholeRow non_temporal;  // past the caches; nullptr where there are no such stores
    // The first `lines` · 8 doubles of a copy; past the caches as above.
    void (*copy)(double* to, const double* from, long lines);
    void (*copy_non_temporal)(double* to, const double* from, long lines);
    // Makes non-temporal stores visible to other processors.
    void (*fence)();
};

// Those that this processor has, the best first; `portable` is always there.
std::vector<Rows> rows_here();

inline double mean(const double* from, long pitch, long plane) {
    return 1.0 / 6.0 * (((from[-1] + from[1]) + (from[-pitch] + from[pitch])) + (from[-plane] + from[plane]));
}

}  // namespace hockney
