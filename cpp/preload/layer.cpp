#include "layer.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "../runner/json.hpp"
#include "begun.hpp"
#include "channel.hpp"
#include "kept.hpp"
#include "library.hpp"
#include "settings.hpp"
#include "trace.hpp"
#include "types.hpp"
#include "watch.hpp"

namespace hockney {
namespace {

// What ranks give to rank 0 at once: each, and all together.
constexpr std::size_t most_round_B = 1 << 16, most_all_B = std::size_t{1} << 30;

// A line for each count; its words have no tabs.
std::string lines_of(const Totals& totals) {
    std::ostringstream lines;
    lines.precision(9);
    for (const auto& [used, count] : totals)
        lines << used.operation << '\t' << used.rule << '\t' << used.why << '\t' << count.calls << '\t'
              << count.bytes << '\t' << count.time_s << '\t' << count.compared_s << '\t' << count.library_s
              << '\n';
    return lines.str();
}

Totals totals_of(const std::string& text) {
    Totals totals;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        Used used;
        Count count;
        std::getline(words, used.operation, '\t');
        std::string rule;
        std::getline(words, rule, '\t');
        used.rule = std::stoi(rule);
        std::getline(words, used.why, '\t');
        words >> count.calls >> count.bytes >> count.time_s >> count.compared_s >> count.library_s;
        totals[used].add(count);
    }
    return totals;
}

std::string report(const Totals& totals, long dropped, int ranks, bool is_of_all) {
    std::string rows;
    for (const auto& [used, count] : totals) {
        rows += rows.empty() ? "" : ",\n";
        rows += JsonObject()
                    .add("operation", used.operation)
                    .add("rule", used.rule)
                    .add("why", used.why)
                    .add("calls", count.calls)
                    .add("bytes", count.bytes)
                    .add("time_s", count.time_s)
                    .add("compared_s", count.compared_s)
                    .add("library_s", count.library_s)
                    .str();
    }
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    return JsonObject()
               .add("library", version)
               .add("ranks", ranks)
               .add("of_all_ranks", is_of_all)
               .add("unseen", library::unseen())
               .raw("dropped", JsonObject()
                                   .add("schedules", dropped)
                                   .add("most", static_cast<long>(Kept::places))
                                   .add("most_B", static_cast<long>(settings().kept_B))
                                   .str())
               .raw("calls", "[\n" + rows + "]")
               .str() +
           "\n";
}

// Whole or not at all: who reads it may come while it is written.
void write_file(const std::string& path, const std::string& text) {
    const std::string part = path + ".part";
    std::FILE* file = std::fopen(part.c_str(), "w");
    const bool is_written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    const bool is_closed = file != nullptr && std::fclose(file) == 0;
    if (!is_written || !is_closed || std::rename(part.c_str(), path.c_str()) != 0)
        std::fprintf(stderr, "hockney: cannot write %s\n", path.c_str());
}

// As the launcher says, since a library that is another one cannot be asked with our handles.
bool is_first_rank() {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* value = std::getenv(name); value != nullptr) return std::strcmp(value, "0") == 0;
    return true;
}

}  // namespace

std::string gathered(const std::string& mine) {
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    // In rounds, whose places on rank 0 an int can name.
    const std::size_t most = std::min(most_round_B, most_all_B / static_cast<std::size_t>(ranks));
    long long longest = static_cast<long long>(mine.size());
    library::Allreduce(MPI_IN_PLACE, &longest, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
    std::vector<int> lengths(static_cast<std::size_t>(ranks)), places(lengths);
    std::vector<std::string> texts(rank == 0 ? lengths.size() : 0);
    std::string round;
    for (std::size_t done = 0; done < static_cast<std::size_t>(longest); done += most) {
        const int length = done < mine.size() ? static_cast<int>(std::min(most, mine.size() - done)) : 0;
        library::Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (std::size_t i = 1; i < texts.size(); ++i) places[i] = places[i - 1] + lengths[i - 1];
        if (rank == 0) round.resize(static_cast<std::size_t>(places.back() + lengths.back()));
        PMPI_Gatherv(length != 0 ? mine.data() + done : nullptr, length, MPI_CHAR, round.data(),
                     lengths.data(), places.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
        for (std::size_t i = 0; i < texts.size(); ++i)
            texts[i].append(round, static_cast<std::size_t>(places[i]), static_cast<std::size_t>(lengths[i]));
    }
    std::string all;
    for (const std::string& text : texts) all += text;
    return all;
}

void begin_layer() {
    if (!settings().is_on || is_active) return;
    if (const std::string lack = library::lack(); !lack.empty()) {
        if (is_first_rank())
            std::fprintf(stderr, "hockney: %s: the layer does nothing, and the library's own code runs\n",
                         lack.c_str());
        return;
    }
    // A child by fork() is no rank: it has no part in what its parent notes.
    pthread_atfork(nullptr, [] { note_begun(by_fork); }, [] { trace::is_on = is_active = false; });
    learn_types();
    Channel::open();
    if (settings().is_watching) {
        Watched::begin();
        trace::begin();
        trace::begin_events();
    }
    expect_children();
    is_active = true;
}

void end_layer(const void* site) {
    if (!is_active) return;
    trace::end(site);
    is_active = false;
    int rank = 0, ranks = 1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    std::string text;
    if (settings().is_watching) {
        text = Watched::end();
    } else {
        Totals totals = Channel::totals();
        long dropped = Kept::dropped();
        if (settings().sums_ranks) {
            totals = totals_of(gathered(lines_of(totals)));
            library::Allreduce(MPI_IN_PLACE, &dropped, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        }
        text = report(totals, dropped, ranks, settings().sums_ranks);
    }
    // Processes that the program spawns have a world of their own, whose report would replace this one's.
    MPI_Comm parent = MPI_COMM_NULL;
    PMPI_Comm_get_parent(&parent);
    if (rank == 0 && parent == MPI_COMM_NULL && !settings().report.empty())
        write_file(settings().report, text);
    Channel::close();
}

}  // namespace hockney
