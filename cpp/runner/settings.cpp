// MPI_T control variables (MPI 3.1, section 14.3) whose names speak of protocol limits, and those by which
// somebody has taken the choice of algorithms from the library.
#include "settings.hpp"

#include <mpi.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "json.hpp"
#include "library/control_variable.hpp"
#include "library/library.hpp"
#include "tool_interface.hpp"

namespace hockney {

#ifdef HOCKNEY_NO_MPI_T

std::string settings_json() { return "{}"; }

#else

namespace {

bool speaks_of_protocol(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const char* word : {"eager", "rndv", "rendezvous", "max_send_size", "min_rdma", "lmt",
                             "iov_threshold", "cell_size", "_cma_"})
        if (name.find(word) != std::string::npos) return true;
    return false;
}

bool begins(const std::string& text, const std::string& with) { return text.rfind(with, 0) == 0; }

bool ends(const std::string& text, const std::string& with) {
    return text.size() >= with.size() && text.compare(text.size() - with.size(), with.size(), with) == 0;
}

// Variables that name an algorithm (0: the library chooses), or say how long its segments are. Of MPICH's
// those of its devices are left out: each has a number of its own for the library's choice.
bool names_algorithm(const std::string& name) {
    if (begins(name, "coll_tuned_")) return ends(name, "_algorithm") || ends(name, "_algorithm_segmentsize");
    const bool of_device = ends(name, "_POSIX_INTRA_ALGORITHM") || ends(name, "_OFI_INTRA_ALGORITHM");
    return begins(name, "MPIR_CVAR_") && !of_device &&
           (ends(name, "_INTRA_ALGORITHM") || ends(name, "_COMPOSITION"));
}

bool names_rules(const std::string& name) {
    return name == "coll_tuned_dynamic_rules_filename" || ends(name, "COLL_SELECTION_TUNING_JSON_FILE");
}

// The radix of an algorithm that is forced: it always has a value, and of all others that says nothing.
bool is_forced_radix(const std::string& name) {
    if (!begins(name, "coll_tuned_")) return false;
    for (const LibraryAlgorithm& algorithm : library_algorithms()) {
        if (algorithm.radix_variable != name) continue;
        const auto& [selector, number] = algorithm.variables.back();
        const auto variable = ControlVariable::find(selector);
        if (variable && variable->read() == number) return true;
    }
    return false;
}

bool speaks_of_choice(const std::string& name) {
    return names_algorithm(name) || names_rules(name) || ends(name, "_DEVICE_COLLECTIVE") ||
           name == "coll_tuned_use_dynamic_rules" || is_forced_radix(name);
}

// Whether the choice of algorithms is not the library's where such a variable has this value.
bool takes_choice(const std::string& name, const std::string& value) {
    if (names_rules(name)) return true;
    return (value == "0") == ends(name, "_DEVICE_COLLECTIVE");
}

// The library's own word for the algorithm behind a number, as far as it has one.
std::string in_words(const std::string& name, const std::string& value) {
    for (const LibraryAlgorithm& algorithm : library_algorithms())
        for (const auto& [variable, number] : algorithm.variables)
            if (names_algorithm(name) && variable == name && std::to_string(number) == value)
                return algorithm.name.substr(algorithm.name.find(':') + 1);
    return value;
}

// Reads a scalar of type T as text; empty where the library refuses.
template <typename T>
std::string read(MPI_T_cvar_handle handle) {
    T value{};
    return MPI_T_cvar_read(handle, &value) == MPI_SUCCESS ? std::to_string(value) : "";
}

std::string value_of(int index, MPI_Datatype type) {
    MPI_T_cvar_handle handle;
    int count = 0;
    if (MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count) != MPI_SUCCESS) return "";
    std::string value;
    if (type == MPI_CHAR) {
        std::vector<char> text(static_cast<std::size_t>(std::max(count, 1)) + 1, '\0');
        if (MPI_T_cvar_read(handle, text.data()) == MPI_SUCCESS) value = text.data();
    } else if (count == 1) {
        if (type == MPI_INT) value = read<int>(handle);
        if (type == MPI_C_BOOL) value = read<bool>(handle);
        if (type == MPI_UNSIGNED) value = read<unsigned>(handle);
        if (type == MPI_UNSIGNED_LONG) value = read<unsigned long>(handle);
        if (type == MPI_UNSIGNED_LONG_LONG) value = read<unsigned long long>(handle);
        if (type == MPI_COUNT) value = read<MPI_Count>(handle);
    }
    MPI_T_cvar_handle_free(&handle);
    return value;
}

}  // namespace

std::string settings_json() {
    JsonObject settings;
    if (!has_tool_interface()) return settings.str();
    int variables = 0;
    MPI_T_cvar_get_num(&variables);
    for (int index = 0; index < variables; ++index) {
        char name[256];
        int name_length = sizeof name, description_length = 0, verbosity = 0, bind = 0, scope = 0;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum enumeration;
        if (MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &enumeration, nullptr,
                                &description_length, &bind, &scope) != MPI_SUCCESS)
            continue;
        if (bind != MPI_T_BIND_NO_OBJECT) continue;
        if (!speaks_of_protocol(name) && !speaks_of_choice(name)) continue;
        const std::string value = value_of(index, type);
        if (!value.empty() && (!speaks_of_choice(name) || takes_choice(name, value)))
            settings.add(name, in_words(name, value));
    }
    return settings.str();
}

#endif

}  // namespace hockney
