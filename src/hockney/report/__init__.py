"""All that a person looks at: the page and its contributors, figures, cards, text and LaTeX views."""
