// MPICH's collectives. A call goes first to the device (ch4), whose compositions and shared-memory algorithms
// come before those of the upper layer; each has variables of its own, all read at every call. MPICH gives no
// MPI_T enumeration: the values are the positions in the list that a description contains, and a number
// outside of the list ends the job. Restrictions and parameters are those of src/mpi/coll/coll_algorithms.txt
// (5.0).
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "../../schedule/collective.hpp"
#include "control_variable.hpp"
#include "library.hpp"

namespace hockney::library_mpich {
namespace {

// Not for calls on host memory with separate buffers.
const std::set<std::string> unusable = {"auto", "ccl", "ipc_read", "pairwise_sendrecv_replace"};

const std::map<std::string, std::string> radix_variables = {
    {"allgather:k_brucks", "ALLGATHER_BRUCKS_KVAL"},
    {"allgather:recexch_doubling", "ALLGATHER_RECEXCH_KVAL"},
    {"allgather:recexch_halving", "ALLGATHER_RECEXCH_KVAL"},
    {"allreduce:k_reduce_scatter_allgather", "ALLREDUCE_RECEXCH_KVAL"},
    {"allreduce:recexch", "ALLREDUCE_RECEXCH_KVAL"},
    {"allreduce:recursive_multiplying", "ALLREDUCE_RECURSIVE_MULTIPLYING_KVAL"},
    {"allreduce:tree", "ALLREDUCE_TREE_KVAL"},
    {"alltoall:k_brucks", "ALLTOALL_BRUCKS_KVAL"},
    {"barrier:k_dissemination", "BARRIER_DISSEM_KVAL"},
    {"barrier:recexch", "BARRIER_RECEXCH_KVAL"},
    {"bcast:pipelined_tree", "BCAST_TREE_KVAL"},
    {"bcast:tree", "BCAST_TREE_KVAL"},
};
const std::map<std::string, std::string> segment_variables = {
    {"allreduce:tree", "ALLREDUCE_TREE_PIPELINE_CHUNK_SIZE"},
    {"bcast:pipelined_tree", "BCAST_TREE_PIPELINE_CHUNK_SIZE"},
};
const std::map<std::string, Need> known_needs = {
    {"allgather:recursive_doubling", Need::power_of_two_ranks},
    {"allreduce:reduce_scatter_allgather", Need::element_per_power_of_two},
    {"reduce:reduce_scatter_gather", Need::element_per_power_of_two},
    {"reduce_scatter:noncommutative", Need::power_of_two_ranks},
};

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

std::string cvar(const std::string& name) { return "MPIR_CVAR_" + name; }

// MPICH 4.0 has lost the line ends of its descriptions: "…Force Binomial Treenb   - Force…". A name is what
// comes after the end of the description before it.
std::string without_description(const std::string& word) {
    std::size_t begin = 0;
    for (const std::string end : {")", "algorithm", "Allgather", "Tree", "collectives", "primitives", "Ring"})
        if (const auto at = word.find(end); at != std::string::npos && at + end.size() < word.size())
            begin = std::max(begin, at + end.size());
    return word.substr(begin);
}

// The names in "name - description" order; their positions are the values, and the first stands for the
// library's own choice. Empty where one cannot be made out.
std::vector<std::string> listed(const std::string& description) {
    std::vector<std::string> names;
    std::istringstream words(description);
    std::string last;
    for (std::string word; words >> word; last = word) {
        if (word != "-") continue;
        const std::string name = without_description(last);
        for (const char c : name)
            if (std::islower(static_cast<unsigned char>(c)) == 0 &&
                std::isdigit(static_cast<unsigned char>(c)) == 0 && c != '_')
                return {};
        names.push_back(name);
    }
    return names;
}

bool usable(const std::string& name) { return unusable.count(name) == 0; }

// A variable is left out where this version has none; `required` are checked before.
void set(LibraryAlgorithm& algorithm, const std::string& name, long value) {
    if (ControlVariable::find(cvar(name))) algorithm.variables.emplace_back(cvar(name), value);
}

LibraryAlgorithm make(const std::string& layer, const std::string& operation, const std::string& name,
                      bool on_device) {
    LibraryAlgorithm algorithm;
    algorithm.operation = operation;
    algorithm.name = layer + ":" + name;
    algorithm.read_at_every_call = true;
    set(algorithm, upper(operation) + "_DEVICE_COLLECTIVE", on_device ? 1 : 0);
    return algorithm;
}

// An error instead of another algorithm, where this one does not do. An `smp` calls its own operation again
// on communicators where it does not do, so it has to be let.
constexpr long fallback_is_error = 0, fallback_is_silent = 2;

// The usable algorithms that a selector lists.
std::vector<LibraryAlgorithm> listed_by(const std::string& selector, const std::string& layer,
                                        const std::string& operation, bool on_device) {
    std::vector<LibraryAlgorithm> algorithms;
    const auto variable = ControlVariable::find(cvar(selector));
    if (!variable || !variable->writable()) return algorithms;
    const std::vector<std::string> names = listed(variable->description());
    for (std::size_t value = 1; value < names.size(); ++value) {
        if (!usable(names[value])) continue;
        algorithms.push_back(make(layer, operation, names[value], on_device));
        set(algorithms.back(), selector, static_cast<long>(value));
    }
    return algorithms;
}

void find_upper_layer(const std::string& operation, std::vector<LibraryAlgorithm>& found) {
    for (LibraryAlgorithm algorithm :
         listed_by(upper(operation) + "_INTRA_ALGORITHM", "mpir", operation, false)) {
        const std::string name = algorithm.name.substr(algorithm.name.find(':') + 1);
        const std::string key = operation + ":" + name;
        set(algorithm, "COLLECTIVE_FALLBACK", name == "smp" ? fallback_is_silent : fallback_is_error);
        if (const auto radix = radix_variables.find(key); radix != radix_variables.end()) {
            algorithm.radix_variable = cvar(radix->second);
            const auto k = ControlVariable::find(algorithm.radix_variable);
            algorithm.radix = k ? static_cast<int>(k->read().value_or(0)) : 0;
        }
        if (const auto segment = segment_variables.find(key); segment != segment_variables.end()) {
            algorithm.segmented = true;
            algorithm.segment_variable = cvar(segment->second);
        }
        if (const auto need = known_needs.find(key); need != known_needs.end())
            algorithm.needs.push_back(need->second);
        found.push_back(algorithm);
    }
}

void find_shared_memory(const std::string& operation, std::vector<LibraryAlgorithm>& found) {
    for (LibraryAlgorithm algorithm :
         listed_by(upper(operation) + "_POSIX_INTRA_ALGORITHM", "posix", operation, true)) {
        set(algorithm, "POSIX_NUM_COLLS_THRESHOLD", 0);  // from the first call on, not from the fifth
        algorithm.needs.push_back(Need::one_node);
        found.push_back(algorithm);
    }
}

// "… 0 Auto selection 1 NM + SHM with reduce + bcast 2 NM only composition": which numbers there are.
void find_compositions(const std::string& operation, std::vector<LibraryAlgorithm>& found) {
    const std::string selector = upper(operation) + "_COMPOSITION";
    const auto variable = ControlVariable::find(cvar(selector));
    if (!variable || !variable->writable()) return;
    // What its sources call them (src/mpid/ch4/src/ch4_coll.h).
    const std::vector<std::string> letters = {"", "alpha", "beta", "gamma", "delta"};
    std::istringstream words(variable->description());
    std::size_t next = 0;
    for (std::string word; words >> word;) {
        if (word != std::to_string(next)) continue;
        if (next > 0 && next < letters.size()) {
            LibraryAlgorithm algorithm = make("ch4", operation, letters[next], true);
            set(algorithm, selector, static_cast<long>(next));
            set(algorithm, "COLLECTIVE_FALLBACK", fallback_is_error);
            found.push_back(algorithm);
        }
        ++next;
    }
}

const RegisterLibraryFamily registered([](std::vector<LibraryAlgorithm>& found) {
    for (const Collective& collective : collectives()) {
        const std::string operation = collective.name;
        find_upper_layer(operation, found);
        find_shared_memory(operation, found);
        find_compositions(operation, found);
    }
});

}  // namespace
}  // namespace hockney::library_mpich
