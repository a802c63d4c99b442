// Open MPI's collective components. Which of them serves a communicator is asked for when it is made (the
// info key ompi_comm_coll_preference); which algorithm of it, by its control variables. What a component
// implements and which of its algorithms take a segment size is in its sources only (ompi/mca/coll,
// versions 4.1 and 5.0): MPI_T names the algorithms and lists segment sizes and fan-outs for all of them.
#include <cctype>
#include <map>
#include <set>
#include <sstream>

#include "../../schedule/collective.hpp"
#include "control_variable.hpp"
#include "library.hpp"

namespace hockney::library_openmpi {
namespace {

using Names = std::vector<std::string>;

// coll_tuned_<operation>_decision.c, function …_intra_do_this.
const std::set<std::string> tuned_segmented = {"allreduce:segmented_ring",
                                               "bcast:chain",
                                               "bcast:pipeline",
                                               "bcast:split_binary_tree",
                                               "bcast:binary_tree",
                                               "bcast:binomial",
                                               "bcast:knomial",
                                               "gather:linear_sync",
                                               "reduce:chain",
                                               "reduce:pipeline",
                                               "reduce:binary",
                                               "reduce:binomial",
                                               "reduce:in-order_binary"};
const std::map<std::string, std::string> tuned_radix = {
    {"bcast:chain", "chain_fanout"}, {"bcast:knomial", "knomial_radix"}, {"reduce:chain", "chain_fanout"}};
// coll_base_<operation>.c: where these do not hold, another algorithm runs (with two_proc: an error comes
// back).
const std::map<std::string, Need> tuned_needs = {
    {"allgather:neighbor", Need::even_ranks},
    {"allgather:recursive_doubling", Need::power_of_two_ranks},
    {"allgather:two_proc", Need::two_ranks},
    {"allreduce:rabenseifner", Need::element_per_power_of_two},
    {"allreduce:ring", Need::element_per_rank},
    {"allreduce:segmented_ring", Need::segment_per_rank},
    {"alltoall:two_proc", Need::two_ranks},
    {"barrier:two_proc", Need::two_ranks},
    {"bcast:scatter_allgather", Need::element_per_rank},
    {"bcast:scatter_allgather_ring", Need::element_per_rank},
    {"bcast:split_binary_tree", Need::segment_per_half},
    {"reduce:rabenseifner", Need::element_per_power_of_two},
};

// A component whose priority is negative is out of reach.
bool available(const std::string& component) {
    const auto priority = ControlVariable::find("coll_" + component + "_priority");
    return priority && priority->read().value_or(-1) >= 0;
}

LibraryAlgorithm served_by(const std::string& component, const std::string& operation,
                           const std::string& name) {
    LibraryAlgorithm algorithm;
    algorithm.operation = operation;
    algorithm.name = component + ":" + name;
    algorithm.component = component;
    const auto priority = ControlVariable::find("coll_" + component + "_priority");
    algorithm.priority = priority ? priority->read().value_or(0) : 0;
    return algorithm;
}

// Lets the algorithm take segments, if the library lets the size be written.
void segment(LibraryAlgorithm& algorithm, const std::string& name) {
    const auto variable = ControlVariable::find(name);
    if (!variable || !variable->writable()) return;
    algorithm.segmented = true;
    algorithm.segment_variable = name;
    algorithm.segment_B = variable->read().value_or(0);
}

void find_tuned(std::vector<LibraryAlgorithm>& found) {
    const std::string rules = "coll_tuned_use_dynamic_rules";
    const auto dynamic = ControlVariable::find(rules);
    // Open MPI 4.1 accepts the switch at launch only, and without it no choice of an algorithm has an effect.
    if (!available("tuned") || !dynamic || (!dynamic->writable() && dynamic->read() != 1)) return;
    for (const Collective& collective : collectives()) {
        const std::string operation = collective.name;
        const std::string stem = "coll_tuned_" + operation + "_algorithm";
        const auto selector = ControlVariable::find(stem);
        if (!selector || !selector->writable()) continue;
        for (const auto& [value, name] : selector->choices()) {
            if (name == "ignore") continue;
            const std::string key = operation + ":" + name;
            LibraryAlgorithm algorithm = served_by("tuned", operation, name);
            if (dynamic->writable()) algorithm.variables.emplace_back(rules, 1);
            algorithm.variables.emplace_back(stem, value);
            if (tuned_segmented.count(key) != 0) segment(algorithm, stem + "_segmentsize");
            if (const auto suffix = tuned_radix.find(key); suffix != tuned_radix.end()) {
                const auto radix = ControlVariable::find(stem + "_" + suffix->second);
                algorithm.radix_variable = stem + "_" + suffix->second;
                algorithm.radix = radix ? static_cast<int>(radix->read().value_or(0)) : 0;
                if (algorithm.radix == 0) algorithm.radix_variable.clear();
            }
            if (const auto need = tuned_needs.find(key); need != tuned_needs.end())
                algorithm.needs.push_back(need->second);
            found.push_back(algorithm);
        }
    }
}

// "…, 1: binomial, 2: in_order_binomial, …" at the end of a description.
std::vector<std::pair<long, std::string>> listed(const std::string& description) {
    std::vector<std::pair<long, std::string>> choices;
    std::istringstream words(description);
    for (std::string word, before; words >> word; before = word) {
        if (before.size() < 2 || before.back() != ':' ||
            std::isdigit(static_cast<unsigned char>(before[0])) == 0)
            continue;
        choices.emplace_back(std::stol(before), word.substr(0, word.find(',')));
    }
    return choices;
}

void find_adapt(std::vector<LibraryAlgorithm>& found) {
    if (!available("adapt")) return;
    for (const std::string operation : {"bcast", "reduce"}) {
        const std::string stem = "coll_adapt_" + operation;
        const auto selector = ControlVariable::find(stem + "_algorithm");
        if (!selector) continue;
        for (const auto& [value, name] : listed(selector->description())) {
            // Before 5.0 it is fixed at launch.
            if (name == "tuned" || (!selector->writable() && selector->read() != value)) continue;
            LibraryAlgorithm algorithm = served_by("adapt", operation, name);
            if (selector->writable()) algorithm.variables.emplace_back(stem + "_algorithm", value);
            segment(algorithm, stem + "_segment_size");
            found.push_back(algorithm);
        }
    }
}

void find_han(std::vector<LibraryAlgorithm>& found) {
    if (!available("han")) return;
    for (const std::string operation :
         {"allgather", "allreduce", "barrier", "bcast", "gather", "reduce", "scatter"}) {
        const std::string name = "coll_han_use_" + operation + "_algorithm";
        const auto selector = ControlVariable::find(name);
        const bool chooses = selector && selector->writable();
        // Its barrier came with the choice of algorithms, in 5.0.
        if (!selector && operation == std::string("barrier")) continue;
        std::vector<std::pair<long, std::string>> choices = {{0, "default"}};
        if (chooses) choices = selector->choices();
        for (const auto& [value, choice] : choices) {
            LibraryAlgorithm algorithm = served_by("han", operation, choice);
            if (chooses) algorithm.variables.emplace_back(name, value);
            segment(algorithm, "coll_han_" + operation + "_segsize");
            algorithm.needs.push_back(Need::several_nodes);
            found.push_back(algorithm);
        }
    }
}

// Non-blocking collectives only.
void find_libnbc(std::vector<LibraryAlgorithm>& found) {
    if (!available("libnbc")) return;
    for (const std::string operation : {"allgather", "allreduce", "bcast", "reduce"}) {
        const std::string selector_name = "coll_libnbc_i" + operation + "_algorithm";
        const auto selector = ControlVariable::find(selector_name);
        if (!selector || !selector->writable()) continue;
        for (const auto& [value, name] : selector->choices()) {
            if (name == "ignore") continue;
            LibraryAlgorithm algorithm = served_by("libnbc", operation, name);
            algorithm.nonblocking = true;
            algorithm.variables.emplace_back(selector_name, value);
            found.push_back(algorithm);
        }
    }
}

// Components without a choice of algorithms.
void find_single(std::vector<LibraryAlgorithm>& found) {
    const std::map<std::string, Names> within_a_node = {{"sm", {"allreduce", "barrier", "bcast", "reduce"}},
                                                        {"xhc", {"allreduce", "barrier", "bcast", "reduce"}}};
    if (available("basic"))
        for (const Collective& collective : collectives())
            found.push_back(served_by("basic", collective.name, "default"));
    for (const auto& [component, operations] : within_a_node) {
        if (!available(component)) continue;
        for (const std::string& operation : operations) {
            found.push_back(served_by(component, operation, "default"));
            found.back().needs.push_back(Need::one_node);
        }
    }
}

const RegisterLibraryFamily registered([](std::vector<LibraryAlgorithm>& found) {
    find_tuned(found);
    find_adapt(found);
    find_han(found);
    find_libnbc(found);
    find_single(found);
});

}  // namespace
}  // namespace hockney::library_openmpi
