"""What texts say around tables of benchmarks, in regular expressions: a fact is the first group that matched.

Cases of letters do not count in `SAID` and `BANNER`.
"""

# Expressions stand as they are read, on a line of their own.
# ruff: noqa: E501

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Lines without a letter of these, longer ones, and rows are not looked at.
LINE = {
    # a row of a table
    "row": r"(?:MPI_\w+\s+)?[\d.]+\s+[\d.]+(?:\s|$)",
    # what joins two commands of a line, else a text in quotes that no shell runs, or a comment behind a command
    "joint": r"""(&&|;|(?<!>)&(?!>))|(?<!-c )(?:"[^"]*"|'[^']*')|\w\s+#.*""",
    # what launchers, collectors and ReproMPI put before a line
    "tag": r"^\s*(?:#@|\[[^\]]*\]<\w+>:?\s*|\d+:\s+|\[\d+\] (?!MPI startup)|\S*\d\d:\d\d:\d\d\S*\s+)",
    # what Intel MPI puts before each variable that is set
    "startup": r"^\[\d+\] MPI startup\(\): (?=I_MPI_(?!ROOT|DEBUG|MPIRUN|HYDRA))",
    # a prompt, or a mark of a shell that traces
    "prompt": r"^(?:\[[^\]]*\][$#%]\s+|[^\s#]*[$%>❯]\s+|>\s+|\++\s+)+",
    # marks, and the text of a heading
    "heading": r"(#{2,6}|[=*~>-]{2,})\s*([^\s=*~>-].*?)[\s#=*~<:-]*",
    # a comment, or a heading of a page in Markdown that begins with a single mark
    "comment": r"# {0,2}(?!Size|Datatype|nThread|Rank|Using|Benchmarking|OSU|OMB|Group|Collective|nccl-tests|Reducing|List of|Calling|All processes|[\w ]+ : |(?:Ping|Send|Exch|Bcast|Barrier|All|Reduc|Gather|Scatter|Uni|Bi)\w*$)\w",
    # a rule below a heading
    "rule": r"([=*])\1{3,}|([-~^])\2{3,}",
    # what a benchmark says before its tables begins with it
    "preamble": r"#.*(?:\bMPI Benchmarks?\b|nThread|nccl-tests version|Collective test starting)",
    # a line that may say facts though it is no heading
    "announced": r"(?i)(?:echo )?.?(?:running|testing|test|starting|using|number|case|config\w*|now)\b.*|[\w -]+[:=][^.]*",
    # a line that is no heading of the table below it
    "noise": r"(?i)\W*(?:done|finished|completed|ended|end of)\b|(?:s(?:alloc|batch|run)|slurm\w+): |[NR]CCL version|.*MPI startup|\[?[\w.-]+[:,]\d+\]|.*\b(?:warn\w*|errors?|help message|slots|no version information)\b|(?:real|user|sys)\s",
    # a line of a script, between two launch lines of a list
    "script": r"#|(?:export|for|do|done|if|then|else|elif|fi|while|case|esac|echo|printf|sleep|module|ml|source|cd|mkdir|set|unset|ulimit|wait|exit|cat|tee|rm|function)\b|\w+=|[.}{)`]|\|(?!.*\|$)",
    # a line that fetches or unpacks a library, which need not be the one that runs
    "fetching": r"(?:&& *|RUN +|[$#] +)*(?:cd|rm|wget|curl|tar|git|mv|cp|ADD|COPY|(?:apt|apt-get|yum|dnf|spack|conda|brew) install)\b|.*(?:\.(?:tar|tgz|zip|rpm|deb)|(?:build|install|download)ing)\b",
    # times and numbers of repetitions, which say nothing of how was measured
    "passes": r"(?i)\w{3} \w{3} +\d+ [\d:]+.*|\d{4}-\d\d-\d\d\S*|\d+:\d\d\S*|\b(?:run|rep\w*|iter\w*|trial|round|pass|attempt|try|seed|measurement)[ :=]*#?\d+",
    # names of hosts in a comment
    "hosts": r"(?i)\b(?:nodes?|nodelist|hosts?)[ :=]+(?!ppn|np\d|ranks?|procs?|tasks?)[a-z]{2}[\w.-]*\d\S*(?:\s+[a-z][\w.-]*\d\S*)*",
    # words of a heading that say nothing of how was measured
    "fillers": r"(?i)\b(?:a|an|and|at|begin|benchmarks?|by|for|from|in|mpi|now|of|on|over|per|results?|run|running|start|starting|tests?|testing|the|to|using|with|echo|osu|imb|latency|bandwidth|bw|size|of|done|job|log|output|line)\b|[\W_]",
    # variables that differ from run to run
    "passing": r"(?i)(?-i:[_ijkr])|SHLVL|\w*(?:PATH|PWD|HOME|USER|HOST\w*|ID|DATE|TIME\w*|NAME|LOG\w*|OUT\w*|FILE\w*|DIR|TMP\w*|SEED)|frequency_hz|bcast_runtime_s|(?:rep|run|iter|trial|round|pass|step|attempt|try|measurement|SLURM|PBS|LSB|LS|XDG|SSH|CONDA|LMOD|BASH)\w*",
    # a variable and its value
    "assignment": r"""(?<![\w$-])([A-Za-z_]\w*)=("[^"]*"|'[^']*'|[^\s;"']*)""",
    # the same in a list of one word and its value
    "entry": r"(?:- )?([A-Za-z_]\w*):\s+([^\s:]*[^\W\d_][^\s:]*|\d+)",
}

# Headings, variables, names of files and folders.
SAID: Mapping[str, Sequence[str]] = {
    "ppn": (
        r"(?:ppn|n?_?(?:ranks?|procs?|process(?:es)?|tasks?)[ _-]?per[ _-]?node|(?<!/)(?:ranks?|procs?|process(?:es)?|tasks?)/node(?=[ =:])|perhost)[ =:_-]{0,3}(\d{1,9})(?![\d.]|-\d)",
        r"(\d{1,9})[ _-]?(?:ppn|(?:(?:mpi[ _-]?)?(?:ranks?|procs?|process(?:es)?|tasks?)[ _-]?)?(?:per[ _-]?node|/ ?node(?![\d/])))(?![a-z])",
        r"(?:(?<=node )|(?<=nodes ))[x×*] ?(\d{1,9})(?![\d.])(?: ?(?:mpi )?(?:ranks?|procs?|process(?:es)?|tasks?)(?![a-z]))?",
    ),
    "ranks": (
        r"(?:np|(?:n_?|num_?|mpi_?)?(?:ranks|procs|processes|tasks)|(?:comm|world)[_ ]?size(?: is)?)(?:[ =:_-]{0,3}| +[=:] *)(\d{1,9})(?![\d.]|-\d)",
        r"(\d{1,9})[ _-]?(?:mpi[ _-]?)?(?:ranks?|procs?|process(?:es)?|tasks?)(?![a-z])",
    ),
    "nodes": (
        r"(?:n_?|num_?)?nodes(?:[ =:_-]{0,3}| +[=:] *)(\d{1,9})(?![\d.]|-\d)",
        r"(\d{1,9})[ _-]?nodes?(?![a-z])",
    ),
    "algorithm": (r"alg(?:o|orithm)?(?:[ =:_-]{0,3}(\d{1,2})(?!\d)|\s*[=:]\s*([a-z]\w+))",),
    "mapping": (r"map(?:ping|_by|-by)?\s*[=:]\s*(core|socket|package|numa|l3cache|node|hwthread|slot)\b",),
}

# The header of a job, and its variables.
JOB: Mapping[str, Sequence[str]] = {
    "ranks": (
        r"#SBATCH\s(?:.*\s)?(?:-n|--ntasks)[ =]*(\d+)",
        r"#BSUB\s(?:.*\s)?-n *(\d+)|SLURM_N(?:TASKS|PROCS)=(\d+)",
    ),
    "nodes": (
        r"#SBATCH\s(?:.*\s)?(?:-N|--nodes)[ =]*(\d+)(?![\d-])",
        r"#PBS\s[^+]*\b(?:select|nodes)=(\d+)(?!.*\+)",
        r"#BSUB\s(?:.*\s)?-nnodes *(\d+)|SLURM_(?:JOB_NUM_|N)NODES=(\d+)",
    ),
    "ppn": (
        r"#SBATCH\s(?:.*\s)?--ntasks-per-node[ =]*(\d+)",
        r"#PBS\s[^+]*\b(?:mpiprocs|ppn)=(\d+)(?!.*\+)",
        r"#BSUB\s.*ptile=(\d+)|SLURM_N?TASKS_PER_NODE=(\d+)",
    ),
}

# What a library prints of itself, its module or folder, and its name in a line of few words.
_VERSION = r"v?(\d+(?:\.\d+)+\w*)"
_FEW_WORDS = rf" {_VERSION}(?: \S+){{0,4}}$"
BANNER: Mapping[str, Sequence[str]] = {
    "Intel MPI": (
        rf"Intel\(R\) MPI Library.*?Version (\d[\d.]*(?: Update \d+)?)|\b(?:impi|intel-?mpi)[-/@]{_VERSION}",
        rf"^(?:\S+ ){{0,4}}Intel MPI{_FEW_WORDS}",
    ),
    "Open MPI": (
        rf"\bOpen MPI[):]* {_VERSION}|\bopen-?mpi[-/@]{_VERSION}",
        rf"^(?:\S+ ){{0,4}}OpenMPI{_FEW_WORDS}",
    ),
    "MVAPICH2": (rf"\bMVAPICH2(?: Version\s*:\s*| |[-/@]){_VERSION}",),
    "MVAPICH": (rf"\bMVAPICH(?: Version\s*:\s*| |[-/@]){_VERSION}",),
    "Cray MPICH": (rf"\bCRAY[- ]MPICH(?: version |[/@ ]){_VERSION}",),
    "MPICH": (
        rf"(?<!cray[ -])\bMPICH(?: Version:? *|[-/@]){_VERSION}",
        rf"^(?:\S+ ){{0,4}}(?<!cray )MPICH{_FEW_WORDS}",
    ),
}

# A program of a benchmark, and titles of tables that are called otherwise than OSU's program, letters only.
PROGRAM = r"(?<![\w.=-])[\w./~${}-]*?(?:(?:osu|omb)_(\w+)|(IMB-\w+)|([a-z_]+)_perf(?:_mpi)?)(?![\w./])"
SIZES = r"-[mfzbeM]|-npmin|-msglog|--full"
TITLES = {
    "latency": "",
    "bw": "bandwidth",
    "bibw": "bidirectionalbandwidth",
    "mbw_mr": "multiplebandwidthmessagerate",
    "bcast": "broadcast",
    "alltoall": "alltoallpersonalizedexchange",
}

# Launchers, and their options that count. A resource set of jsrun has one rank unless it says more.
LAUNCHERS: Sequence[tuple[str, Mapping[str, str]]] = (
    (r"mpirun(?:_rsh|\.\w+)?|mpiexec(?:[._]\w+)?|orterun|prterun|prun|ibrun|aprun",
     {"ranks": r"--?n|--?np|--?nprocs|-c", "ppn": r"-N|--?(?:ppn|perhost|npernode)"}),
    (r"srun|yhrun|flux|ccc_mprun", {"ranks": r"-n|--ntasks", "nodes": r"-N|--nodes", "ppn": r"--n?tasks-per-node"}),
    (r"lrun", {"ranks": r"-n", "nodes": r"-N", "ppn": r"-T"}),
    (r"jsrun", {"ranks": r"-p|--np", "sets": r"-n|--nrs", "of_set": r"-a|--tasks_per_rs", "of_host": r"-r|--rs_per_host"}),
)  # fmt: skip

_CONTAINER = r"singularity|apptainer|podman\S*|u?docker|sarus|shifter|enroot|ch-run"
LAUNCH = {
    # a launcher in a line, {} its name
    "launcher": r"(?P<before>.*?)(?<![\w.-])(?P<folder>[\w./~-]*/)?(?P<name>{})\s+(?P<after>.*)",
    # nodes that are waited for, or a launch of a launcher, and the launch on them
    "allocation": r"(?P<before>.*?)(?<![\w.-])(?:salloc|srun)\s+(?P<options>[^|;&>#]*?)(?<=\s)(?P<inner>(?:[\w./~-]*/)?(?:{})\s.*)",
    # a benchmark without a launcher, its variables before it or, of nccl-tests, its options behind it
    "alone": r"(?P<before>(?:\S*[$#%>+❯]\s+)*(?:(?:[A-Za-z_]\w*=\S*\s+)+|(?=[\w./~-]*_perf(?:_mpi)?\s+-)))(?P<folder>)(?P<name>)(?P<after>(?:[\w./~-]*/)?(?:(?:osu|omb)_\w+|IMB-\w+|[a-z_]+_perf(?:_mpi)?)(?:\s.*)?)$",
    # a part of a path that is a job's own
    "of_job": r"(?i)(?<![^/])(?:(?:job|tmp|scratch)[^/]*|\d+)(?![^/])",
    # a program that starts the benchmark, whose options are not the launcher's
    "starter": rf"(?<!\S)(?:[\w./~-]*/)?(taskset|numactl|hwloc-bind|env|nice|(?:ba|z)?sh|{_CONTAINER}|perf|strace|valgrind|nsys|likwid-\S+|\S+\.sh)(?!\S)(.*)",
    # one that may start a launcher, too
    "container": rf"(?<!\S)(?:[\w./~-]*/)?({_CONTAINER})(?!\S)(.*)",
    # its options that change nothing of what is measured, or name a variable
    "of_container": r"(?<!\S)(?:--(?:name|hostname|cidfile|volume|mount|bind|workdir|pwd)[= ]\S+|-B[= ]?\S+|-[vb][= ]?\S*:\S+|--(?:rm|interactive|tty|init)(?!\S)|-[it]+(?!\S)|(?:-[it]*e|--env)[= ](?:(?=\w+=)|\w+(?!\S)))",
    # the same of other starters: files that they write, and that a command of a shell follows
    "of_starter": r"""(?<!\S)(?:-o[= ]?\S+|--(?:output|\S*file)[= ]\S+|-l?c(?=\s*$|\s+["']))""",
    # where its options end at the latest
    "end": r"""&&|[;|"']""",
    # an option and its value
    "option": r"(?<!\S)(?:(-[nNacrpT])(?=\d)|(--?[A-Za-z][\w-]*))(?:=|\s+(?!-)|)(\S*)",
    # an option with a name and a value
    "name_and_value": r"(?<!\S)--?(?:g?env|(?:g|prte|pmix)?mca)\s+(\w+)\s+(\S+)",
    # a variable and its value
    "variable": r"(?<![\w./$-])([A-Za-z_]\w*)=((?:(?!,\w+=)\S)*)",
    # hosts: how many of them there are matters, their names do not
    "hosts": r"--?hosts?|-H|-w|--nodelist",
    # options that change nothing of what is measured, or name a variable alone
    "not_of_measuring": r"--?(?:output|error|job-name|account|partition|qos|time|tag-output|report-bindings|display-map|verbose|label|quiet|allow-run-as-root|unbuffered|hostfile|machinefile|chdir|wdir|export|setattr|g?env|[ofvqlJAptxeE])",
    # what is launched without measuring anything
    "aside": r"(?:hostname|date|env|printenv|true|echo|ls|nvidia-smi|--?version|--?help|-V|-h)\s*$",
    # words before a launcher: a prompt, variables, a program that starts another
    "before": r"""\S*[$#%>+❯:~@`\]]\S*|\[\S*|\w+=\S*|time|sudo|env|exec|nohup|timeout|\d+|-\S+""",
}
