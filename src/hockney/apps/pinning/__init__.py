"""Where ranks and threads are to run and where they do: topologies, plans, options of launchers, judgement."""
