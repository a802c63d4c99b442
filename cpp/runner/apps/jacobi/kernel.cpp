#include "kernel.hpp"

#include <algorithm>

#include "rows.hpp"

namespace hockney {
namespace {

// Of a cache that is shared with what else the processor does, the part that planes can keep.
constexpr double kept_share = 0.5;
constexpr long planes_read = 3;

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

}  // namespace

Traversal traversal_of(const Request& request, const Layout& layout, const CacheShare& cache,
                       std::string& refused) {
    Traversal how;
    const std::string& instructions = request.text("instructions");
    if (instructions != "auto" && instructions != "avx512" && instructions != "avx2" &&
        instructions != "portable")
        throw BadRequest("unknown instructions '" + instructions + "'");
    const std::string& stores = request.text("stores");
    if (stores != "auto" && stores != "regular" && stores != "non_temporal")
        throw BadRequest("unknown stores '" + stores + "'");
    const long threads = request.whole("threads"), block_rows = request.whole("block_rows");
    if (threads < 1 || threads > 4096) throw BadRequest("threads must be from 1 to 4096");
    if (block_rows < 0) throw BadRequest("block_rows must not be negative");
    const Rows& rows = rows_of(instructions);
    how.instructions = rows.instructions;
    if (instructions != "auto" && instructions != rows.instructions)
        refused = "this processor has no instructions '" + instructions + "'";
    if (stores == "non_temporal" && !rows.non_temporal)
        refused = "there are no non-temporal stores with instructions '" + how.instructions + "'";
    if (threads > 1 && !has_threads) refused = "the runner was built without OpenMP: one thread per rank";
    how.threads = static_cast<int>(std::min(threads, layout.cells[1]));
    how.non_temporal = stores == "non_temporal" ||
                       (stores == "auto" && rows.non_temporal && 2 * layout.bytes() > cache.shared_B);
    const double each_B = std::max(cache.own_B, cache.shared_B / how.threads) * kept_share;
    const long fitting = static_cast<long>(each_B / (8.0 * planes_read * static_cast<double>(layout.pitch)));
    const Share longest(layout.cells[1], how.threads, 0);
    how.block_rows = std::min(block_rows > 0 ? block_rows : std::max(1L, fitting), longest.count);
    how.is_layer_kept = how.block_rows <= std::max(1L, fitting) || 2 * layout.bytes() <= cache.shared_B;
    return how;
}

void sweep(const Traversal& how, const Layout& layout, double* to, const double* from, const Region& region) {
    const Rows& rows = rows_of(how.instructions);
    const WholeRow row = how.non_temporal ? rows.non_temporal : rows.regular;
    const long cells = layout.cells[0], pitch = layout.pitch, plane = layout.plane;
    const bool is_whole = region.from[0] == 0 && region.to[0] == cells;
    each_thread(how.threads, layout.cells[1], [&](int, long first, long last) {
        first = std::max(first, region.from[1]);
        last = std::min(last, region.to[1]);
        for (long block = first; block < last; block += how.block_rows)
            for (long z = region.from[2]; z < region.to[2]; ++z)
                for (long y = block; y < std::min(block + how.block_rows, last); ++y) {
                    const long at = layout.at(0, y, z);
                    if (is_whole) {
                        row(to + at, from + at, pitch, plane, cells);
                    } else {
                        for (long x = region.from[0]; x < region.to[0]; ++x)
                            to[at + x] = mean(from + at + x, pitch, plane);
                    }
                }
        rows.fence();
    });
}

double stream(const Traversal& how, const Layout& layout, double* to, const double* from) {
    const Rows& rows = rows_of(how.instructions);
    const auto copy = how.non_temporal ? rows.copy_non_temporal : rows.copy;
    const long planes = layout.cells[2] + 2;
    each_thread(how.threads, layout.cells[1], [&](int thread, long first, long last) {
        // The rows of ghosts go with the first and the last of the threads.
        const long rows_before = thread == 0 ? first : first + 1;
        const long rows_behind = thread + 1 == how.threads ? last + 2 : last + 1;
        for (long z = 0; z < planes; ++z) {
            const long at = layout.at(0, rows_before - 1, z - 1);
            copy(to + at, from + at, (rows_behind - rows_before) * layout.pitch / Layout::line);
        }
        rows.fence();
    });
    return how.bytes_per_update() * static_cast<double>(planes * layout.plane);
}

}  // namespace hockney
