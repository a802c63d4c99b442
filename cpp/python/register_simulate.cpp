// The simulator for Python. Costs come as tables or curves, times go as arrays.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/bind_vector.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <tuple>

#include "../simulate/simulate.hpp"
#include "register.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MAKE_OPAQUE(std::vector<hockney::RankSchedule>)

namespace hockney {
namespace {

using Row = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Ids = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Answer = nb::ndarray<nb::numpy, double>;

// (collective, algorithm, problem)
using Asked = std::tuple<std::string, std::string, Problem>;

Phase phase_of(const Asked& asked) {
    const auto& [collective, name, problem] = asked;
    const auto found = algorithms().find({collective, name});
    if (found == algorithms().end())
        throw std::invalid_argument("unknown algorithm " + collective + " " + name);
    const std::string reason = refusal(found->second, problem);
    if (!reason.empty()) throw std::invalid_argument(reason);
    return {&found->second, problem};
}

Phase phase_of(const Schedule& written) {
    Phase phase;
    phase.problem.ranks = static_cast<int>(written.size());
    phase.written = &written;
    return phase;
}

// Written schedules stay the caller's, who must keep them.
std::vector<Phase> phases_of(const nb::sequence& asked) {
    std::vector<Phase> phases;
    for (const nb::handle one : asked)
        phases.push_back(nb::isinstance<Schedule>(one) ? phase_of(nb::cast<const Schedule&>(one))
                                                       : phase_of(nb::cast<Asked>(one)));
    if (phases.empty()) throw std::invalid_argument("there is nothing to simulate");
    for (const Phase& phase : phases)
        if (phase.problem.ranks != phases.front().problem.ranks)
            throw std::invalid_argument("all phases must have the same number of ranks");
    return phases;
}

Domains domains_of(const Ids& levels, int ranks) {
    if (levels.shape(0) > 0 && levels.shape(1) != static_cast<std::size_t>(ranks))
        throw std::invalid_argument("there must be an id for each rank");
    Domains domains;
    for (std::size_t level = 0; level < levels.shape(0); ++level) {
        const std::int32_t* ids = levels.data() + level * levels.shape(1);
        domains.levels.emplace_back(ids, ids + levels.shape(1));
    }
    return domains;
}

Answer array(std::vector<double>&& values, std::vector<std::size_t> shape) {
    auto* owned = new std::vector<double>(std::move(values));
    const nb::capsule owner(owned,
                            [](void* data) noexcept { delete static_cast<std::vector<double>*>(data); });
    return {owned->data(), shape.size(), shape.data(), owner};
}

std::vector<double> values(const Table& table, const RecordedTrace& trace) {
    if (table.shape(0) != trace.size_B().size() || table.shape(1) != trace.row())
        throw std::invalid_argument("the costs must have a row for each size");
    return {table.data(), table.data() + table.size()};
}

Curve curve_of(const std::tuple<std::vector<double>, std::vector<double>>& points) {
    const auto& [size_B, time_s] = points;
    if (size_B.size() != time_s.size()) throw std::invalid_argument("a curve needs a time for each size");
    return {size_B, time_s};
}

}  // namespace

void register_simulate(nb::module_& module) {
    using Points = std::tuple<std::vector<double>, std::vector<double>>;

    nb::class_<CostCurves>(module, "CostCurves")
        .def(
            "__init__",
            [](CostCurves* self, const std::vector<std::vector<Points>>& message, const Points& copy,
               const Points& reduce) {
                new (self) CostCurves;
                for (const std::vector<Points>& of_locality : message) {
                    if (of_locality.size() != term_count)
                        throw std::invalid_argument("each locality needs a curve for each term");
                    std::vector<Curve> curves;
                    for (const Points& points : of_locality) curves.push_back(curve_of(points));
                    self->message.push_back(std::move(curves));
                }
                self->copy = curve_of(copy);
                self->reduce = curve_of(reduce);
            },
            "message"_a, "copy"_a, "reduce"_a);

    nb::class_<Network>(module, "Network")
        .def(
            "__init__",
            [](Network* self, std::vector<std::int32_t> node_of_rank, std::vector<std::int32_t> torus,
               std::vector<std::int32_t> below, std::vector<std::int32_t> uplinks,
               std::vector<std::int32_t> memory_of_rank) {
                new (self) Network;
                self->place(std::move(node_of_rank));
                self->memory_of_rank = std::move(memory_of_rank);
                self->torus = std::move(torus);
                self->below = std::move(below);
                self->uplinks = std::move(uplinks);
                if (!self->torus.empty()) self->kind = Network::Kind::torus;
                if (!self->below.empty()) self->kind = Network::Kind::tree;
                if (self->below.size() != self->uplinks.size())
                    throw std::invalid_argument("each level of switches needs its number of uplinks");
                std::int64_t places = 1;
                for (const std::int32_t extent : self->torus) places *= extent;
                if (!self->torus.empty() && places < self->nodes())
                    throw std::invalid_argument("the torus has fewer places than there are nodes");
            },
            nb::kw_only(), "node_of_rank"_a, "torus"_a = std::vector<std::int32_t>{},
            "below"_a = std::vector<std::int32_t>{}, "uplinks"_a = std::vector<std::int32_t>{},
            "memory_of_rank"_a = std::vector<std::int32_t>{})
        .def_prop_ro("links", &Network::links)
        .def("route", [](const Network& network, std::int32_t from, std::int32_t to) {
            std::vector<std::int32_t> links;
            network.route(from, to, links);
            return links;
        });

    nb::class_<Simulated>(module, "Simulated")
        .def_ro("messages", &Simulated::messages)
        .def_ro("size_B", &Simulated::size_B)
        .def_ro("engine_s", &Simulated::engine_s)
        .def_prop_ro(
            "finish_s",
            [](Simulated& self) { return array(std::vector<double>(self.finish_s), {self.finish_s.size()}); },
            nb::rv_policy::take_ownership)
        .def_prop_ro(
            "critical",
            [](Simulated& self) {
                const std::size_t rows = self.size_B.size();
                return array(std::vector<double>(self.critical),
                             {rows, rows == 0 ? 0 : self.critical.size() / rows});
            },
            nb::rv_policy::take_ownership);

    module.def(
        "simulate",
        [](const nb::sequence& asked, const CostCurves& costs, const Ids& levels, const Network& network,
           const std::vector<double>& noise_s, std::uint64_t seed, bool by_class, bool trace) {
            const std::vector<Phase> phases = phases_of(asked);
            Options options;
            options.domains = domains_of(levels, phases.front().problem.ranks);
            if (options.domains.localities() != costs.message.size())
                throw std::invalid_argument("there must be costs for each locality");
            options.network = network;
            options.noise = {noise_s, seed};
            options.by_class = by_class;
            options.trace = trace;
            const nb::gil_scoped_release others_may_run;
            return simulate(phases, costs, options);
        },
        "phases"_a, "costs"_a, nb::kw_only(), "levels"_a, "network"_a, "noise_s"_a = std::vector<double>{},
        "seed"_a = 0, "by_class"_a = false, "trace"_a = false);
    module.def(
        "symmetric_classes",
        [](const Asked& asked, bool copies_cost) { return symmetry(phase_of(asked), copies_cost).classes; },
        "phase"_a, "copies_cost"_a = false);

    nb::class_<Timeline>(module, "Timeline")
        .def_ro("start_s", &Timeline::start_s)
        .def_ro("end_s", &Timeline::end_s)
        .def_ro("arrival_s", &Timeline::arrival_s)
        .def_ro("finish_s", &Timeline::finish_s);
    module.def("timeline", &timeline, "schedule"_a, "costs"_a);

    nb::class_<RecordedTrace>(module, "RecordedTrace")
        .def(
            "__init__",
            [](RecordedTrace* self, const nb::sequence& asked, const CostCurves& costs, const Ids& levels,
               const Network& network) {
                const std::vector<Phase> phases = phases_of(asked);
                Domains domains = domains_of(levels, phases.front().problem.ranks);
                if (domains.localities() != costs.message.size())
                    throw std::invalid_argument("there must be costs for each locality");
                const nb::gil_scoped_release others_may_run;
                new (self) RecordedTrace(phases, costs, std::move(domains), network);
            },
            "phases"_a, "costs"_a, nb::kw_only(), "levels"_a, "network"_a)
        .def_prop_ro("size_B", &RecordedTrace::size_B)
        .def_prop_ro("events", &RecordedTrace::events)
        .def(
            "finish_s",
            [](const RecordedTrace& trace, const Table& costs) {
                std::vector<double> table_s = values(costs, trace), finish_s;
                {
                    const nb::gil_scoped_release others_may_run;
                    finish_s = trace.finish_s(std::move(table_s));
                }
                return array(std::move(finish_s), {trace.phases(), trace.ranks()});
            },
            "costs"_a)
        .def(
            "gradient",
            [](const RecordedTrace& trace, const Table& costs, const Row& weights) {
                if (weights.size() != trace.phases() * trace.ranks())
                    throw std::invalid_argument("there must be a weight for each rank and phase");
                std::vector<double> table_s = values(costs, trace), finish_s, counts;
                const std::vector<double> weight(weights.data(), weights.data() + weights.size());
                {
                    const nb::gil_scoped_release others_may_run;
                    counts = trace.gradient(std::move(table_s), weight, finish_s);
                }
                return std::make_tuple(array(std::move(finish_s), {trace.phases(), trace.ranks()}),
                                       array(std::move(counts), {trace.size_B().size(), trace.row()}));
            },
            "costs"_a, "weights"_a);
}

}  // namespace hockney
