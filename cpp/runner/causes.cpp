// Linux tells these in /proc (man 5 proc_stat, Documentation/scheduler/sched-stats.rst, proc_pid_sched) and
// in /sys (Documentation/admin-guide/pm/cpufreq.rst). What is not there has no number.
#include "causes.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "clock.hpp"
#include "placement.hpp"
#include "point.hpp"
#include "ranks.hpp"

namespace hockney {
namespace {

// The kernel writes its table of all processors and interrupts at each reading. Where that takes longer, on
// hundreds of processors, it would take too much of a short visit.
constexpr double most_table_s = 0.3e-3;

// All of these stay the same: a rank is bound when it starts.
struct Processors {
    std::vector<long> own = affinity();
    std::vector<long> siblings = other_threads(own);
};

struct Table {
    double stolen_s = NAN, siblings_busy_s = NAN;
};

bool holds(const std::vector<long>& processors, long processor) {
    return std::find(processors.begin(), processors.end(), processor) != processors.end();
}

void count(double& sum, double more) { sum = std::isnan(sum) ? more : sum + more; }

Table processor_table() {
    static const Processors processors;
    static double quickest_s = 0;
    Table table;
    if (quickest_s > most_table_s) return table;
    const double start_s = now_s();
    const double tick_s = 1 / static_cast<double>(sysconf(_SC_CLK_TCK));
    std::ifstream file("/proc/stat");
    for (std::string line; std::getline(file, line) && line.compare(0, 3, "cpu") == 0;) {
        // The first line is of all processors and has no number.
        if (line[3] == ' ') continue;
        const long processor = std::stol(line.substr(3));
        const bool is_own = holds(processors.own, processor);
        if (!is_own && !holds(processors.siblings, processor)) continue;
        std::istringstream fields(line.substr(line.find(' ')));
        double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, interrupts = 0, soft = 0, stolen = 0;
        if (!(fields >> user >> nice >> system >> idle >> waiting >> interrupts >> soft >> stolen)) continue;
        if (is_own)
            // A rank that may run anywhere is on one of them at a time.
            count(table.stolen_s, stolen * tick_s / static_cast<double>(processors.own.size()));
        else
            count(table.siblings_busy_s, (user + nice + system + interrupts + soft) * tick_s);
    }
    const double took_s = now_s() - start_s;
    quickest_s = quickest_s == 0 ? took_s : std::min(quickest_s, took_s);
    return table;
}

// Run time, waiting time and time slices.
double waited_s() {
    std::ifstream file("/proc/thread-self/schedstat");
    double ran_ns = 0, waited_ns = 0;
    return file >> ran_ns >> waited_ns ? waited_ns * 1e-9 : NAN;
}

double migrations() {
    std::ifstream file("/proc/thread-self/sched");
    for (std::string line; std::getline(file, line);)
        if (line.compare(0, 16, "se.nr_migrations") == 0) {
            std::istringstream number(line.substr(line.find(':') + 1));
            double times = 0;
            return number >> times ? times : NAN;
        }
    return NAN;
}

double frequency_Hz() {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(sched_getcpu()) +
                       "/cpufreq/scaling_cur_freq");
    double frequency_kHz = 0;
    return file >> frequency_kHz ? frequency_kHz * 1e3 : NAN;
}

}  // namespace

void Causes::add_to(JsonObject& record) const {
    if (std::isnan(span_s)) return;
    JsonObject causes;
    const auto add = [&causes](const char* name, double value) {
        if (!std::isnan(value)) causes.add(name, value);
    };
    const auto add_count = [&causes](const char* name, double value) {
        if (!std::isnan(value)) causes.add(name, std::lround(value));
    };
    add("span_s", span_s);
    add("took_s", took_s);
    add_count("involuntary_switches", involuntary_switches);
    add_count("migrations", migrations);
    add("waited_s", waited_s);
    add("stolen_s", stolen_s);
    add("siblings_busy_s", siblings_busy_s);
    add("frequency_Hz", frequency_Hz);
    record.raw("causes", causes.str());
}

Causes combined(const std::vector<Causes>& of_ranks) {
    Causes all = of_ranks.front();
    for (std::size_t rank = 1; rank < of_ranks.size(); ++rank) {
        const Causes& other = of_ranks[rank];
        // A rank that is not told makes a sum unknown; of a largest value it is left out, as fmax does.
        all.involuntary_switches += other.involuntary_switches;
        all.migrations += other.migrations;
        all.span_s = std::fmax(all.span_s, other.span_s);
        all.took_s = std::fmax(all.took_s, other.took_s);
        all.waited_s = std::fmax(all.waited_s, other.waited_s);
        all.stolen_s = std::fmax(all.stolen_s, other.stolen_s);
        all.siblings_busy_s = std::fmax(all.siblings_busy_s, other.siblings_busy_s);
        all.frequency_Hz = std::fmin(all.frequency_Hz, other.frequency_Hz);
    }
    return all;
}

Causes combined(const Causes& own, MPI_Comm comm) {
    if (is_simulated) return own;
    const int rank = rank_of(comm), ranks = ranks_of(comm);
    std::vector<Causes> of_ranks(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
    constexpr int numbers = sizeof(Causes) / sizeof(double);
    MPI_Gather(&own, numbers, MPI_DOUBLE, of_ranks.data(), numbers, MPI_DOUBLE, 0, comm);
    return rank == 0 ? combined(of_ranks) : own;
}

CausesWatch::CausesWatch() {
    if (is_simulated) return;
    begin_s_ = now_s();
    first_ = look();
    first_look_s_ = now_s() - begin_s_;
}

Causes CausesWatch::so_far() const {
    if (is_simulated) return {};
    const double second_s = now_s();
    const Counts now = look();
    const double now_Hz = frequency_Hz();
    return {second_s - begin_s_,
            first_look_s_ + now_s() - second_s,
            now.switches - first_.switches,
            now.migrations - first_.migrations,
            now.waited_s - first_.waited_s,
            now.stolen_s - first_.stolen_s,
            now.siblings_busy_s - first_.siblings_busy_s,
            now_Hz};
}

CausesWatch::Counts CausesWatch::look() {
    const Table table = processor_table();
    return {static_cast<double>(involuntary_switches()), migrations(), waited_s(), table.stolen_s,
            table.siblings_busy_s};
}

}  // namespace hockney
