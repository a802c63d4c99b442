// What a collective needs before it is measured: memory, its algorithm on a communicator, and a first call
// that brings about what it says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../../schedule/collective.hpp"
#include "../buffers.hpp"
#include "../library/call.hpp"
#include "../library/library.hpp"
#include "../request.hpp"
#include "group.hpp"

namespace hockney {

class ReadyCall {
  public:
    // Runs it once for each of `roots`; any of them may be the root later. `region_B`: of the buffers.
    // Collective over `whole`, of which `group` is a part; throws Refusal on all its ranks alike where the
    // memory is not there, or the library does not do it.
    ReadyCall(const Request& request, const std::vector<int>& roots, std::size_t region_B, const Group& group,
              MPI_Comm whole);

    // Once more for each root, on fresh data: whether all results so far were right. Collective over the
    // group.
    bool verify();
    bool is_right() const { return is_right_; }

    const std::vector<int>& roots() const { return roots_; }
    Call& call() const { return *call_; }
    Selection& selection() const { return *selection_; }
    Buffer& input() const { return *input_; }
    Buffer& output() const { return *output_; }

  private:
    // What MPI said here, if it said something.
    std::string run();

    const Collective& collective_;
    const Problem problem_;
    const std::vector<int> roots_;
    const Group& group_;
    std::unique_ptr<Buffer> input_, output_;
    std::unique_ptr<Selection> selection_;
    std::unique_ptr<Call> call_;
    int salt_ = 0;
    bool is_right_ = true;
};

}  // namespace hockney
