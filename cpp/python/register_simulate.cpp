// The simulator for Python. Costs come as tables or curves, times go as arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <tuple>

#include "../simulate/alike.hpp"
#include "../simulate/simulate.hpp"
#include "../simulate/written.hpp"
#include "arguments.hpp"
#include "arrays.hpp"
#include "register.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MAKE_OPAQUE(std::vector<hockney::RankSchedule>)

namespace hockney {
namespace {

using Ids = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = std::vector<std::int32_t>;

// (collective, algorithm, problem)
using Asked = std::tuple<std::string, std::string, Problem>;

Phase phase_of(const Asked& asked) {
    const auto& [collective, name, problem] = asked;
    return {&accepted(collective, name, problem), problem};
}

Phase phase_of(const Schedule& written) {
    if (written.empty()) throw std::invalid_argument("a schedule without ranks cannot be simulated");
    Phase phase;
    phase.problem.ranks = static_cast<int>(written.size());
    phase.written = &written;
    return phase;
}

Phase phase_of(const Graph& graph) {
    Phase phase;
    phase.problem.ranks = graph.ranks();
    phase.graph = &graph;
    return phase;
}

Phase phase_of(const Replay& replay) {
    Phase phase;
    phase.problem.ranks = replay.recording->ranks();
    phase.replay = &replay;
    return phase;
}

// What is simulated. Python may forget its schedules meanwhile, so they are held here.
struct Phases {
    explicit Phases(const nb::iterable& asked) {
        for (const nb::handle phase : asked) {
            if (all.size() == most_phases)
                throw std::invalid_argument("at most " + std::to_string(most_phases) +
                                            " phases are simulated together");
            held.push_back(nb::borrow(phase));
            const Schedule* written = nullptr;
            const Graph* graph = nullptr;
            const Replay* replay = nullptr;
            Asked generated;
            if (nb::isinstance<Schedule>(phase) && nb::try_cast(phase, written))
                all.push_back(phase_of(*written));
            else if (nb::isinstance<Graph>(phase) && nb::try_cast(phase, graph))
                all.push_back(phase_of(*graph));
            else if (nb::isinstance<Replay>(phase) && nb::try_cast(phase, replay))
                all.push_back(phase_of(*replay));
            else if (nb::try_cast(phase, generated))
                all.push_back(phase_of(generated));
            else
                throw nb::type_error(
                    "a phase is (collective, algorithm, problem), a Schedule, Graph or Replay");
            if (replay != nullptr && all.size() > 1)
                throw std::invalid_argument("a replay is the first phase");
            if (all.back().problem.ranks != ranks())
                throw std::invalid_argument("all phases must have the same number of ranks");
        }
        std::set<const Schedule*> different;
        for (const Phase& phase : all)
            if (phase.written != nullptr && different.insert(phase.written).second)
                expect_matched(*phase.written);
        if (all.empty()) throw std::invalid_argument("there is nothing to simulate");
    }
    int ranks() const { return all.front().problem.ranks; }

    std::vector<Phase> all;

  private:
    std::vector<nb::object> held;
};

Domains domains_of(const Ids& levels, int ranks, const CostCurves& costs) {
    if (levels.shape(0) >= most_localities)
        throw std::invalid_argument("there must be fewer than " + std::to_string(most_localities) +
                                    " levels");
    if (costs.message.size() != levels.shape(0) + 1)
        throw std::invalid_argument("there must be costs for each locality");
    if (levels.shape(0) > 0 && levels.shape(1) != static_cast<std::size_t>(ranks))
        throw std::invalid_argument("there must be an id for each rank");
    Domains domains;
    for (std::size_t level = 0; level < levels.shape(0); ++level) {
        const std::int32_t* ids = levels.data() + level * levels.shape(1);
        domains.levels.emplace_back(ids, ids + levels.shape(1));
    }
    return domains;
}

void expect_on(const Network& network, int ranks) {
    if (!network.node_of_rank.empty() && network.node_of_rank.size() != static_cast<std::size_t>(ranks))
        throw std::invalid_argument("each of the " + std::to_string(ranks) +
                                    " ranks must have a node, or none");
}

Noise noise_of(std::vector<double>&& mean_s, std::uint64_t seed, int ranks) {
    if (mean_s.size() > 1 && mean_s.size() != static_cast<std::size_t>(ranks))
        throw std::invalid_argument("noise is none, one for all ranks or one for each");
    for (const double value_s : mean_s)
        if (!(value_s >= 0 && value_s <= longest_s)) throw std::invalid_argument("noise must be a time");
    return {std::move(mean_s), seed};
}

std::vector<double> costs_in(const Table& table, const RecordedTrace& trace) {
    if (table.shape(0) != trace.size_B().size() || table.shape(1) != trace.row())
        throw std::invalid_argument("the costs must have a row for each size");
    for (std::size_t i = 0; i < table.size(); ++i) expect_time(table.data()[i]);
    return values(table);
}

// Sizes and times of a curve.
using Points = std::vector<std::vector<double>>;

Curve curve_of(const Points& points) {
    if (points.size() != 2) throw std::invalid_argument("a curve consists of sizes and times");
    const std::vector<double>&size_B = points[0], &time_s = points[1];
    if (size_B.size() != time_s.size()) throw std::invalid_argument("a curve needs a time for each size");
    for (std::size_t i = 0; i < size_B.size(); ++i) {
        if (!std::isfinite(size_B[i]) || (i > 0 && size_B[i] <= size_B[i - 1]))
            throw std::invalid_argument("the sizes of a curve must be numbers that increase");
        expect_time(time_s[i]);
    }
    return {size_B, time_s};
}

CostCurves costs_of(const std::vector<std::vector<Points>>& message, const Points& copy,
                    const Points& reduce) {
    CostCurves costs;
    for (const std::vector<Points>& of_locality : message) {
        if (of_locality.size() != term_count)
            throw std::invalid_argument("each locality needs a curve for each term");
        std::vector<Curve> curves;
        for (const Points& points : of_locality) curves.push_back(curve_of(points));
        // Where nothing is said of a handshake there is none: 0 would be one that takes no time.
        Curve& handshake = curves[static_cast<std::size_t>(Term::handshake)];
        if (handshake.size_B.empty()) handshake = {{0}, {buffered}};
        costs.message.push_back(std::move(curves));
    }
    costs.copy = curve_of(copy);
    costs.reduce = curve_of(reduce);
    return costs;
}

}  // namespace

void register_simulate(nb::module_& module) {
    nb::class_<CostCurves>(module, "CostCurves")
        .def(
            "__init__",
            [](CostCurves* self, const std::vector<std::vector<Points>>& message, const Points& copy,
               const Points& reduce) { new (self) CostCurves(costs_of(message, copy, reduce)); },
            "message"_a, "copy"_a, "reduce"_a);

    nb::class_<Network>(module, "Network")
        .def(
            "__init__",
            [](Network* self, Numbers node_of_rank, Numbers torus, Numbers below, Numbers uplinks,
               Numbers memory_of_rank) {
                Network network;
                network.place(std::move(node_of_rank));
                network.memory_of_rank = std::move(memory_of_rank);
                network.torus = std::move(torus);
                network.below = std::move(below);
                network.uplinks = std::move(uplinks);
                if (!network.torus.empty()) network.kind = Network::Kind::torus;
                if (!network.below.empty()) network.kind = Network::Kind::tree;
                network.check();
                new (self) Network(std::move(network));
            },
            nb::kw_only(), "node_of_rank"_a, "torus"_a = nb::make_tuple(), "below"_a = nb::make_tuple(),
            "uplinks"_a = nb::make_tuple(), "memory_of_rank"_a = nb::make_tuple())
        .def_prop_ro("links", &Network::links)
        .def(
            "route",
            [](const Network& network, std::int32_t from, std::int32_t to) {
                for (const std::int32_t node : {from, to})
                    if (node < 0 || node >= network.nodes())
                        throw std::out_of_range("node " + std::to_string(node) + " is none of 0 to " +
                                                std::to_string(network.nodes() - 1));
                std::vector<std::int32_t> links;
                network.route(from, to, links);
                return links;
            },
            "sender"_a, "receiver"_a);

    nb::class_<Simulated>(module, "Simulated")
        .def_ro("messages", &Simulated::messages)
        .def_ro("work", &Simulated::work)
        .def_ro("size_B", &Simulated::size_B)
        .def_ro("engine_s", &Simulated::engine_s)
        .def_ro("worked_s", &Simulated::worked_s)
        .def_prop_ro("moments",
                     [](const Simulated& self) {
                         std::vector<std::tuple<std::int32_t, int, std::uint32_t, double, double>> all;
                         for (const Moment& each : self.moments)
                             all.emplace_back(each.rank, static_cast<int>(each.kind), each.number,
                                              each.start_s, each.end_s);
                         return all;
                     })
        .def_prop_ro("idle_of_pairs",
                     [](const Simulated& self) {
                         std::vector<std::tuple<std::uint32_t, std::uint32_t, double>> all;
                         for (const auto& [pair, idle_s] : self.idle_of_pair_s)
                             all.emplace_back(static_cast<std::uint32_t>(pair >> 32U),
                                              static_cast<std::uint32_t>(pair), idle_s);
                         std::sort(all.begin(), all.end());
                         return all;
                     })
        .def_ro("alone", &Simulated::alone)
        .def_prop_ro("spots",
                     [](const Simulated& self) {
                         std::vector<std::tuple<std::uint32_t, std::int32_t, std::int32_t>> all;
                         for (const Spot& spot : self.spots)
                             all.emplace_back(spot.site, spot.communicator, spot.ranks);
                         return all;
                     })
        .def_prop_ro(
            "of_spots_s",
            [](const Simulated& self) {
                return array(std::vector<double>(self.of_spots_s), {self.of_spots_s.size() / 4, 4});
            },
            nb::rv_policy::take_ownership)
        .def_prop_ro(
            "finish_s",
            [](Simulated& self) { return array(std::vector<double>(self.finish_s), {self.finish_s.size()}); },
            nb::rv_policy::take_ownership)
        .def_prop_ro(
            "ranks_of_class",
            [](const Simulated& self) {
                return array(std::vector<double>(self.ranks_of_class.begin(), self.ranks_of_class.end()),
                             {self.ranks_of_class.size()});
            },
            nb::rv_policy::take_ownership)
        .def_prop_ro(
            "critical",
            [](Simulated& self) {
                const std::size_t rows = self.size_B.size();
                return array(std::vector<double>(self.critical),
                             {rows, rows == 0 ? 0 : self.critical.size() / rows});
            },
            nb::rv_policy::take_ownership);

    nb::exception<GoalFault>(module, "GoalFault");
    nb::class_<Graph>(module, "Graph")
        .def(
            "__init__",
            [](Graph* self, const std::string& path, Bytes most_B) {
                const nb::gil_scoped_release others_may_run;
                new (self) Graph(path, most_B);
            },
            "path"_a, "most_B"_a = most_held_B)
        .def_prop_ro("ranks", &Graph::ranks)
        .def_prop_ro("operations", &Graph::operations)
        .def_prop_ro("messages", &Graph::messages)
        .def_prop_ro("largest_B", &Graph::largest_B);
    module.def(
        "goal",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem, int rank,
           double reduce_ns_per_B) {
            const Algorithm& asked = accepted(collective, algorithm, problem);
            expect_rank(rank, problem);
            return goal_text(generate(asked, problem, rank), reduce_ns_per_B);
        },
        "collective"_a, "algorithm"_a, "problem"_a, "rank"_a, "reduce_ns_per_B"_a);
    module.def(
        "simulate",
        [](const nb::iterable& asked, const CostCurves& costs, const Ids& levels, const Network& network,
           std::vector<double> noise_s, std::uint64_t seed, bool by_class, bool trace,
           const std::tuple<double, double, std::size_t>& window, Bytes most_B) {
            const Phases phases(asked);
            expect_on(network, phases.ranks());
            Options options;
            options.domains = domains_of(levels, phases.ranks(), costs);
            options.network = network;
            options.noise = noise_of(std::move(noise_s), seed, phases.ranks());
            options.by_class = by_class;
            options.trace = trace;
            std::tie(options.window.from_s, options.window.until_s, options.window.most) = window;
            options.most_B = most_B;
            if (most_B < 0) throw std::invalid_argument("the memory must not be negative");
            if (by_class && (phases.all.size() > 1 || levels.shape(0) > 0 || !options.noise.mean_s.empty() ||
                             !network.node_of_rank.empty()))
                throw std::invalid_argument(
                    "one rank stands for all in one phase only, without levels, noise or a network");
            const nb::gil_scoped_release others_may_run;
            return simulate(phases.all, costs, options);
        },
        "phases"_a, "costs"_a, nb::kw_only(), "levels"_a.noconvert(), "network"_a,
        "noise_s"_a = nb::make_tuple(), "seed"_a = 0, "by_class"_a = false, "trace"_a = false,
        "window"_a = nb::make_tuple(0.0, 0.0, 0), "most_B"_a = most_held_B);
    module.def(
        "symmetric_classes",
        [](const Asked& asked, bool copies_cost) { return symmetric_classes(phase_of(asked), copies_cost); },
        "phase"_a, "copies_cost"_a = false);

    module.def("write_goal", &write_goal, "replay"_a, "path"_a, "costs"_a,
               nb::call_guard<nb::gil_scoped_release>());

    nb::class_<Timeline>(module, "Timeline")
        .def_ro("start_s", &Timeline::start_s)
        .def_ro("end_s", &Timeline::end_s)
        .def_ro("arrival_s", &Timeline::arrival_s)
        .def_ro("finish_s", &Timeline::finish_s);
    module.def(
        "timeline",
        [](const Schedule& schedule, const CostCurves& costs) {
            if (costs.message.size() != 1)
                throw std::invalid_argument("there must be costs for one locality");
            expect_matched(schedule);
            return timeline(schedule, costs);
        },
        "schedule"_a, "costs"_a);

    nb::class_<RecordedTrace>(module, "RecordedTrace")
        .def(
            "__init__",
            [](RecordedTrace* self, const nb::iterable& asked, const CostCurves& costs, const Ids& levels,
               const Network& network) {
                const Phases phases(asked);
                expect_on(network, phases.ranks());
                Domains domains = domains_of(levels, phases.ranks(), costs);
                const nb::gil_scoped_release others_may_run;
                new (self) RecordedTrace(phases.all, costs, std::move(domains), network);
            },
            "phases"_a, "costs"_a, nb::kw_only(), "levels"_a.noconvert(), "network"_a)
        .def_prop_ro("size_B", &RecordedTrace::size_B)
        .def_prop_ro("events", &RecordedTrace::events)
        .def(
            "finish_s",
            [](const RecordedTrace& trace, const Table& costs) {
                std::vector<double> table_s = costs_in(costs, trace), finish_s;
                {
                    const nb::gil_scoped_release others_may_run;
                    finish_s = trace.finish_s(std::move(table_s));
                }
                return array(std::move(finish_s), {trace.phases(), trace.ranks()});
            },
            "costs"_a)
        .def(
            "gradient",
            [](const RecordedTrace& trace, const Table& costs, const nb::callable& weigh) {
                std::vector<double> table_s = costs_in(costs, trace), counts;
                const auto weights_of = [&](std::vector<double> finish_s) {
                    const nb::gil_scoped_acquire it_calls;
                    Row weights;
                    const auto times_s = array(std::move(finish_s), {trace.phases(), trace.ranks()});
                    if (!nb::try_cast(weigh(times_s), weights) || weights.size() != times_s.size())
                        throw std::invalid_argument("there must be a weight for each rank and phase");
                    std::vector<double> weight = values(weights);
                    for (const double value : weight) expect_time(value);
                    return weight;
                };
                {
                    const nb::gil_scoped_release others_may_run;
                    counts = trace.gradient(std::move(table_s), weights_of);
                }
                return array(std::move(counts), {trace.size_B().size(), trace.row()});
            },
            "costs"_a, "weigh"_a);
}

}  // namespace hockney
