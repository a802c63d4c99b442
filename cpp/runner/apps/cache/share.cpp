#include "share.hpp"

#include <algorithm>
#include <vector>

#include "../../clock.hpp"
#include "../../placement.hpp"
#include "../../ranks.hpp"

namespace hockney {
namespace {

constexpr CacheShare common{512.0 * 1024, 2048.0 * 1024};

}  // namespace

CacheShare cache_share(MPI_Comm comm) {
    if (is_simulated) return common;
    std::vector<Cache> caches = own_caches();
    caches.erase(std::remove_if(caches.begin(), caches.end(), [](const Cache& c) { return !c.holds_data(); }),
                 caches.end());
    // The first processor of those that share a last level names it on its host.
    int name =
        caches.empty() || caches.back().shared.empty() ? -1 : static_cast<int>(caches.back().shared.front());
    const OwnComm host = host_ranks(comm);
    std::vector<int> all(static_cast<std::size_t>(ranks_of(host.comm())));
    MPI_Allgather(&name, 1, MPI_INT, all.data(), 1, MPI_INT, host.comm());
    if (name < 0) return common;
    CacheShare share;
    for (const Cache& cache : caches)
        if (&cache != &caches.back() && !cache.shared.empty())
            share.own_B = std::max(share.own_B, cache.size_B / static_cast<double>(cache.shared.size()));
    share.shared_B = caches.back().size_B / static_cast<double>(std::count(all.begin(), all.end(), name));
    return share;
}

}  // namespace hockney
