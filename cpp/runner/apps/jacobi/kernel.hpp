// The sweep: each cell becomes the mean of its six neighbours,
//
//     to = 1/6 · (((west + east) + (south + north)) + (below + above)),
//
// in this order, so that the result is the same to the last bit for any blocking, grid and instruction set.
#pragma once

#include <string>

#include "../../request.hpp"
#include "../cache/share.hpp"
#include "../halo/field.hpp"
#include "../halo/grid.hpp"

namespace hockney {

// How a sweep goes through memory.
struct Traversal {
    std::string instructions;  // avx512, avx2, portable
    long block_rows = 0;  // rows along y of a block, which goes through all planes before the next begins
    bool non_temporal = false;
    // The planes of a block that are swept together fit the cache with those around them, so that each comes
    // from memory once.
    bool is_layer_kept = false;
    int threads = 1;
    // How often a cell of `from` comes from memory in a sweep.
    double reads = 1;

    // Bytes that an update moves to and from memory: what is read, and what is written (twice where the line
    // is first read).
    double bytes_per_update() const { return 8 * reads + (non_temporal ? 8 : 16); }
};

// Chooses from the keys `instructions` (or `auto`), `block_rows` (0: from the caches), `stores` (`auto`,
// `regular`, `non_temporal`) and `threads`. BadRequest for an unknown word; what cannot be done here is in
// `refused`.
Traversal traversal_of(const Request& request, const Layout& layout, const CacheShare& cache,
                       std::string& refused);

// Calls part(thread, first, last) with the rows [first, last) of each thread: the same ones in every sweep,
// so that their memory stays near.
template <class Part>
void each_thread(int threads, long rows, const Part& part) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static, 1)
#endif
    for (int thread = 0; thread < threads; ++thread) {
        const Share share(rows, threads, thread);
        part(thread, share.first, share.first + share.count);
    }
}

void sweep(const Traversal& how, const Layout& layout, double* to, const double* from, const Cuboid& region);

// The same mix of reads and writes, without the arithmetic: copies one field to the other, all of it, as
// often as a sweep writes it once; where a sweep reads three planes, two other thirds of the field are read
// as well. Returns the bytes moved, counted as for a sweep.
double stream(const Traversal& how, const Layout& layout, double* to, const double* from);

}  // namespace hockney
