// A message goes from rank 0 to rank 1 and another of its size comes back; both check what they received.
//
//   app operation=pong ranks=2 bytes=1024 repetitions=0 least_samples=6 budget_s=2 tolerance=0.01
#include <climits>
#include <numeric>

#include "../clock.hpp"
#include "app.hpp"

namespace hockney::app_pong {
namespace {

// Of another rank every byte differs.
std::vector<unsigned char> message(long size_B, int rank) {
    std::vector<unsigned char> bytes(static_cast<std::size_t>(size_B));
    std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(rank));
    return bytes;
}

std::string run(const Request& request, MPI_Comm comm) {
    const long size_B = request.whole("bytes", 0, INT_MAX);
    const StoppingRule rule = repetitions(request);
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    if (ranks != 2) throw BadRequest("pong has 2 ranks, not " + std::to_string(ranks));
    require_memory(3.0 * static_cast<double>(size_B), comm);

    const int length = static_cast<int>(size_B), peer = 1 - rank;
    const auto sent = message(size_B, rank), expected = message(size_B, peer);
    auto received = sent;
    long wrong = 0;
    const Repeated repeated = repeat(rule, comm, [&] {
        received = sent;
        const double start_s = now_s();
        if (rank == 0) MPI_Send(sent.data(), length, MPI_BYTE, peer, 0, comm);
        MPI_Recv(received.data(), length, MPI_BYTE, peer, 0, comm, MPI_STATUS_IGNORE);
        if (rank == 1) MPI_Send(sent.data(), length, MPI_BYTE, peer, 0, comm);
        const double took_s = now_s() - start_s;
        if (received != expected) ++wrong;
        return took_s;
    });
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, comm);
    JsonObject record;
    record.add("type", "record");
    add_times(record, repeated);
    return record.add("verified", wrong == 0).add("wrong_messages", wrong).str();
}

const RegisterApp registered("pong", {run});

}  // namespace
}  // namespace hockney::app_pong
