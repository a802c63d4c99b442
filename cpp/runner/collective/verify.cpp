#include "verify.hpp"

#include "contents.hpp"

namespace hockney {

Verdict verify(Call& call, Selection& selection, const Collective& collective, Problem problem,
               const std::vector<int>& roots, Buffer& input, Buffer& output, int salt, const Group& group) {
    Verdict verdict;
    for (const int root : roots) {
        problem.root = root;
        std::byte* in = input.next();
        std::byte* out = output.next();
        poison_output(collective, problem, group.rank, salt, out);
        fill_input(collective, problem, group.rank, salt, in, out);
        selection.begin();
        const int code = call.run(in, out, root);
        selection.end();
        if (code != MPI_SUCCESS) {
            char text[MPI_MAX_ERROR_STRING] = "";
            int length = 0;
            MPI_Error_string(code, text, &length);
            // Of an error stack the last line says what is the matter.
            const std::string lines(text);
            const auto last = lines.find_last_not_of('\n');
            verdict.error = lines.substr(0, last + 1);
            verdict.error.erase(0, verdict.error.rfind('\n') + 1);
        }
        verdict.right = holds_result(collective, problem, group.rank, salt, out) && verdict.right;
    }
    verdict.right = all_agree(verdict.right, group.control);
    if (!all_agree(verdict.error.empty(), group.control) && verdict.error.empty())
        verdict.error = "the library reported an error on another rank";
    return verdict;
}

}  // namespace hockney
