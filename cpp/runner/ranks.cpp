#include "ranks.hpp"

#include <algorithm>

#include "clock.hpp"
#include "json.hpp"
#include "placement.hpp"
#include "point.hpp"
#include "request.hpp"

namespace hockney {
namespace {

JsonObject refused(const char* reason) { return JsonObject().add("type", "refused").add("reason", reason); }

template <class Number>
std::vector<Number> gathered(Number value, MPI_Datatype type, MPI_Comm comm) {
    std::vector<Number> all(rank_of(comm) == 0 ? static_cast<std::size_t>(ranks_of(comm)) : 0);
    MPI_Gather(&value, 1, type, all.data(), 1, type, 0, comm);
    return all;
}

}  // namespace

Refusal::Refusal(const char* reason, const std::string& message)
    : std::runtime_error(refused(reason).add("message", message).str()) {}

Refusal::Refusal(double needed_B, double available_B)
    : std::runtime_error(refused("memory").add("needed_B", needed_B).add("available_B", available_B).str()) {}

std::string answered(const std::function<std::string()>& run) {
    try {
        return run();
    } catch (const Refusal& refusal) {
        return refusal.what();
    } catch (const BadRequest& error) {
        return JsonObject().add("type", "error").add("message", error.what()).str();
    }
}

void require_memory(double needed_B, MPI_Comm comm) {
    double together_B = 0;
    // Ranks of one host share its memory; what a simulation runs on is one host whatever it simulates.
    if (is_simulated) {
        MPI_Allreduce(&needed_B, &together_B, 1, MPI_DOUBLE, MPI_SUM, comm);
    } else {
        const OwnComm host = host_ranks(comm);
        MPI_Allreduce(&needed_B, &together_B, 1, MPI_DOUBLE, MPI_SUM, host.comm());
    }
    const double free_B = available_memory_B();
    // The worst host: what is missing there, then what it needs and has.
    struct {
        double missing_B;
        int rank;
    } mine{free_B > 0 ? together_B - memory_share * free_B : -1, rank_of(comm)}, worst{};
    MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    double amounts_B[2] = {together_B, free_B};
    MPI_Bcast(amounts_B, 2, MPI_DOUBLE, worst.rank, comm);
    if (worst.missing_B > 0) throw Refusal(amounts_B[0], amounts_B[1]);
}

void require_all(bool is_fine, const char* reason, const std::string& message, MPI_Comm comm) {
    const int ranks = ranks_of(comm);
    int mine = is_fine ? ranks : rank_of(comm), first = ranks;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first == ranks) return;
    std::string told = message;
    int length = static_cast<int>(told.size());
    MPI_Bcast(&length, 1, MPI_INT, first, comm);
    told.resize(static_cast<std::size_t>(length));
    MPI_Bcast(told.data(), length, MPI_CHAR, first, comm);
    throw Refusal(reason, told);
}

std::vector<double> gather(double value, MPI_Comm comm) { return gathered(value, MPI_DOUBLE, comm); }
std::vector<long> gather(long value, MPI_Comm comm) { return gathered(value, MPI_LONG, comm); }

std::vector<std::string> gather(const std::string& text, MPI_Comm comm) {
    const int mine = static_cast<int>(text.size());
    std::vector<int> lengths = gathered(mine, MPI_INT, comm), starts;
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

}  // namespace hockney
