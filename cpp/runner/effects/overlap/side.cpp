#include "side.hpp"

#include <vector>

#include "../../clock.hpp"
#include "../../statistics.hpp"
#include "../effect.hpp"
#include "../synchronisation/late.hpp"

namespace hockney {
namespace {

constexpr int data_tag = 1, ready_tag = 2;

void partner(bool sends, const Payload& payload, Buffer& buffer, MPI_Comm pair) {
    MPI_Request request;
    if (sends) {
        MPI_Irecv(buffer.next(), payload.count(), payload.type(), 0, data_tag, pair, &request);
        meet(pair);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        meet(pair);
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, ready_tag, pair, MPI_STATUS_IGNORE);
        MPI_Send(buffer.next(), payload.count(), payload.type(), 0, data_tag, pair);
    }
}

}  // namespace

Planted::Planted(const Request& request)
    : call_s(request.real("planted_call_s", 0)),
      byte_s(request.real("planted_byte_s", 0)),
      transfer_s(request.real("planted_transfer_s", 0)),
      share(request.real("planted_share", 0, 1)) {}

Repetition overlap_once(bool sends, const Computation& computation, const Planted& planted,
                        const Payload& payload, Buffer& buffer, MPI_Comm pair) {
    const int rank = rank_of(pair);
    if (rank != 0) {
        partner(sends, payload, buffer, pair);
        return {};
    }
    Repetition times;
    MPI_Request request;
    meet(pair);
    const double begin = now_s();
    if (sends) {
        MPI_Isend(buffer.next(), payload.count(), payload.type(), 1, data_tag, pair, &request);
    } else {
        MPI_Irecv(buffer.next(), payload.count(), payload.type(), 1, data_tag, pair, &request);
    }
    const double work_s = planted.call_s + planted.byte_s * static_cast<double>(payload.bytes());
    stay_away(work_s);
    const double started = now_s();
    times.start_s = started - begin;
    // The partner sends when it is told to: after the receive was posted, which is what is timed.
    if (!sends) MPI_Send(nullptr, 0, MPI_BYTE, 1, ready_tag, pair);

    const double piece_s = computation.seconds / static_cast<double>(computation.tests + 1);
    int is_done = 0;
    for (long piece = 0; computation.seconds > 0 && piece <= computation.tests; ++piece) {
        stay_away(piece_s);
        if (piece == computation.tests) break;
        const double asked = now_s();
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        const double told = now_s();
        // A call that completes the transfer has done more than to look.
        if (!is_done) {
            times.tests_s += told - asked;
            ++times.tests;
        }
        if (is_done) {
            stay_away(piece_s * static_cast<double>(computation.tests - piece));
            break;
        }
    }
    const double computed = now_s();
    if (!is_done) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (planted.transfer_s > 0) {
        stay_away(started + planted.share * planted.transfer_s - now_s());
        stay_away((1 - planted.share) * planted.transfer_s);
    }
    const double end = now_s();
    times.wait_s = end - computed;
    times.total_s = end - begin;
    return times;
}

double clock_cost_s() {
    constexpr int readings = 201;
    std::vector<double> costs_s;
    for (int each = 0; each < readings; ++each) {
        const double before = now_s();
        costs_s.push_back(now_s() - before);
    }
    return median(costs_s);
}

}  // namespace hockney
