"""Studies: a question, what is measured, modelled and compared for it, and the page that answers it."""
