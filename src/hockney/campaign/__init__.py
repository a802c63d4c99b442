"""One loop that measures: what comes next, at which level of the machine, when it ends, how it resumes."""
