// subsets: a collective on each of several disjoint subsets of the ranks, as large as one another, at the
// same time: what the transpositions of an FFT in pencils do (Hoefler, Gropp, Thakur, Träff, EuroMPI 2010).
//
//   effect operation=subsets members=0,2,4,6,1,3,5,7 of=alltoall algorithm=default ranks=4 bytes=1024
//          segment_B=0 radix=0 repetitions=0 …
//
// The first `ranks` members are one subset, the next `ranks` another, each a communicator of its own.
#include <algorithm>
#include <string>
#include <vector>

#include "../collective/offer.hpp"
#include "../collective/ready.hpp"
#include "../collective/repetition.hpp"
#include "effect.hpp"

namespace hockney::effect_subsets {
namespace {

// Starts that a rank came too late for are agreed upon anew, so many times at most, each with twice the
// slack.
constexpr int most_agreements = 8;

// The communicator of this rank's subset.
OwnComm part_of(MPI_Comm comm, int ranks) {
    const int rank = rank_of(comm);
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(comm, rank / ranks, rank, &part);
    return OwnComm(part);
}

// The request as one for that collective on a subset.
Request call_of(const Request& request) {
    std::string line = "collective rotate=0 root=0 start=window operation=" + request.text("of");
    for (const char* key : {"algorithm", "ranks", "bytes", "segment_B", "radix"})
        line += std::string(" ") + key + "=" + request.text(key);
    return Request(line);
}

// Completion times of one repetition: of this rank's subset, their mean over the subsets, the longest;
// whether some rank came too late for its start.
struct Completion {
    double own_s, mean_s, slowest_s;
    bool preempted, late;
};

// Repeats until all ranks were in time, or were asked often enough; `late` counts the repetitions done again.
Completion complete(RepetitionLoop& loop, const Group& subset, const Group& whole, long& late) {
    for (int agreement = 1;; ++agreement) {
        const EntryExit times = loop.once();
        const double mine[2] = {-whole.clock->to_global(times.entry_s), whole.clock->to_global(times.exit_s)};
        double extremes[2];
        MPI_Allreduce(mine, extremes, 2, MPI_DOUBLE, MPI_MAX, subset.control);
        const double own_s = extremes[0] + extremes[1];
        const double greatest[2] = {own_s, times.late ? 1.0 : 0.0};
        double over_all[2], sum_s = 0;
        MPI_Allreduce(greatest, over_all, 2, MPI_DOUBLE, MPI_MAX, whole.control);
        MPI_Allreduce(&own_s, &sum_s, 1, MPI_DOUBLE, MPI_SUM, whole.control);
        if (over_all[1] == 0 || agreement == most_agreements)
            return {own_s, sum_s / whole.ranks, over_all[0], times.preempted, over_all[1] != 0};
        ++late;
        loop.set_slack(2 * loop.slack_s());
    }
}

std::string run(const Request& request, MPI_Comm comm) {
    const int members = ranks_of(comm);
    const long asked = request.whole("ranks");
    if (asked < 2 || members % asked != 0)
        throw BadRequest("ranks must be 2 or more, and divide the number of members");
    const int ranks = static_cast<int>(asked);
    const Request call = call_of(request);
    check_collective(call, ranks);
    const StoppingRule rule = repetitions(request);
    const OwnComm part = part_of(comm, ranks);
    const Group subset(part.comm(), ranks), whole(comm, members);
    ReadyCall ready(call, {0}, 0, subset, comm);
    whole.clock->synchronise();
    RepetitionLoop loop(ready, whole, true);
    loop.gauge();
    std::vector<double> own_s, slowest_s;
    std::vector<int> preempted, came_late;
    long late = 0;
    Repeated repeated = repeat(rule, comm, [&] {
        const Completion done = complete(loop, subset, whole, late);
        own_s.push_back(done.own_s);
        slowest_s.push_back(done.slowest_s);
        preempted.push_back(done.preempted ? 1 : 0);
        came_late.push_back(done.late ? 1 : 0);
        return done.mean_s;
    });
    const Quiet quiet = keep_quiet(repeated, own_s, preempted, comm);
    // The repetition that warms up.
    slowest_s.erase(slowest_s.begin());
    came_late.erase(came_late.begin());
    const double clock_error_s = whole.clock->residual_s();
    const bool is_right = all_agree(ready.verify(), comm);
    const bool is_proved = all_agree(ready.selection().proved(), comm);
    JsonObject record;
    record.add("type", "record");
    add_times(record, repeated);
    std::vector<double> subset_s;
    for (std::size_t first = 0; first < quiet.medians_s.size(); first += static_cast<std::size_t>(ranks))
        subset_s.push_back(quiet.medians_s[first]);
    record.add("slowest_s", only(quiet.kept, slowest_s)).add("subset_s", subset_s);
    long late_kept = 0;
    for (const std::size_t sample : quiet.kept) late_kept += came_late[sample];
    record.add("preempted", quiet.set_aside).add("late", late).add("late_kept", late_kept);
    record.add("clock_error_s", clock_error_s);
    return record.add("proved", is_proved).add("verified", is_right).str();
}

const RegisterEffect registered("subsets", {run, any_number});

}  // namespace
}  // namespace hockney::effect_subsets
