// Recorded runs for Python: what they are, and how they are to be played.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "../replay/replay.hpp"
#include "arguments.hpp"
#include "register.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace hockney {
namespace {

using Asked = std::tuple<std::string, std::string, Problem>;

Replay replay_of(const Recording& recording, const std::vector<std::vector<Asked>>& done_by, bool uses_cpu,
                 std::vector<double>&& site_factor, std::vector<double>&& rank_factor,
                 std::vector<double>&& call_factor) {
    if (done_by.size() != recording.calls().size())
        throw std::invalid_argument("there must be algorithms for each of the collective calls");
    if (!site_factor.empty() && site_factor.size() != recording.sites().size())
        throw std::invalid_argument("there must be a factor for each call site");
    if (!rank_factor.empty() && rank_factor.size() != static_cast<std::size_t>(recording.ranks()))
        throw std::invalid_argument("there must be a factor for each rank");
    if (!call_factor.empty() && call_factor.size() != recording.calls().size())
        throw std::invalid_argument("there must be a factor for each of the collective calls");
    for (const std::vector<double>* factors : {&site_factor, &rank_factor, &call_factor})
        for (const double factor : *factors)
            if (!(factor >= 0 && factor <= 1e9)) throw std::invalid_argument("a factor is 0 to 10^9");
    Replay replay{
        &recording, {}, uses_cpu, std::move(site_factor), std::move(rank_factor), std::move(call_factor)};
    for (std::size_t i = 0; i < done_by.size(); ++i) {
        Parts parts;
        for (const Asked& asked : done_by[i]) {
            const auto& [collective, name, problem] = asked;
            if (problem.ranks != recording.calls()[i].first.ranks)
                throw std::invalid_argument("a collective must have the ranks of its call");
            parts.emplace_back(&accepted(collective, name, problem), problem);
        }
        replay.done_by.push_back(std::move(parts));
    }
    return replay;
}

}  // namespace

void register_replay(nb::module_& module) {
    nb::exception<TraceFault>(module, "TraceFault");
    nb::class_<Recording>(module, "Recording")
        .def(
            "__init__",
            [](Recording* self, const std::string& folder) {
                const nb::gil_scoped_release others_may_run;
                new (self) Recording(folder);
            },
            "folder"_a)
        .def_prop_ro("ranks", &Recording::ranks)
        .def_prop_ro("mpi", &Recording::mpi)
        .def_prop_ro("hosts", &Recording::hosts)
        .def_prop_ro("sites", &Recording::sites)
        .def_prop_ro("has_cpu", &Recording::has_cpu)
        .def_prop_ro("between_groups", &Recording::between_groups)
        .def_prop_ro("computing_s",
                     [](const Recording& recording) {
                         std::vector<double> all;
                         for (int rank = 0; rank < recording.ranks(); ++rank)
                             all.push_back(1e-9 * static_cast<double>(recording.rank(rank).computing_ns));
                         return all;
                     })
        .def_prop_ro("per_rank",
                     [](const Recording& recording) {
                         std::vector<std::tuple<std::uint64_t, double, std::string>> all;
                         for (int rank = 0; rank < recording.ranks(); ++rank) {
                             const RankTrace& of = recording.rank(rank);
                             all.emplace_back(of.events, 1e-9 * static_cast<double>(of.wall_ns), of.ends);
                         }
                         return all;
                     })
        .def_prop_ro("others",
                     [](const Recording& recording) {
                         std::vector<std::tuple<std::string, std::uint64_t, double>> all;
                         for (const auto& [name, other] : recording.others())
                             all.emplace_back(name, other.calls, other.time_s);
                         return all;
                     })
        .def_prop_ro("calls", [](const Recording& recording) {
            std::vector<std::tuple<int, int, Bytes, int, bool, std::uint64_t>> all;
            for (const auto& [call, count] : recording.calls())
                all.emplace_back(static_cast<int>(call.operation), call.ranks, call.bytes, call.element_B,
                                 call.is_commutative, count);
            return all;
        });

    nb::class_<Replay>(module, "Replay")
        .def(
            "__init__",
            [](Replay* self, const Recording& recording, const std::vector<std::vector<Asked>>& done_by,
               bool uses_cpu, std::vector<double> site_factor, std::vector<double> rank_factor,
               std::vector<double> call_factor) {
                new (self) Replay(replay_of(recording, done_by, uses_cpu, std::move(site_factor),
                                            std::move(rank_factor), std::move(call_factor)));
            },
            "recording"_a, "done_by"_a, nb::kw_only(), "uses_cpu"_a = false,
            "site_factor"_a = nb::make_tuple(), "rank_factor"_a = nb::make_tuple(),
            "call_factor"_a = nb::make_tuple(), nb::keep_alive<1, 2>());
}

}  // namespace hockney
