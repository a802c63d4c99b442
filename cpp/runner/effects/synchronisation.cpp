// synchronisation: whether a send waits for its receiver, and whether a message travels before it is
// received.
//
//   effect operation=synchronisation members=0,1 bytes=1024 delay_s=1e-3 repetitions=0 …
//
// The receiver comes `delay_s` late. Above the library's limit the sender waits for it: S of LogGPS (Ino,
// Fujimoto, Hagihara, PPoPP 2001).
#include <vector>

#include "../buffers.hpp"
#include "../clock.hpp"
#include "effect.hpp"

namespace hockney {
namespace {

constexpr int tag = 1;

void wait_for(double seconds) {
    compute_simulated(seconds);
    for (const double end = now_s() + seconds; now_s() < end && !is_simulated;) {
    }
}

std::string run(const Request& request, MPI_Comm comm) {
    const auto bytes = static_cast<std::size_t>(request.whole("bytes"));
    const double delay_s = request.real("delay_s");
    const Repetitions repetitions(request);
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    const Payload payload(bytes);
    Buffer buffer(bytes, 0);
    std::vector<double> late;
    const std::vector<double> sending = repeat(repetitions, comm, [&] {
        meet(comm);
        if (rank == 1) wait_for(delay_s);
        const double start = now_s();
        if (rank == 0) {
            MPI_Send(buffer.next(), payload.count(), payload.type(), 1, tag, comm);
            return now_s() - start;
        }
        MPI_Recv(buffer.next(), payload.count(), payload.type(), 0, tag, comm, MPI_STATUS_IGNORE);
        late.push_back(now_s() - start);
        return 0.0;
    });
    JsonObject record;
    record.add("type", "record");
    add_times(record, sending);
    return record.str();
}

const RegisterEffect registered("synchronisation", {run});

}  // namespace
}  // namespace hockney
