#include "repetition.hpp"

#include <algorithm>
#include <vector>

#include "../clock.hpp"
#include "../point.hpp"
#include "../statistics.hpp"

namespace hockney {
namespace {

// A window opens this many agreements after the agreement: most ranks are there in time.
constexpr double first_slack_agreements = 2;
constexpr double least_slack_s = 0.5e-6, most_slack_s = 20e-3;
// A rank that waits for its window reads the clock every few tens of nanoseconds. The readings of two ranks
// keep their places to each other for a whole visit, and so does who enters first, which decides whether a
// receiver already looks at the line that the sender writes: 70 or 120 ns for the same broadcast. Each rank
// starts to read after so many idle turns at random, more than a reading takes.
constexpr unsigned most_idle_turns = is_simulated ? 1 : 256;
constexpr int gauges = is_simulated ? 1 : 9;  // agreements timed to find the slack

}  // namespace

RepetitionLoop::RepetitionLoop(const ReadyCall& ready, const Group& group, bool windows)
    : ready_(ready),
      group_(group),
      windows_(windows),
      random_(static_cast<unsigned>(group.rank) + 1),
      slack_s_(least_slack_s) {}

EntryExit RepetitionLoop::once() {
    EntryExit times{};
    const int root = times.root = ready_.roots()[next_++ % ready_.roots().size()];
    std::byte* input = ready_.input().next();
    std::byte* output = ready_.output().next();
    Selection& selection = ready_.selection();
    const long switches = involuntary_switches();
    if (windows_) {
        const double start_s = agree_on_start();
        selection.begin();
        spin(static_cast<long>(random_() % most_idle_turns));
        times.late = now_s() > start_s;
        wait_until(start_s);
    } else {
        MPI_Barrier(group_.control);
        selection.begin();
    }
    times.entry_s = now_s();
    ready_.call().run(input, output, root);
    times.exit_s = now_s();
    selection.end();
    times.preempted = involuntary_switches() != switches;
    return times;
}

void RepetitionLoop::gauge() {
    std::vector<double> costs;
    for (int i = 0; i < gauges; ++i) {
        const double start_s = now_s();
        agree_on_start();
        costs.push_back(now_s() - start_s);
    }
    double slack_s = first_slack_agreements * median(costs);
    MPI_Bcast(&slack_s, 1, MPI_DOUBLE, 0, group_.control);
    set_slack(slack_s);
}

void RepetitionLoop::set_slack(double slack_s) {
    slack_s_ = std::clamp(slack_s, least_slack_s, most_slack_s);
}

double RepetitionLoop::agree_on_start() {
    const double here_s = group_.clock->to_global(now_s());
    double latest_s = 0;
    MPI_Allreduce(&here_s, &latest_s, 1, MPI_DOUBLE, MPI_MAX, group_.control);
    return group_.clock->to_local(latest_s + slack_s_);
}

}  // namespace hockney
