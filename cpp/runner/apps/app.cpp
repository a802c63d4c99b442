#include "app.hpp"

#include <algorithm>
#include <cmath>

#include "../clock.hpp"
#include "../placement.hpp"
#include "../point.hpp"
#include "../statistics.hpp"
#include "../stopping.hpp"

#ifdef SMPI_H
#include <simgrid/actor.h>
#endif

namespace hockney {
namespace {

// With fewer repetitions than this no interval of the median lies inside their extremes.
constexpr long most_repetitions = 100000;

std::string refusal_json(const char* reason, const std::string& message) {
    return JsonObject().add("type", "refused").add("reason", reason).add("message", message).str();
}

}  // namespace

std::map<std::string, App>& apps() {
    static std::map<std::string, App> all;
    return all;
}

Refusal::Refusal(const char* reason, const std::string& message)
    : std::runtime_error(refusal_json(reason, message)) {}

std::string answered(const std::function<std::string()>& run) {
    try {
        return run();
    } catch (const Refusal& refusal) {
        return refusal.what();
    } catch (const BadRequest& error) {
        return JsonObject().add("type", "error").add("message", error.what()).str();
    }
}

std::string run_app(const Request& request, MPI_Comm comm) {
    return answered([&] { return apps().at(request.text("operation")).run(request, comm); });
}

void require_memory(double needed_B, MPI_Comm comm) {
    // Ranks of one host share its memory; what a simulation runs on is one host whatever it simulates.
    MPI_Comm host;
    if (is_simulated)
        MPI_Comm_dup(comm, &host);
    else
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    double together_B = 0;
    MPI_Allreduce(&needed_B, &together_B, 1, MPI_DOUBLE, MPI_SUM, host);
    const double free_B = available_memory_B();
    // The worst host: what is missing there, then what it needs and has.
    int rank = 0;
    MPI_Comm_rank(comm, &rank);
    struct {
        double missing_B;
        int rank;
    } mine{free_B > 0 ? together_B - memory_share * free_B : -1, rank}, worst{};
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    double amounts_B[2] = {together_B, free_B};
    MPI_Bcast(amounts_B, 2, MPI_DOUBLE, worst.rank, comm);
    MPI_Comm_free(&host);
    if (worst.missing_B > 0) {
        JsonObject refusal;
        refusal.add("type", "refused").add("reason", "memory").add("needed_B", amounts_B[0]);
        throw Refusal(refusal.add("available_B", amounts_B[1]).str());
    }
}

void require_all(bool is_fine, const char* reason, const std::string& message, MPI_Comm comm) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int mine = is_fine ? ranks : rank, first = ranks;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks) return;
    std::string told = message;
    int length = static_cast<int>(told.size());
    MPI_Bcast(&length, 1, MPI_INT, first, comm);
    told.resize(static_cast<std::size_t>(length));
    MPI_Bcast(told.data(), length, MPI_CHAR, first, comm);
    throw Refusal(reason, told);
}

std::vector<double> gather(double value, MPI_Comm comm) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    std::vector<double> all(rank == 0 ? static_cast<std::size_t>(ranks) : 0);
    MPI_Gather(&value, 1, MPI_DOUBLE, all.data(), 1, MPI_DOUBLE, 0, comm);
    return all;
}

std::vector<std::string> gather(const std::string& text, MPI_Comm comm) {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const int mine = static_cast<int>(text.size());
    std::vector<int> lengths(rank == 0 ? static_cast<std::size_t>(ranks) : 0), starts;
    MPI_Gather(&mine, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, comm);
    int total = 0;
    for (const int length : lengths) {
        starts.push_back(total);
        total += length;
    }
    std::string together(static_cast<std::size_t>(total), '\0');
    MPI_Gatherv(text.data(), mine, MPI_CHAR, together.data(), lengths.data(), starts.data(), MPI_CHAR, 0,
                comm);
    std::vector<std::string> all;
    for (std::size_t each = 0; each < lengths.size(); ++each)
        all.push_back(
            together.substr(static_cast<std::size_t>(starts[each]), static_cast<std::size_t>(lengths[each])));
    return all;
}

Repetitions::Repetitions(const Request& request) {
    const long fixed = request.whole("repetitions");
    if (fixed < 0 || fixed > most_repetitions)
        throw BadRequest("repetitions must be from 0 to " + std::to_string(most_repetitions));
    least = fixed > 0 ? fixed : request.whole("least_samples");
    most = fixed > 0 ? fixed : most_repetitions;
    budget_s = request.real("budget_s");
    tolerance = request.real("tolerance");
    if (least < 1) throw BadRequest("least_samples must be at least 1");
    if (!(budget_s > 0) || !(tolerance > 0)) throw BadRequest("budget_s and tolerance must be positive");
}

Repeated repeat(const Repetitions& repetitions, MPI_Comm comm, const std::function<double()>& once) {
    StoppingRule rule;
    rule.tolerance = repetitions.tolerance;
    rule.least = rule.least_in_budget = repetitions.least;
    // A repetition of an application takes long: as many as asked for are enough.
    rule.least_effective = static_cast<double>(repetitions.least);
    // A narrow interval of too short a time may be luck, but nothing disturbs a simulation.
    rule.least_s = is_simulated ? 0 : least_budget_share * repetitions.budget_s;
    rule.budget_s = repetitions.budget_s;
    rule.most = repetitions.most;
    std::vector<Sample> samples;
    Repeated repeated;
    MPI_Barrier(comm);
    once();
    const double start_s = now_s();
    Rounds rounds(comm);
    while (rounds.next(samples.empty() || rule.reached(samples, now_s() - start_s).empty())) {
        MPI_Barrier(comm);
        double mine_s = once(), slowest_s = 0;
        MPI_Allreduce(&mine_s, &slowest_s, 1, MPI_DOUBLE, MPI_MAX, comm);
        samples.push_back({slowest_s, false});
        repeated.samples_s.push_back(slowest_s);
    }
    repeated.references = rounds.references();
    return repeated;
}

double add_times(JsonObject& record, const Repeated& repeated) {
    std::vector<Sample> samples;
    for (const double sample_s : repeated.samples_s) samples.push_back({sample_s, false});
    const Summary summary = summarise(samples);
    const bool is_bounded = static_cast<long>(samples.size()) >= least_samples;
    record.add("time_s", summary.median_s);
    record.add("low_s", is_bounded ? summary.low_s : std::nan(""));
    record.add("high_s", is_bounded ? summary.high_s : std::nan(""));
    record.add("samples_s", repeated.samples_s).add("disturbed_at", summary.disturbed);
    repeated.references.add_to(record);
    return summary.median_s;
}

#ifdef SMPI_H
void compute_simulated(double seconds) {
    // Not `smpi_execute`: that counts in operations of a host speed it may first measure, and leaves out what
    // takes less than a microsecond.
    sg_actor_sleep_for(seconds);
}
#else
void compute_simulated(double) {}
#endif

}  // namespace hockney
