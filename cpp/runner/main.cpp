// hockney-runner: the program that measures. Rank 0 reads requests from standard input, one a line, and
// answers each with one line that starts with "@hockney " and holds a JSON object; all else on the output is
// the library's.
//
//   measure operation=pingpong leader=0 follower=1 bytes=8 window=64 cache=warm budget_s=1 tolerance=0.01
//           least_samples=30
//   collective operation=bcast algorithm=binomial ranks=4 root=0 rotate=0 bytes=1024 segment_B=0 radix=0
//              cache=warm start=window budget_s=1 tolerance=0.01 least_samples=30 [most_samples=256]
//   count operation=bcast algorithm=binomial ranks=4 root=0 rotate=0 bytes=1024 segment_B=0 radix=0
//         start=barrier sockets=0
//   define operation=bcast algorithm=mine.schedule program=0,1,…   (cpp/schedule/written.hpp)
//   app operation=jacobi ranks=4 …            keys of its own: cpp/runner/apps/<operation>.cpp
//   effect operation=overlap members=0,1 …    keys of its own: cpp/runner/effects/<operation>.cpp
//   quit
//
// A conversation ends by `quit`, never by end-of-file alone: Open MPI 5 does not deliver one.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "apps/app.hpp"
#include "clock.hpp"
#include "collective/count.hpp"
#include "collective/group.hpp"
#include "collective/measure.hpp"
#include "collective/offer.hpp"
#include "effects/effect.hpp"
#include "effects/overlap/progress_thread.hpp"
#include "json.hpp"
#include "kernels/kernel.hpp"
#include "pair.hpp"
#include "placement.hpp"
#include "point.hpp"
#include "ranks.hpp"
#include "request.hpp"
#include "settings.hpp"

namespace hockney {
namespace {

constexpr int request_tag = 10, record_tag = 11, group_tag = 12;

void answer(const std::string& json) {
    std::cout << "@hockney " << json << std::endl;  // flushed: the other side waits for it
}

void send_text(const std::string& text, int to, int tag, MPI_Comm comm) {
    MPI_Send(text.data(), static_cast<int>(text.size()), MPI_CHAR, to, tag, comm);
}

// Waits asleep, so that ranks without work leave the processors to those that are measured.
std::string receive_text(int from, int tag, MPI_Comm comm) {
    int arrived = 0;
    MPI_Status status;
    for (useconds_t pause_us = 50; !arrived; pause_us = std::min<useconds_t>(2 * pause_us, 2000)) {
        MPI_Iprobe(from, tag, comm, &arrived, &status);
        if (!arrived) usleep(pause_us);
    }
    int length = 0;
    MPI_Get_count(&status, MPI_CHAR, &length);
    std::string text(static_cast<std::size_t>(length), '\0');
    MPI_Recv(text.data(), length, MPI_CHAR, from, tag, comm, MPI_STATUS_IGNORE);
    return text;
}

// What this process may expect of MPI: the name of its level of threads.
const char* thread_level() {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level == MPI_THREAD_MULTIPLE) return "multiple";
    if (level == MPI_THREAD_SERIALIZED) return "serialized";
    return level == MPI_THREAD_FUNNELED ? "funneled" : "single";
}

// The first rank of each host describes it, the others say nothing.
std::string described_node(MPI_Comm comm) {
    const OwnComm host = host_ranks(comm);
    return rank_of(host.comm()) == 0 ? node_json() : "";
}

// Hosts that are alike stand together: each description once, with the ranks that gave it.
std::string nodes_json(const std::vector<std::string>& descriptions) {
    std::map<std::string, std::vector<long>> ranks;
    for (std::size_t rank = 0; rank < descriptions.size(); ++rank)
        if (!descriptions[rank].empty()) ranks[descriptions[rank]].push_back(static_cast<long>(rank));
    std::vector<std::string> nodes;
    for (const auto& [description, of] : ranks)
        nodes.push_back(JsonObject().add("ranks", of).raw("node", description).str());
    return json_list(nodes);
}

std::string hello(const std::vector<std::string>& placements, const std::vector<std::string>& nodes,
                  const std::string& settings) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, version = 0, subversion = 0;
    MPI_Get_library_version(library, &length);
    MPI_Get_version(&version, &subversion);
    std::vector<std::string> operations, programs, known_effects;
    for (const auto& [name, kernel] : units<Kernel>()) {
        JsonObject operation;
        operation.add("name", name).add("largest_B", kernel.largest_B).add("windowed", kernel.windowed);
        operations.push_back(operation.str());
    }
    for (const auto& [name, app] : units<App>()) programs.push_back(json_string(name));
    for (const auto& [name, effect] : units<Effect>()) known_effects.push_back(json_string(name));
    JsonObject object;
    object.add("type", "hello")
        .add("protocol", 1)
        .add("library", library)
        .add("thread_level", thread_level());
    object.add("standard", std::to_string(version) + "." + std::to_string(subversion));
    object.raw("operations", json_list(operations)).raw("algorithms", algorithms_json());
    object.raw("apps", json_list(programs)).raw("effects", json_list(known_effects));
    object.raw("settings", settings);
#ifdef HOCKNEY_NO_MPI_T
    object.add("mpi_t", false);
#else
    object.add("mpi_t", true);
#endif
    object.raw("nodes", nodes_json(nodes));
    object.raw("ranks", json_list(placements)).add("clock_granularity_s", clock_granularity_s());
    return object.str();
}

// The groups of ranks that have measured a collective, by their size, and the communicators of those that
// have run an application, which need no clock. They stay until the end: a library may keep resources for
// each communicator that was ever made.
class Groups {
  public:
    explicit Groups(MPI_Comm world) : world_(world) {}
    ~Groups() {
        for (auto& [members, comm] : chosen_) MPI_Comm_free(&comm);
    }
    Groups(const Groups&) = delete;
    Groups& operator=(const Groups&) = delete;

    // Collective over these ranks, which get the ranks 0, 1, … in this order.
    MPI_Comm comm_of(const std::vector<int>& members) {
        const auto known = chosen_.find(members);
        if (known != chosen_.end()) return known->second;
        MPI_Group all, some;
        MPI_Comm_group(world_, &all);
        MPI_Group_incl(all, static_cast<int>(members.size()), members.data(), &some);
        MPI_Comm_create_group(world_, some, group_tag, &chosen_[members]);
        MPI_Group_free(&some);
        MPI_Group_free(&all);
        return chosen_[members];
    }
    // Collective over the first `ranks` ranks.
    const Group& of(int ranks) {
        auto& group = groups_[ranks];
        if (!group) group = std::make_unique<Group>(world_, ranks);
        return *group;
    }

  private:
    MPI_Comm world_;
    std::map<int, std::unique_ptr<Group>> groups_;
    std::map<std::vector<int>, MPI_Comm> chosen_;
};

// Refuses what would crash further on; the message goes to the user.
void check_common(const Request& request) {
    request.whole("bytes", 0);
    if (request.has("most_samples")) request.whole("most_samples", 1);
    stopping_rule(request, most_samples);
    request.choice("cache", {"warm", "off"});
}

void check_pair(const Request& request, int ranks) {
    asked<Kernel>(request);
    if (request.whole("leader", 0, ranks - 1) == request.whole("follower", 0, ranks - 1))
        throw BadRequest("leader and follower must be two ranks");
    request.whole("window", 1);
}

void check_app(const Request& request, int ranks) {
    asked<App>(request);
    request.whole("ranks", 1, ranks);
}

void check_effect(const Request& request, int ranks) {
    const std::string& name = request.text("operation");
    const int most = asked<Effect>(request).most_ranks;
    const std::vector<int> members = request.wholes("members", ranks);
    const std::set<int> different(members.begin(), members.end());
    if (different.size() < members.size() || *different.rbegin() >= ranks)
        throw BadRequest("members must be different ones of " + std::to_string(ranks) + " ranks");
    if (members.size() < 2) throw BadRequest(name + " needs two members or more");
    if (static_cast<int>(members.size()) > most)
        throw BadRequest(name + " has " + std::to_string(most) + " members at most");
}

std::vector<int> first_of(const Request& request, int) {
    std::vector<int> members(static_cast<std::size_t>(request.whole("ranks")));
    std::iota(members.begin(), members.end(), 0);
    return members;
}

// A kind of request, by its word.
struct Kind {
    // On rank 0 of the launch: BadRequest or Refusal, before anybody else hears of it.
    void (*check)(const Request& request, int ranks);
    // Of `ranks` that were launched, those that take part. The first of them has the answer.
    std::vector<int> (*members)(const Request& request, int ranks);
    // Collective over the members.
    std::string (*run)(const Request& request, MPI_Comm comm, Groups& groups);
};

const std::map<std::string, Kind>& kinds() {
    static const std::map<std::string, Kind> all = {
        {"measure",
         {[](const Request& request, int ranks) {
              check_common(request);
              check_pair(request, ranks);
          },
          [](const Request& request, int) {
              return std::vector<int>{static_cast<int>(request.whole("leader")),
                                      static_cast<int>(request.whole("follower"))};
          },
          [](const Request& request, MPI_Comm comm, Groups&) { return measure_pair(request, comm); }}},
        {"collective",
         {[](const Request& request, int ranks) {
              check_common(request);
              check_collective(request, ranks);
          },
          first_of,
          [](const Request& request, MPI_Comm, Groups& groups) {
              return measure_collective(request, groups.of(static_cast<int>(request.whole("ranks"))));
          }}},
        {"count",
         {[](const Request& request, int ranks) {
              request.whole("sockets", 0, 1);
              check_collective(request, ranks);
          },
          first_of,
          [](const Request& request, MPI_Comm, Groups& groups) {
              return count_collective(request, groups.of(static_cast<int>(request.whole("ranks"))));
          }}},
        {"app",
         {check_app, first_of,
          [](const Request& request, MPI_Comm, Groups& groups) {
              return asked<App>(request).run(request, groups.comm_of(first_of(request, 0)));
          }}},
        {"effect",
         {check_effect, [](const Request& request, int ranks) { return request.wholes("members", ranks); },
          [](const Request& request, MPI_Comm comm, Groups& groups) {
              const std::vector<int> members = request.wholes("members", ranks_of(comm));
              return asked<Effect>(request).run(request, groups.comm_of(members));
          }}},
        {"define",
         {[](const Request&, int) {},
          [](const Request&, int ranks) {
              std::vector<int> everybody(static_cast<std::size_t>(ranks));
              std::iota(everybody.begin(), everybody.end(), 0);
              return everybody;
          },
          [](const Request& request, MPI_Comm, Groups&) {
              define_schedule(request);
              return JsonObject().add("type", "defined").str();
          }}},
    };
    return all;
}

std::string answer_to(const std::string& line, MPI_Comm comm, Groups& groups) {
    const Request request(line);
    const auto kind = kinds().find(request.word());
    if (kind == kinds().end()) throw BadRequest("unknown request '" + request.word() + "'");
    kind->second.check(request, ranks_of(comm));
    const std::vector<int> members = kind->second.members(request, ranks_of(comm));
    bool takes_part = false;
    for (const int member : members) {
        takes_part |= member == 0;
        if (member != 0) send_text(line, member, request_tag, comm);
    }
    std::string record;
    if (takes_part) record = answered([&] { return kind->second.run(request, comm, groups); });
    return members[0] == 0 ? record : receive_text(members[0], record_tag, comm);
}

void serve(MPI_Comm comm, Groups& groups) {
    for (std::string line; std::getline(std::cin, line) && line != "quit";)
        answer(answered([&] { return answer_to(line, comm, groups); }));
    for (int other = 1; other < ranks_of(comm); ++other) send_text("quit", other, request_tag, comm);
}

void follow_orders(MPI_Comm comm, Groups& groups) {
    for (;;) {
        const std::string line = receive_text(0, request_tag, comm);
        if (line == "quit") return;
        const Request request(line);
        const Kind& kind = kinds().at(request.word());
        const std::string record = answered([&] { return kind.run(request, comm, groups); });
        if (kind.members(request, ranks_of(comm))[0] == rank_of(comm)) send_text(record, 0, record_tag, comm);
    }
}

int run() {
    // A communicator of our own: no tag of ours can meet one of a tool that wraps MPI.
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const int rank = rank_of(comm);
    const std::vector<std::string> placements = gather(placement_json(rank, progress_switches()), comm);
    const std::vector<std::string> nodes = gather(described_node(comm), comm);
    {
        Groups groups(comm);
        if (rank == 0) {
            answer(hello(placements, nodes, settings_json()));
            serve(comm, groups);
        } else {
            follow_orders(comm, groups);
        }
    }
    MPI_Comm_free(&comm);
    return 0;
}

}  // namespace
}  // namespace hockney

int main(int argc, char** argv) {
    // Threads of an application compute; MPI is called by the first one only, but where a launch asks for
    // more.
    int provided = MPI_THREAD_SINGLE;
    MPI_Init_thread(&argc, &argv,
                    hockney::wants_progress_thread() ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
    int status = 1;
    try {
        status = hockney::run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "hockney-runner: %s\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return status;
}
