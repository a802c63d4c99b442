// overlap: how much of a transfer proceeds while its host computes, and how long the library's calls keep it.
//
//   effect operation=overlap members=0,1 bytes=65536 side=sender|receiver tests=0 factor=2
//          repetitions=101 least_samples=6 budget_s=0.25 planted_call_s=0 planted_byte_s=0
//          planted_transfer_s=0 planted_share=0 [thread_cpus=2,3]
//
// Rank 0 starts the transfer, computes `factor` times as long as the transfer takes alone, calls MPI_Test
// `tests` times meanwhile, and waits for the rest (as Doerfler and Brightwell, EuroPVM/MPI 2006, for the
// availability of hosts). With `thread_cpus` a second thread of it calls the library
// all the time, on one of these processors.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "../clock.hpp"
#include "../point.hpp"
#include "effect.hpp"
#include "overlap/progress_thread.hpp"
#include "overlap/side.hpp"
#include "synchronisation/late.hpp"

namespace hockney::effect_overlap {
namespace {

// How often the protocol is asked for, and how long a send that needs no receive may take.
constexpr int protocol_tries = 5;
constexpr double protocol_patience_s = is_simulated ? 1.0 : 1e-4;
constexpr int warm_up = 5, most_cpus = 1024;
// Where the system takes processors away: how long both ranks sleep, and how many budgets may be spent until
// there are enough repetitions in which it did not.
constexpr useconds_t pause_us = 2000;
constexpr double patient_budgets = 3;

struct Plan {
    long bytes, tests, least, most;
    double factor, budget_s;

    explicit Plan(const Request& request)
        : bytes(request.whole("bytes", 0)),
          tests(request.whole("tests", 0)),
          least(request.whole("least_samples", 1)),
          most(request.whole("repetitions", least, 10000)),
          factor(request.positive("factor")),
          budget_s(request.positive("budget_s")) {}
};

std::string run(const Request& request, MPI_Comm comm) {
    const Plan plan(request);
    const Planted planted(request);
    const bool is_sender = request.choice("side", {"sender", "receiver"}) == 0;
    const auto bytes = static_cast<std::size_t>(plan.bytes);
    require_memory(static_cast<double>(Buffer::total_B(bytes, 0)), comm);
    const int rank = rank_of(comm);
    std::unique_ptr<ProgressThread> helper;
    if (request.has("thread_cpus"))
        helper = progress_thread_on(request.wholes("thread_cpus", most_cpus), comm);
    const bool receives = is_sender == (rank == 1);
    const Payload payload(bytes);
    Buffer buffer(bytes, 0);
    buffer.fill(0, 0);
    const int early = done_early(protocol_tries, protocol_patience_s, payload, buffer, comm);

    bool is_disturbed = false;
    const auto once = [&](const Computation& computation) {
        const long before = involuntary_switches();
        const Repetition times = overlap_once(is_sender, computation, planted, payload, buffer, comm);
        const bool is_calm = all_agree(involuntary_switches() == before, comm);
        is_disturbed = is_disturbed || !is_calm;
        // Who slept is let run for a while; both wake together.
        if (!is_calm && !is_simulated) usleep(pause_us);
        return times;
    };
    std::vector<double> warm_s;
    for (int each = 0; each < warm_up; ++each) warm_s.push_back(once({}).total_s);
    const Computation computation{plan.factor * *std::min_element(warm_s.begin(), warm_s.end()), plan.tests};

    std::vector<double> alone_s, total_s, start_s, wait_s, tests_s;
    std::vector<long> tests, disturbed;
    if (receives) buffer.poison(0, 0);
    const double begin = now_s();
    long calm = 0;
    const auto goes_on = [&] {
        const auto done = static_cast<long>(total_s.size());
        const double allowed_s = (calm < plan.least ? patient_budgets : 1) * plan.budget_s;
        return done < plan.least || (done < plan.most && now_s() - begin < allowed_s);
    };
    Rounds rounds(comm);
    while (rounds.next(goes_on())) {
        is_disturbed = false;
        alone_s.push_back(once({}).total_s);
        const Repetition times = once(computation);
        total_s.push_back(times.total_s);
        start_s.push_back(times.start_s);
        wait_s.push_back(times.wait_s);
        tests_s.push_back(times.tests_s);
        tests.push_back(times.tests);
        disturbed.push_back(is_disturbed ? 1 : 0);
        if (!is_disturbed) ++calm;
    }
    const bool is_right = all_agree(!receives || buffer.holds(0, 0), comm);

    JsonObject record;
    record.add("type", "record").add("done_early", early).add("tries", protocol_tries);
    record.add("computation_s", computation.seconds).add("clock_s", clock_cost_s());
    record.add("alone_s", alone_s).add("total_s", total_s).add("start_s", start_s).add("wait_s", wait_s);
    record.add("tests_s", tests_s).add("tests", tests).add("disturbed", disturbed);
    rounds.references().add_to(record);
    return record.add("verified", is_right).str();
}

const RegisterEffect registered("overlap", {run});

}  // namespace
}  // namespace hockney::effect_overlap
