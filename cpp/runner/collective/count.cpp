#include "count.hpp"

#include <map>
#include <optional>
#include <stdexcept>
#include <vector>

#include "../buffers.hpp"
#include "../json.hpp"
#include "../library/sockets.hpp"
#include "../library/traffic.hpp"
#include "../point.hpp"
#include "offer.hpp"
#include "ready.hpp"
#include "verify.hpp"

namespace hockney {

std::string count_collective(const Request& request, const Group& group) {
    const Collective& collective = *find_collective(request.text("operation"));
    const Problem problem = problem_of(request);
    const std::vector<int> roots{problem.root};
    const auto [input_B, output_B] = sizes_B(collective, problem, roots, group.rank);
    double needed_B = static_cast<double>(input_B + output_B);
    if (!fits_memory(needed_B, group)) return group.rank == 0 ? memory_refusal(needed_B).str() : "";
    Buffer input(static_cast<std::size_t>(input_B), 0), output(static_cast<std::size_t>(output_B), 0);
    Ready ready;
    try {
        ready = make_ready(request, problem, roots, group);
    } catch (const std::runtime_error& error) {
        return group.rank == 0 ? refused("library", error.what()) : "";
    }
    // The first call also makes connections, and what the library keeps for later ones.
    const Verdict first =
        verify(*ready.call, *ready.selection, collective, problem, roots, input, output, 1, group);
    if (!all_agree(first.error.empty(), group.control))
        return group.rank == 0 ? refused("library", first.error) : "";
    const bool by_kernel = request.whole("sockets") != 0;
    MPI_Barrier(group.control);
    std::map<Ends, long> before, now;
    if (by_kernel) before = sent_by_connection();
    const TrafficMeter meter(ready.selection->comm());
    ready.selection->begin();
    const int code = ready.call->run(input.next(), output.next(), problem.root);
    ready.selection->end();
    const std::optional<Traffic> traffic = meter.since();
    if (by_kernel) now = sent_by_connection();
    if (!all_agree(code == MPI_SUCCESS, group.control))
        return group.rank == 0 ? refused("library", "the second call failed") : "";
    JsonObject answer;
    answer.add("type", "count").add("verified", first.right);
    if (by_kernel)
        answer.raw("sockets_B", matrix_json(sent_to_ranks(before, now, group.control), group.control));
    if (all_agree(traffic.has_value(), group.control)) {
        answer.raw("messages", matrix_json(traffic->messages, group.control));
        answer.raw("bytes", matrix_json(traffic->bytes, group.control));
    }
    return group.rank == 0 ? answer.str() : "";
}

}  // namespace hockney
