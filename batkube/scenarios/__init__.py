"""Files that `batkube init scenario` writes into a folder."""
