// Kernels, effects and applications by name: each registers itself.
#pragma once

#include <map>
#include <string>

#include "request.hpp"

namespace hockney {

template <class Unit>
std::map<std::string, Unit>& units() {
    static std::map<std::string, Unit> all;
    return all;
}

template <class Unit>
struct RegisterUnit {
    RegisterUnit(const char* name, const Unit& unit) { units<Unit>().emplace(name, unit); }
};

// The one that the request names; BadRequest where there is none.
template <class Unit>
const Unit& asked(const Request& request) {
    const auto found = units<Unit>().find(request.text("operation"));
    if (found == units<Unit>().end())
        throw BadRequest("unknown operation '" + request.text("operation") + "'");
    return found->second;
}

}  // namespace hockney
