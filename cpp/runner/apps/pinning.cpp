// Where each rank and each of its OpenMP threads may run, and where it does while it works.
//
//   app operation=pinning ranks=4 work_s=0.01 samples=20 repetitions=5 least_samples=6 budget_s=2
//   tolerance=0.01
//
// In each repetition every thread computes for `work_s` of its own processor time and looks `samples` times
// at the processor it is on. Its share of a processor is that time over the time that passed: two threads on
// one processor have a half each.
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>
#include <map>

#include "../clock.hpp"
#include "../placement.hpp"
#include "app.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef SMPI_H
#include <simgrid/host.h>
#endif

namespace hockney::app_pinning {
namespace {

constexpr double least_work_s = 1e-9, most_work_s = 10;
constexpr long most_looks = 1000000;
// What places OpenMP's threads, for any of its runtimes.
const char* const asked_by[] = {"OMP_NUM_THREADS", "OMP_PLACES", "OMP_PROC_BIND", "GOMP_CPU_AFFINITY",
                                "KMP_AFFINITY"};

#ifdef _OPENMP
constexpr bool has_openmp = true;
int threads_to_come() { return omp_get_max_threads(); }
int this_thread() { return omp_get_thread_num(); }
#else
constexpr bool has_openmp = false;
int threads_to_come() { return 1; }
int this_thread() { return 0; }
#endif

struct Thread {
    std::vector<long> allowed;
    std::map<long, long> looks;  // by processor
    long migrations = 0;
    double processor_s = 0, passed_s = 0;
};

#ifdef SMPI_H
void work(Thread&, double work_s, long) { compute_simulated(work_s); }
#else
double processor_time_s() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void work(Thread& thread, double work_s, long samples) {
    thread.allowed = affinity();
    const double start_s = now_s(), from_s = processor_time_s();
    long before = -1;
    for (long sample = 1; sample <= samples; ++sample) {
        const double until_s = from_s + work_s * static_cast<double>(sample) / static_cast<double>(samples);
        while (processor_time_s() < until_s) {
        }
        const long cpu = sched_getcpu();
        if (before >= 0 && cpu != before) ++thread.migrations;
        ++thread.looks[cpu];
        before = cpu;
    }
    thread.processor_s += processor_time_s() - from_s;
    thread.passed_s += now_s() - start_s;
}
#endif

// A thread starts each repetition on a processor of its choice: a move between two of them counts as well.
void add(Thread& all, const Thread& one) {
    if (!all.looks.empty() && !one.looks.empty() && all.looks.count(one.looks.begin()->first) == 0)
        ++all.migrations;
    all.allowed = one.allowed;
    for (const auto& [cpu, count] : one.looks) all.looks[cpu] += count;
    all.migrations += one.migrations;
    all.processor_s += one.processor_s;
    all.passed_s += one.passed_s;
}

std::string thread_json(std::size_t number, const Thread& thread) {
    std::vector<long> cpus, looks;
    for (const auto& [cpu, count] : thread.looks) {
        cpus.push_back(cpu);
        looks.push_back(count);
    }
    JsonObject json;
    json.add("thread", static_cast<long>(number)).add("allowed", thread.allowed);
    json.add("cpus", cpus).add("looks", looks).add("migrations", thread.migrations);
    return json.add("processor_s", thread.processor_s).add("passed_s", thread.passed_s).str();
}

std::string host_name() {
    char name[MPI_MAX_PROCESSOR_NAME + 256] = "";
#ifdef SMPI_H
    int length = 0;
    MPI_Get_processor_name(name, &length);
#else
    gethostname(name, sizeof name - 1);
#endif
    return name;
}

std::string rank_json(int rank, const std::vector<Thread>& threads) {
    JsonObject asked;
    for (const char* name : asked_by)
        if (const char* value = std::getenv(name)) asked.add(name, value);
    std::vector<std::string> list;
    for (std::size_t number = 0; number < threads.size(); ++number)
        list.push_back(thread_json(number, threads[number]));
    JsonObject json;
    json.add("rank", rank).add("host", host_name()).add("machine", clock_domain());
    json.add("launched", is_simulated ? std::vector<long>() : launched_affinity());
    return json.raw("environment", asked.str()).raw("threads", json_list(list)).str();
}

std::string host_json(int rank) {
    JsonObject host;
    host.add("host", host_name()).add("first_rank", rank).raw("cpus", processors_json());
#ifdef SMPI_H
    host.add("cores", static_cast<long>(sg_host_core_count(sg_host_self())));
#endif
    return host.str();
}

std::string run(const Request& request, MPI_Comm comm) {
    const double work_s = request.real("work_s", least_work_s, most_work_s);
    const long samples = request.whole("samples", 1, most_looks);
    const int rank = rank_of(comm);
    const OwnComm host = host_ranks(comm);

    std::vector<Thread> threads(static_cast<std::size_t>(threads_to_come()));
    bool is_warm = false;
    const Repeated repeated = repeat(repetitions(request), comm, [&] {
        std::vector<Thread> now(threads.size());
        const double start_s = now_s();
#ifdef _OPENMP
#pragma omp parallel
#endif
        work(now[static_cast<std::size_t>(this_thread())], work_s, samples);
        const double passed_s = now_s() - start_s;
        // While they warm up threads are made and move to their places.
        if (is_warm)
            for (std::size_t each = 0; each < threads.size(); ++each) add(threads[each], now[each]);
        is_warm = true;
        return passed_s;
    });
    const std::vector<std::string> ranks = gather(rank_json(rank, threads), comm);
    const std::vector<std::string> hosts = gather(rank_of(host.comm()) == 0 ? host_json(rank) : "", comm);
    JsonObject record;
    record.add("type", "record");
    add_times(record, repeated);
    record.add("openmp", has_openmp);
    return record.raw("ranks", json_list(ranks)).raw("hosts", json_list(hosts)).str();
}

const RegisterApp registered("pinning", {run});

}  // namespace
}  // namespace hockney::app_pinning
