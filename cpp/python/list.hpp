// Lists and tuples that Python gives. nanobind's own casters read the caller's list in place, that for a
// tuple too: a number whose __float__ or __index__ empties that list would end the process.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <cstddef>
#include <tuple>
#include <vector>

namespace hockney {

// Of any sequence; each element is held while it is converted.
template <class Entry>
struct List {
    std::vector<Entry> values;
};

// Of a tuple alone, no other sequence: nobody can change it, so it holds its elements while they are
// converted.
template <class... Entries>
struct Tuple {
    std::tuple<Entries...> values;
};

// An iterator without end is refused when it has brought so many.
constexpr std::size_t most_listed = std::size_t{1} << 28;

}  // namespace hockney

namespace nanobind::detail {

template <class Entry>
struct type_caster<hockney::List<Entry>> {
    NB_TYPE_CASTER(hockney::List<Entry>,
                   const_name("collections.abc.Sequence[") + make_caster<Entry>::Name + const_name("]"))

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (!PySequence_Check(source.ptr()) || PyUnicode_Check(source.ptr()) || PyBytes_Check(source.ptr()))
            return false;
        const object items = steal(PyObject_GetIter(source.ptr()));
        bool is_list = items.is_valid();
        make_caster<Entry> caster;
        value.values.clear();
        flags = flags_for_local_caster<Entry>(flags);
        while (is_list) {
            const object item = steal(PyIter_Next(items.ptr()));
            if (!item.is_valid()) break;
            is_list = value.values.size() < hockney::most_listed &&
                      caster.from_python(item, flags, cleanup) && caster.template can_cast<Entry>();
            if (is_list) value.values.push_back(caster.operator cast_t<Entry>());
        }
        is_list = is_list && PyErr_Occurred() == nullptr;
        PyErr_Clear();
        return is_list;
    }
};

template <class... Entries>
struct type_caster<hockney::Tuple<Entries...>> {
    using Values = std::tuple<Entries...>;
    NB_TYPE_CASTER(hockney::Tuple<Entries...>, make_caster<Values>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        make_caster<Values> caster;
        if (!PyTuple_CheckExact(source.ptr()) || !caster.from_python(source, flags, cleanup) ||
            !caster.template can_cast<Values>())
            return false;
        value.values = caster.operator cast_t<Values>();
        return true;
    }
};

}  // namespace nanobind::detail
