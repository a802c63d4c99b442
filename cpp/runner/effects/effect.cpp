#include "effect.hpp"

#include "../clock.hpp"

namespace hockney {
namespace {

constexpr int meeting_tag = 99;

}  // namespace

std::map<std::string, Effect>& effects() {
    static std::map<std::string, Effect> all;
    return all;
}

std::string run_effect(const Request& request, MPI_Comm comm) {
    return answered([&] { return effects().at(request.text("operation")).run(request, comm); });
}

void meet(MPI_Comm pair) {
    int rank = 0;
    MPI_Comm_rank(pair, &rank);
    const int partner = 1 - rank;
    if (rank == 0) {
        MPI_Send(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair);
        MPI_Recv(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair, MPI_STATUS_IGNORE);
        MPI_Send(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair);
    }
}

void burn(double seconds) {
    if (seconds <= 0) return;
    compute_simulated(seconds);
    for (const double end_s = now_s() + seconds; !is_simulated && now_s() < end_s;) {
    }
}

}  // namespace hockney
