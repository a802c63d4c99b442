#include "count.hpp"

#include <map>
#include <optional>

#include "../json.hpp"
#include "../library/sockets.hpp"
#include "../library/traffic.hpp"
#include "../ranks.hpp"
#include "ready.hpp"

namespace hockney {

std::string count_collective(const Request& request, const Group& group) {
    // The first call also makes connections, and what the library keeps for later ones.
    const ReadyCall ready(request, {static_cast<int>(request.whole("root"))}, 0, group, group.control);
    const bool by_kernel = request.whole("sockets") != 0;
    MPI_Barrier(group.control);
    std::map<Ends, long> before, now;
    if (by_kernel) before = sent_by_connection();
    const TrafficMeter meter(ready.selection().comm());
    ready.selection().begin();
    const int code = ready.call().run(ready.input().next(), ready.output().next(), ready.roots()[0]);
    ready.selection().end();
    const std::optional<Traffic> traffic = meter.since();
    if (by_kernel) now = sent_by_connection();
    require_all(code == MPI_SUCCESS, "library", "the second call failed", group.control);
    JsonObject answer;
    answer.add("type", "count").add("verified", ready.is_right());
    if (by_kernel)
        answer.raw("sockets_B", matrix_json(sent_to_ranks(before, now, group.control), group.control));
    if (all_agree(traffic.has_value(), group.control)) {
        answer.raw("messages", matrix_json(traffic->messages, group.control));
        answer.raw("bytes", matrix_json(traffic->bytes, group.control));
    }
    return group.rank == 0 ? answer.str() : "";
}

}  // namespace hockney
