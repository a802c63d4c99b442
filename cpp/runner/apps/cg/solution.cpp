#include "solution.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "../../clock.hpp"
#include "../app.hpp"

namespace hockney::cg {
namespace {

std::string explained(int code) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    return std::string(text, static_cast<std::size_t>(length));
}

// `part` of `whole`, from `first` on, as MPI sees it: its last index is the fastest.
class Subarray {
  public:
    Subarray(const Cells& whole, const Cells& part, const Cells& first) {
        int sizes[3], parts[3], firsts[3];
        for (std::size_t d = 0; d < 3; ++d) {
            sizes[2 - d] = static_cast<int>(whole[d]);
            parts[2 - d] = static_cast<int>(part[d]);
            firsts[2 - d] = static_cast<int>(first[d]);
        }
        MPI_Type_create_subarray(3, sizes, parts, firsts, MPI_ORDER_C, MPI_DOUBLE, &type_);
        MPI_Type_commit(&type_);
    }
    ~Subarray() { MPI_Type_free(&type_); }
    Subarray(const Subarray&) = delete;
    Subarray& operator=(const Subarray&) = delete;
    MPI_Datatype type() const { return type_; }

  private:
    MPI_Datatype type_;
};

}  // namespace

std::string decoded(const std::string& text) {
    std::string plain;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%' && at + 2 < text.size()) {
            plain += static_cast<char>(std::strtol(text.substr(at + 1, 2).c_str(), nullptr, 16));
            at += 2;
        } else {
            plain += text[at];
        }
    }
    return plain;
}

void write_solution(const std::string& path, const ProcessGrid& grid, const Space& space, const Cells& whole,
                    const double* x) {
    if (is_simulated) throw Refusal("file", "a simulated cluster has no files");
    int rank = 0;
    MPI_Comm_rank(grid.comm, &rank);
    const std::string part = path + ".part";
    MPI_File file = MPI_FILE_NULL;
    // What one rank could not do is the end of it for all, at the same place.
    const auto agree = [&](bool is_done, const std::string& problem) {
        try {
            require_all(is_done, "file", problem, grid.comm);
        } catch (const Refusal&) {
            if (file != MPI_FILE_NULL) MPI_File_close(&file);
            if (rank == 0) std::remove(part.c_str());
            throw;
        }
    };
    const auto done = [&](int code, const char* doing) {
        agree(code == MPI_SUCCESS, std::string("cannot ") + doing + " " + part + ": " + explained(code));
    };
    // A file that an earlier run left there may be longer.
    if (rank == 0) std::remove(part.c_str());
    MPI_Barrier(grid.comm);
    done(MPI_File_open(grid.comm, part.c_str(), MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file), "open");
    const Subarray mine(whole, space.cells, grid.first);
    const Subarray unknowns({space.pitch, space.plane / space.pitch, space.nz}, space.cells, {0, 0, 0});
    char native[] = "native";
    done(MPI_File_set_view(file, 0, MPI_DOUBLE, mine.type(), native, MPI_INFO_NULL), "prepare");
    MPI_Status status;
    done(MPI_File_write_all(file, x + space.at(0, 0, 0), 1, unknowns.type(), &status), "write");
    int written = 0;
    MPI_Get_elements(&status, MPI_DOUBLE, &written);
    agree(written == space.nx * space.ny * space.nz, "cannot write all of " + part);
    done(MPI_File_sync(file), "sync");
    done(MPI_File_close(&file), "close");
    bool is_named = true;
    std::string problem;
    if (rank == 0 && std::rename(part.c_str(), path.c_str()) != 0) {
        is_named = false;
        problem = "cannot rename " + part + ": " + std::strerror(errno);
    }
    agree(is_named, problem);
}

}  // namespace hockney::cg
