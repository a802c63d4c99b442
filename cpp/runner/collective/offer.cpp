#include "offer.hpp"

#include <climits>
#include <sstream>

#include "../../schedule/collective.hpp"
#include "../../schedule/written.hpp"
#include "../json.hpp"
#include "../ranks.hpp"

namespace hockney {

const LibraryAlgorithm* find_library_algorithm(const std::string& operation, const std::string& name) {
    for (const LibraryAlgorithm& algorithm : library_algorithms())
        if (algorithm.operation == operation && algorithm.name == name) return &algorithm;
    return nullptr;
}

const Algorithm* find_schedule(const std::string& operation, const std::string& name) {
    const auto found = algorithms().find({operation, name});
    return found == algorithms().end() ? nullptr : &found->second;
}

void define_schedule(const Request& request) {
    std::vector<Word> program;
    std::istringstream words(request.text("program"));
    for (Word word = 0; words >> word; words.ignore(1, ',')) program.push_back(word);
    define(request.text("operation"), request.text("algorithm"), std::move(program));
}

Problem problem_of(const Request& request) {
    Problem p;
    p.ranks = static_cast<int>(request.whole("ranks"));
    p.root = static_cast<int>(request.whole("root"));
    p.bytes = request.whole("bytes");
    p.segment_B = request.whole("segment_B");
    p.radix = static_cast<int>(request.whole("radix"));
    if (find_collective(request.text("operation"))->reduces) p.element_B = sizeof(float);
    return p;
}

std::string algorithms_json() {
    std::vector<std::string> list;
    const auto add = [&](const std::string& operation, const std::string& name, const char* kind,
                         bool segmented, int radix, long priority = 0, long segment_B = 0) {
        JsonObject entry;
        entry.add("operation", operation).add("algorithm", name).add("kind", kind);
        entry.add("segmented", segmented).add("radix", radix);
        entry.add("priority", priority).add("segment_B", segment_B);
        list.push_back(entry.str());
    };
    for (const Collective& collective : collectives()) {
        add(collective.name, "default", "default", false, 0);
        for (const auto& [key, algorithm] : algorithms())
            if (key.first == collective.name)
                add(key.first, key.second, "schedule", algorithm.is_segmented, algorithm.default_radix);
    }
    for (const LibraryAlgorithm& algorithm : library_algorithms())
        add(algorithm.operation, algorithm.name, "library", algorithm.segmented, algorithm.radix,
            algorithm.priority, algorithm.segment_B);
    return json_list(list);
}

void check_collective(const Request& request, int ranks) {
    const std::string& operation = request.text("operation");
    const std::string& name = request.text("algorithm");
    const Collective* collective = find_collective(operation);
    if (collective == nullptr) throw BadRequest("unknown operation '" + operation + "'");
    const Problem problem = problem_of(request);
    if (problem.ranks < 2 || problem.ranks > ranks)
        throw BadRequest("ranks must be 2 to " + std::to_string(ranks));
    if (problem.root < 0 || problem.root >= problem.ranks)
        throw BadRequest("root must be one of the " + std::to_string(problem.ranks) + " ranks");
    if (problem.bytes < 0 || problem.bytes % problem.element_B != 0)
        throw BadRequest("bytes of " + operation + " must be a multiple of " +
                         std::to_string(problem.element_B));
    if (problem.segment_B < 0 || problem.radix < 0)
        throw BadRequest("segment_B and radix must not be negative");
    request.choice("start", {"window", "barrier"});
    if (request.whole("rotate") != 0 && !collective->rooted())
        throw BadRequest(operation + " has no root to rotate");
    const Algorithm* algorithm = find_schedule(operation, name);
    if (algorithm == nullptr && collective->reduces && problem.bytes / problem.element_B > INT_MAX)
        throw Refusal("constraint", "MPI_" + operation + " counts elements with an int: " +
                                        std::to_string(problem.bytes / problem.element_B) + " are too many");
    if (name == "default") return;
    if (const LibraryAlgorithm* library = find_library_algorithm(operation, name)) {
        // Of a block for each rank, what the library splits is the whole.
        const bool splits_blocks = collective->sizes_are_blocks && !collective->rooted();
        const Bytes whole_B = problem.bytes * (splits_blocks ? problem.ranks : 1);
        const std::string reason = refusal(*library, problem.ranks, whole_B / problem.element_B,
                                           problem.element_B, problem.segment_B);
        if (!reason.empty()) throw Refusal("constraint", reason);
        return;
    }
    if (algorithm == nullptr) throw BadRequest("unknown algorithm '" + name + "' of " + operation);
    std::string reason;
    try {
        reason = refusal(*algorithm, problem);
        // Of a user's text each rank's steps are written beforehand: if one failed, the others would wait for
        // it.
        if (reason.empty() && algorithm->written)
            count_steps(*algorithm, problem, most_steps * problem.ranks);
    } catch (const std::runtime_error& wrong) {
        reason = wrong.what();
    }
    if (!reason.empty()) throw Refusal("constraint", reason);
}

}  // namespace hockney
