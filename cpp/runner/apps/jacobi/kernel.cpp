#include "kernel.hpp"

#include <algorithm>

#include "rows.hpp"

namespace hockney {
namespace {

// Of a cache, the part that planes can keep: of a private one, and of one that others use too.
constexpr double kept_of_own = 0.85, kept_of_shared = 0.5;
// From the last row that is swept to the first that is brought near for later.
constexpr long rows_ahead = 3;
constexpr double planes_kept = planes_together + 2;
// Common first caches keep three rows of each of these planes where they are no longer than this.
constexpr long longest_kept_B = 32 * 1024 / (3 * (planes_together + 2));

#ifdef _OPENMP
constexpr bool has_threads = true;
#else
constexpr bool has_threads = false;
#endif

const Rows& rows_of(const std::string& instructions) {
    static const std::vector<Rows> here = rows_here();
    for (const Rows& rows : here)
        if (instructions == rows.instructions || instructions == "auto") return rows;
    return here.back();
}

void part_of_rows(double* to, const double* from, const Layout& layout, const Cuboid& region, long planes) {
    for (long z = 0; z < planes * layout.plane; z += layout.plane)
        for (long x = region.from[0]; x < region.to[0]; ++x)
            to[z + x] = mean(from + z + x, layout.pitch, layout.plane);
}

}  // namespace

Traversal traversal_of(const Request& request, const Layout& layout, const CacheShare& cache,
                       std::string& refused) {
    Traversal how;
    const std::string& instructions = request.text("instructions");
    request.choice("instructions", {"auto", "avx512", "avx2", "portable"});
    const std::string& stores = request.text("stores");
    request.choice("stores", {"auto", "regular", "non_temporal"});
    const long threads = request.whole("threads", 1, 4096), block_rows = request.whole("block_rows", 0);
    const Rows& rows = rows_of(instructions);
    how.instructions = rows.instructions;
    if (instructions != "auto" && instructions != rows.instructions)
        refused = "this processor has no instructions '" + instructions + "'";
    if (stores == "non_temporal" && !rows.non_temporal.one)
        refused = "there are no non-temporal stores with instructions '" + how.instructions + "'";
    if (threads > 1 && !has_threads) refused = "the runner was built without OpenMP: one thread per rank";
    how.threads = static_cast<int>(std::min(threads, layout.cells[1]));
    how.non_temporal = stores == "non_temporal" ||
                       (stores == "auto" && rows.non_temporal.one && 2 * layout.bytes() > cache.shared_B);
    // What is swept together, of one row.
    const double row_B = 8 * planes_kept * static_cast<double>(layout.pitch);
    const double shared_B = kept_of_shared * cache.shared_B / how.threads;
    const long in_own = static_cast<long>(kept_of_own * cache.own_B / row_B);
    const long in_shared = std::max(1L, static_cast<long>(shared_B / row_B));
    const Share longest(layout.cells[1], how.threads, 0);
    how.block_rows = std::min(block_rows > 0 ? block_rows : std::max(in_own, in_shared), longest.count);
    how.is_layer_kept = how.block_rows <= std::max(in_own, in_shared) || 2 * layout.bytes() <= cache.shared_B;
    if (!how.is_layer_kept) {
        const long planes = layout.cells[2], groups = planes / planes_together;
        how.reads = static_cast<double>(groups * (planes_together + 2) + planes % planes_together * 3) /
                    static_cast<double>(planes);
    }
    return how;
}

void sweep(const Traversal& how, const Layout& layout, double* to, const double* from, const Cuboid& region) {
    const Rows& rows = rows_of(how.instructions);
    const Stores& stores = how.non_temporal ? rows.non_temporal : rows.regular;
    const long cells = layout.cells[0], pitch = layout.pitch, plane = layout.plane;
    const bool is_whole = region.from[0] == 0 && region.to[0] == cells;
    const bool is_long = stores.tall && 8 * pitch > longest_kept_B;
    each_thread(how.threads, layout.cells[1], [&](int, long first, long last) {
        first = std::max(first, region.from[1]);
        last = std::min(last, region.to[1]);
        for (long block = first; block < last; block += how.block_rows) {
            const long end = std::min(block + how.block_rows, last);
            for (long z = region.from[2]; z < region.to[2];) {
                const long planes = z + planes_together <= region.to[2] ? planes_together : 1;
                for (long y = block; y < end;) {
                    const long at = layout.at(0, y, z);
                    const bool is_tall = is_whole && is_long && planes > 1 && y + rows_together <= end;
                    const long height = is_tall ? rows_together : 1;
                    if (!is_whole) {
                        part_of_rows(to + at, from + at, layout, region, planes);
                    } else {
                        // Behind the last row of these planes come those of the next ones.
                        const long ahead = y + height - 1 + rows_ahead;
                        const bool is_turn = ahead > end && z + 2 * planes <= region.to[2];
                        const double* next = from + layout.at(0, is_turn ? ahead - (end - block) : ahead,
                                                              is_turn ? z + planes + 1 : z + 1);
                        (is_tall       ? stores.tall
                         : planes == 1 ? stores.one
                                       : stores.together)(to + at, from + at, next, pitch, plane, cells);
                    }
                    y += height;
                }
                z += planes;
            }
        }
        rows.fence();
    });
}

double stream(const Traversal& how, const Layout& layout, double* to, const double* from) {
    const Rows& rows = rows_of(how.instructions);
    const Stores& stores = how.non_temporal ? rows.non_temporal : rows.regular;
    const long planes = layout.cells[2] + 2;
    each_thread(how.threads, layout.cells[1], [&](int thread, long first, long last) {
        // The rows of ghosts go with the first and the last of the threads.
        const long begin = thread == 0 ? first - 1 : first, end = thread + 1 == how.threads ? last + 1 : last;
        const long lines = (end - begin) * layout.pitch / Layout::line;
        double read = 0;
        for (long z = 0; z < planes; ++z) {
            const long at = layout.at(0, begin, z - 1);
            stores.copy(to + at, from + at, lines);
            for (read += how.reads - 1; read >= 1; --read)
                read_lines(from + layout.at(0, begin, (z + planes / 2) % planes - 1), lines);
        }
        rows.fence();
    });
    return how.bytes_per_update() * static_cast<double>(planes * layout.plane);
}

}  // namespace hockney
