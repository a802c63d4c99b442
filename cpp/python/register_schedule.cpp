// Schedules for Python: algorithms, steps (of which tests make broken schedules to see the verifier object),
// proof and counts.
#include <nanobind/make_iterator.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "../analyse/count.hpp"
#include "../analyse/verify.hpp"
#include "../schedule/collective.hpp"
#include "../schedule/schedule.hpp"
#include "../schedule/written.hpp"
#include "../simulate/written.hpp"
#include "arguments.hpp"
#include "register.hpp"

namespace nb = nanobind;
using namespace nb::literals;

NB_MAKE_OPAQUE(std::vector<hockney::Step>)
NB_MAKE_OPAQUE(std::vector<hockney::RankSchedule>)

namespace hockney {
namespace {

template <class Number>
using Column = nb::ndarray<const Number, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Ours: a user's schedule is known to those who name it, and no choice of anybody else.
std::vector<Algorithm> all_algorithms() {
    std::vector<Algorithm> all;
    // In the order of the collectives, then by name.
    for (const Collective& collective : collectives())
        for (const auto& entry : algorithms())
            if (entry.first.first == collective.name && !entry.second.written) all.push_back(entry.second);
    return all;
}

// A list that Python may read. Nobody can change it, so its elements stay where they are.
template <class Element>
void bind_list(nb::class_<std::vector<Element>>& list) {
    using List = std::vector<Element>;
    list.def("__len__", [](const List& self) { return self.size(); })
        .def(
            "__getitem__",
            [](const List& self, Py_ssize_t index) -> const Element& {
                const auto size = static_cast<Py_ssize_t>(self.size());
                if (index < -size || index >= size) throw nb::index_error("index out of range");
                return self[static_cast<std::size_t>(index < 0 ? index + size : index)];
            },
            nb::rv_policy::reference_internal)
        .def(
            "__iter__",
            [](const List& self) {
                return nb::make_iterator(nb::type<List>(), "Iterator", self.begin(), self.end());
            },
            nb::keep_alive<0, 1>());
}

template <class Element>
const Element& element(nb::handle item, const char* what) {
    const Element* value = nullptr;
    if (!nb::isinstance<Element>(item) || !nb::try_cast(item, value)) throw nb::type_error(what);
    return *value;
}

RankSchedule rank_of(const nb::iterable& steps, Bytes scratch_B) {
    if (scratch_B < 0) throw std::invalid_argument("scratch memory must not be negative");
    RankSchedule rank;
    rank.scratch_B = scratch_B;
    Bytes held_B = 0;
    for (const nb::handle item : steps) {
        const Step& step = element<Step>(item, "a rank's schedule consists of Steps");
        held_B += step.held_B();
        expect_held(held_B);
        rank.steps.push_back(step);
    }
    return rank;
}

Schedule schedule_of(const nb::iterable& ranks) {
    Schedule schedule;
    Bytes held_B = 0;
    for (const nb::handle item : ranks) {
        const auto& rank = element<RankSchedule>(item, "a schedule consists of RankSchedules");
        if (schedule.size() == most_ranks_held)
            throw TooLarge("more than " + std::to_string(most_ranks_held) + " ranks are not held at once");
        for (const Step& step : rank.steps) held_B += step.held_B();
        expect_held(held_B);
        schedule.push_back(rank);
    }
    for (std::size_t rank = 0; rank < schedule.size(); ++rank)
        for (std::size_t i = 0; i < schedule[rank].steps.size(); ++i)
            if (const std::string reason = fault(schedule[rank].steps[i], i, static_cast<int>(rank),
                                                 static_cast<int>(schedule.size()));
                !reason.empty())
                throw std::invalid_argument("rank " + std::to_string(rank) + ", step " + std::to_string(i) +
                                            ": " + reason);
    return schedule;
}

}  // namespace

void register_schedule(nb::module_& module) {
    nb::exception<TooLarge>(module, "TooLarge", PyExc_MemoryError);
    // A mistake of the user, with what to do: no class of its own.
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void*) {
            try {
                std::rethrow_exception(thrown);
            } catch (const WrittenWrong& wrong) {
                const nb::object kind = nb::module_::import_("hockney.errors").attr("RequestError");
                const std::string said = wrong.what();
                const auto end = said.find('\n');
                const std::string hint = end == std::string::npos
                                             ? "docs/reference/schedule-files.md has the form"
                                             : said.substr(end + 1);
                PyErr_SetObject(kind.ptr(), kind(said.substr(0, end), hint).ptr());
            }
        },
        nullptr);
    module.attr("MOST_RANKS") = most_ranks;
    nb::enum_<Memory>(module, "Memory")
        .value("input", Memory::input)
        .value("output", Memory::output)
        .value("scratch", Memory::scratch);
    nb::enum_<Kind>(module, "Kind")
        .value("send", Kind::send)
        .value("receive", Kind::receive)
        .value("copy", Kind::copy)
        .value("reduce", Kind::reduce);
    nb::class_<Region>(module, "Region")
        .def(
            "__init__",
            [](Region* self, Memory memory, Bytes offset_B, Bytes length_B) {
                new (self) Region{memory, offset_B, length_B};
            },
            "memory"_a = Memory::input, "offset_B"_a = 0, "length_B"_a = 0)
        .def_ro("memory", &Region::memory)
        .def_ro("offset_B", &Region::offset_B)
        .def_ro("length_B", &Region::length_B);
    nb::class_<Step>(module, "Step")
        .def(
            "__init__",
            [](Step* self, Kind kind, int peer, int tag, const Region& source, const Region& target,
               const std::vector<int>& after) { new (self) Step{kind, peer, tag, 0, source, target, after}; },
            "kind"_a, nb::kw_only(), "peer"_a = -1, "tag"_a = 0, "source"_a = Region{}, "target"_a = Region{},
            "after"_a = nb::make_tuple())
        .def_ro("kind", &Step::kind)
        .def_ro("peer", &Step::peer)
        .def_ro("tag", &Step::tag)
        .def_ro("source", &Step::from)
        .def_ro("target", &Step::into)
        .def_prop_ro("after",
                     [](const Step& step) { return std::vector<int>(step.after.begin(), step.after.end()); });
    nb::class_<std::vector<Step>> steps(module, "Steps");
    bind_list(steps);
    nb::class_<RankSchedule>(module, "RankSchedule")
        .def(
            "__init__",
            [](RankSchedule* self, const nb::iterable& steps, Bytes scratch_B) {
                new (self) RankSchedule(rank_of(steps, scratch_B));
            },
            "steps"_a, "scratch_B"_a = 0)
        .def_ro("steps", &RankSchedule::steps)
        .def_ro("scratch_B", &RankSchedule::scratch_B);
    nb::class_<Schedule> schedule(module, "Schedule");
    schedule.def(
        "__init__",
        [](Schedule* self, const nb::iterable& ranks) { new (self) Schedule(schedule_of(ranks)); },
        "ranks"_a);
    bind_list(schedule);
    module.def(
        "write_schedule",
        [](int ranks, const Column<std::int32_t>& rank, const Column<std::int32_t>& stage,
           const Column<std::int32_t>& kind, const Column<std::int32_t>& peer,
           const Column<Bytes>& length_B) {
            std::vector<StagedStep> steps(rank.size());
            if (stage.size() != steps.size() || kind.size() != steps.size() || peer.size() != steps.size() ||
                length_B.size() != steps.size())
                throw std::invalid_argument("all columns must have the same length");
            if (ranks < 1 || ranks > most_ranks_held) throw std::invalid_argument("ranks are out of range");
            for (std::size_t i = 0; i < steps.size(); ++i) {
                if (kind(i) < 0 || kind(i) > static_cast<int>(Kind::reduce))
                    throw std::invalid_argument("unknown kind of step");
                steps[i] = {rank(i), stage(i), static_cast<Kind>(kind(i)), peer(i), length_B(i)};
            }
            return write_schedule(ranks, steps);
        },
        "ranks"_a, "rank"_a.noconvert(), "stage"_a.noconvert(), "kind"_a.noconvert(), "peer"_a.noconvert(),
        "length_B"_a.noconvert());
    nb::class_<Problem>(module, "Problem")
        .def(
            "__init__",
            [](Problem* self, int ranks, int root, Bytes bytes, Bytes element_B, Bytes segment_B, int radix,
               bool in_place, bool commutative) {
                new (self) Problem{ranks, root, bytes, element_B, segment_B, radix, in_place, commutative};
            },
            nb::kw_only(), "ranks"_a, "root"_a = 0, "bytes"_a = 0, "element_B"_a = 1, "segment_B"_a = 0,
            "radix"_a = 0, "in_place"_a = false, "commutative"_a = true)
        .def_ro("ranks", &Problem::ranks)
        .def_ro("root", &Problem::root)
        .def_ro("bytes", &Problem::bytes)
        .def_ro("element_B", &Problem::element_B)
        .def_ro("segment_B", &Problem::segment_B)
        .def_ro("radix", &Problem::radix)
        .def_ro("in_place", &Problem::in_place)
        .def_ro("commutative", &Problem::commutative);
    nb::enum_<Growth>(module, "Growth")
        .value("irregular", Growth::irregular)
        .value("per_rank", Growth::per_rank)
        .value("per_doubling", Growth::per_doubling);
    nb::class_<Algorithm>(module, "Algorithm")
        .def_ro("collective", &Algorithm::collective)
        .def_ro("name", &Algorithm::name)
        .def_ro("is_segmented", &Algorithm::is_segmented)
        .def_ro("default_radix", &Algorithm::default_radix)
        .def_ro("least_radix", &Algorithm::least_radix)
        .def_ro("is_ordered", &Algorithm::is_ordered)
        .def_ro("is_one_block", &Algorithm::is_one_block)
        .def_ro("is_divided", &Algorithm::is_divided)
        .def_ro("growth", &Algorithm::growth)
        .def_ro("is_offered", &Algorithm::is_offered);
    nb::enum_<Direction>(module, "Direction")
        .value("outward", Direction::outward)
        .value("inward", Direction::inward)
        .value("between_all", Direction::between_all);
    nb::class_<Collective>(module, "Collective")
        .def_ro("name", &Collective::name)
        .def_ro("direction", &Collective::direction)
        .def_prop_ro("rooted", &Collective::rooted)
        .def_ro("reduces", &Collective::reduces)
        .def_ro("sizes_are_blocks", &Collective::sizes_are_blocks)
        .def_ro("has_size", &Collective::has_size);
    nb::class_<Counts>(module, "Counts")
        .def_ro("rounds", &Counts::rounds)
        .def_ro("messages", &Counts::messages)
        .def_ro("bytes", &Counts::bytes)
        .def_ro("critical_messages", &Counts::critical_messages)
        .def_ro("critical_bytes", &Counts::critical_bytes)
        .def_ro("max_degree", &Counts::max_degree)
        .def_ro("round_bytes", &Counts::round_bytes)
        .def_ro("reduced_bytes", &Counts::reduced_bytes)
        .def_ro("copied_bytes", &Counts::copied_bytes)
        .def_ro("sent_bytes", &Counts::sent_bytes)
        .def_ro("received_bytes", &Counts::received_bytes)
        .def_ro("blocks", &Counts::blocks);

    nb::class_<Move>(module, "Move")
        .def_ro("sender", &Move::from)
        .def_ro("receiver", &Move::to)
        .def_ro("send", &Move::send)
        .def_ro("receive", &Move::receive)
        .def_ro("round", &Move::round)
        .def_ro("length_B", &Move::length_B);

    module.def("algorithms", &all_algorithms);
    module.def(
        "define",
        [](const std::string& collective, const std::string& name, const std::vector<Word>& program) {
            return define(collective, name, program);
        },
        "collective"_a, "name"_a, "program"_a);
    module.def("collectives", [] { return collectives(); });
    module.def(
        "refusal",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem) {
            return refusal(known(collective, algorithm), problem);
        },
        "collective"_a, "algorithm"_a, "problem"_a);
    module.def(
        "generate",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem) {
            return generate(accepted(collective, algorithm, problem), problem);
        },
        "collective"_a, "algorithm"_a, "problem"_a);
    module.def(
        "generate_rank",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem, int rank) {
            const Algorithm& entry = accepted(collective, algorithm, problem);
            expect_rank(rank, problem);
            return generate(entry, problem, rank);
        },
        "collective"_a, "algorithm"_a, "problem"_a, "rank"_a);
    module.def(
        "count_steps",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem,
           Bytes enough) {
            if (enough < 0) throw std::invalid_argument("enough steps must not be negative");
            return count_steps(accepted(collective, algorithm, problem), problem, enough);
        },
        "collective"_a, "algorithm"_a, "problem"_a, "enough"_a);
    module.def(
        "verify",
        [](const std::string& collective, const Problem& problem, const Schedule& schedule) {
            expect_accepted(known(collective), problem);
            return verify(known(collective), problem, schedule);
        },
        "collective"_a, "problem"_a, "schedule"_a);
    module.def("count", &count, "schedule"_a);
    module.def("moves", &moves, "schedule"_a);
    module.def(
        "beaten_bounds",
        [](const std::string& collective, const std::string& algorithm, const Problem& problem,
           const Counts& counts) {
            const Algorithm& entry = accepted(collective, algorithm, problem);
            if (counts.sent_bytes.size() != static_cast<std::size_t>(problem.ranks))
                throw std::invalid_argument("the counts are of " + std::to_string(counts.sent_bytes.size()) +
                                            " ranks, the problem is of " + std::to_string(problem.ranks));
            return beaten_bounds(entry, problem, counts);
        },
        "collective"_a, "algorithm"_a, "problem"_a, "counts"_a);
}

}  // namespace hockney
