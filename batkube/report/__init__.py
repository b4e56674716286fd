"""The results of a run, shown: a page in one file, Markdown, a figure for papers, a summary for the terminal."""
