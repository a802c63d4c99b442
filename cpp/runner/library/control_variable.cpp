#include "control_variable.hpp"

#include <map>
#include <memory>

#include "../tool_interface.hpp"

namespace hockney {

#ifdef HOCKNEY_NO_MPI_T

std::optional<ControlVariable> ControlVariable::find(const std::string&) { return {}; }
std::optional<long> ControlVariable::read() const { return {}; }
bool ControlVariable::write(long) const { return false; }

#else

namespace {

std::vector<std::pair<long, std::string> > items_of(MPI_T_enum enumeration) {
    std::vector<std::pair<long, std::string> > items;
    char name[256];
    int length = sizeof name, count = 0;
    if (enumeration == MPI_T_ENUM_NULL ||
        MPI_T_enum_get_info(enumeration, &count, name, &length) != MPI_SUCCESS)
        return items;
    for (int i = 0; i < count; ++i) {
        int value = 0;
        length = sizeof name;
        if (MPI_T_enum_get_item(enumeration, i, &value, name, &length) == MPI_SUCCESS)
            items.emplace_back(value, name);
    }
    return items;
}

template <typename T>
std::optional<long> read_as(MPI_T_cvar_handle handle) {
    T value{};
    if (MPI_T_cvar_read(handle, &value) != MPI_SUCCESS) return {};
    return static_cast<long>(value);
}

template <typename T>
bool write_as(MPI_T_cvar_handle handle, long value) {
    const T converted = static_cast<T>(value);
    return MPI_T_cvar_write(handle, &converted) == MPI_SUCCESS;
}

}  // namespace

std::optional<ControlVariable> ControlVariable::find(const std::string& name) {
    static std::map<std::string, std::optional<ControlVariable> > known;
    if (const auto found = known.find(name); found != known.end()) return found->second;
    std::optional<ControlVariable>& result = known[name];
    int index = 0, description_length = 0, name_length = 0, verbosity = 0, bind = 0, scope = 0, count = 0;
    MPI_T_enum enumeration;
    ControlVariable variable;
    if (!has_tool_interface() || MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return {};
    if (MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, nullptr, nullptr, nullptr,
                            &description_length, &bind, &scope) != MPI_SUCCESS)
        return {};
    std::vector<char> description(static_cast<std::size_t>(description_length) + 1, '\0');
    description_length = static_cast<int>(description.size());
    name_length = 0;
    MPI_T_cvar_get_info(index, nullptr, &name_length, &verbosity, &variable.type_, &enumeration,
                        description.data(), &description_length, &bind, &scope);
    variable.description_ = description.data();
    variable.choices_ = items_of(enumeration);
    variable.writable_ = scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
    if (bind != MPI_T_BIND_NO_OBJECT ||
        MPI_T_cvar_handle_alloc(index, nullptr, &variable.handle_, &count) != MPI_SUCCESS)
        return {};
    if (count == 1 && variable.read()) result = variable;
    return result;
}

std::optional<long> ControlVariable::read() const {
    if (type_ == MPI_INT) return read_as<int>(handle_);
    if (type_ == MPI_C_BOOL) return read_as<bool>(handle_);
    if (type_ == MPI_UNSIGNED) return read_as<unsigned>(handle_);
    if (type_ == MPI_UNSIGNED_LONG) return read_as<unsigned long>(handle_);
    return {};
}

bool ControlVariable::write(long value) const {
    bool accepted = false;
    if (type_ == MPI_INT) accepted = write_as<int>(handle_, value);
    if (type_ == MPI_C_BOOL) accepted = write_as<bool>(handle_, value);
    if (type_ == MPI_UNSIGNED) accepted = write_as<unsigned>(handle_, value);
    if (type_ == MPI_UNSIGNED_LONG) accepted = write_as<unsigned long>(handle_, value);
    return accepted && read() == value;
}

#endif

}  // namespace hockney
