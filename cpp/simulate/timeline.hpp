// When each step of a schedule happens, under LogGP.
#pragma once

#include <vector>

#include "../schedule/schedule.hpp"

namespace hockney {

// LogGP (Alexandrov et al. 1995): latency L, overhead o of the processor at either end, gap g between the
// starts of two messages of a rank, gap G for each further byte. Reductions and copies take a time for each
// byte.
struct LogGP {
    double latency_s = 0, overhead_s = 0, gap_s = 0, gap_s_per_B = 0;
    double reduce_s_per_B = 0, copy_s_per_B = 0;
};

// By rank and step: when the processor is busy with it, and for a receive when its data is there.
struct Timeline {
    std::vector<std::vector<double>> start_s, end_s, arrival_s;
    std::vector<double> finish_s;  // by rank
};

// A message of m bytes that starts at t has arrived at t + o + L + (m − 1)G; its receive ends o later. A rank
// takes its steps in the listed order and completes a receive when a step needs it, the remaining ones in the
// end: just as the runner does. Sends are complete when their overhead is spent (no rendezvous). The schedule
// is one that does not deadlock.
Timeline timeline(const Schedule& schedule, const LogGP& machine);

}  // namespace hockney
