#include "late.hpp"

#include "../../clock.hpp"
#include "../effect.hpp"

namespace hockney {
namespace {

constexpr int message_tag = 1, go_tag = 2, result_tag = 3;
// The share of its patience that the sender leaves to the receiver to be away.
constexpr double leaving_share = 0.2;
// A process that was suspended has not waited: it must have asked often enough, too.
constexpr long least_tests = is_simulated ? 1 : 100;

Late send(Receiver receiver, double patience_s, double absence_s, const Payload& payload, Buffer& buffer,
          MPI_Comm pair) {
    Late late;
    const double before = now_s();
    meet(pair);
    stay_away(leaving_share * patience_s);
    const double start = now_s();
    MPI_Request request;
    MPI_Isend(buffer.next(), payload.count(), payload.type(), 1, message_tag, pair, &request);
    int is_done = 0;
    double end = start;
    for (long tests = 0; !is_done && (tests < least_tests || end < start + patience_s); ++tests) {
        MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
        end = now_s();
    }
    late.is_done = is_done != 0;
    late.sending_s = end - start;
    late.is_valid = receiver == Receiver::present || end < before + absence_s;
    if (receiver == Receiver::present) MPI_Send(nullptr, 0, MPI_BYTE, 1, go_tag, pair);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(&late.receiving_s, 1, MPI_DOUBLE, 1, result_tag, pair, MPI_STATUS_IGNORE);
    return late;
}

Late receive(Receiver receiver, double absence_s, const Payload& payload, Buffer& buffer, MPI_Comm pair) {
    Late late;
    meet(pair);
    if (receiver == Receiver::absent) {
        stay_away(absence_s);
    } else {
        for (int has_given_up = 0; !has_given_up;)
            MPI_Iprobe(0, go_tag, pair, &has_given_up, MPI_STATUS_IGNORE);
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, go_tag, pair, MPI_STATUS_IGNORE);
    }
    const double start = now_s();
    MPI_Recv(buffer.next(), payload.count(), payload.type(), 0, message_tag, pair, MPI_STATUS_IGNORE);
    late.receiving_s = now_s() - start;
    MPI_Send(&late.receiving_s, 1, MPI_DOUBLE, 0, result_tag, pair);
    return late;
}

}  // namespace

Late send_to_late(Receiver receiver, double patience_s, double absence_s, const Payload& payload,
                  Buffer& buffer, MPI_Comm pair) {
    const int rank = rank_of(pair);
    return rank == 0 ? send(receiver, patience_s, absence_s, payload, buffer, pair)
                     : receive(receiver, absence_s, payload, buffer, pair);
}

int done_early(int tries, double patience_s, const Payload& payload, Buffer& buffer, MPI_Comm pair) {
    int done = 0;
    for (int each = 0; each < tries; ++each)
        if (send_to_late(Receiver::present, patience_s, 0, payload, buffer, pair).is_done) ++done;
    return done;
}

}  // namespace hockney
