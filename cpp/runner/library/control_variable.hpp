// MPI_T control variables (MPI 3.1, section 14.3) that hold a number, by name.
#pragma once

#include <mpi.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hockney {

// An MPI without MPI_T (found out when the runner is built) has none of them.
class ControlVariable {
  public:
    // Nothing where the library has no such variable, or where it holds no number.
    static std::optional<ControlVariable> find(const std::string& name);

    bool writable() const { return writable_; }
    const std::string& description() const { return description_; }
    // Its enumeration (value, name), as far as the library gives one through MPI_T.
    const std::vector<std::pair<long, std::string>>& choices() const { return choices_; }

    std::optional<long> read() const;
    // Whether the value has arrived.
    bool write(long value) const;

  private:
    ControlVariable() = default;

#ifndef HOCKNEY_NO_MPI_T
    // Handles live as long as the process: there are few of them.
    MPI_T_cvar_handle handle_{};
    MPI_Datatype type_ = MPI_DATATYPE_NULL;
#endif
    bool writable_ = false;
    std::string description_;
    std::vector<std::pair<long, std::string>> choices_;
};

}  // namespace hockney
