#include "ready.hpp"

#include <algorithm>
#include <stdexcept>

#include "../ranks.hpp"
#include "contents.hpp"
#include "offer.hpp"
#include "schedule_call.hpp"

namespace hockney {

ReadyCall::ReadyCall(const Request& request, const std::vector<int>& roots, std::size_t region_B,
                     const Group& group, MPI_Comm whole)
    : collective_(*find_collective(request.text("operation"))),
      problem_(problem_of(request)),
      roots_(roots),
      group_(group) {
    Bytes input_B = 0, output_B = 0;
    for (const int root : roots) {
        Problem rooted = problem_;
        rooted.root = root;
        input_B = std::max(input_B, collective_.input_B(rooted, group.rank));
        output_B = std::max(output_B, collective_.output_B(rooted, group.rank));
    }
    const auto input_size = static_cast<std::size_t>(input_B),
               output_size = static_cast<std::size_t>(output_B);
    // Scratch of ours and buffers of the library come on top.
    require_memory(2 * static_cast<double>(Buffer::total_B(input_size, region_B) +
                                           Buffer::total_B(output_size, region_B)),
                   whole);
    input_ = std::make_unique<Buffer>(input_size, region_B);
    output_ = std::make_unique<Buffer>(output_size, region_B);
    const std::string& name = request.text("algorithm");
    const LibraryAlgorithm* library = find_library_algorithm(collective_.name, name);
    const Algorithm* schedule = find_schedule(collective_.name, name);
    std::string failure;
    try {
        selection_ = library == nullptr ? std::make_unique<Selection>(group.comm)
                                        : std::make_unique<Selection>(*library, problem_.segment_B,
                                                                      problem_.radix, group.comm);
        const MPI_Comm comm = selection_->comm();
        call_ = schedule != nullptr ? schedule_call(*schedule, problem_, roots, comm)
                                    : library_call(collective_, problem_, comm, selection_->nonblocking());
    } catch (const std::runtime_error& error) {
        failure = error.what();
    }
    // Parts may lie differently, and a component that serves one refuse another.
    require_all(failure.empty(), "library", failure, whole);
    failure = run();
    require_all(failure.empty(), "library", failure, whole);
}

bool ReadyCall::verify() {
    run();
    return is_right_;
}

std::string ReadyCall::run() {
    std::string error;
    ++salt_;
    for (const int root : roots_) {
        Problem rooted = problem_;
        rooted.root = root;
        std::byte* in = input_->next();
        std::byte* out = output_->next();
        poison_output(collective_, rooted, group_.rank, salt_, out);
        fill_input(collective_, rooted, group_.rank, salt_, in, out);
        selection_->begin();
        const int code = call_->run(in, out, root);
        selection_->end();
        if (code != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING] = "";
            int length = 0;
            MPI_Error_string(code, text, &length);
            // Of an error stack the last line says what is the matter.
            const std::string lines(text);
            error = lines.substr(0, lines.find_last_not_of('\n') + 1);
            error.erase(0, error.rfind('\n') + 1);
        }
        is_right_ = holds_result(collective_, rooted, group_.rank, salt_, out) && is_right_;
    }
    is_right_ = all_agree(is_right_, group_.control);
    return error;
}

}  // namespace hockney
