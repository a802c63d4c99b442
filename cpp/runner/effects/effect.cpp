#include "effect.hpp"

#include <algorithm>

#include "../clock.hpp"
#include "../statistics.hpp"

namespace hockney {
namespace {

constexpr int meeting_tag = 99;

}  // namespace

void meet(MPI_Comm pair) {
    const int rank = rank_of(pair), partner = 1 - rank;
    if (rank == 0) {
        MPI_Send(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair);
        MPI_Recv(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair, MPI_STATUS_IGNORE);
        MPI_Send(nullptr, 0, MPI_BYTE, partner, meeting_tag, pair);
    }
}

Quiet keep_quiet(Repeated& repeated, std::vector<double> own_s, std::vector<int> preempted, MPI_Comm comm) {
    own_s.erase(own_s.begin());
    preempted.erase(preempted.begin());
    MPI_Allreduce(MPI_IN_PLACE, preempted.data(), static_cast<int>(preempted.size()), MPI_INT, MPI_MAX, comm);
    const auto quiet = static_cast<std::size_t>(std::count(preempted.begin(), preempted.end(), 0));
    std::vector<std::size_t> kept;
    for (std::size_t each = 0; each < preempted.size(); ++each)
        if (preempted[each] == 0 || quiet * 4 < preempted.size()) kept.push_back(each);
    repeated.samples_s = only(kept, repeated.samples_s);
    repeated.references.renumber(kept);
    const auto set_aside = static_cast<long>(preempted.size() - kept.size());
    return {kept, set_aside, gather(median(only(kept, own_s)), comm)};
}

std::vector<double> only(const std::vector<std::size_t>& kept, const std::vector<double>& samples_s) {
    std::vector<double> left_s;
    for (const std::size_t each : kept) left_s.push_back(samples_s[each]);
    return left_s;
}

void stay_away(double seconds) {
    if (seconds <= 0) return;
    compute_simulated(seconds);
    for (const double end_s = now_s() + seconds; !is_simulated && now_s() < end_s;) {
    }
}

}  // namespace hockney
