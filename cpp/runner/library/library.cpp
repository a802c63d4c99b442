#include "library.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>

#include "../ranks.hpp"
#include "control_variable.hpp"
#include "shared_memory.hpp"

namespace hockney {
namespace {

using Family = void (*)(std::vector<LibraryAlgorithm>&);

std::vector<Family>& families() {
    static std::vector<Family> all;
    return all;
}

struct Nodes {
    int count = 0, fewest = 0, most = 0;  // of ranks on one of them
};

// Collective.
Nodes nodes_of(MPI_Comm comm) {
    const OwnComm node = host_ranks(comm);
    const int ranks = ranks_of(node.comm()), first = rank_of(node.comm()) == 0 ? 1 : 0;
    Nodes nodes;
    MPI_Allreduce(&first, &nodes.count, 1, MPI_INT, MPI_SUM, comm);
    MPI_Allreduce(&ranks, &nodes.fewest, 1, MPI_INT, MPI_MIN, comm);
    MPI_Allreduce(&ranks, &nodes.most, 1, MPI_INT, MPI_MAX, comm);
    return nodes;
}

bool needs(const LibraryAlgorithm& algorithm, Need need) {
    return std::find(algorithm.needs.begin(), algorithm.needs.end(), need) != algorithm.needs.end();
}

// "" where the algorithm works on ranks that share nodes as those of `comm` do. Collective.
std::string unfit(const LibraryAlgorithm& algorithm, MPI_Comm comm) {
    const bool one = needs(algorithm, Need::one_node), several = needs(algorithm, Need::several_nodes);
    if (!one && !several) return "";
    const Nodes nodes = nodes_of(comm);
    if (one && nodes.count > 1) return "works within one node only";
    if (several && (nodes.count == 1 || nodes.most == 1)) return "works where ranks share several nodes only";
    const bool uneven = several && nodes.fewest < nodes.most && algorithm.operation != "barrier";
    return uneven ? "works with as many ranks on each node only" : "";
}

MPI_Comm duplicate(const std::string& component, MPI_Comm comm) {
    MPI_Comm made;
    if (component.empty()) {
        MPI_Comm_dup(comm, &made);
    } else {
        // Open MPI's own key, known since 4.1: the component comes before all others on this communicator.
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "ompi_comm_coll_preference", component.c_str());
        MPI_Comm_dup_with_info(comm, info, &made);
        MPI_Info_free(&info);
    }
    MPI_Comm_set_errhandler(made, MPI_ERRORS_RETURN);
    return made;
}

}  // namespace

RegisterLibraryFamily::RegisterLibraryFamily(Family find) { families().push_back(find); }

const std::vector<LibraryAlgorithm>& library_algorithms() {
    static const std::vector<LibraryAlgorithm> all = [] {
        std::vector<LibraryAlgorithm> found;
        for (const Family find : families()) find(found);
        std::sort(found.begin(), found.end(), [](const LibraryAlgorithm& a, const LibraryAlgorithm& b) {
            return std::tie(a.operation, a.name) < std::tie(b.operation, b.name);
        });
        return found;
    }();
    return all;
}

std::string refusal(const LibraryAlgorithm& algorithm, int ranks, long elements, long element_B,
                    long segment_B) {
    const auto text = [&](const std::string& what) { return algorithm.name + " needs " + what; };
    long power = 1;
    while (2 * power <= ranks) power *= 2;
    for (const Need need : algorithm.needs) {
        if (need == Need::two_ranks && ranks != 2)
            return text("exactly 2 ranks, not " + std::to_string(ranks));
        if (need == Need::even_ranks && ranks % 2 != 0)
            return text("an even number of ranks, not " + std::to_string(ranks));
        if (need == Need::power_of_two_ranks && power != ranks)
            return text("a power of two of ranks, not " + std::to_string(ranks));
        if (need == Need::element_per_rank && elements < ranks)
            return text("at least " + std::to_string(ranks * element_B) + " bytes on " +
                        std::to_string(ranks) + " ranks");
        if (need == Need::element_per_power_of_two && elements < power)
            return text("at least " + std::to_string(power * element_B) + " bytes on " +
                        std::to_string(ranks) + " ranks");
        if (need == Need::segment_per_rank &&
            (segment_B < element_B || elements < ranks * (segment_B / element_B)))
            return text("a segment size of at most a rank's share of the vector");
        if (need == Need::segment_per_half && elements / 2 * element_B < std::max(segment_B, element_B))
            return text("a vector of at least two elements and two segments");
    }
    return "";
}

struct Selection::Settings {
    struct Setting {
        ControlVariable variable;
        long value, before;
    };

    // Whether the library has the variable.
    bool add(const std::string& name, long value) {
        const std::optional<ControlVariable> variable = ControlVariable::find(name);
        if (!variable) return false;
        all.push_back({*variable, value, variable->read().value_or(0)});
        return true;
    }
    bool put() const {
        return std::all_of(all.begin(), all.end(),
                           [](const Setting& s) { return s.variable.write(s.value); });
    }
    void take_back() const {
        for (const Setting& s : all) s.variable.write(s.before);
    }

    std::vector<Setting> all;
};

Selection::Selection(MPI_Comm comm) : settings_(std::make_unique<Settings>()), comm_(duplicate("", comm)) {}

Selection::Selection(const LibraryAlgorithm& algorithm, long segment_B, int radix, MPI_Comm comm)
    : settings_(std::make_unique<Settings>()),
      at_every_call_(algorithm.read_at_every_call),
      nonblocking_(algorithm.nonblocking) {
    if (const std::string reason = unfit(algorithm, comm); !reason.empty())
        throw std::runtime_error(algorithm.name + " " + reason);
    bool there = true;
    for (const auto& [name, value] : algorithm.variables) there = settings_->add(name, value) && there;
    if (!algorithm.segment_variable.empty())
        there = settings_->add(algorithm.segment_variable, segment_B) && there;
    if (!algorithm.radix_variable.empty() && radix > 0)
        there = settings_->add(algorithm.radix_variable, radix) && there;
    const bool written = there && settings_->put();
    // The duplication itself may use collectives: on MPICH it must not meet the algorithm.
    if (at_every_call_ || !written) settings_->take_back();
    if (!all_agree(written, comm)) {
        settings_->take_back();
        throw std::runtime_error(algorithm.name + " of " + algorithm.operation +
                                 " cannot be selected: the library does not accept its variables");
    }
    comm_ = duplicate(algorithm.component, comm);
    if (!needs(algorithm, Need::one_node)) return;
    begin();
    const bool in_effect = first_call_maps_memory(algorithm.operation, comm_);
    end();
    proved_ = all_agree(in_effect, comm);
    if (proved_) return;
    if (!at_every_call_) settings_->take_back();
    MPI_Comm_free(&comm_);
    throw std::runtime_error(algorithm.name + " of " + algorithm.operation +
                             " has no effect: this library passes messages all the same");
}

Selection::~Selection() {
    if (!at_every_call_) settings_->take_back();
    MPI_Comm_free(&comm_);
}

void Selection::begin() {
    if (at_every_call_) settings_->put();
}

void Selection::end() {
    if (at_every_call_) settings_->take_back();
}

}  // namespace hockney
